use egui::{CentralPanel, Frame, Margin, Panel, Ui};

use super::App;
use crate::gui::palette::palette_ui;
use crate::gui::panels::{bottom_ui, center_ui, keys_ui, top_bar_ui};
use crate::gui::rewind::bar_ui;
use crate::gui::sources::{drop_overlay_ui, side_panel_ui};
use crate::gui::text::{speak, text};
use crate::gui::theme::{GAP, Palette};
use crate::gui::toasts::toasts_ui;

/// Height of the top bar, in points.
const TOP_HEIGHT: f32 = 48.0;
/// Height of the bar of kept frames, in points.
const REWIND_HEIGHT: f32 = 30.0;

impl App {
    /// Paints the window.
    pub(super) fn window_ui(&mut self, ui: &mut Ui) {
        speak(self.state.language);
        let palette = Palette::of(ui);
        let (view, commands) = (&self.view, &self.commands);
        Panel::top("top")
            .exact_size(TOP_HEIGHT)
            .show_separator_line(false)
            .frame(
                Frame::new()
                    .fill(palette.card)
                    .inner_margin(Margin::symmetric(12, 0)),
            )
            .show(ui, |ui| top_bar_ui(ui, view, self.side.open, commands));
        side_panel_ui(ui, view, &mut self.side, commands);
        let height = ui.available_height();
        let margin = GAP as i8;
        Panel::bottom("bottom")
            .resizable(true)
            .default_size((height * 0.3).clamp(150.0, 280.0))
            .size_range(100.0..=(height - 160.0).max(120.0))
            .show_separator_line(false)
            .frame(Frame::new().inner_margin(Margin {
                left: margin,
                right: margin,
                top: 0,
                bottom: margin,
            }))
            .show(ui, |ui| bottom_ui(ui, view, &mut self.state, commands));
        // The handle's name is egui's own, in English.
        let handle = ui
            .scope_id()
            .with_salt(egui::IdSalt::new("bottom"))
            .with("__resize");
        ui.ctx().accesskit_node_builder(handle, |node| {
            node.set_label(text().center.resize_panel);
        });
        let toasts = self.state.toasts.height();
        if toasts > 0.0 {
            Panel::bottom("toasts")
                .exact_size(toasts)
                .show_separator_line(false)
                .frame(Frame::new().inner_margin(Margin::symmetric(margin, 0)))
                .show(ui, |ui| toasts_ui(ui, &mut self.state, commands));
        }
        Panel::bottom("rewind")
            .exact_size(REWIND_HEIGHT)
            .show_separator_line(false)
            .frame(Frame::new().inner_margin(Margin::symmetric(margin, 0)))
            .show(ui, |ui| {
                let state = &self.state;
                bar_ui(
                    ui,
                    &state.kept,
                    state.look_back,
                    state.said.as_ref(),
                    commands,
                );
            });
        self.side.runtime_ui(ui, view, commands);
        CentralPanel::no_frame()
            .frame(
                Frame::new()
                    .fill(palette.background)
                    .inner_margin(Margin::same(margin)),
            )
            .show(ui, |ui| center_ui(ui, view, &mut self.state, commands));
        self.side.picker_ui(ui);
        drop_overlay_ui(ui.ctx());
        let language = self.state.language;
        if let Some(palette) = &mut self.state.palette {
            palette_ui(ui, view, language, palette, commands);
        }
        if self.state.keys_open {
            keys_ui(ui, commands);
        }
    }
}
