use egui::{Frame, Grid, Id, Modal, ScrollArea, Ui};

use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::text::text;
use crate::gui::theme::{Palette, strong};

/// The sheet of keys; closed by its button, Escape, or a click beside it.
pub(in crate::gui) fn keys_ui(ui: &mut Ui, commands: &CommandSender) {
    let palette = Palette::of(ui);
    let frame = Frame::popup(ui.style()).inner_margin(20);
    let shown = Modal::new(Id::unique("keys"))
        .frame(frame)
        .show(ui.ctx(), |ui| {
            ui.set_width(420.0);
            ui.label(strong(text().keys.title).size(18.0));
            ui.add_space(8.0);
            let height = (ui.ctx().content_rect().height() - 160.0).max(120.0);
            ScrollArea::vertical().max_height(height).show(ui, |ui| {
                Grid::new("keys")
                    .num_columns(2)
                    .spacing([24.0, 0.0])
                    .show(ui, |ui| {
                        for command in UiCommand::with_keys() {
                            ui.label(strong(command.keys_text()).color(palette.accent));
                            ui.label(command.tooltip());
                            ui.end_row();
                        }
                    });
            });
            ui.add_space(12.0);
            ui.button(text().keys.close).clicked()
        });
    if shown.inner || shown.should_close() {
        commands.send(UiCommand::ToggleKeys);
    }
}
