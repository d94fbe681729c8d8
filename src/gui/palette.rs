//! The command palette: every command by its name, in each language of the window.

use egui::{
    Align2, Button, Frame, Id, Key, Label, Modal, Modifiers, RichText, ScrollArea, TextEdit, Ui,
    vec2,
};
use frizbee::{CaseMatching, Config, Matcher};

use super::command::{CommandSender, UiCommand};
use super::text::{Language, text};
use super::theme::{Palette, strong};
use crate::session::{ChildState, SessionView};

/// Width of the palette, and height of its list, in points.
const WIDTH: f32 = 520.0;
const LIST_HEIGHT: f32 = 320.0;

/// The open palette.
#[derive(Default)]
pub(super) struct CommandPalette {
    query: String,
    chosen: usize,
}

/// A command that can be chosen.
struct Entry {
    command: UiCommand,
    /// Its name in the language of the window, and in the others.
    names: Vec<String>,
}

impl Entry {
    fn new(command: UiCommand, spoken: Language) -> Self {
        let others = Language::ALL.into_iter().filter(|other| *other != spoken);
        let names = std::iter::once(spoken)
            .chain(others)
            .map(|language| command.full_name_in(language.strings()))
            .collect();
        Self { command, names }
    }
}

/// All commands that mean something now, in the order of the keys' sheet, then those of each model.
fn entries(view: &SessionView, spoken: Language) -> Vec<Entry> {
    let general = UiCommand::with_keys()
        .filter(|command| !matches!(command, UiCommand::Solo(_) | UiCommand::TogglePalette))
        .chain([
            UiCommand::CopyLog,
            UiCommand::ToggleMotion,
            UiCommand::RestartSource,
        ]);
    let of_models = view.models.iter().flat_map(|model| {
        let name = || model.spec.name.clone();
        [
            UiCommand::SoloOf(name()),
            match model.child {
                ChildState::Paused => UiCommand::ResumeModel(name()),
                _ => UiCommand::PauseModel(name()),
            },
            UiCommand::RestartModel(name()),
            UiCommand::RemoveModel(name()),
            UiCommand::SaveRepro(name()),
            UiCommand::ShowLogOf(name()),
        ]
    });
    general
        .chain(of_models)
        .map(|command| Entry::new(command, spoken))
        .collect()
}

/// The entries that match, best first; all of them where nothing is asked for.
fn matching(entries: Vec<Entry>, query: &str) -> Vec<Entry> {
    if query.trim().is_empty() {
        return entries;
    }
    let mut matcher = Matcher::from_query(query, &Config::default().casing(CaseMatching::Ignore));
    let mut found: Vec<(u16, Entry)> = entries
        .into_iter()
        .filter_map(|entry| {
            let matches = matcher.match_list(&entry.names);
            let best = matches.iter().map(|found| found.score).max()?;
            Some((best, entry))
        })
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// Paints the palette, with the text field focused; arrows choose, Enter runs, Escape closes.
pub(super) fn palette_ui(
    ui: &mut Ui,
    view: &SessionView,
    language: Language,
    palette: &mut CommandPalette,
    commands: &CommandSender,
) {
    let found = matching(entries(view, language), &palette.query);
    let steps = ui.input_mut(|input| {
        let down = input.count_and_consume_key(Modifiers::NONE, Key::ArrowDown);
        let up = input.count_and_consume_key(Modifiers::NONE, Key::ArrowUp);
        down as isize - up as isize
    });
    let last = found.len().saturating_sub(1);
    palette.chosen = palette.chosen.saturating_add_signed(steps).min(last);
    let mut run = ui
        .input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter))
        .then_some(palette.chosen);
    let frame = Frame::popup(ui.style()).inner_margin(12);
    let area =
        Modal::default_area(Id::unique("palette")).anchor(Align2::CENTER_TOP, vec2(0.0, 64.0));
    let shown = Modal::new(Id::unique("palette"))
        .area(area)
        .frame(frame)
        .show(ui.ctx(), |ui| {
            ui.set_width(WIDTH.min(ui.ctx().content_rect().width() - 60.0));
            query_ui(ui, palette);
            ui.add_space(6.0);
            if found.is_empty() {
                let nothing = RichText::new(text().keys.nothing_found);
                ui.label(nothing.color(Palette::of(ui).weak));
            }
            ScrollArea::vertical()
                .max_height(LIST_HEIGHT)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    for (place, entry) in found.iter().enumerate() {
                        let chosen = place == palette.chosen;
                        if entry_ui(ui, entry, chosen, chosen && steps != 0) {
                            run = Some(place);
                        }
                    }
                });
        });
    let ran = run.and_then(|place| found.get(place));
    if let Some(entry) = ran {
        commands.send(entry.command.clone());
    }
    if ran.is_some() || shown.should_close() {
        commands.send(UiCommand::TogglePalette);
    }
}

fn query_ui(ui: &mut Ui, palette: &mut CommandPalette) {
    let hint = text().keys.search;
    let field = ui.add(
        TextEdit::singleline(&mut palette.query)
            .hint_text(hint)
            .margin(egui::Margin::symmetric(8, 6))
            .desired_width(f32::INFINITY),
    );
    ui.ctx()
        .accesskit_node_builder(field.id, |node| node.set_label(hint));
    field.request_focus();
    if field.changed() {
        palette.chosen = 0;
    }
}

/// A row: name, name in the other language, keys. Returns whether it was clicked.
fn entry_ui(ui: &mut Ui, entry: &Entry, chosen: bool, scroll: bool) -> bool {
    let weak = Palette::of(ui).weak;
    let [name, others @ ..] = entry.names.as_slice() else {
        return false;
    };
    let keys = entry.command.keys_text();
    let row = ui.horizontal(|ui| {
        let clicked = ui.add(Button::selectable(chosen, name.as_str())).clicked();
        ui.add(Label::new(RichText::new(others.join(" · ")).color(weak)).truncate());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(strong(keys).color(Palette::of(ui).accent));
        });
        clicked
    });
    if scroll {
        row.response.scroll_to_me(None);
    }
    row.inner
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(query: &str, spoken: Language) -> Option<UiCommand> {
        let view = SessionView::default();
        let mut found = matching(entries(&view, spoken), query).into_iter();
        found.next().map(|entry| entry.command)
    }

    #[test]
    fn commands_are_found_by_parts_of_their_names_in_either_language() {
        for spoken in Language::ALL {
            assert_eq!(best("plpau", spoken), Some(UiCommand::TogglePlay));
            assert_eq!(best("LOG", spoken), Some(UiCommand::ShowLog));
            assert_eq!(best("主题", spoken), Some(UiCommand::NextTheme));
            assert_eq!(best("进程", spoken), Some(UiCommand::ShowProcesses));
            assert_eq!(best("zzzz", spoken), None);
        }
    }
}
