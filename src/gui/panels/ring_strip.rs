use egui::{
    Color32, Painter, Rect, RichText, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, vec2,
};

use crate::gui::format;
use crate::gui::text::text;
use crate::gui::theme::{Palette, strong};
use crate::session::{RingView, SlotUse, SlotView};

/// Width and height of a slot, in points.
const SLOT: Vec2 = Vec2::new(18.0, 22.0);

/// What the ring is, and its slots in a row.
pub(super) fn ring_ui(ui: &mut Ui, ring: Option<&RingView>) {
    let words = &text().process;
    let weak = Palette::of(ui).weak;
    let Some(ring) = ring else {
        ui.label(RichText::new(words.no_ring).color(weak));
        return;
    };
    ui.horizontal(|ui| {
        ui.label(strong(words.ring));
        let bytes = format::bytes(ring.bytes);
        ui.label((words.ring_facts)(
            ring.generation,
            &bytes,
            ring.slots.len(),
        ));
        let (word, color) = match ring.pins {
            true => (words.pins, weak),
            false => (words.no_pins, Palette::of(ui).warning),
        };
        ui.label(RichText::new(word).color(color));
    })
    .response
    .on_hover_text(ring.name.as_str());
    if ring.slots.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        strip_ui(ui, ring);
        ui.add_space(10.0);
        for (mark, word) in [
            (Mark::of(SlotUse::Free, false), words.free),
            (Mark::of(SlotUse::Pinned, false), words.pinned),
            (Mark::of(SlotUse::Writing, false), words.writing),
            (Mark::of(SlotUse::Free, true), words.newest),
        ] {
            let (rect, _) = ui.allocate_exact_size(vec2(11.0, 14.0), Sense::hover());
            mark.paint(ui.painter(), rect, Palette::of(ui));
            ui.label(RichText::new(word).small().color(weak));
        }
    });
}

fn strip_ui(ui: &mut Ui, ring: &RingView) {
    let words = &text().process;
    let number = |wanted: SlotUse| ring.slots.iter().filter(|slot| slot.used == wanted).count();
    let name = (words.strip)(
        number(SlotUse::Free),
        number(SlotUse::Pinned),
        number(SlotUse::Writing),
    );
    let width = SLOT.x + 3.0;
    let size = vec2(width * ring.slots.len() as f32, SLOT.y);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
    let place_of = |place: usize| {
        let left = rect.min + vec2(place as f32 * width, 0.0);
        Rect::from_min_size(left, SLOT)
    };
    for (place, slot) in ring.slots.iter().enumerate() {
        let newest = slot.seq != 0 && slot.seq == ring.head;
        let mark = Mark::of(slot.used, newest);
        mark.paint(ui.painter(), place_of(place), Palette::of(ui));
    }
    let hovered = response
        .hover_pos()
        .map(|at| ((at.x - rect.left()) / width) as usize)
        .and_then(|place| Some((place, ring.slots.get(place)?)));
    if let Some((place, slot)) = hovered {
        response.on_hover_text_at_pointer(slot_text(place, slot));
    }
}

fn slot_text(place: usize, slot: &SlotView) -> String {
    let words = &text().process;
    let word = match slot.used {
        SlotUse::Free => words.free,
        SlotUse::Pinned => words.pinned,
        SlotUse::Writing => words.writing,
    };
    match slot.seq {
        0 => (words.empty_slot)(place, word),
        seq => (words.slot)(place, word, seq),
    }
}

/// How a slot is drawn: told apart by shape, not by colour alone.
struct Mark {
    used: SlotUse,
    newest: bool,
}

impl Mark {
    fn of(used: SlotUse, newest: bool) -> Self {
        Self { used, newest }
    }

    fn paint(&self, painter: &Painter, rect: Rect, palette: &Palette) {
        let (fill, edge): (Color32, Color32) = match self.used {
            SlotUse::Free => (palette.well, palette.weak),
            SlotUse::Pinned => (palette.accent, palette.accent),
            SlotUse::Writing => (palette.well, palette.warning),
        };
        let stroke = Stroke::new(1.0, edge);
        painter.rect(rect, 2.0, fill, stroke, StrokeKind::Inside);
        if self.used == SlotUse::Writing {
            // Half full.
            let lower = rect.with_min_y(rect.center().y);
            painter.rect_filled(lower, 2.0, palette.warning);
        }
        if self.newest {
            let dot = match self.used {
                SlotUse::Pinned => palette.card,
                _ => palette.text,
            };
            painter.circle_filled(rect.center(), rect.width() * 0.22, dot);
        }
    }
}
