use egui::{Align2, Rect, RichText, Ui};

use super::text::text_in;
use crate::gui::format;
use crate::gui::text::text;
use crate::gui::theme::Palette;
use crate::session::ModelView;

/// Answered, dropped, lost and invalid frames.
pub(super) fn counters_ui(ui: &mut Ui, rect: Rect, model: &ModelView) {
    let palette = Palette::of(ui);
    let words = &text().answer;
    let counters = [
        (
            model.predicted,
            words.predicted,
            palette.text,
            words.predicted_meaning,
        ),
        (
            model.dropped,
            words.dropped,
            palette.text,
            words.dropped_meaning,
        ),
        (model.lost, words.lost, palette.bad, words.lost_meaning),
        (
            model.invalid,
            words.invalid_count,
            palette.bad,
            words.invalid_meaning,
        ),
    ];
    let width = (rect.width() / counters.len() as f32).min(130.0);
    for (place, (number, word, color, meaning)) in counters.into_iter().enumerate() {
        let left = rect.left() + place as f32 * width;
        let cell = Rect::from_min_max(
            egui::pos2(left, rect.top()),
            egui::pos2(left + width - 4.0, rect.bottom()),
        );
        let color = if number == 0 { palette.weak } else { color };
        let text = format!("{} {word}", format::count(number));
        text_in(
            ui,
            cell,
            Align2::LEFT_CENTER,
            RichText::new(text).size(12.0).color(color),
        )
        .on_hover_text(meaning);
    }
}
