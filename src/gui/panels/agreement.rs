use egui::{Label, RichText, Ui};

use crate::gui::format;
use crate::gui::text::text;
use crate::gui::theme::{Palette, strong};
use crate::session::AgreementView;

/// Below this width there is no room for names, in points.
const NARROW: f32 = 260.0;

/// How often the models give the same best class: the first pair, the others on hovering.
pub(super) fn agreement_ui(ui: &mut Ui, pairs: &[AgreementView]) {
    let palette = Palette::of(ui);
    let weak = |text: String| RichText::new(text).color(palette.weak);
    let Some(pair) = pairs.iter().find(|pair| pair.frames > 0) else {
        return;
    };
    let words = &text().agreement;
    let mut frames = (words.of_frames)(&format::count(pair.frames));
    if pairs.len() > 1 {
        frames.push_str(&(words.more_pairs)(pairs.len() - 1));
    }
    // Painted from the right. In a narrow window the names and numbers are in the tooltip.
    let narrow = ui.available_width() < NARROW;
    let first = ui.label(weak(if narrow { String::new() } else { frames }));
    let share = pair.same as f64 / pair.frames as f64;
    let second = ui.label(strong(format::percent(share)));
    let names = if narrow {
        words.word.to_owned()
    } else {
        format!("{}  {} ↔ {}", words.word, pair.a, pair.b)
    };
    let third = ui.add(Label::new(weak(names)).truncate());
    for response in [first, second, third] {
        response.on_hover_ui(|ui| pairs_ui(ui, pairs));
    }
}

fn pairs_ui(ui: &mut Ui, pairs: &[AgreementView]) {
    let words = &text().agreement;
    ui.label(words.meaning);
    for pair in pairs {
        let share = if pair.frames == 0 {
            words.none.to_owned()
        } else {
            format::percent(pair.same as f64 / pair.frames as f64)
        };
        ui.label(format!(
            "{} ↔ {}: {share} {}",
            pair.a,
            pair.b,
            (words.pair)(&format::count(pair.same), &format::count(pair.frames))
        ));
    }
}
