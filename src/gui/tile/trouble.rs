use egui::{
    Align, Align2, Color32, Label, Layout, Rect, RichText, ScrollArea, Ui, UiBuilder, vec2,
};

use super::text::text_in;
use super::waiting::waiting_text;
use super::{TileContext, picture};
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::format;
use crate::gui::state::TileState;
use crate::gui::text::text;
use crate::gui::theme::{GAP, Palette, strong};
use crate::protocol::Problem;
use crate::session::{ChildState, ModelView};

/// Height of the line below a source's picture.
const LINE_HEIGHT: f32 = 30.0;
/// Limits of the width of an error beside the source's picture.
const ERROR_WIDTH: std::ops::RangeInclusive<f32> = 200.0..=460.0;
/// Height of the buttons below an error.
const BUTTONS_HEIGHT: f32 = 28.0;

/// Whether there is something of the source to see.
fn shows_source(context: &TileContext<'_>) -> bool {
    let view = context.view;
    let is_gone = matches!(view.source.child, ChildState::Failed(_)) && context.source.is_none();
    view.source.published > 0 && !is_gone
}

/// Instead of the body while there is nothing to show yet: what is waited for, below the source's
/// picture once frames flow.
pub(super) fn waiting_ui(ui: &mut Ui, rect: Rect, context: &TileContext<'_>, tile: &mut TileState) {
    let palette = Palette::of(ui);
    let words = RichText::new(waiting_text(context))
        .size(14.0)
        .color(palette.weak);
    if shows_source(context) {
        let (picture, line) = rect.split_top_bottom_at_y(rect.bottom() - LINE_HEIGHT);
        tile.source_panel = picture::source_ui(ui, picture, context.source);
        text_in(ui, line, Align2::CENTER_CENTER, words);
    } else {
        ui.painter().rect_filled(rect, 6.0, palette.well);
        text_in(ui, rect.shrink(12.0), Align2::CENTER_CENTER, words);
    }
}

/// Instead of the body when the model was given up: why and what to do, and the source's picture,
/// which goes on without the model.
pub(super) fn failed_ui(
    ui: &mut Ui,
    rect: Rect,
    context: &TileContext<'_>,
    problem: &Problem,
    tile: &mut TileState,
    commands: &CommandSender,
) {
    let error = if shows_source(context) {
        let (picture, error) = split(rect);
        tile.source_panel = picture::source_ui(ui, picture, context.source);
        error
    } else {
        rect
    };
    let palette = Palette::of(ui);
    ui.painter().rect_filled(error, 6.0, palette.well);
    let inner = error.shrink2(vec2(12.0, 10.0));
    let model = context.model;
    ui.scope_builder(UiBuilder::new().max_rect(inner), |ui| {
        problem_ui(ui, inner.height() - BUTTONS_HEIGHT - 8.0, model, problem);
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            let name = || model.spec.name.clone();
            for command in [
                UiCommand::RestartModel(name()),
                UiCommand::ShowLogOf(name()),
            ] {
                let button = ui.button(command.text());
                if button.on_hover_text(command.tooltip()).clicked() {
                    commands.send(command);
                }
            }
        });
    });
}

/// The source's picture and the error: side by side, or one above the other in a narrow place.
fn split(rect: Rect) -> (Rect, Rect) {
    if rect.width() > rect.height() {
        let width = (rect.width() * 0.5).clamp(*ERROR_WIDTH.start(), *ERROR_WIDTH.end());
        let (picture, error) = rect.split_left_right_at_x(rect.right() - width - GAP);
        (picture, error.with_min_x(error.left() + GAP))
    } else {
        let (picture, error) = rect.split_top_bottom_at_fraction(0.5);
        (picture, error.with_min_y(error.top() + GAP))
    }
}

/// What happened, what to do, and the last words of the process, in no more than this height.
fn problem_ui(ui: &mut Ui, most: f32, model: &ModelView, problem: &Problem) {
    let palette = Palette::of(ui);
    let shown = |text: RichText| Label::new(text).wrap().selectable(true);
    let area = ScrollArea::vertical()
        .max_height(most)
        .min_scrolled_height(0.0)
        .auto_shrink([false, true]);
    area.show(ui, |ui| {
        ui.label(strong(text().tile.cannot_run).size(15.0).color(palette.bad));
        ui.add_space(2.0);
        ui.add(shown(RichText::new(problem.message.as_str())));
        if let Some(hint) = &problem.hint {
            let hint = RichText::new(format::sentence(hint));
            ui.add(shown(hint.color(palette.weak)));
        }
        // What the problem says already is not said twice.
        let lines: Vec<&String> = model
            .stderr
            .iter()
            .filter(|line| !line.contains(&problem.message))
            .collect();
        if !lines.is_empty() {
            ui.add_space(6.0);
            ui.label(
                RichText::new(text().tile.last_lines)
                    .small()
                    .color(palette.weak),
            );
            for line in lines {
                let line = RichText::new(line).monospace().size(11.0);
                ui.add(shown(line.color(palette.weak)));
            }
        }
    });
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
    let words = &text().tile;
    let (line, color, command) = match &model.child {
        ChildState::Stale { since_nanos } => (
            (words.no_answer_for)(&format::since(*since_nanos)),
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
            words.paused_passes.to_owned(),
            palette.warning,
            UiCommand::ResumeModel(name()),
        ),
        _ => return false,
    };
    strip_ui(ui, rect, &line, color, command, commands);
    true
}

fn restarting_text(attempt: u32, at_nanos: u64, cause: &str) -> String {
    let words = &text().tile;
    match format::seconds_until(at_nanos) {
        0 => (words.restarting_after)(cause, attempt),
        seconds => (words.restart_in)(cause, seconds, attempt),
    }
}

fn strip_ui(
    ui: &mut Ui,
    rect: Rect,
    line: &str,
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
                UiCommand::ResumeModel(_) => text().tile.resume,
                _ => text().tile.restart_now,
            };
            if ui.button(word).on_hover_text(command.tooltip()).clicked() {
                commands.send(command);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(RichText::new(line).color(color)).truncate());
            });
        },
    );
}
