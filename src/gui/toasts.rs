//! What went wrong just now, in a strip of its own between the tiles and the tabs: it takes room
//! instead of covering anything.

use std::time::Duration;

use egui::accesskit::{Live, Role as AccessRole};
use egui::{Align, Label, Layout, Role, Stroke, StrokeKind, Ui, UiBuilder, Vec2, WidgetInfo, vec2};

use super::command::{CommandSender, UiCommand};
use super::panels::about_word;
use super::state::{Tab, WindowState};
use super::text::text;
use super::theme::{Palette, strong};
use crate::base::monotonic_nanos;
use crate::session::{ChildState, LogLevel, LogLine, SessionView};

/// More are not shown at a time; the newest ones stay.
const MOST: usize = 3;
/// Height of one, and the gap below it, in points.
const HEIGHT: f32 = 28.0;
const SPACE: f32 = 4.0;
/// How long one is shown.
const WARNING_NANOS: u64 = 8_000_000_000;
const ERROR_NANOS: u64 = 15_000_000_000;

/// The lines of the log that are shown outside of it.
#[derive(Default)]
pub(super) struct Toasts {
    /// Lines up to this time have been looked at.
    seen_nanos: u64,
    shown: Vec<Toast>,
}

struct Toast {
    line: LogLine,
    until_nanos: u64,
}

impl Toasts {
    /// Nothing of what the log has already is shown.
    pub(super) fn after(view: &SessionView) -> Self {
        Self {
            seen_nanos: newest_nanos(view),
            shown: Vec::new(),
        }
    }

    /// Takes new warnings and errors that are not on screen, and drops old ones.
    pub(super) fn update(&mut self, view: &SessionView, open: Tab, solo: Option<&str>) {
        let now = monotonic_nanos();
        self.shown.retain(|toast| toast.until_nanos > now);
        if open == Tab::Log {
            self.shown.clear();
        }
        let new = view
            .log
            .iter()
            .filter(|line| line.at_nanos > self.seen_nanos);
        for line in new {
            let nanos = match line.level {
                LogLevel::Info => continue,
                LogLevel::Warning => WARNING_NANOS,
                LogLevel::Error => ERROR_NANOS,
            };
            let again = self
                .shown
                .iter()
                .any(|toast| toast.line.about == line.about && toast.line.message == line.message);
            if open == Tab::Log || again || is_on_screen(view, line, solo) {
                continue;
            }
            self.shown.push(Toast {
                line: line.clone(),
                until_nanos: now + nanos,
            });
        }
        self.seen_nanos = self.seen_nanos.max(newest_nanos(view));
        let spare = self.shown.len().saturating_sub(MOST);
        self.shown.drain(..spare);
    }

    /// How long until one of them goes; `None` where there is none.
    pub(super) fn until_next(&self) -> Option<Duration> {
        let first = self.shown.iter().map(|toast| toast.until_nanos).min()?;
        Some(Duration::from_nanos(
            first.saturating_sub(monotonic_nanos()),
        ))
    }

    /// Height of all of them, in points; 0 where there is none.
    pub(super) fn height(&self) -> f32 {
        self.shown.len() as f32 * (HEIGHT + SPACE)
    }
}

/// Lines come from several threads, so that the last one need not be the newest.
fn newest_nanos(view: &SessionView) -> u64 {
    let times = view.log.iter().map(|line| line.at_nanos);
    times.max().unwrap_or(0)
}

/// Whether a tile, or the place of the source, says the same.
fn is_on_screen(view: &SessionView, line: &LogLine, solo: Option<&str>) -> bool {
    let says = |child: &ChildState| match child {
        ChildState::Failed(problem) => line.message.contains(&problem.message),
        ChildState::Restarting { cause, .. } => line.message.contains(cause.as_str()),
        _ => false,
    };
    if line.about == "source" {
        return says(&view.source.child);
    }
    let mut models = view.models.iter();
    let model = models.find(|model| model.spec.name == line.about);
    model.is_some_and(|model| solo.is_none_or(|solo| solo == model.spec.name) && says(&model.child))
}

/// The strip: a line for each, with its level in words.
pub(super) fn toasts_ui(ui: &mut Ui, state: &mut WindowState, commands: &CommandSender) {
    ui.spacing_mut().item_spacing.y = SPACE;
    let mut dismissed = None;
    for (place, toast) in state.toasts.shown.iter().enumerate() {
        if toast_ui(ui, place, toast, commands) {
            dismissed = Some(place);
        }
    }
    if let Some(place) = dismissed {
        state.toasts.shown.remove(place);
    }
}

/// Returns whether it is dismissed.
fn toast_ui(ui: &mut Ui, place: usize, toast: &Toast, commands: &CommandSender) -> bool {
    let (palette, words) = (Palette::of(ui), &text().log);
    let (word, color) = match toast.line.level {
        LogLevel::Error => (words.error, palette.bad),
        _ => (words.warning, palette.warning),
    };
    let line = &toast.line;
    let whole = Vec2::new(ui.available_width(), HEIGHT);
    let (_, row) = ui.allocate_space(whole);
    let stroke = Stroke::new(1.0, color);
    ui.painter()
        .rect(row, 6.0, palette.card, stroke, StrokeKind::Inside);
    let mut dismissed = false;
    let inner = UiBuilder::new()
        .id_salt(("toast", place, line.at_nanos))
        .max_rect(row.shrink2(vec2(10.0, 2.0)))
        .layout(Layout::right_to_left(Align::Center));
    ui.scope_builder(inner, |ui| {
        ui.spacing_mut().interact_size.y = 22.0;
        ui.spacing_mut().button_padding.y = 1.0;
        let name = (words.dismiss_of)(&line.message);
        let button = ui.button(words.dismiss);
        button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        dismissed = button.clicked();
        let log = UiCommand::ShowLogOf(line.about.clone());
        if ui.button(log.text()).on_hover_text(log.tooltip()).clicked() {
            commands.send(log);
            dismissed = true;
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.label(strong(word).color(color));
            ui.label(strong(about_word(&line.about)));
            let message = ui.add(Label::new(line.message.as_str()).truncate());
            ui.ctx().accesskit_node_builder(message.id, |node| {
                node.set_role(AccessRole::Alert);
                node.set_label(format!("{word}: {}", line.message));
                node.set_live(Live::Polite);
            });
            if let Some(hint) = &line.hint {
                message.on_hover_text(hint);
            }
        });
    });
    dismissed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Problem;

    fn line(at_nanos: u64, level: LogLevel, message: &str) -> LogLine {
        LogLine {
            at_nanos,
            level,
            about: "source".to_owned(),
            message: message.to_owned(),
            hint: None,
        }
    }

    fn messages(toasts: &Toasts) -> Vec<&str> {
        let shown = toasts.shown.iter();
        shown.map(|toast| toast.line.message.as_str()).collect()
    }

    #[test]
    fn the_three_newest_warnings_and_errors_are_shown_once() {
        let mut view = SessionView {
            log: vec![line(1, LogLevel::Error, "old")].into(),
            ..Default::default()
        };
        let mut toasts = Toasts::after(&view);
        toasts.update(&view, Tab::Latency, None);
        assert!(toasts.shown.is_empty());
        view.log = vec![
            line(1, LogLevel::Error, "old"),
            line(2, LogLevel::Warning, "a"),
            line(3, LogLevel::Info, "b"),
            line(4, LogLevel::Warning, "c"),
            line(5, LogLevel::Warning, "c"),
            line(6, LogLevel::Error, "d"),
            line(7, LogLevel::Error, "e"),
        ]
        .into();
        toasts.update(&view, Tab::Latency, None);
        assert_eq!(messages(&toasts), ["c", "d", "e"]);
        toasts.update(&view, Tab::Latency, None);
        assert_eq!(messages(&toasts), ["c", "d", "e"]);
        toasts.update(&view, Tab::Log, None);
        assert!(toasts.shown.is_empty(), "the log is on screen");
    }

    #[test]
    fn what_is_on_screen_already_is_not_said_again() {
        let mut view = SessionView::default();
        let mut toasts = Toasts::after(&view);
        view.source.child = ChildState::Failed(Problem {
            code: "source_open".to_owned(),
            message: "no such folder".to_owned(),
            hint: None,
        });
        view.log = vec![
            line(1, LogLevel::Error, "no such folder"),
            line(2, LogLevel::Warning, "something else"),
        ]
        .into();
        toasts.update(&view, Tab::Latency, None);
        assert_eq!(messages(&toasts), ["something else"]);
    }
}
