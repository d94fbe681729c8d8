use egui::{Align2, Color32, Image, Rect, RichText, Role, Sense, Ui, Vec2, WidgetInfo, vec2};

use super::text::text_in;
use crate::gui::state::{ShownPicture, SourcePicture, TileState};
use crate::gui::text::text;
use crate::gui::theme::Palette;
use crate::prediction::Output;

const CAPTION_HEIGHT: f32 = 18.0;
/// Panel sizes are rounded up to this many pixels, so that resizing does not reduce each frame anew
/// at every pixel.
const PANEL_STEP: u32 = 16;

/// The frame that the shown answer belongs to, and its caption.
pub(super) fn picture_ui(ui: &mut Ui, rect: Rect, tile: &mut TileState) {
    let palette = Palette::of(ui);
    let (panel, caption) = split(rect);
    tile.panel = panel_pixels(ui, rect);
    let matched = tile.is_matched();
    match &tile.picture {
        Some(picture) => {
            let name = (text().answer.frame)(picture.seq);
            frame_ui(ui, panel, picture, matched, &name);
        }
        None => {
            ui.painter().rect_filled(panel, 6.0, palette.well);
            let text = RichText::new(text().answer.no_preview).color(palette.weak);
            text_in(ui, panel, Align2::CENTER_CENTER, text);
        }
    }
    caption_ui(ui, caption, tile, matched);
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
    frame_ui(ui, panel, picture, true, &name);
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

fn frame_ui(ui: &mut Ui, panel: Rect, picture: &ShownPicture, matched: bool, name: &str) {
    let palette = Palette::of(ui);
    let [width, height] = picture.frame_size;
    let frame = vec2(width as f32, height as f32).max(Vec2::splat(1.0));
    let scale = (panel.size() / frame).min_elem();
    let rect = Rect::from_center_size(panel.center(), frame * scale);
    ui.painter().rect_filled(panel, 6.0, palette.well);
    // A frame of another prediction than the one shown is dimmed.
    let tint = Color32::WHITE.gamma_multiply(if matched { 1.0 } else { 0.35 });
    let corners = if rect.width() > 40.0 && rect.height() > 40.0 {
        4.0
    } else {
        0.0
    };
    Image::new((picture.texture.id(), picture.texture.size_vec2()))
        .tint(tint)
        .corner_radius(corners)
        .paint_at(ui, rect);
    let response = ui.allocate_rect(panel, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name));
}

fn caption_ui(ui: &mut Ui, rect: Rect, tile: &TileState, matched: bool) {
    let Some(shown) = &tile.shown else {
        return;
    };
    let palette = Palette::of(ui);
    let event = &shown.event;
    let size = format!("#{}   {} × {}", event.seq, event.width, event.height);
    let (left, right) = split_caption(rect);
    let weak = |text: String| RichText::new(text).size(11.0).color(palette.weak);
    let path = event.position.path.clone().unwrap_or_default();
    let (line, color) = match &tile.picture {
        Some(picture) if !matched => (
            (text().answer.left_the_ring)(picture.seq, event.seq),
            palette.warning,
        ),
        _ => (path, palette.weak),
    };
    text_in(ui, left, Align2::LEFT_BOTTOM, weak(line).color(color));
    let mut note = size;
    if event.warmup {
        note.push_str(&format!("   {}", text().answer.warmup));
    }
    if matches!(event.output, Output::Invalid { .. }) {
        note.push_str(&format!("   {}", text().answer.invalid_note));
    }
    text_in(ui, right, Align2::RIGHT_BOTTOM, weak(note));
}
