//! The processes, what they use, and the ring between them.

use egui::{Button, Grid, Label, RichText, ScrollArea, Ui};

use super::ring_strip::ring_ui;
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::format;
use crate::gui::state::WindowState;
use crate::gui::text::text;
use crate::gui::theme::{Palette, strong};
use crate::session::{ChildState, ModelView, ProcessUsage, SessionView};

/// The producer, each consumer, the ring, and the last words of those that are in trouble.
pub(super) fn processes_ui(
    ui: &mut Ui,
    view: &SessionView,
    state: &WindowState,
    commands: &CommandSender,
) {
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().interact_size.y = 22.0;
        ui.spacing_mut().button_padding.y = 1.0;
        Grid::new("processes")
            .num_columns(8)
            .spacing([18.0, 5.0])
            .show(ui, |ui| {
                head_ui(ui);
                producer_ui(ui, view, commands);
                for model in &view.models {
                    consumer_ui(ui, model, commands);
                }
            });
        saved_ui(ui, view, state);
        ui.add_space(8.0);
        ring_ui(ui, view.ring.as_ref());
        words_ui(
            ui,
            text().process.producer,
            &view.source.child,
            &view.source.stderr,
        );
        for model in &view.models {
            words_ui(ui, &model.spec.name, &model.child, &model.stderr);
        }
    });
}

fn head_ui(ui: &mut Ui) {
    let (words, weak) = (&text().process, Palette::of(ui).weak);
    let heads = [
        words.name,
        words.pid,
        words.state,
        words.cpu,
        words.memory,
        words.restarts,
        words.steer,
        words.counters,
    ];
    for head in heads {
        ui.label(RichText::new(head).small().color(weak));
    }
    ui.end_row();
}

fn producer_ui(ui: &mut Ui, view: &SessionView, commands: &CommandSender) {
    let words = &text().process;
    let source = &view.source;
    facts_ui(ui, words.producer, source.pid, &source.child, source.usage);
    ui.label(source.restarts.to_string());
    let counters = (words.source_counters)(
        &format::count(source.published),
        &format::count(source.skipped),
    );
    ui.horizontal(|ui| {
        let restart = UiCommand::RestartSource;
        button_ui(ui, words.restart, words.producer, restart, commands);
    });
    ui.label(counters);
    ui.end_row();
}

fn consumer_ui(ui: &mut Ui, model: &ModelView, commands: &CommandSender) {
    let words = &text().process;
    let name = model.spec.name.as_str();
    facts_ui(ui, name, model.pid, &model.child, model.usage);
    ui.label(model.restarts.to_string());
    let [predicted, dropped, lost, invalid, unreported] = [
        model.predicted,
        model.dropped,
        model.lost,
        model.invalid,
        model.unreported,
    ]
    .map(format::count);
    let counters = (words.model_counters)(&predicted, &dropped, &lost, &invalid, &unreported);
    ui.horizontal(|ui| {
        let owned = || name.to_owned();
        let (word, command) = match model.child {
            ChildState::Paused => (words.resume, UiCommand::ResumeModel(owned())),
            _ => (words.pause, UiCommand::PauseModel(owned())),
        };
        for (word, command) in [
            (word, command),
            (words.restart, UiCommand::RestartModel(owned())),
            (words.remove, UiCommand::RemoveModel(owned())),
            (words.save_repro, UiCommand::SaveRepro(owned())),
        ] {
            button_ui(ui, word, name, command, commands);
        }
    });
    ui.label(counters);
    ui.end_row();
}

/// A button whose name says of which process it is.
fn button_ui(ui: &mut Ui, word: &str, process: &str, command: UiCommand, commands: &CommandSender) {
    let name = (text().process.of_process)(word, process);
    let response = ui.add(Button::new(word));
    let enabled = ui.is_enabled();
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, enabled, &name));
    if response.on_hover_text(command.tooltip()).clicked() {
        commands.send(command);
    }
}

fn facts_ui(
    ui: &mut Ui,
    name: &str,
    pid: Option<u32>,
    child: &ChildState,
    usage: Option<ProcessUsage>,
) {
    let words = &text().process;
    let nothing = || words.gone.to_owned();
    ui.label(strong(format::elide_middle(name, 28)))
        .on_hover_text(name);
    ui.label(pid.map_or_else(nothing, |pid| pid.to_string()));
    let (word, color) = state_word(child, Palette::of(ui));
    ui.label(RichText::new(word).color(color));
    ui.label(usage.map_or_else(nothing, |usage| (words.cores)(usage.cores)));
    ui.label(usage.map_or_else(nothing, |usage| format::bytes(usage.resident_bytes)));
}

fn state_word(child: &ChildState, palette: &Palette) -> (&'static str, egui::Color32) {
    let words = &text().process;
    match child {
        ChildState::Waiting => (words.waiting, palette.weak),
        ChildState::Starting { .. } => (words.starting, palette.accent),
        ChildState::Running => (words.running, palette.good),
        ChildState::Paused => (words.paused, palette.warning),
        ChildState::Stale { .. } => (words.stale, palette.warning),
        ChildState::Restarting { .. } => (words.restarting, palette.bad),
        ChildState::Failed(_) => (words.failed, palette.bad),
        ChildState::Stopped => (words.stopped, palette.weak),
    }
}

/// What the session said of the model since a folder was asked for: where it is, or why not.
fn saved_ui(ui: &mut Ui, view: &SessionView, state: &WindowState) {
    let Some((name, since)) = &state.repro else {
        return;
    };
    let mut lines = view.log.iter().rev();
    let answer = lines.find(|line| line.about == *name && line.at_nanos >= *since);
    if let Some(line) = answer {
        ui.add_space(6.0);
        let message = RichText::new(format!("{name}: {}", line.message));
        ui.add(Label::new(message.color(Palette::of(ui).text)).selectable(true));
    }
}

/// The last lines of a process that has died.
fn words_ui(ui: &mut Ui, name: &str, child: &ChildState, stderr: &[String]) {
    let dead = matches!(child, ChildState::Restarting { .. } | ChildState::Failed(_));
    let weak = Palette::of(ui).weak;
    let cause = match child {
        ChildState::Restarting { cause, .. } => Some(cause),
        ChildState::Failed(problem) => Some(&problem.message),
        _ => None,
    };
    if !dead || (stderr.is_empty() && cause.is_none()) {
        return;
    }
    ui.add_space(6.0);
    let title = RichText::new((text().process.last_lines)(name)).small();
    ui.label(title.color(weak));
    if let Some(cause) = cause {
        let cause = RichText::new(cause).color(Palette::of(ui).bad);
        ui.add(Label::new(cause).selectable(true));
    }
    for line in stderr {
        let line = RichText::new(line).monospace().size(11.0).color(weak);
        ui.add(Label::new(line).selectable(true));
    }
}
