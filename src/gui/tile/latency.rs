use egui::{Align2, Grid, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::text::text_in;
use crate::base::LatencyStats;
use crate::gui::format;
use crate::gui::panels::stage_meaning;
use crate::gui::theme::{Palette, stage_color, strong};
use crate::session::{ModelView, ShownPrediction};

const TITLE_HEIGHT: f32 = 20.0;
const BAR_HEIGHT: f32 = 8.0;
const ROW_HEIGHT: f32 = 18.0;
/// Number of stages in the bar; the age contains them all.
const STACKED: usize = 6;

/// A stage with its durations.
struct Stage {
    name: &'static str,
    /// Of the shown answer, in microseconds.
    last: u64,
    /// Over the last seconds, or over the session where nothing is recent.
    stats: Option<LatencyStats>,
}

fn stages(model: &ModelView, shown: &ShownPrediction) -> Vec<Stage> {
    let stats = |name: &str| {
        let stage = model.stages.iter().find(|stage| stage.stage == name)?;
        stage.recent.or(stage.session)
    };
    let of = |(name, last)| Stage {
        name,
        last,
        stats: stats(name),
    };
    shown.micros.stages().into_iter().map(of).collect()
}

impl Stage {
    /// The median, or the last value while there is none (warm-up).
    fn typical(&self) -> u64 {
        self.stats.map_or(self.last, |stats| stats.p50)
    }
}

/// How long each stage takes: a bar in proportion, and numbers.
pub(super) fn latency_ui(ui: &mut Ui, rect: Rect, model: &ModelView, shown: &ShownPrediction) {
    let stages = stages(model, shown);
    let (parts, age) = stages.split_at(STACKED.min(stages.len()));
    title_ui(ui, rect, age.first());
    let bar = Rect::from_min_size(
        pos2(rect.left(), rect.top() + TITLE_HEIGHT),
        vec2(rect.width(), BAR_HEIGHT),
    );
    bar_ui(ui, bar, parts);
    let area = rect.with_min_y(bar.bottom() + 6.0);
    numbers_ui(ui, area, parts);
    let whole = ui.interact(rect, ui.scope_id().with("latency"), Sense::hover());
    whole.on_hover_ui(|ui| table_ui(ui, &stages));
}

fn title_ui(ui: &mut Ui, rect: Rect, age: Option<&Stage>) {
    let palette = Palette::of(ui);
    let line = rect.with_max_y(rect.top() + TITLE_HEIGHT - 4.0);
    let small = |text: String| RichText::new(text).size(11.0).color(palette.weak);
    text_in(ui, line, Align2::LEFT_CENTER, small("Latency".to_owned()));
    let text = match age.and_then(|age| age.stats) {
        Some(stats) => {
            let (p50, _) = format::latency_parts(stats.p50);
            format!("age p50 {p50}   p99 {}", format::latency(stats.p99))
        }
        None => "warming up".to_owned(),
    };
    text_in(ui, line, Align2::RIGHT_CENTER, small(text));
}

fn bar_ui(ui: &mut Ui, rect: Rect, parts: &[Stage]) {
    let total: u64 = parts.iter().map(Stage::typical).sum();
    let theme = ui.theme();
    ui.painter().rect_filled(rect, 2.0, Palette::of(ui).well);
    let mut left = rect.left();
    for part in parts {
        let width = rect.width() * part.typical() as f32 / total.max(1) as f32;
        let place = Rect::from_min_max(
            pos2(left, rect.top()),
            pos2((left + width).min(rect.right()), rect.bottom()),
        );
        ui.painter()
            .rect_filled(place, 0.0, stage_color(theme, part.name));
        left += width;
    }
    let response = ui.allocate_rect(rect, Sense::hover());
    let label = format!("Stages together {}", format::latency(total));
    response.widget_info(|| WidgetInfo::labeled(Role::Meter, true, &label));
}

/// The stages in two columns, as many as there is room for, the longest ones first.
fn numbers_ui(ui: &mut Ui, rect: Rect, parts: &[Stage]) {
    let palette = Palette::of(ui);
    let theme = ui.theme();
    let rows = ((rect.height() / ROW_HEIGHT) as usize).min(parts.len().div_ceil(2));
    let mut shown: Vec<&Stage> = parts.iter().collect();
    if rows * 2 < parts.len() {
        shown.sort_by_key(|stage| std::cmp::Reverse(stage.typical()));
        shown.truncate(rows * 2);
    }
    let (left, right) = rect.split_left_right_at_fraction(0.5);
    let columns = [
        left.with_max_x(left.right() - 8.0),
        right.with_min_x(right.left() + 8.0),
    ];
    for (place, stage) in shown.into_iter().enumerate() {
        let column = columns[place / rows.max(1) % 2];
        let top = column.top() + (place % rows.max(1)) as f32 * ROW_HEIGHT;
        let line = Rect::from_min_max(
            pos2(column.left(), top),
            pos2(column.right(), top + ROW_HEIGHT),
        );
        let swatch = Rect::from_center_size(line.left_center() + vec2(4.0, 0.0), vec2(8.0, 8.0));
        ui.painter()
            .rect_filled(swatch, 2.0, stage_color(theme, stage.name));
        let (number, unit) = format::latency_parts(stage.typical());
        let value = if unit == "ms" {
            number
        } else {
            format!("{number} {unit}")
        };
        let (name, figure) = line
            .with_min_x(line.left() + 14.0)
            .split_left_right_at_x(line.right() - 44.0);
        let small = |text: &str| RichText::new(text).size(12.0);
        text_in(
            ui,
            name,
            Align2::LEFT_CENTER,
            small(stage.name).color(palette.weak),
        );
        text_in(
            ui,
            figure,
            Align2::RIGHT_CENTER,
            small(&value).color(palette.text),
        );
    }
}

/// Everything, on hovering.
fn table_ui(ui: &mut Ui, stages: &[Stage]) {
    Grid::new("stages")
        .num_columns(6)
        .spacing([16.0, 4.0])
        .show(ui, |ui| {
            for head in ["", "this frame", "p50", "p90", "p99", "max"] {
                ui.label(strong(head));
            }
            ui.end_row();
            for stage in stages {
                ui.label(stage.name)
                    .on_hover_text(stage_meaning(stage.name));
                ui.label(format::latency(stage.last));
                if let Some(stats) = stage.stats {
                    for micros in [stats.p50, stats.p90, stats.p99, stats.max] {
                        ui.label(format::latency(micros));
                    }
                }
                ui.end_row();
            }
        });
}
