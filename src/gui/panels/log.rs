use egui::{
    Align, ComboBox, Label, Layout, Response, RichText, ScrollArea, TextEdit, TextStyle, Ui, Vec2,
};

use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::format;
use crate::gui::icon::{Icon, icon_area};
use crate::gui::state::LogFilter;
use crate::gui::text::text;
use crate::gui::theme::{Palette, strong};
use crate::session::{LogLevel, LogLine, SessionView};

/// Widths of the columns before the message, in points.
const COPY_WIDTH: f32 = 18.0;
const TIME_WIDTH: f32 = 64.0;
const LEVEL_WIDTH: f32 = 52.0;
const ABOUT_WIDTH: f32 = 96.0;

/// The session's log with its filter.
pub(super) fn log_ui(
    ui: &mut Ui,
    view: &SessionView,
    filter: &mut LogFilter,
    commands: &CommandSender,
) {
    filter_ui(ui, view, filter, commands);
    ui.add_space(2.0);
    let rows = rows(view, filter);
    if rows.is_empty() {
        let words = &text().log;
        let nothing = if view.log.is_empty() {
            words.nothing
        } else {
            words.nothing_passes
        };
        ui.label(RichText::new(nothing).color(Palette::of(ui).weak));
        return;
    }
    let height = ui.text_style_height(&TextStyle::Body) + 2.0;
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.spacing_mut().interact_size.y = height;
    let mut area = ScrollArea::vertical()
        .id_salt("log")
        .auto_shrink(false)
        .stick_to_bottom(true);
    if std::mem::take(&mut filter.to_the_end) {
        // More than there is: the area stops at its end, and follows it again.
        area = area.vertical_scroll_offset(rows.len() as f32 * (height + 2.0));
    }
    let shown = area.show_rows(ui, height, rows.len(), |ui, range| {
        for row in &rows[range] {
            row_ui(ui, row, view.started_nanos, height, commands);
        }
    });
    let below = shown.content_size.y - shown.inner_rect.height() - shown.state.clamped_offset().y;
    filter.is_behind = below > height;
}

fn filter_ui(ui: &mut Ui, view: &SessionView, filter: &mut LogFilter, commands: &CommandSender) {
    let words = &text().log;
    ui.horizontal(|ui| {
        level_ui(ui, filter);
        process_ui(ui, view, filter);
        let field = ui.add(
            TextEdit::singleline(&mut filter.text)
                .hint_text(words.filter)
                .margin(egui::Margin::symmetric(8, 6))
                .desired_width(180.0),
        );
        name_field(&field, words.filter);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let copy = UiCommand::CopyLog;
            let button = ui.button(copy.text()).on_hover_text(copy.tooltip());
            if button.clicked() {
                commands.send(copy);
            }
            if filter.is_behind && ui.button(words.to_the_end).clicked() {
                filter.to_the_end = true;
            }
        });
    });
}

fn level_ui(ui: &mut Ui, filter: &mut LogFilter) {
    let words = &text().log;
    let levels = [
        (LogLevel::Info, words.all_levels),
        (LogLevel::Warning, words.warnings),
        (LogLevel::Error, words.errors),
    ];
    let chosen = levels
        .iter()
        .find(|(level, _)| *level == filter.lowest)
        .map_or("", |(_, word)| *word);
    let field = ComboBox::from_id_salt("level")
        .selected_text(chosen)
        .width(150.0)
        .show_ui(ui, |ui| {
            for (level, word) in levels {
                ui.selectable_value(&mut filter.lowest, level, word);
            }
        })
        .response
        .on_hover_text(words.lowest_level);
    name_field(&field, words.lowest_level);
}

fn process_ui(ui: &mut Ui, view: &SessionView, filter: &mut LogFilter) {
    let words = &text().log;
    let name_of = |about: Option<&str>| {
        let name = about.map_or(words.all_processes, about_word);
        format::elide_middle(name, 24)
    };
    let models = view.models.iter().map(|model| model.spec.name.as_str());
    let all: Vec<&str> = ["session", "source"].into_iter().chain(models).collect();
    let field = ComboBox::from_id_salt("process")
        .selected_text(name_of(filter.about.as_deref()))
        .width(120.0)
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut filter.about, None, name_of(None));
            for about in all {
                let value = Some(about.to_owned());
                ui.selectable_value(&mut filter.about, value, name_of(Some(about)));
            }
        })
        .response
        .on_hover_text(words.process);
    name_field(&field, words.process);
}

/// Names a field for assistive technology: egui says its value only.
fn name_field(field: &Response, name: &str) {
    field
        .ctx
        .accesskit_node_builder(field.id, |node| node.set_label(name));
}

/// What a line is about, in words: the name of a model is as the user gave it.
pub(in crate::gui) fn about_word(about: &str) -> &str {
    let words = &text().log;
    match about {
        "session" => words.of_session,
        "source" => words.of_source,
        name => name,
    }
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

fn row_ui(ui: &mut Ui, row: &Row<'_>, started_nanos: u64, height: f32, commands: &CommandSender) {
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
            let words = &text().log;
            let (word, color) = match line.level {
                LogLevel::Info => (words.info, palette.weak),
                LogLevel::Warning => (words.warning, palette.warning),
                LogLevel::Error => (words.error, palette.bad),
            };
            let seconds = seconds_since(line, started_nanos);
            let (_, place) = ui.allocate_space(Vec2::new(COPY_WIDTH, height));
            let name = format!("{}: {}", words.copy_line, line.message);
            let copy = icon_area(ui, Icon::Copy, place, &name, None);
            if copy.on_hover_text(words.copy_line).clicked() {
                commands.send(UiCommand::CopyText(line_text(line, started_nanos)));
            }
            let time = RichText::new(format!("{seconds:9.3}")).monospace();
            column(ui, TIME_WIDTH, time.color(palette.weak));
            column(ui, LEVEL_WIDTH, RichText::new(word).color(color));
            column(ui, ABOUT_WIDTH, strong(about_word(&line.about)));
            let message = RichText::new(line.message.as_str());
            ui.add(Label::new(message).truncate().selectable(true));
        }
        Row::Hint(hint) => {
            let columns = COPY_WIDTH + TIME_WIDTH + LEVEL_WIDTH + ABOUT_WIDTH;
            ui.add_space(columns + 4.0 * ui.spacing().item_spacing.x);
            let hint = RichText::new(format!("→ {hint}")).color(palette.weak);
            ui.add(Label::new(hint).truncate().selectable(true));
        }
    });
}

fn seconds_since(line: &LogLine, started_nanos: u64) -> f64 {
    line.at_nanos.saturating_sub(started_nanos) as f64 / 1e9
}

/// The lines that pass the filter as text, one a line.
pub(in crate::gui) fn log_text(view: &SessionView, filter: &LogFilter) -> String {
    let lines = view.log.iter().filter(|line| filter.passes(line));
    lines
        .map(|line| line_text(line, view.started_nanos) + "\n")
        .collect()
}

/// A line as it is copied: in English, as it is for whoever reads a report.
fn line_text(line: &LogLine, started_nanos: u64) -> String {
    let level = match line.level {
        LogLevel::Info => "info",
        LogLevel::Warning => "warning",
        LogLevel::Error => "error",
    };
    let seconds = seconds_since(line, started_nanos);
    let hint = line.hint.as_ref().map(|hint| format!(" ({hint})"));
    format!(
        "{seconds:.3} {level} {}: {}{}",
        line.about,
        line.message,
        hint.unwrap_or_default()
    )
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
        filter.text.clear();
        filter.about = Some("session".to_owned());
        assert_eq!(
            log_text(&view, &filter),
            "2.500 info session: Ring of 12 MB\n"
        );
        filter.about = None;
        filter.text = "ring".to_owned();
        filter.lowest = LogLevel::Warning;
        assert_eq!(log_text(&view, &filter), "");
    }
}
