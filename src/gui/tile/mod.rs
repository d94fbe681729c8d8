//! A tile: one model, the frame that its shown answer belongs to, the answer, and how long it took.

mod answer;
mod badge;
mod counters;
mod header;
mod latency;
mod picture;
mod readout;
mod shared;
mod text;
mod trouble;
mod waiting;
mod zoom;

pub(super) use picture::source_ui;
pub(super) use shared::shared_ui;
pub(super) use zoom::{Place, Zoom, draws_squares};

use egui::{
    Align2, CursorIcon, Rect, RichText, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, vec2,
};

use super::command::CommandSender;
use super::preview::TileOrder;
use super::state::{SourcePicture, TileState};
use super::theme::{CARD_RADIUS, GAP, PADDING, Palette};
use crate::session::{ChildState, ModelView, SessionView};

/// What a tile shows.
pub(super) struct TileContext<'a> {
    /// Place of the model in the session, from 0; its number key is one more.
    pub(super) number: usize,
    /// The model.
    pub(super) model: &'a ModelView,
    /// The whole session.
    pub(super) view: &'a SessionView,
    /// The newest frame of the source, if it is at hand.
    pub(super) source: Option<&'a SourcePicture>,
    /// The picture is the newest frame, not that of the answer.
    pub(super) newest: bool,
    /// The wheel zooms: there is nothing that it scrolls.
    pub(super) wheel_zooms: bool,
}

const FOOTER_HEIGHT: f32 = 16.0;
/// Height of answers and latency side by side, below a picture.
const PANEL_HEIGHT: f32 = latency::WHOLE_HEIGHT;
/// Limits of the width of answers above latency, beside a picture.
const SIDE_WIDTH: std::ops::RangeInclusive<f32> = 190.0..=300.0;
/// Limits of the height of answers above latency.
const ANSWERS_HEIGHT: std::ops::RangeInclusive<f32> = 126.0..=170.0;
const BANNER_HEIGHT: f32 = 30.0;

/// Paints a tile over all of `ui`. Returns whether the user begins to drag it elsewhere.
pub(super) fn tile_ui(
    ui: &mut Ui,
    context: &TileContext<'_>,
    tile: &mut TileState,
    commands: &CommandSender,
) -> bool {
    let palette = Palette::of(ui);
    let rect = ui.max_rect();
    tile.rect = rect;
    ui.painter().rect(
        rect,
        CARD_RADIUS,
        palette.card,
        Stroke::new(1.0, palette.line),
        StrokeKind::Inside,
    );
    ui.set_clip_rect(rect.intersect(ui.clip_rect()));
    let inner = rect.shrink(PADDING);
    let header = header::Header::of(ui, inner.width(), context, tile);
    let (header_rect, rest) = inner.split_top_bottom_at_y(inner.top() + header.height());
    let (body, footer) = rest.split_top_bottom_at_y(rest.bottom() - FOOTER_HEIGHT);
    let body = body.shrink2(Vec2::new(0.0, GAP));
    // Below what the header shows, whose tooltips are still seen.
    let grip = header_rect.with_max_x(header_rect.right() - header::MENU_WIDTH);
    // Not by drags alone: that would begin one at a press already.
    let grip = ui.interact(grip, ui.scope_id().with("move"), Sense::click_and_drag());
    let grip_name = (super::text::text().picture.moves)(&context.model.spec.name);
    grip.widget_info(|| WidgetInfo::labeled(Role::Unknown, true, &grip_name));
    header.show(ui, header_rect, context, tile, commands);
    let model = context.model;
    let is_past = tile.looked_back.is_some();
    let nothing_yet = tile.shown.is_none() && !is_past;
    let beside = Places::is_beside(body);
    let banner = body.with_max_y(body.top() + BANNER_HEIGHT);
    let body = if trouble::banner_ui(ui, banner, model, commands) {
        body.with_min_y(banner.bottom() + GAP)
    } else {
        body
    };
    tile.source_panel = [0, 0];
    match &model.child {
        ChildState::Failed(problem) if !is_past => {
            trouble::failed_ui(ui, body, context, problem, tile, commands);
        }
        _ if nothing_yet => trouble::waiting_ui(ui, body, context, tile),
        _ => body_ui(ui, Places::of(body, beside), context, tile),
    }
    // A tile without a picture still says how large one would be, so that the first is in time.
    if tile.order.most == [0, 0] {
        let places = Places::of(body, beside);
        tile.order = TileOrder {
            most: picture::panel_pixels(ui, places.picture),
            newest: context.newest,
            ..Default::default()
        };
    }
    counters::counters_ui(ui, footer, model);
    grip.on_hover_cursor(CursorIcon::Grab).drag_started()
}

/// Where the parts of a tile's body are.
struct Places {
    picture: Rect,
    answer: Rect,
    latency: Rect,
}

impl Places {
    /// Whether answers are beside the picture, not below it: whatever leaves the larger picture.
    /// The shape of the frame at hand does not count, as the tile would jump from frame to frame.
    fn is_beside(body: Rect) -> bool {
        let aspect = 4.0 / 3.0;
        let width_in = |size: Vec2| size.x.min(size.y * aspect);
        let beside = vec2(body.width() - Self::side(body) - PADDING, body.height());
        let above = vec2(body.width(), body.height() - PANEL_HEIGHT - GAP);
        width_in(beside) >= width_in(above)
    }

    /// Width of answers beside the picture.
    fn side(body: Rect) -> f32 {
        (body.width() * 0.4).clamp(*SIDE_WIDTH.start(), *SIDE_WIDTH.end())
    }

    fn of(body: Rect, beside: bool) -> Self {
        if beside {
            let side = Self::side(body);
            let (picture, column) = body.split_left_right_at_x(body.right() - side - PADDING);
            let column = column.with_min_x(column.left() + PADDING);
            let spare = column.height() - latency::WHOLE_HEIGHT - GAP;
            let answers = spare.clamp(*ANSWERS_HEIGHT.start(), *ANSWERS_HEIGHT.end());
            // In a low tile the answers leave room for a line of latency.
            let most = column.height() - latency::LEAST_HEIGHT - GAP;
            let answers = answers.min(most);
            let (answer, latency) = column.split_top_bottom_at_y(column.top() + answers);
            Self {
                picture,
                answer,
                latency: latency.with_min_y(latency.top() + GAP),
            }
        } else {
            let (picture, panel) = body.split_top_bottom_at_y(body.bottom() - PANEL_HEIGHT - GAP);
            let panel = panel.with_min_y(panel.top() + GAP);
            let (answer, latency) = panel.split_left_right_at_fraction(0.5);
            Self {
                picture,
                answer: answer.with_max_x(answer.right() - PADDING),
                latency: latency.with_min_x(latency.left() + PADDING),
            }
        }
    }
}

fn body_ui(ui: &mut Ui, places: Places, context: &TileContext<'_>, tile: &mut TileState) {
    picture::picture_ui(ui, places.picture, context, tile);
    if let Some(shown) = &tile.shown {
        answer::answer_ui(ui, places.answer, &shown.event.output);
        latency::latency_ui(ui, places.latency, context.model, shown);
    } else {
        let text = RichText::new(super::text::text().rewind.no_answer).color(Palette::of(ui).weak);
        text::text_in(ui, places.answer, Align2::LEFT_TOP, text);
    }
}
