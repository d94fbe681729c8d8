//! How tiles are arranged: by themselves, or as they were dragged.

use egui::{Rect, Stroke, Style, Ui, Vec2, WidgetText, vec2};
use egui_tiles::{
    Behavior, Container, EditAction, GridLayout, LinearDir, ResizeState, Tile, TileId, Tiles, Tree,
    UiResponse,
};
use serde::{Deserialize, Serialize};

use super::theme::{GAP, Palette};

/// Tiles are not made smaller than this; they scroll instead. In points.
pub(super) const LEAST_TILE: Vec2 = Vec2::new(340.0, 256.0);
/// Height of the tabs of tiles that were dragged onto each other, in points.
const TAB_HEIGHT: f32 = 26.0;

/// How tiles are arranged. It can be stored; models that are gone lose their place, and new ones get
/// one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TileLayout {
    kind: LayoutKind,
    /// Of the models' names.
    tree: Option<Tree<String>>,
    /// Columns of the grid that the tree was made with.
    columns: usize,
}

/// Who arranges the tiles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LayoutKind {
    /// A grid with the number of columns that gives the largest tiles.
    #[default]
    Grid,
    /// Side by side.
    Row,
    /// One above the other.
    Column,
    /// The user, by dragging.
    Own,
}

impl TileLayout {
    /// Who arranges the tiles.
    #[cfg(test)]
    fn kind(&self) -> LayoutKind {
        self.kind
    }

    /// Grid, side by side, stacked, and again.
    pub(super) fn next(&mut self) {
        self.set(match self.kind {
            LayoutKind::Grid => LayoutKind::Row,
            LayoutKind::Row => LayoutKind::Column,
            LayoutKind::Column | LayoutKind::Own => LayoutKind::Grid,
        });
    }

    /// The grid, whatever was dragged.
    pub(super) fn reset(&mut self) {
        self.set(LayoutKind::Grid);
    }

    fn set(&mut self, kind: LayoutKind) {
        *self = Self {
            kind,
            ..Self::default()
        };
    }

    /// Whether it is the grid.
    pub(super) fn is_grid(&self) -> bool {
        self.kind == LayoutKind::Grid
    }

    /// Gives every model a place, and no other; `columns` is for the grid.
    pub(super) fn arrange(&mut self, names: &[&str], columns: usize) {
        if let (LayoutKind::Own, Some(tree)) = (self.kind, &mut self.tree) {
            keep_in_step(tree, names);
            if tree.root().is_some() {
                return;
            }
        }
        let is_same = self.tree.as_ref().is_some_and(|tree| {
            let panes = panes(tree);
            panes.len() == names.len() && panes.iter().zip(names).all(|(a, b)| a.1 == *b)
        });
        if is_same && (self.columns == columns || self.kind != LayoutKind::Grid) {
            return;
        }
        self.columns = columns;
        self.tree = Some(new_tree(self.kind, names, columns));
    }

    /// The smallest size in which no tile is smaller than it may be.
    pub(super) fn least_size(&self) -> Vec2 {
        let root = self
            .tree
            .as_ref()
            .and_then(|tree| Some((tree, tree.root()?)));
        root.map_or(LEAST_TILE, |(tree, root)| least_size(&tree.tiles, root))
    }

    /// Paints the tiles over `rect`; `paint` paints one, and says whether it begins to be dragged.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        paint: &mut dyn FnMut(&mut Ui, &str) -> bool,
    ) {
        let Some(tree) = &mut self.tree else {
            return;
        };
        let mut arranger = Arranger {
            paint,
            edited: false,
            palette: Palette::of(ui),
            clip: ui.clip_rect(),
        };
        // What sticks out of a tile is nothing to be scrolled to.
        let mut child = ui.new_child(egui::UiBuilder::new().max_rect(rect));
        tree.ui(&mut arranger, &mut child);
        if arranger.edited {
            self.kind = LayoutKind::Own;
        }
    }
}

/// The panes in the order in which they were made.
fn panes(tree: &Tree<String>) -> Vec<(TileId, String)> {
    let mut panes: Vec<(TileId, String)> = tree
        .tiles
        .iter()
        .filter_map(|(id, tile)| match tile {
            Tile::Pane(name) => Some((*id, name.clone())),
            Tile::Container(_) => None,
        })
        .collect();
    panes.sort_unstable_by_key(|(id, _)| id.0);
    panes
}

fn new_tree(kind: LayoutKind, names: &[&str], columns: usize) -> Tree<String> {
    let mut tiles = Tiles::default();
    let children: Vec<TileId> = names
        .iter()
        .map(|name| tiles.insert_pane((*name).to_owned()))
        .collect();
    let root = match kind {
        LayoutKind::Row => tiles.insert_horizontal_tile(children),
        LayoutKind::Column => tiles.insert_vertical_tile(children),
        LayoutKind::Grid | LayoutKind::Own => {
            let mut grid = egui_tiles::Grid::new(children);
            grid.layout = GridLayout::Columns(columns.max(1));
            tiles.insert_container(grid)
        }
    };
    Tree::new(egui::Id::unique("tiles"), root, tiles)
}

/// Takes out models that are gone, and puts new ones at the end.
fn keep_in_step(tree: &mut Tree<String>, names: &[&str]) {
    let panes = panes(tree);
    for (id, name) in &panes {
        if !names.contains(&name.as_str()) {
            tree.remove_recursively(*id);
        }
    }
    for name in names {
        if panes.iter().any(|(_, pane)| pane == name) {
            continue;
        }
        let new = tree.tiles.insert_pane((*name).to_owned());
        let root = tree.root();
        match root.and_then(|root| tree.tiles.get_mut(root)) {
            Some(Tile::Container(container)) => container.add_child(new),
            _ => {
                let both = root.into_iter().chain([new]).collect();
                tree.root = Some(tree.tiles.insert_horizontal_tile(both));
            }
        }
    }
}

/// The smallest size in which no tile of this part is smaller than it may be, as shares are.
fn least_size(tiles: &Tiles<String>, id: TileId) -> Vec2 {
    let container = match tiles.get(id) {
        Some(Tile::Container(container)) => container,
        _ => return LEAST_TILE,
    };
    let children: Vec<(TileId, Vec2)> = container
        .children()
        .map(|child| (*child, least_size(tiles, *child)))
        .collect();
    let largest = |sizes: &[(TileId, Vec2)]| {
        sizes
            .iter()
            .fold(Vec2::ZERO, |most, (_, size)| most.max(*size))
    };
    match container {
        Container::Tabs(_) => largest(&children) + vec2(0.0, TAB_HEIGHT),
        Container::Linear(linear) => {
            let total: f32 = children.iter().map(|(id, _)| linear.shares[*id]).sum();
            let gaps = GAP * children.len().saturating_sub(1) as f32;
            // Of the whole, so that the part of each child is large enough.
            let along = |side: fn(Vec2) -> f32| {
                let whole = children
                    .iter()
                    .map(|(id, size)| side(*size) * total / linear.shares[*id].max(0.01))
                    .fold(0.0, f32::max);
                whole + gaps
            };
            let most = largest(&children);
            match linear.dir {
                LinearDir::Horizontal => vec2(along(|size| size.x), most.y),
                LinearDir::Vertical => vec2(most.x, along(|size| size.y)),
            }
        }
        Container::Grid(grid) => {
            let most = largest(&children);
            let columns = match grid.layout {
                GridLayout::Columns(columns) => columns.max(1),
                GridLayout::Auto => auto_columns(children.len()),
            };
            let rows = children.len().div_ceil(columns).max(grid.row_shares.len());
            let along = |least: f32, shares: &[f32], parts: usize| {
                let share = |place: usize| shares.get(place).copied().unwrap_or(1.0);
                let total: f32 = (0..parts).map(share).sum();
                let smallest = (0..parts).map(share).fold(f32::INFINITY, f32::min);
                least * total / smallest.max(0.01) + GAP * parts.saturating_sub(1) as f32
            };
            vec2(
                along(most.x, &grid.col_shares, columns),
                along(most.y, &grid.row_shares, rows),
            )
        }
    }
}

/// Columns of a grid that dragging made: about as many as rows.
fn auto_columns(children: usize) -> usize {
    (children as f32).sqrt().ceil().max(1.0) as usize
}

/// What the tree asks about how tiles look.
struct Arranger<'a> {
    paint: &'a mut dyn FnMut(&mut Ui, &str) -> bool,
    edited: bool,
    palette: &'static Palette,
    /// What is seen of the place where tiles scroll; the tree does not clip.
    clip: Rect,
}

impl Behavior<String> for Arranger<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _id: TileId, name: &mut String) -> UiResponse {
        ui.set_clip_rect(self.clip);
        if (self.paint)(ui, name) {
            UiResponse::DragStarted
        } else {
            UiResponse::None
        }
    }

    fn tab_title_for_pane(&mut self, name: &String) -> WidgetText {
        name.as_str().into()
    }

    fn tab_bar_height(&self, _style: &Style) -> f32 {
        TAB_HEIGHT
    }

    fn gap_width(&self, _style: &Style) -> f32 {
        GAP
    }

    fn min_size(&self) -> f32 {
        LEAST_TILE.y
    }

    fn grid_auto_column_count(&self, children: usize, _rect: Rect, _gap: f32) -> usize {
        auto_columns(children)
    }

    fn resize_stroke(&self, _style: &Style, state: ResizeState) -> Stroke {
        match state {
            ResizeState::Idle => Stroke::NONE,
            ResizeState::Hovering => Stroke::new(2.0, self.palette.line),
            ResizeState::Dragging => Stroke::new(2.0, self.palette.accent),
        }
    }

    fn on_edit(&mut self, action: EditAction) {
        self.edited |= matches!(
            action,
            EditAction::TileDropped | EditAction::TileResized | EditAction::TabSelected
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(layout: &TileLayout) -> Vec<String> {
        let tree = layout.tree.as_ref().expect("a tree");
        panes(tree).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn no_tile_is_smaller_than_it_may_be_however_shares_are_dragged() {
        let mut layout = TileLayout::default();
        layout.next();
        layout.arrange(&["a", "b", "c"], 1);
        let even = layout.least_size();
        assert_eq!(even, vec2(3.0 * 340.0 + 2.0 * GAP, 256.0));
        // The first one takes two thirds: each of the others has a sixth.
        let tree = layout.tree.as_mut().expect("a tree");
        let root = tree.root().expect("a root");
        let first = panes(tree)[0].0;
        if let Some(Tile::Container(Container::Linear(linear))) = tree.tiles.get_mut(root) {
            linear.shares.set_share(first, 4.0);
        }
        assert_eq!(layout.least_size(), vec2(6.0 * 340.0 + 2.0 * GAP, 256.0));
    }

    #[test]
    fn a_dragged_layout_survives_models_that_come_and_go() {
        let mut layout = TileLayout::default();
        layout.arrange(&["a", "b", "c"], 2);
        layout.kind = LayoutKind::Own;
        layout.arrange(&["a", "c", "d"], 1);
        assert_eq!(names(&layout), ["a", "c", "d"]);
        assert_eq!(layout.kind(), LayoutKind::Own);
        layout.arrange(&[], 1);
        layout.arrange(&["x"], 1);
        assert_eq!(names(&layout), ["x"]);
    }

    #[test]
    fn a_layout_can_be_stored_and_reset() {
        let mut layout = TileLayout::default();
        layout.next();
        layout.arrange(&["a", "b"], 1);
        layout.kind = LayoutKind::Own;
        let stored = serde_json::to_string(&layout).expect("stored");
        let mut back: TileLayout = serde_json::from_str(&stored).expect("read");
        assert_eq!(back.kind(), LayoutKind::Own);
        assert_eq!(back.least_size(), layout.least_size());
        back.arrange(&["a", "b"], 2);
        assert_eq!(back.least_size(), layout.least_size(), "not made anew");
        back.reset();
        back.arrange(&["a", "b"], 1);
        assert!(back.is_grid());
        assert_eq!(back.least_size(), vec2(340.0, 2.0 * 256.0 + GAP));
        let none: TileLayout = serde_json::from_str("{}").expect("an older file");
        assert!(none.is_grid());
    }
}
