use egui::{Align, Label, Layout, RichText, Ui};

use super::source_status::SourceStatus;
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::format;
use crate::gui::icon::{Icon, icon_button};
use crate::gui::pill::Pill;
use crate::gui::sources::SideCommand;
use crate::gui::text::text;
use crate::gui::theme::{Palette, strong};
use crate::protocol::{Delivery, Schedule};
use crate::session::{SessionPhase, SessionView, SourceView};

/// The source's state and address, playing controls, counters.
pub(in crate::gui) fn top_bar_ui(
    ui: &mut Ui,
    view: &SessionView,
    side_open: bool,
    commands: &CommandSender,
) {
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let side = UiCommand::Side(SideCommand::Toggle);
        icon_button(ui, Icon::Side, side.text(), Some(side_open), side, commands);
        chip_ui(ui, view);
        ui.add_space(2.0);
        controls_ui(ui, view, commands);
        ui.add_space(6.0);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (keys, theme) = (UiCommand::ToggleKeys, UiCommand::NextTheme);
            icon_button(ui, Icon::Keys, keys.text(), None, keys, commands);
            icon_button(ui, Icon::Theme, theme.text(), None, theme, commands);
            let language = UiCommand::NextLanguage;
            icon_button(
                ui,
                Icon::Language,
                language.text(),
                None,
                language,
                commands,
            );
            ui.add_space(6.0);
            counters_ui(ui, &view.source);
            ui.add_space(6.0);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                address_ui(ui, &view.source);
            });
        });
    });
}

fn chip_ui(ui: &mut Ui, view: &SessionView) {
    let status = SourceStatus::of(view);
    let word = status.text();
    let chip = Pill {
        text: &word,
        color: status.color(Palette::of(ui)),
        is_state: true,
        name: &(text().status.chip)(&word),
    };
    chip.show(ui)
        .on_hover_ui(|ui| source_details_ui(ui, &view.source));
}

fn source_details_ui(ui: &mut Ui, source: &SourceView) {
    ui.label(strong(source.uri.as_str()));
    let words = &text().top;
    let mut lines = Vec::new();
    if let Some(info) = &source.info {
        let largest = &info.largest;
        lines.push((words.largest_frame)(largest.width, largest.height));
        if let Some(entries) = info.entries {
            lines.push((words.entries)(&format::count(entries)));
        }
    }
    if let Some(waits_for) = &source.waits_for {
        lines.push((words.source_waits_for)(waits_for));
    }
    if let Some(pid) = source.pid {
        lines.push((words.producer)(pid, source.restarts));
    }
    for line in lines {
        ui.label(line);
    }
}

fn controls_ui(ui: &mut Ui, view: &SessionView, commands: &CommandSender) {
    let words = &text().top;
    let (icon, name) = match view.phase {
        SessionPhase::Paused => (Icon::Play, words.play),
        SessionPhase::Ended => (Icon::Play, words.play_again),
        _ => (Icon::Pause, words.pause),
    };
    let over = matches!(view.phase, SessionPhase::Stopping | SessionPhase::Stopped);
    ui.add_enabled_ui(!over, |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let rewind = UiCommand::Rewind;
        icon_button(ui, Icon::Rewind, rewind.text(), None, rewind, commands);
        icon_button(ui, icon, name, None, UiCommand::TogglePlay, commands);
        let step = UiCommand::Step;
        icon_button(ui, Icon::Step, step.text(), None, step, commands);
        let looping = UiCommand::ToggleLoop;
        let lit = Some(view.source.looping);
        icon_button(ui, Icon::Loop, looping.text(), lit, looping, commands);
    });
}

fn address_ui(ui: &mut Ui, source: &SourceView) {
    // About seven points a character: the end of a path says more than its beginning.
    let most = (ui.available_width() / 7.0) as usize;
    let position = source.newest.as_ref().map(|frame| &frame.position);
    let mut text = format::elide_middle(&source.uri, most.max(8));
    let entries = source.info.as_ref().and_then(|info| info.entries);
    if let (Some(position), Some(entries)) = (position, entries) {
        let place = format!("   {} / {}", position.source_index + 1, entries);
        if text.chars().count() + place.chars().count() <= most {
            text.push_str(&place);
        }
    }
    ui.add(Label::new(RichText::new(text).color(Palette::of(ui).weak)).truncate())
        .on_hover_text(source.uri.as_str());
}

/// Right to left: rate, skipped, published, how frames are delivered.
fn counters_ui(ui: &mut Ui, source: &SourceView) {
    let palette = Palette::of(ui);
    let words = &text().top;
    let weak = |text: &str| RichText::new(text).color(palette.weak);
    ui.spacing_mut().item_spacing.x = 4.0;
    let rate = source
        .frames_per_second
        .map_or_else(|| "–".to_owned(), format::rate);
    ui.label(weak(words.rate_unit));
    ui.label(strong(rate)).on_hover_text(words.rate_meaning);
    ui.add_space(8.0);
    if source.skipped > 0 {
        ui.label(weak(words.skipped));
        ui.label(strong(format::count(source.skipped)).color(palette.warning))
            .on_hover_text(words.skipped_meaning);
        ui.add_space(8.0);
    }
    ui.label(weak(&(words.frames)(source.published)));
    ui.label(strong(format::count(source.published)))
        .on_hover_text(words.frames_meaning);
    if let Some(delivery) = source.delivery {
        ui.add_space(8.0);
        delivery_ui(ui, delivery, source.schedule);
    }
}

fn delivery_ui(ui: &mut Ui, delivery: Delivery, schedule: Schedule) {
    let words = &text().top;
    let (word, meaning) = match delivery {
        Delivery::Every => (words.every, words.every_meaning),
        Delivery::Live => (words.live, words.live_meaning),
    };
    let taking = match schedule {
        Schedule::Turns => words.turns_meaning,
        Schedule::Together => words.together_meaning,
    };
    let pill = Pill {
        text: word,
        color: Palette::of(ui).weak,
        is_state: false,
        name: word,
    };
    pill.show(ui).on_hover_text(format!("{meaning}\n{taking}"));
}
