use egui::{Align, Frame, Label, Layout, Margin, Panel, ScrollArea, Stroke, Ui};

use super::source_section::{session_section_ui, source_section_ui};
use super::{Side, SideCommand, strings};
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::models::models_ui;
use crate::gui::theme::{CARD_RADIUS, GAP, PADDING, Palette, strong};
use crate::session::SessionView;

/// Width of the panel at first, in points.
const WIDTH: f32 = 336.0;
/// Width that the tiles and the timeline keep where the window has it, in points.
const TILES_WIDTH: f32 = 540.0;

/// The panel at the left, where it is open.
pub(in crate::gui) fn side_panel_ui(
    ui: &mut Ui,
    view: &SessionView,
    side: &mut Side,
    commands: &CommandSender,
) {
    if !side.open {
        return;
    }
    let palette = Palette::of(ui);
    let most = (ui.available_width() - TILES_WIDTH).max(240.0);
    let gap = GAP as i8;
    Panel::left("source and models")
        .resizable(true)
        .default_size(WIDTH.min(most))
        .size_range(240.0..=most.min(560.0))
        .show_separator_line(false)
        .frame(Frame::new().inner_margin(Margin {
            left: gap,
            right: 0,
            top: gap,
            bottom: gap,
        }))
        .show(ui, |ui| {
            Frame::new()
                .fill(palette.card)
                .stroke(Stroke::new(1.0, palette.line))
                .corner_radius(CARD_RADIUS)
                .inner_margin(Margin::same(PADDING as i8))
                .show(ui, |ui| {
                    ui.set_min_size(ui.available_size());
                    ScrollArea::vertical()
                        .auto_shrink(false)
                        .show(ui, |ui| contents_ui(ui, view, side, commands));
                });
        });
}

fn contents_ui(ui: &mut Ui, view: &SessionView, side: &mut Side, commands: &CommandSender) {
    notice_ui(ui, side, commands);
    source_section_ui(ui, view, side, commands);
    ui.add_space(GAP);
    ui.separator();
    models_ui(ui, view, &mut side.models, commands);
    ui.add_space(GAP);
    ui.separator();
    session_section_ui(ui, side, commands);
}

/// A heading of the panel.
pub(in crate::gui) fn heading(ui: &mut Ui, text: &str) {
    ui.label(strong(text).size(13.0).color(Palette::of(ui).weak));
}

fn notice_ui(ui: &mut Ui, side: &Side, commands: &CommandSender) {
    let Some(notice) = &side.notice else {
        return;
    };
    let palette = Palette::of(ui);
    let color = if notice.is_bad {
        palette.bad
    } else {
        palette.accent
    };
    Frame::new()
        .fill(color.gamma_multiply(0.14))
        .corner_radius(6)
        .inner_margin(Margin::symmetric(10, 6))
        .show(ui, |ui| {
            ui.add(Label::new(notice.text.as_str()).wrap());
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let mut button = |text: &str, command: SideCommand| {
                    if ui.button(text).clicked() {
                        commands.send(UiCommand::Side(command));
                    }
                };
                button(strings::DISMISS, SideCommand::Dismiss);
                if notice.undo {
                    button(strings::UNDO, SideCommand::UndoRemove);
                }
            });
        });
    ui.add_space(GAP);
}
