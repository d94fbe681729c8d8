use egui::{
    Align, Align2, Frame, Label, Layout, Margin, Rect, RichText, ScrollArea, Stroke, Ui, UiBuilder,
    Vec2,
};

use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::state::WindowState;
use crate::gui::theme::{CARD_RADIUS, GAP, PADDING, Palette, strong};
use crate::gui::tile::{TileContext, tile_ui};
use crate::protocol::Problem;
use crate::session::{ChildState, ModelView, SessionView};

/// Tiles are not made lower than this; the grid scrolls instead. In points.
const LOWEST_TILE: f32 = 230.0;
/// Width to height that a tile looks best in.
const BEST_ASPECT: f32 = 1.5;

/// The tiles, or what to do when there are none.
pub(in crate::gui) fn center_ui(
    ui: &mut Ui,
    view: &SessionView,
    state: &mut WindowState,
    commands: &CommandSender,
) {
    if let ChildState::Failed(problem) = &view.source.child {
        source_failed_ui(ui, problem, commands);
    }
    if view.models.is_empty() {
        no_model_ui(ui);
        return;
    }
    let solo = state.solo.as_deref();
    let shown: Vec<(usize, &ModelView)> = view
        .models
        .iter()
        .enumerate()
        .filter(|(_, model)| solo.is_none_or(|name| name == model.spec.name))
        .collect();
    let area = ui.available_size();
    let columns = columns(shown.len(), area);
    let rows = shown.len().div_ceil(columns);
    let side = |length: f32, parts: usize| (length - GAP * (parts - 1) as f32) / parts as f32;
    let height = side(area.y, rows).max(LOWEST_TILE);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let total = height * rows as f32 + GAP * (rows - 1) as f32;
        let width = side(ui.available_width(), columns);
        let (grid, _) =
            ui.allocate_exact_size(Vec2::new(ui.available_width(), total), egui::Sense::hover());
        for (place, (number, model)) in shown.into_iter().enumerate() {
            let (row, column) = (place / columns, place % columns);
            let offset = Vec2::new(column as f32 * (width + GAP), row as f32 * (height + GAP));
            let rect = Rect::from_min_size(grid.min + offset, Vec2::new(width, height));
            let context = TileContext {
                number,
                model,
                phase: view.phase,
            };
            let tile = state.tiles.entry(model.spec.name.clone()).or_default();
            ui.scope_builder(
                UiBuilder::new().id_salt(&model.spec.name).max_rect(rect),
                |ui| tile_ui(ui, &context, tile, commands),
            );
        }
    });
}

/// The number of columns that gives the largest tiles; an empty place in the grid counts against
/// it.
fn columns(tiles: usize, area: Vec2) -> usize {
    let size = |columns: usize| {
        let rows = tiles.div_ceil(columns);
        let width = area.x / columns as f32;
        let height = (area.y / rows as f32).max(LOWEST_TILE);
        let empty = columns * rows - tiles;
        (width / BEST_ASPECT).min(height) * (1.0 - 0.1 * empty as f32)
    };
    (1..=tiles.max(1))
        .max_by(|&a, &b| size(a).total_cmp(&size(b)))
        .unwrap_or(1)
}

fn source_failed_ui(ui: &mut Ui, problem: &Problem, commands: &CommandSender) {
    let palette = Palette::of(ui);
    Frame::new()
        .fill(palette.card)
        .stroke(Stroke::new(1.0, palette.bad))
        .corner_radius(CARD_RADIUS)
        .inner_margin(Margin::same(PADDING as i8))
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let restart = UiCommand::RestartSource;
                    let button = ui.button("Restart source");
                    if button.on_hover_text(restart.tooltip()).clicked() {
                        commands.send(restart);
                    }
                    ui.with_layout(Layout::top_down(Align::Min), |ui| {
                        ui.label(strong("The source cannot be used").color(palette.bad));
                        ui.add(Label::new(problem.message.as_str()).wrap());
                        if let Some(hint) = &problem.hint {
                            ui.add(Label::new(RichText::new(hint).color(palette.weak)).wrap());
                        }
                    });
                });
            });
        });
    ui.add_space(GAP);
}

fn no_model_ui(ui: &mut Ui) {
    let palette = Palette::of(ui);
    let size = Vec2::new(460.0, 150.0);
    let rect = Align2::CENTER_CENTER.align_size_within_rect(size, ui.available_rect_before_wrap());
    ui.scope_builder(
        UiBuilder::new()
            .max_rect(rect)
            .layout(Layout::top_down(Align::Center)),
        |ui| {
            ui.label(strong("No model yet").size(20.0));
            ui.add_space(6.0);
            ui.label(
                RichText::new("Name at least one ONNX file when you start the program:")
                    .color(palette.weak),
            );
            ui.add_space(10.0);
            Frame::new()
                .fill(palette.card)
                .stroke(Stroke::new(1.0, palette.line))
                .corner_radius(6)
                .inner_margin(Margin::symmetric(14, 10))
                .show(ui, |ui| {
                    let command = "ringside gui --source folder:PICTURES --model MODEL.onnx";
                    ui.add(Label::new(RichText::new(command).monospace()).selectable(true));
                });
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_keep_a_good_shape() {
        let wide = Vec2::new(1600.0, 650.0);
        assert_eq!(columns(1, wide), 1);
        assert_eq!(columns(2, wide), 2);
        assert_eq!(columns(3, wide), 3);
        assert_eq!(columns(4, Vec2::new(1600.0, 700.0)), 2);
        assert_eq!(columns(2, Vec2::new(500.0, 900.0)), 1);
        assert_eq!(columns(0, wide), 1);
    }
}
