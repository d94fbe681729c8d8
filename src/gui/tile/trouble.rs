use egui::{
    Align, Align2, Color32, Label, Layout, Rect, RichText, ScrollArea, Ui, UiBuilder, vec2,
};

use super::TileContext;
use super::text::text_in;
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::format;
use crate::gui::theme::{Palette, strong};
use crate::protocol::Problem;
use crate::session::{ChildState, ModelView, SessionPhase};

/// Instead of the body while there is nothing to show yet.
pub(super) fn waiting_ui(ui: &mut Ui, rect: Rect, context: &TileContext<'_>) {
    let palette = Palette::of(ui);
    ui.painter().rect_filled(rect, 6.0, palette.well);
    let text = match &context.model.child {
        ChildState::Waiting => "Waiting to start",
        ChildState::Starting { step } => step.as_str(),
        ChildState::Running if context.phase == SessionPhase::Paused => "Ready; paused",
        ChildState::Running => "Ready; waiting for a frame",
        ChildState::Stopped => "Stopped",
        ChildState::Paused
        | ChildState::Stale { .. }
        | ChildState::Restarting { .. }
        | ChildState::Failed(_) => "No answer yet",
    };
    let text = RichText::new(text).size(14.0).color(palette.weak);
    text_in(ui, rect.shrink(12.0), Align2::CENTER_CENTER, text);
}

/// Instead of the body when the model was given up.
pub(super) fn failed_ui(
    ui: &mut Ui,
    rect: Rect,
    model: &ModelView,
    problem: &Problem,
    commands: &CommandSender,
) {
    let palette = Palette::of(ui);
    ui.painter().rect_filled(rect, 6.0, palette.well);
    let inner = rect.shrink(14.0);
    ui.scope_builder(
        UiBuilder::new()
            .max_rect(inner)
            .layout(Layout::top_down(Align::Min)),
        |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                ui.label(
                    strong("This model cannot run")
                        .size(15.0)
                        .color(palette.bad),
                );
                ui.add_space(2.0);
                ui.add(Label::new(problem.message.as_str()).wrap().selectable(true));
                if let Some(hint) = &problem.hint {
                    let hint = RichText::new(hint).color(palette.weak);
                    ui.add(Label::new(hint).wrap().selectable(true));
                }
                ui.add_space(6.0);
                let restart = UiCommand::RestartModel(model.spec.name.clone());
                let button = ui.button(restart.text());
                if button.on_hover_text(restart.tooltip()).clicked() {
                    commands.send(restart);
                }
                if !model.stderr.is_empty() {
                    ui.add_space(6.0);
                    ui.label(
                        RichText::new("Last lines of its process")
                            .small()
                            .color(palette.weak),
                    );
                    for line in model.stderr.iter() {
                        let line = RichText::new(line)
                            .monospace()
                            .size(11.0)
                            .color(palette.weak);
                        ui.add(Label::new(line).wrap().selectable(true));
                    }
                }
            });
        },
    );
}

/// A strip above the body where what is shown is not the present; `false` where there is no need
/// for one.
pub(super) fn banner_ui(
    ui: &mut Ui,
    rect: Rect,
    model: &ModelView,
    commands: &CommandSender,
) -> bool {
    let palette = Palette::of(ui);
    let name = || model.spec.name.clone();
    let (text, color, command) = match &model.child {
        ChildState::Stale { since_nanos } => (
            format!("No answer for {}", format::since(*since_nanos)),
            palette.warning,
            UiCommand::RestartModel(name()),
        ),
        ChildState::Restarting {
            attempt,
            at_nanos,
            cause,
        } => (
            restarting_text(*attempt, *at_nanos, cause),
            palette.bad,
            UiCommand::RestartModel(name()),
        ),
        ChildState::Paused => (
            "Paused: frames pass by".to_owned(),
            palette.warning,
            UiCommand::ResumeModel(name()),
        ),
        _ => return false,
    };
    strip_ui(ui, rect, &text, color, command, commands);
    true
}

fn restarting_text(attempt: u32, at_nanos: u64, cause: &str) -> String {
    match format::seconds_until(at_nanos) {
        0 => format!("{cause}; restarting (attempt {attempt})"),
        seconds => format!("{cause}; restart in {seconds} s (attempt {attempt})"),
    }
}

fn strip_ui(
    ui: &mut Ui,
    rect: Rect,
    text: &str,
    color: Color32,
    command: UiCommand,
    commands: &CommandSender,
) {
    ui.painter()
        .rect_filled(rect, 6.0, color.gamma_multiply(0.15));
    let inner = rect.shrink2(vec2(10.0, 0.0));
    ui.scope_builder(
        UiBuilder::new()
            .max_rect(inner)
            .layout(Layout::right_to_left(Align::Center)),
        |ui| {
            ui.spacing_mut().interact_size.y = 20.0;
            ui.spacing_mut().button_padding = vec2(8.0, 1.0);
            let word = match command {
                UiCommand::ResumeModel(_) => "Resume",
                _ => "Restart now",
            };
            if ui.button(word).on_hover_text(command.tooltip()).clicked() {
                commands.send(command);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(RichText::new(text).color(color)).truncate());
            });
        },
    );
}
