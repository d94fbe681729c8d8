//! How the durations of each stage are spread: one row of bars for each, on one axis.

use egui::{Align2, FontId, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::columns::{Column, percentile};
use crate::gui::format;
use crate::gui::text::text;
use crate::gui::theme::{Palette, stage_color, strong};

/// Bars for each factor of ten.
const PER_DECADE: usize = 12;
/// Widths and heights in points.
const NAME_WIDTH: f32 = 80.0;
const NUMBERS_WIDTH: f32 = 112.0;
const TITLE_HEIGHT: f32 = 18.0;
const AXIS_HEIGHT: f32 = 14.0;
const HIGHEST_ROW: f32 = 44.0;

/// A logarithmic axis of latencies, in microseconds: whole factors of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Axis {
    from: u32,
    to: u32,
}

impl Axis {
    /// The axis that shows these values; those below a microsecond count as one.
    fn of(values: impl Iterator<Item = u64> + Clone) -> Self {
        let least = values.clone().min().unwrap_or(1).max(1);
        let most = values.max().unwrap_or(1).max(1);
        let from = least.ilog10();
        Self {
            from,
            to: (most.ilog10() + 1).max(from + 1),
        }
    }

    fn bins(self) -> usize {
        (self.to - self.from) as usize * PER_DECADE
    }

    /// Where a value is, from 0 to 1.
    fn share(self, micros: u64) -> f64 {
        let decades = f64::from(self.to - self.from);
        (((micros.max(1) as f64).log10() - f64::from(self.from)) / decades).clamp(0.0, 1.0)
    }

    /// How many values are in each bin.
    fn count(self, values: &[u64]) -> Vec<u32> {
        let mut counts = vec![0; self.bins()];
        for &value in values {
            let bin = (self.share(value) * self.bins() as f64) as usize;
            counts[bin.min(self.bins() - 1)] += 1;
        }
        counts
    }
}

/// The stages of a model's last answers, warm-up left out.
pub(super) fn histogram_ui(ui: &mut Ui, name: &str, shown: &[Column], stages: usize) {
    let palette = Palette::of(ui);
    let rect = ui.available_rect_before_wrap();
    let (title, rest) = rect.split_top_bottom_at_y(rect.top() + TITLE_HEIGHT);
    let letters = (title.width() / 8.0) as usize;
    let small = FontId::proportional(11.0);
    ui.scope_builder(egui::UiBuilder::new().max_rect(title), |ui| {
        ui.label(strong(format::elide_middle(name, letters.max(8))).size(12.0));
    });
    let steady: Vec<&Column> = shown.iter().filter(|column| !column.warmup).collect();
    if steady.is_empty() {
        let at = rest.center();
        ui.painter().text(
            at,
            Align2::CENTER_CENTER,
            text().timeline.only_warmup,
            small,
            palette.weak,
        );
        return;
    }
    let of_stage = |stage: usize| {
        steady
            .iter()
            .map(move |column| column.micros.stages()[stage].1)
    };
    let axis = Axis::of((0..stages).flat_map(of_stage));
    let (rows, marks) = rest.split_top_bottom_at_y(rest.bottom() - AXIS_HEIGHT);
    let bars = rows
        .with_min_x(rows.left() + NAME_WIDTH)
        .with_max_x((rows.right() - NUMBERS_WIDTH).max(rows.left() + NAME_WIDTH + 20.0));
    axis_ui(ui, axis, bars, marks);
    let height = (rows.height() / stages as f32).min(HIGHEST_ROW);
    for stage in 0..stages {
        let top = rows.top() + stage as f32 * height;
        let row = Rect::from_min_size(pos2(rows.left(), top), vec2(rows.width(), height));
        let mut values: Vec<u64> = of_stage(stage).collect();
        values.sort_unstable();
        let stage = steady[0].micros.stages()[stage].0;
        row_ui(ui, row, bars, stage, &values, axis);
    }
}

fn axis_ui(ui: &Ui, axis: Axis, bars: Rect, marks: Rect) {
    let palette = Palette::of(ui);
    let small = FontId::proportional(10.0);
    for power in axis.from..=axis.to {
        let micros = 10_u64.saturating_pow(power);
        let x = bars.left() + bars.width() * axis.share(micros) as f32;
        ui.painter()
            .vline(x, bars.y_range(), Stroke::new(1.0, palette.line));
        let text = if micros < 1000 {
            format!("{micros} µs")
        } else if micros < 1_000_000 {
            format!("{} ms", micros / 1000)
        } else {
            format!("{} s", micros / 1_000_000)
        };
        let at = pos2(x, marks.bottom());
        ui.painter()
            .text(at, Align2::CENTER_BOTTOM, text, small.clone(), palette.weak);
    }
    let words = &text().stage;
    let numbers = format!("{} · {}", words.p50, words.p99);
    let at = pos2(marks.right(), marks.bottom());
    ui.painter()
        .text(at, Align2::RIGHT_BOTTOM, numbers, small, palette.weak);
}

fn row_ui(ui: &mut Ui, row: Rect, bars: Rect, stage: &str, sorted: &[u64], axis: Axis) {
    let palette = Palette::of(ui);
    let color = stage_color(ui.theme(), stage);
    let small = FontId::proportional(11.0);
    let numbers = |share| percentile(sorted, share).map_or_else(String::new, format::latency);
    let (median, slowest) = (numbers(0.5), numbers(0.99));
    let painter = ui.painter();
    let swatch = Rect::from_center_size(pos2(row.left() + 5.0, row.center().y), vec2(9.0, 9.0));
    painter.rect_filled(swatch, 2.0, color);
    let at = pos2(row.left() + 14.0, row.center().y);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        super::timeline::stage_name(stage),
        small.clone(),
        palette.text,
    );
    let at = row.right_center();
    let line = format!("{median} · {slowest}");
    painter.text(at, Align2::RIGHT_CENTER, line, small, palette.weak);
    let counts = axis.count(sorted);
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f32;
    let width = bars.width() / counts.len() as f32;
    for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let left = bars.left() + bin as f32 * width;
        // A single answer can be seen, too.
        let height = ((row.height() - 3.0) * count as f32 / most).max(1.5);
        let bar = Rect::from_min_max(
            pos2(left, row.bottom() - height),
            pos2(left + (width - 1.0).max(1.0), row.bottom()),
        );
        painter.rect_filled(bar, 0.0, color);
    }
    let words = (text().timeline.row)(super::timeline::stage_name(stage), &median, &slowest);
    let response = ui.interact(row, ui.scope_id().with(stage), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
    response.on_hover_text(super::timeline::stage_meaning(stage));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_of_whole_factors_of_ten_and_holds_every_value() {
        let axis = Axis::of([60, 900, 12_000].into_iter());
        assert_eq!(axis, Axis { from: 1, to: 5 });
        assert_eq!(
            (axis.share(10), axis.share(1_000), axis.share(100_000)),
            (0.0, 0.5, 1.0)
        );
        assert_eq!(Axis::of(std::iter::empty()), Axis { from: 0, to: 1 });
        assert_eq!(Axis::of([0, 0].into_iter()), Axis { from: 0, to: 1 });
        let widest = Axis::of([0, u64::MAX].into_iter());
        assert_eq!(widest.count(&[0, u64::MAX]).iter().sum::<u32>(), 2);
    }

    #[test]
    fn every_value_is_in_one_bin() {
        let axis = Axis { from: 3, to: 4 };
        let counts = axis.count(&[1_000, 1_001, 3_162, 9_999]);
        assert_eq!(counts.len(), PER_DECADE);
        assert_eq!((counts[0], counts[PER_DECADE - 1]), (2, 1));
        // The square root of ten is in the middle.
        assert_eq!(counts[PER_DECADE / 2 - 1] + counts[PER_DECADE / 2], 1);
    }
}
