use egui::epaint::RectShape;
use egui::{
    Align2, Color32, CursorIcon, Rect, Response, RichText, Role, Sense, Shape, Stroke, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};

use super::TileContext;
use super::readout::{fed_text, own_text};
use super::text::text_in;
use super::zoom::{Place, Zoom, draws_squares};
use crate::gui::format;
use crate::gui::preview::{TileOrder, Zoomed};
use crate::gui::state::{ShownPicture, SourcePicture, TileState};
use crate::gui::text::text;
use crate::gui::theme::Palette;
use crate::prediction::Output;
use crate::session::ShownPrediction;

const CAPTION_HEIGHT: f32 = 18.0;
/// Panel sizes are rounded up to this many pixels, so that resizing does not reduce each frame anew
/// at every pixel.
const PANEL_STEP: u32 = 16;

/// The frame that the shown answer belongs to, and its caption.
pub(super) fn picture_ui(ui: &mut Ui, rect: Rect, context: &TileContext<'_>, tile: &mut TileState) {
    let palette = Palette::of(ui);
    let (panel, caption) = split(rect);
    tile.picture_rect = panel;
    let is_own = tile.is_matched() || context.newest || tile.shown.is_none();
    tile.order = TileOrder {
        most: panel_pixels(ui, rect),
        newest: context.newest,
        ..Default::default()
    };
    match &tile.picture {
        Some(picture) => {
            let place = place(ui, panel, picture);
            let name = (text().answer.frame)(picture.seq);
            let response = ui.allocate_rect(panel, Sense::click_and_drag());
            response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
            move_ui(ui, &response, &mut tile.zoom, &place, context.wheel_zooms);
            tile.scale = tile.zoom.scale(&place);
            tile.order.zoomed = tile.zoom.is_zoomed().then(|| Zoomed {
                zoom: tile.zoom,
                panel: panel.size(),
                pixels_per_point: place.pixels_per_point,
                longest: ui.input(|input| input.max_texture_side) as u32,
            });
            tile.order.inspect = response.hovered();
            let frame = tile.zoom.frame_rect(&place);
            frame_ui(ui, panel, frame, picture, is_own);
            if let Some(at) = response.hover_pos() {
                readout_ui(
                    ui,
                    panel,
                    context,
                    tile,
                    tile.zoom.pixel_at(&place, at),
                    frame,
                );
            }
        }
        None => {
            ui.painter().rect_filled(panel, 6.0, palette.well);
            let text = RichText::new(text().answer.no_preview).color(palette.weak);
            text_in(ui, panel, Align2::CENTER_CENTER, text);
        }
    }
    caption_ui(ui, caption, tile, context.newest);
}

fn place(ui: &Ui, panel: Rect, picture: &ShownPicture) -> Place {
    let [width, height] = picture.frame_size;
    Place {
        panel,
        frame: vec2(width as f32, height as f32).max(Vec2::splat(1.0)),
        pixels_per_point: ui.pixels_per_point(),
    }
}

/// Zooms by the wheel (where it does not scroll the tiles), with Ctrl, or by pinching; moves by
/// dragging; a double click shows the whole frame.
fn move_ui(ui: &Ui, response: &Response, zoom: &mut Zoom, place: &Place, wheel_zooms: bool) {
    if let Some(at) = response.hover_pos() {
        let wheel_zooms = wheel_zooms || zoom.is_zoomed();
        let factor = ui.input_mut(|input| {
            let mut factor = input.zoom_delta();
            if wheel_zooms {
                factor *= (input.smooth_scroll_delta().y / 200.0).exp();
                input.smooth_scroll_delta = Vec2::ZERO;
            }
            factor
        });
        if factor != 1.0 {
            zoom.zoom(factor, at, place);
        }
    }
    if zoom.is_zoomed() {
        if response.dragged() {
            zoom.pan(response.drag_delta(), place);
        }
        if response.hovered() {
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }
    }
    if response.double_clicked() {
        *zoom = Zoom::default();
    }
}

/// The values of the pixel under the pointer, and a frame around it where pixels are squares.
fn readout_ui(
    ui: &mut Ui,
    panel: Rect,
    context: &TileContext<'_>,
    tile: &TileState,
    pixel: Option<[u32; 2]>,
    drawn: Rect,
) {
    let (Some(picture), Some(pixel)) = (&tile.picture, pixel) else {
        return;
    };
    let Some(frame) = &picture.frame else {
        return;
    };
    let [width, height] = picture.frame_size;
    let own = [frame.description.width, frame.description.height];
    let in_copy = |axis: usize| {
        let full = u64::from(picture.frame_size[axis].max(1));
        (u64::from(pixel[axis]) * u64::from(own[axis]) / full) as u32
    };
    let at = [in_copy(0), in_copy(1)];
    let mut lines = vec![own_text(frame, at, pixel, tile.looked_back.is_some())];
    if let Some(card) = &context.model.card {
        lines.extend(fed_text(frame, at, &card.preprocess));
    }
    let palette = Palette::of(ui);
    let painter = ui.painter().with_clip_rect(panel);
    if draws_squares(tile.scale) {
        let size = drawn.size() / vec2(width as f32, height as f32);
        let corner = drawn.min + size * vec2(pixel[0] as f32, pixel[1] as f32);
        let square = Rect::from_min_size(corner, size);
        let outside = egui::StrokeKind::Outside;
        painter.rect_stroke(square, 0.0, Stroke::new(1.0, palette.warning), outside);
    }
    let text = lines.join("\n");
    let font = egui::FontId::monospace(11.0);
    let galley = painter.layout(text, font, palette.text, panel.width() - 12.0);
    // At the top where the pointer is at the bottom.
    let low = ui.input(|input| input.pointer.hover_pos());
    let low = low.is_some_and(|at| at.y > panel.center().y);
    let y = if low {
        panel.top() + 4.0
    } else {
        panel.bottom() - galley.size().y - 8.0
    };
    let ground = Rect::from_min_size(pos2(panel.left() + 4.0, y), galley.size() + vec2(8.0, 4.0));
    painter.rect_filled(ground, 4.0, palette.card.gamma_multiply(0.88));
    painter.galley(ground.min + vec2(4.0, 2.0), galley, palette.text);
}

/// The newest frame of the source, in place of one that a model has answered. Returns the pixels of
/// its panel.
pub(in crate::gui) fn source_ui(
    ui: &mut Ui,
    rect: Rect,
    source: Option<&SourcePicture>,
) -> [u32; 2] {
    let palette = Palette::of(ui);
    let (panel, caption) = split(rect);
    let pixels = panel_pixels(ui, rect);
    let Some(SourcePicture { picture, path }) = source else {
        ui.painter().rect_filled(panel, 6.0, palette.well);
        return pixels;
    };
    let name = (text().answer.source_frame)(picture.seq);
    let response = ui.allocate_rect(panel, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
    let frame = Zoom::default().frame_rect(&place(ui, panel, picture));
    frame_ui(ui, panel, frame, picture, true);
    let weak = |text: String| RichText::new(text).size(11.0).color(palette.weak);
    let [width, height] = picture.frame_size;
    let size = format!("#{}   {width} × {height}", picture.seq);
    let (left, right) = split_caption(caption);
    let path = path.as_deref().unwrap_or_default();
    let line = (text().answer.source_path)(path);
    text_in(ui, left, Align2::LEFT_BOTTOM, weak(line));
    text_in(ui, right, Align2::RIGHT_BOTTOM, weak(size));
    pixels
}

/// Where the name of a frame is, and where its size.
fn split_caption(rect: Rect) -> (Rect, Rect) {
    let size_width = 130.0_f32.min(rect.width() * 0.55);
    rect.split_left_right_at_x(rect.right() - size_width)
}

/// Pixels of the panel in `rect`.
pub(super) fn panel_pixels(ui: &Ui, rect: Rect) -> [u32; 2] {
    let (panel, _) = split(rect);
    let largest = ui.input(|input| input.max_texture_side) as u32;
    let pixels = |points: f32| {
        let pixels = (points * ui.pixels_per_point()).ceil().max(1.0) as u32;
        pixels.next_multiple_of(PANEL_STEP).min(largest)
    };
    [pixels(panel.width()), pixels(panel.height())]
}

fn split(rect: Rect) -> (Rect, Rect) {
    rect.split_top_bottom_at_y(rect.bottom() - CAPTION_HEIGHT)
}

/// A picture in its panel; `frame` is where the whole frame would be.
fn frame_ui(ui: &Ui, panel: Rect, frame: Rect, picture: &ShownPicture, is_own: bool) {
    let palette = Palette::of(ui);
    let [width, height] = picture.frame_size;
    let scale = frame.size() / vec2(width as f32, height as f32).max(Vec2::splat(1.0));
    let part = picture.part;
    let rect = Rect::from_min_size(frame.min + part.min.to_vec2() * scale, part.size() * scale);
    let painter = ui.painter().with_clip_rect(panel.intersect(ui.clip_rect()));
    painter.rect_filled(panel, 6.0, palette.well);
    // A frame of another prediction than the one shown is dimmed.
    let tint = Color32::WHITE.gamma_multiply(if is_own { 1.0 } else { 0.35 });
    let is_whole = panel.expand(1.0).contains_rect(rect);
    let corners = if is_whole && rect.width() > 40.0 && rect.height() > 40.0 {
        4.0
    } else {
        0.0
    };
    let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    let shape = RectShape::filled(rect, corners, tint).with_texture(picture.texture.id(), whole);
    painter.add(Shape::from(shape));
}

fn caption_ui(ui: &mut Ui, rect: Rect, tile: &TileState, newest: bool) {
    let palette = Palette::of(ui);
    let (left, mut right) = split_caption(rect);
    let left = if tile.zoom.is_zoomed() {
        // The scale needs some room.
        right.min.x -= 50.0_f32.min(left.width());
        left.with_max_x(right.left())
    } else {
        left
    };
    let weak = |text: String| RichText::new(text).size(11.0).color(palette.weak);
    let Some(shown) = &tile.shown else {
        if let Some(picture) = &tile.picture {
            let [width, height] = picture.frame_size;
            let size = format!("#{}   {width} × {height}", picture.seq);
            text_in(ui, right, Align2::RIGHT_BOTTOM, weak(size));
        }
        return;
    };
    let event = &shown.event;
    let (line, color) = match &tile.picture {
        Some(picture) if picture.seq != event.seq && newest => {
            (newest_text(picture, shown), palette.warning)
        }
        Some(picture) if picture.seq != event.seq => (
            (text().answer.left_the_ring)(picture.seq, event.seq),
            palette.warning,
        ),
        _ => (
            event.position.path.clone().unwrap_or_default(),
            palette.weak,
        ),
    };
    text_in(ui, left, Align2::LEFT_BOTTOM, weak(line).color(color));
    let mut note = format!("#{}   {} × {}", event.seq, event.width, event.height);
    if tile.zoom.is_zoomed() {
        note.push_str(&format!("   {:.0} %", tile.scale * 100.0));
    }
    if event.warmup {
        note.push_str(&format!("   {}", text().answer.warmup));
    }
    if matches!(event.output, Output::Invalid { .. }) {
        note.push_str(&format!("   {}", text().answer.invalid_note));
    }
    text_in(ui, right, Align2::RIGHT_BOTTOM, weak(note));
}

/// How much older the answer is than the picture.
fn newest_text(picture: &ShownPicture, shown: &ShownPrediction) -> String {
    let captured = shown.event.position.captured_nanos;
    let older = picture.captured_nanos.saturating_sub(captured) / 1000;
    (text().picture.newest_caption)(picture.seq, shown.event.seq, &format::latency(older))
}
