use egui::{Align2, Color32, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::text::text_in;
use crate::gui::format;
use crate::gui::text::text;
use crate::gui::theme::{Palette, strong};
use crate::prediction::{Output, ScoreKind, TensorSummary};

const TITLE_HEIGHT: f32 = 20.0;
const LOWEST_ROW: f32 = 21.0;
const HIGHEST_ROW: f32 = 28.0;
const BAR_HEIGHT: f32 = 3.0;

/// What the model says.
pub(super) fn answer_ui(ui: &mut Ui, rect: Rect, output: &Output) {
    let words = &text().answer;
    match output {
        Output::Classes { scores, classes } => {
            let rows: Vec<Row<'_>> = classes
                .iter()
                .map(|class| Row {
                    name: &class.name,
                    score: f64::from(class.score),
                })
                .collect();
            let title = (words.top)(rows.len());
            rows_ui(ui, rect, &title, *scores, &rows);
        }
        Output::Detections { detections } => {
            let rows: Vec<Row<'_>> = detections
                .iter()
                .map(|detection| Row {
                    name: &detection.name,
                    score: f64::from(detection.score),
                })
                .collect();
            let title = (words.objects)(rows.len());
            rows_ui(ui, rect, &title, ScoreKind::Probability, &rows);
        }
        Output::Raw { tensors } => tensors_ui(ui, rect, tensors),
        Output::Invalid { reason } => {
            let bad = Palette::of(ui).bad;
            title_ui(ui, rect, words.invalid, "");
            let text = RichText::new(reason).color(bad);
            let below = rect.with_min_y(rect.top() + TITLE_HEIGHT);
            text_in(ui, below, Align2::LEFT_TOP, text);
        }
    }
}

struct Row<'a> {
    name: &'a str,
    score: f64,
}

fn title_ui(ui: &mut Ui, rect: Rect, left: &str, right: &str) {
    let weak = Palette::of(ui).weak;
    let line = rect.with_max_y(rect.top() + TITLE_HEIGHT - 4.0);
    let text = |text: &str| RichText::new(text).size(11.0).color(weak);
    text_in(ui, line, Align2::LEFT_CENTER, text(left));
    if !right.is_empty() {
        text_in(ui, line, Align2::RIGHT_CENTER, text(right));
    }
}

fn rows_ui(ui: &mut Ui, rect: Rect, title: &str, scores: ScoreKind, rows: &[Row<'_>]) {
    let word = match scores {
        ScoreKind::Probability => text().answer.probability,
        ScoreKind::Score => text().answer.score,
    };
    title_ui(ui, rect, title, word);
    let area = rect.with_min_y(rect.top() + TITLE_HEIGHT);
    let fitting = (area.height() / LOWEST_ROW) as usize;
    let number = rows.len().min(fitting);
    let height = (area.height() / number.max(1) as f32).clamp(LOWEST_ROW, HIGHEST_ROW);
    // Scores that are no probabilities are drawn against the best of them.
    let full = match scores {
        ScoreKind::Probability => 1.0,
        ScoreKind::Score => rows.iter().map(|row| row.score).fold(0.0, f64::max),
    };
    for (place, row) in rows.iter().take(number).enumerate() {
        let top = area.top() + place as f32 * height;
        let line = Rect::from_min_max(pos2(area.left(), top), pos2(area.right(), top + height));
        row_ui(ui, line, row, scores, full, place == 0);
    }
}

fn row_ui(ui: &mut Ui, rect: Rect, row: &Row<'_>, scores: ScoreKind, full: f64, best: bool) {
    let palette = Palette::of(ui);
    let score = match scores {
        ScoreKind::Probability => format::percent(row.score),
        ScoreKind::Score => format!("{:.3}", row.score),
    };
    let (text, bar) = rect.split_top_bottom_at_y(rect.bottom() - BAR_HEIGHT - 1.0);
    let (name, number) = text.split_left_right_at_x(text.right() - 62.0);
    let (color, bar_color) = if best {
        (palette.text, palette.accent)
    } else {
        (palette.text, palette.accent.gamma_multiply(0.55))
    };
    let styled = |text: &str| {
        let text = if best {
            strong(text)
        } else {
            RichText::new(text)
        };
        text.size(13.0).color(color)
    };
    text_in(ui, name, Align2::LEFT_CENTER, styled(row.name));
    text_in(ui, number, Align2::RIGHT_CENTER, styled(&score));
    bar_ui(
        ui,
        bar,
        (row.score / full.max(f64::MIN_POSITIVE)) as f32,
        bar_color,
    );
    let response = ui.allocate_rect(bar, Sense::hover());
    let label = format!("{} {score}", row.name);
    response.widget_info(|| WidgetInfo::labeled(Role::Meter, true, &label));
}

fn bar_ui(ui: &Ui, rect: Rect, share: f32, color: Color32) {
    let track = rect.with_max_y(rect.top() + BAR_HEIGHT);
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let filled = track.with_max_x(track.left() + track.width() * share);
    ui.painter().rect_filled(track, 1.5, Palette::of(ui).well);
    ui.painter().rect_filled(filled, 1.5, color);
}

fn tensors_ui(ui: &mut Ui, rect: Rect, tensors: &[TensorSummary]) {
    title_ui(ui, rect, text().answer.raw, "");
    let palette = Palette::of(ui);
    let mut top = rect.top() + TITLE_HEIGHT;
    for tensor in tensors {
        if top + 34.0 > rect.bottom() {
            break;
        }
        let line = Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), 17.0));
        let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
        let head = format!("{}  {} [{}]", tensor.name, tensor.dtype, shape.join(" × "));
        text_in(ui, line, Align2::LEFT_CENTER, strong(head));
        let number =
            |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.4}"));
        let mut values = (text().answer.values)(
            &number(tensor.min),
            &number(tensor.mean),
            &number(tensor.max),
        );
        if tensor.nan > 0 {
            values.push_str(&format!("   {} NaN", tensor.nan));
        }
        let text = RichText::new(values).size(12.0).color(palette.weak);
        let below = line.translate(vec2(0.0, 17.0));
        let response = text_in(ui, below, Align2::LEFT_CENTER, text);
        if let Some(values) = &tensor.values {
            let values: Vec<String> = values.iter().map(|&value| number(value)).collect();
            response.on_hover_text(values.join("  "));
        }
        top += 40.0;
    }
}
