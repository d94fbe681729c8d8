//! One picture, and what every model says about it.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{
    Align2, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui, UiBuilder, Vec2, pos2, vec2,
};

use super::TileContext;
use super::answer::answer_ui;
use super::picture::picture_ui;
use super::text::text_in;
use super::waiting::waiting_text;
use crate::gui::format;
use crate::gui::preview::TileOrder;
use crate::gui::state::TileState;
use crate::gui::text::text as words;
use crate::gui::theme::{CARD_RADIUS, GAP, PADDING, Palette, strong};
use crate::session::{ModelView, ShownPrediction};

/// Width and height of a model's answers, in points.
const ANSWER: Vec2 = Vec2::new(220.0, 168.0);
const NAME_HEIGHT: f32 = 20.0;

/// Paints the shared tile over all of `ui`. The first context with a picture gives it; `contexts` is
/// not empty.
pub(in crate::gui) fn shared_ui(
    ui: &mut Ui,
    contexts: &[TileContext<'_>],
    tiles: &mut BTreeMap<String, TileState>,
) {
    let palette = Palette::of(ui);
    let rect = ui.max_rect();
    let inside = StrokeKind::Inside;
    let line = Stroke::new(1.0, palette.line);
    ui.painter()
        .rect(rect, CARD_RADIUS, palette.card, line, inside);
    let inner = rect.shrink(PADDING);
    let is_beside = inner.width() > 1.5 * inner.height();
    let (picture, answers) = if is_beside {
        let (picture, answers) = inner.split_left_right_at_x(inner.right() - ANSWER.x - GAP);
        (picture.with_max_x(picture.right() - GAP), answers)
    } else {
        let (picture, answers) = inner.split_top_bottom_at_y(inner.bottom() - ANSWER.y - GAP);
        (picture.with_max_y(picture.bottom() - GAP), answers)
    };
    let has_picture = |context: &&TileContext<'_>| {
        let tile = tiles.get(&context.model.spec.name);
        tile.is_some_and(|tile| tile.picture.is_some() && tile.shown.is_some())
    };
    let shown = contexts.iter().find(has_picture).unwrap_or(&contexts[0]);
    for context in contexts {
        // The answers of the others come with a picture that nobody sees.
        let tile = tiles.entry(context.model.spec.name.clone()).or_default();
        tile.source_panel = [0, 0];
        tile.rect = rect;
        tile.order = TileOrder {
            most: [1, 1],
            newest: context.newest,
            ..Default::default()
        };
    }
    let tile = tiles.entry(shown.model.spec.name.clone()).or_default();
    picture_ui(ui, picture, shown, tile);
    let seq = tile.shown.as_ref().map(|shown| shown.event.seq);
    ui.scope_builder(UiBuilder::new().max_rect(answers), |ui| {
        ScrollArea::both().auto_shrink(false).show(ui, |ui| {
            let number = contexts.len() as f32;
            let size = if is_beside {
                vec2(answers.width(), number * (ANSWER.y + GAP))
            } else {
                vec2(number * (ANSWER.x + GAP), answers.height())
            };
            let (area, _) = ui.allocate_exact_size(size, Sense::hover());
            for (place, context) in contexts.iter().enumerate() {
                let by = place as f32 * (if is_beside { ANSWER.y } else { ANSWER.x } + GAP);
                let by = if is_beside {
                    vec2(0.0, by)
                } else {
                    vec2(by, 0.0)
                };
                let width = ANSWER.x.min(area.width());
                let size = vec2(width, ANSWER.y.min(area.height()));
                let rect = Rect::from_min_size(area.min + by, size);
                model_ui(ui, rect, context, tiles, seq);
            }
        });
    });
}

fn model_ui(
    ui: &mut Ui,
    rect: Rect,
    context: &TileContext<'_>,
    tiles: &BTreeMap<String, TileState>,
    seq: Option<u64>,
) {
    let palette = Palette::of(ui);
    let model = context.model;
    let (head, body) = rect.split_top_bottom_at_y(rect.top() + NAME_HEIGHT);
    let tile = tiles.get(&model.spec.name);
    let looks_back = tile.is_some_and(|tile| tile.looked_back.is_some());
    let answer = match tile {
        Some(tile) if looks_back => tile.shown.clone(),
        _ => answer_to(model, seq),
    };
    let (name, note) = head.split_left_right_at_x(head.right() - 84.0);
    let title = strong(model.spec.name.as_str()).color(palette.text);
    text_in(ui, name, Align2::LEFT_CENTER, title);
    let Some(answer) = answer else {
        let text = if looks_back {
            words().rewind.none_kept.to_owned()
        } else {
            waiting_text(context)
        };
        let text = RichText::new(text).color(palette.weak);
        text_in(ui, body, Align2::LEFT_TOP, text);
        return;
    };
    let (text, color) = if Some(answer.event.seq) == seq {
        (format::latency(answer.micros.inference), palette.weak)
    } else {
        ((words().picture.still)(answer.event.seq), palette.warning)
    };
    let text = RichText::new(text).size(11.0).color(color);
    text_in(ui, note, Align2::RIGHT_CENTER, text);
    answer_ui(ui, body, &answer.event.output);
    let y = rect.bottom() + GAP / 2.0;
    ui.painter().line_segment(
        [pos2(rect.left(), y), pos2(rect.right(), y)],
        Stroke::new(1.0, palette.line),
    );
}

/// The model's answer to this frame, or its newest one.
fn answer_to(model: &ModelView, seq: Option<u64>) -> Option<Arc<ShownPrediction>> {
    let same = model
        .recent
        .iter()
        .find(|answer| Some(answer.event.seq) == seq);
    same.or(model.shown.as_ref()).cloned()
}
