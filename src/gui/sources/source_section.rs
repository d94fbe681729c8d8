use egui::{Key, Label, RichText, TextEdit, Ui};

use super::panel::heading;
use super::{Purpose, Side, SideCommand, strings};
use crate::base::unescape_path;
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::format;
use crate::gui::text::text;
use crate::gui::theme::Palette;
use crate::session::{ChildState, SessionView};

/// The address in force, a field for another one, the picker, recent sources.
pub(super) fn source_section_ui(
    ui: &mut Ui,
    view: &SessionView,
    side: &mut Side,
    commands: &CommandSender,
) {
    let palette = Palette::of(ui);
    heading(ui, strings::SOURCE);
    let uri = view.source.uri.as_str();
    if uri.is_empty() {
        ui.label(RichText::new(strings::NO_SOURCE).color(palette.weak));
    } else {
        let letters = (ui.available_width() / 7.0) as usize;
        ui.add(Label::new(format::elide_middle(uri, letters.max(8))).truncate())
            .on_hover_text(uri);
    }
    if let ChildState::Failed(problem) = &view.source.child {
        ui.add(Label::new(RichText::new(&problem.message).color(palette.bad)).wrap());
    }
    ui.add_space(4.0);
    let send = |command| commands.send(UiCommand::Side(command));
    let field = TextEdit::singleline(&mut side.address)
        .hint_text(strings::ADDRESS_HINT)
        .desired_width(f32::INFINITY);
    let field = ui.add(field);
    field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, strings::ADDRESS));
    if field.changed() {
        side.address_error = None;
    }
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if let Some(error) = side.address_error {
        ui.label(RichText::new(error).color(palette.bad));
    }
    ui.horizontal(|ui| {
        let clicked = ui
            .button(strings::USE)
            .on_hover_text(strings::USE_TIP)
            .clicked();
        if clicked || entered {
            send(SideCommand::SetSource(side.address.clone()));
        }
        let pick = UiCommand::Side(SideCommand::Pick(Purpose::Source));
        let button = ui.button(text().side.open);
        if button.on_hover_text(pick.tooltip_with_key()).clicked() {
            commands.send(pick);
        }
        let recent = &side.keeper.settings().recent_sources;
        ui.add_enabled_ui(!recent.is_empty(), |ui| {
            ui.menu_button(strings::RECENT, |ui| {
                for address in recent {
                    if ui.button(format::elide_middle(address, 60)).clicked() {
                        send(SideCommand::SetSource(address.clone()));
                        ui.close();
                    }
                }
            });
        });
    });
}

/// Opening and saving sessions.
pub(super) fn session_section_ui(ui: &mut Ui, side: &Side, commands: &CommandSender) {
    heading(ui, strings::SESSION);
    ui.horizontal(|ui| {
        for purpose in [Purpose::Session, Purpose::Save] {
            let command = UiCommand::Side(SideCommand::Pick(purpose));
            let button = ui.button(command.text());
            if button.on_hover_text(command.tooltip_with_key()).clicked() {
                commands.send(command);
            }
        }
    });
    let recent = &side.keeper.settings().recent_sessions;
    ui.horizontal(|ui| {
        ui.add_enabled_ui(!recent.is_empty(), |ui| {
            ui.menu_button(strings::RECENT_SESSIONS, |ui| {
                for file in recent {
                    if ui.button(format::elide_middle(file, 60)).clicked() {
                        let file = unescape_path(file);
                        commands.send(UiCommand::Side(SideCommand::OpenSession(file)));
                        ui.close();
                    }
                }
            });
        });
    });
}
