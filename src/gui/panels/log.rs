use egui::{Align, ComboBox, Label, Layout, RichText, ScrollArea, TextEdit, TextStyle, Ui, Vec2};

use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::state::LogFilter;
use crate::gui::theme::{Palette, strong};
use crate::session::{LogLevel, LogLine, SessionView};

const LEVELS: [(LogLevel, &str); 3] = [
    (LogLevel::Info, "All levels"),
    (LogLevel::Warning, "Warnings and errors"),
    (LogLevel::Error, "Errors"),
];

/// The session's log with its filter.
pub(super) fn log_ui(
    ui: &mut Ui,
    view: &SessionView,
    filter: &mut LogFilter,
    commands: &CommandSender,
) {
    filter_ui(ui, filter, commands);
    ui.add_space(2.0);
    let rows = rows(view, filter);
    if rows.is_empty() {
        let text = if view.log.is_empty() {
            "Nothing to report."
        } else {
            "No line passes the filter."
        };
        ui.label(RichText::new(text).color(Palette::of(ui).weak));
        return;
    }
    let height = ui.text_style_height(&TextStyle::Body) + 2.0;
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.spacing_mut().interact_size.y = height;
    ScrollArea::vertical()
        .auto_shrink(false)
        .stick_to_bottom(true)
        .show_rows(ui, height, rows.len(), |ui, range| {
            for row in &rows[range] {
                row_ui(ui, row, view.started_nanos, height);
            }
        });
}

fn filter_ui(ui: &mut Ui, filter: &mut LogFilter, commands: &CommandSender) {
    ui.horizontal(|ui| {
        let chosen = LEVELS
            .iter()
            .find(|(level, _)| *level == filter.lowest)
            .map_or("", |(_, text)| *text);
        ComboBox::from_id_salt("level")
            .selected_text(chosen)
            .width(160.0)
            .show_ui(ui, |ui| {
                for (level, text) in LEVELS {
                    ui.selectable_value(&mut filter.lowest, level, text);
                }
            })
            .response
            .on_hover_text("Lowest level shown");
        ui.add(
            TextEdit::singleline(&mut filter.text)
                .hint_text("Filter by text or process")
                .margin(egui::Margin::symmetric(8, 6))
                .desired_width(220.0),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let copy = UiCommand::CopyLog;
            if ui
                .button(copy.text())
                .on_hover_text(copy.tooltip())
                .clicked()
            {
                commands.send(copy);
            }
        });
    });
}

/// A line of the list: rows are of one height, so that only visible ones are laid out.
enum Row<'a> {
    Line(&'a LogLine),
    Hint(&'a str),
}

fn rows<'a>(view: &'a SessionView, filter: &LogFilter) -> Vec<Row<'a>> {
    let shown = view.log.iter().filter(|line| filter.passes(line));
    shown
        .flat_map(|line| {
            let hint = line.hint.as_deref().map(Row::Hint);
            std::iter::once(Row::Line(line)).chain(hint)
        })
        .collect()
}

fn row_ui(ui: &mut Ui, row: &Row<'_>, started_nanos: u64, height: f32) {
    let palette = Palette::of(ui);
    let column = |ui: &mut Ui, width: f32, text: RichText| {
        let layout = Layout::left_to_right(Align::Center);
        ui.allocate_ui_with_layout(Vec2::new(width, height), layout, |ui| {
            ui.set_width(width);
            ui.add(Label::new(text).truncate());
        });
    };
    ui.horizontal(|ui| match row {
        Row::Line(line) => {
            let (word, color) = match line.level {
                LogLevel::Info => ("info", palette.weak),
                LogLevel::Warning => ("warning", palette.warning),
                LogLevel::Error => ("error", palette.bad),
            };
            let seconds = seconds_since(line, started_nanos);
            column(
                ui,
                64.0,
                RichText::new(format!("{seconds:9.3}"))
                    .monospace()
                    .color(palette.weak),
            );
            column(ui, 52.0, RichText::new(word).color(color));
            column(ui, 96.0, strong(line.about.as_str()));
            let message = RichText::new(line.message.as_str());
            ui.add(Label::new(message).truncate().selectable(true));
        }
        Row::Hint(hint) => {
            ui.add_space(64.0 + 52.0 + 96.0 + 3.0 * ui.spacing().item_spacing.x);
            let text = RichText::new(format!("→ {hint}")).color(palette.weak);
            ui.add(Label::new(text).truncate().selectable(true));
        }
    });
}

fn seconds_since(line: &LogLine, started_nanos: u64) -> f64 {
    line.at_nanos.saturating_sub(started_nanos) as f64 / 1e9
}

/// The lines that pass the filter as text, one a line.
pub(in crate::gui) fn log_text(view: &SessionView, filter: &LogFilter) -> String {
    let mut text = String::new();
    for line in view.log.iter().filter(|line| filter.passes(line)) {
        let level = match line.level {
            LogLevel::Info => "info",
            LogLevel::Warning => "warning",
            LogLevel::Error => "error",
        };
        let seconds = seconds_since(line, view.started_nanos);
        text.push_str(&format!(
            "{seconds:.3} {level} {}: {}",
            line.about, line.message
        ));
        if let Some(hint) = &line.hint {
            text.push_str(&format!(" ({hint})"));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copied_log_has_the_lines_that_are_shown() {
        let line = |level, about: &str, message: &str| LogLine {
            at_nanos: 3_500_000_000,
            level,
            about: about.to_owned(),
            message: message.to_owned(),
            hint: (level == LogLevel::Error).then(|| "Export it anew".to_owned()),
        };
        let view = SessionView {
            started_nanos: 1_000_000_000,
            log: vec![
                line(LogLevel::Info, "session", "Ring of 12 MB"),
                line(LogLevel::Error, "lite0", "b.onnx: opset 99"),
            ]
            .into(),
            ..Default::default()
        };
        let mut filter = LogFilter::default();
        assert_eq!(
            log_text(&view, &filter),
            "2.500 info session: Ring of 12 MB\n2.500 error lite0: b.onnx: opset 99 (Export it anew)\n"
        );
        filter.text = "LITE".to_owned();
        assert_eq!(
            log_text(&view, &filter),
            "2.500 error lite0: b.onnx: opset 99 (Export it anew)\n"
        );
        filter.text = "ring".to_owned();
        filter.lowest = LogLevel::Warning;
        assert_eq!(log_text(&view, &filter), "");
    }
}
