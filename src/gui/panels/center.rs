use egui::{
    Align, Frame, Label, Layout, Margin, RichText, ScrollArea, Stroke, Ui, UiBuilder, Vec2,
};

use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::format;
use crate::gui::layout::LEAST_TILE;
use crate::gui::preview::TileOrder;
use crate::gui::sources::{SHORT_HEIGHT, guide_ui};
use crate::gui::state::WindowState;
use crate::gui::text::text;
use crate::gui::theme::{CARD_RADIUS, GAP, PADDING, Palette, strong};
use crate::gui::tile::{TileContext, Zoom, shared_ui, source_ui, tile_ui};
use crate::protocol::Problem;
use crate::session::{ChildState, ModelView, SessionView};

/// Width of the scroll bar and the gap before it, in points.
const BAR_WIDTH: f32 = 12.0;
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
        no_model_ui(ui, view, state, commands);
        return;
    }
    state.source_panel = [0, 0];
    let solo = state.solo.as_deref();
    let shown: Vec<(usize, &ModelView)> = view
        .models
        .iter()
        .enumerate()
        .filter(|(_, model)| solo.is_none_or(|name| name == model.spec.name))
        .collect();
    for (name, tile) in &mut state.tiles {
        // Pictures are not made for tiles that are not on screen.
        if solo.is_some_and(|solo| solo != name) {
            tile.order = TileOrder::default();
            tile.source_panel = [0, 0];
        }
    }
    let zooms = linked_zooms(state);
    if state.shared && solo.is_none() {
        let contexts: Vec<TileContext<'_>> = shown
            .iter()
            .map(|&(number, model)| TileContext {
                number,
                model,
                view,
                source: None,
                newest: state.newest,
                wheel_zooms: true,
            })
            .collect();
        let rect = ui.available_rect_before_wrap();
        ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| {
            shared_ui(ui, &contexts, &mut state.tiles);
        });
        return;
    }
    tiles_ui(ui, view, &shown, state, commands);
    link_zooms(state, &zooms);
}

/// The tiles in their layout; one alone takes all the place.
fn tiles_ui(
    ui: &mut Ui,
    view: &SessionView,
    shown: &[(usize, &ModelView)],
    state: &mut WindowState,
    commands: &CommandSender,
) {
    let names: Vec<&str> = shown
        .iter()
        .map(|(_, model)| model.spec.name.as_str())
        .collect();
    let available = ui.available_size();
    let grid = Grid::of(shown.len(), available);
    let is_alone = state.solo.is_some();
    if !is_alone {
        state.layout.arrange(&names, grid.columns);
    }
    let least = if is_alone || state.layout.is_grid() {
        Vec2::new(LEAST_TILE.x, grid.total_height())
    } else {
        state.layout.least_size()
    };
    // Scroll bars have a place of their own.
    let bar = |needed: bool| if needed { BAR_WIDTH } else { 0.0 };
    let bar_right = bar(least.y > available.y + 0.5);
    let bar_below = bar(least.x > available.x - bar_right + 0.5);
    let size = least.max(available - Vec2::new(bar_right, bar_below));
    let fits = bar_right == 0.0;
    let WindowState {
        tiles,
        source,
        newest,
        layout,
        ..
    } = state;
    let mut paint = |ui: &mut Ui, name: &str| {
        let Some(&(number, model)) = shown.iter().find(|(_, model)| model.spec.name == name) else {
            return false;
        };
        let context = TileContext {
            number,
            model,
            view,
            source: source.as_ref(),
            newest: *newest,
            wheel_zooms: fits,
        };
        let tile = tiles.entry(name.to_owned()).or_default();
        ui.push_id(name, |ui| tile_ui(ui, &context, tile, commands))
            .inner
    };
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        let (area, _) = ui.allocate_exact_size(size, egui::Sense::hover());
        match names.first() {
            Some(name) if is_alone => {
                paint(&mut ui.new_child(UiBuilder::new().max_rect(area)), name);
            }
            _ => layout.show(ui, area, &mut paint),
        }
    });
}

/// What tiles show of their frames, where they move together.
fn linked_zooms(state: &WindowState) -> Vec<(String, Zoom)> {
    let tiles = state.tiles.iter().filter(|_| state.linked);
    tiles
        .map(|(name, tile)| (name.clone(), tile.zoom))
        .collect()
}

/// Moves all tiles as the one was moved that differs from `before`.
fn link_zooms(state: &mut WindowState, before: &[(String, Zoom)]) {
    let tiles = &state.tiles;
    let moved = before.iter().find_map(|(name, zoom)| {
        let tile = tiles.get(name)?;
        (tile.zoom != *zoom).then_some(tile.zoom)
    });
    if let Some(zoom) = moved {
        for tile in state.tiles.values_mut() {
            tile.zoom = zoom;
        }
    }
}

/// Where tiles are, in points.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Grid {
    columns: usize,
    rows: usize,
    tile: Vec2,
}

impl Grid {
    /// The number of columns that gives the largest tiles: an empty place in the grid counts
    /// against it, and so does what has to be scrolled to. No tile is smaller than [`LEAST_TILE`].
    fn of(tiles: usize, area: Vec2) -> Self {
        let tiles = tiles.max(1);
        let most = (((area.x + GAP) / (LEAST_TILE.x + GAP)) as usize).clamp(1, tiles);
        let worth = |grid: &Self| {
            let empty = grid.columns * grid.rows - tiles;
            let seen = (area.y / grid.total_height()).min(1.0);
            (grid.tile.x / BEST_ASPECT).min(grid.tile.y) * seen * (1.0 - 0.1 * empty as f32)
        };
        let grids = (1..=most).map(|columns| Self::with_columns(columns, tiles, area));
        grids
            .max_by(|a, b| worth(a).total_cmp(&worth(b)))
            .unwrap_or_else(|| Self::with_columns(1, tiles, area))
    }

    fn with_columns(columns: usize, tiles: usize, area: Vec2) -> Self {
        let rows = tiles.div_ceil(columns);
        let side = |length: f32, parts: usize| (length - GAP * (parts - 1) as f32) / parts as f32;
        let height = side(area.y, rows);
        // The scroll bar has a place of its own.
        let bar = if height < LEAST_TILE.y {
            BAR_WIDTH
        } else {
            0.0
        };
        Self {
            columns,
            rows,
            tile: Vec2::new(side(area.x - bar, columns), height.max(LEAST_TILE.y)),
        }
    }

    fn total_height(&self) -> f32 {
        self.rows as f32 * (self.tile.y + GAP) - GAP
    }

    /// The rectangle of a tile, from the grid's corner, as the layout gives it.
    #[cfg(test)]
    fn place(&self, place: usize) -> egui::Rect {
        use egui::{Pos2, Rect};

        let at = Vec2::new((place % self.columns) as f32, (place / self.columns) as f32);
        Rect::from_min_size(Pos2::ZERO + at * (self.tile + Vec2::splat(GAP)), self.tile)
    }
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
                    let button = ui.button(text().center.restart_source);
                    if button.on_hover_text(restart.tooltip()).clicked() {
                        commands.send(restart);
                    }
                    ui.with_layout(Layout::top_down(Align::Min), |ui| {
                        ui.label(strong(text().center.source_failed).color(palette.bad));
                        ui.add(Label::new(problem.message.as_str()).wrap());
                        if let Some(hint) = &problem.hint {
                            let hint = RichText::new(format::sentence(hint)).color(palette.weak);
                            ui.add(Label::new(hint).wrap());
                        }
                    });
                });
            });
        });
    ui.add_space(GAP);
}

/// What to do, below the source's picture once frames flow.
fn no_model_ui(ui: &mut Ui, view: &SessionView, state: &mut WindowState, commands: &CommandSender) {
    let mut area = ui.available_rect_before_wrap();
    if view.source.published > 0 && area.height() > 2.0 * SHORT_HEIGHT {
        let (picture, below) = area.split_top_bottom_at_y(area.bottom() - SHORT_HEIGHT - GAP);
        state.source_panel = source_ui(ui, picture, state.source.as_ref());
        area = below.with_min_y(below.top() + GAP);
    } else {
        state.source_panel = [0, 0];
    }
    guide_ui(ui, area, view, commands);
}

#[cfg(test)]
mod tests {
    use egui::Rect;

    use super::*;

    fn columns(tiles: usize, area: Vec2) -> usize {
        Grid::of(tiles, area).columns
    }

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

    #[test]
    fn tiles_never_overlap_and_are_never_too_small() {
        for area in [[884.0, 360.0], [1264.0, 500.0], [3824.0, 1800.0]] {
            let area = Vec2::from(area);
            for tiles in 1..=16 {
                let grid = Grid::of(tiles, area);
                let places: Vec<Rect> = (0..tiles).map(|place| grid.place(place)).collect();
                for (index, rect) in places.iter().enumerate() {
                    assert!(rect.width() >= LEAST_TILE.x - BAR_WIDTH, "{tiles}: {rect}");
                    assert!(rect.height() >= LEAST_TILE.y, "{tiles}: {rect}");
                    assert!(rect.right() <= area.x + 0.01, "{tiles}: {rect}");
                    assert!(rect.bottom() <= grid.total_height() + 0.01);
                    for other in &places[index + 1..] {
                        assert!(!rect.intersects(*other), "{tiles}: {rect} and {other}");
                    }
                }
            }
        }
    }
}
