use egui::{Align2, Grid, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::text::text_in;
use crate::base::LatencyStats;
use crate::gui::format;
use crate::gui::panels::{stage_meaning, stage_name};
use crate::gui::text::text;
use crate::gui::theme::{Palette, stage_color, strong};
use crate::session::{ModelView, RECENT_NANOS, ShownPrediction};

const TITLE_HEIGHT: f32 = 20.0;
const BAR_HEIGHT: f32 = 8.0;
const ROW_HEIGHT: f32 = 17.0;
const HIGHEST_ROW: f32 = 22.0;
/// Width of a figure, in points.
const FIGURE_WIDTH: f32 = 48.0;
/// Number of stages in the bar; the age contains them all.
const STACKED: usize = 6;

/// A stage with its durations.
struct Stage {
    /// As rows have it.
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
    title_ui(ui, rect, range_of(model));
    let bar = Rect::from_min_size(
        pos2(rect.left(), rect.top() + TITLE_HEIGHT),
        vec2(rect.width(), BAR_HEIGHT),
    );
    bar_ui(ui, bar, parts);
    rows_ui(ui, rect.with_min_y(bar.bottom() + 4.0), age.first(), parts);
    let whole = ui.interact(rect, ui.scope_id().with("latency"), Sense::hover());
    whole.on_hover_ui(|ui| table_ui(ui, &stages, &range_of(model)));
}

/// Height of everything, in points.
pub(super) const WHOLE_HEIGHT: f32 =
    TITLE_HEIGHT + BAR_HEIGHT + 4.0 + (STACKED + 1) as f32 * ROW_HEIGHT;

/// Of which time the percentiles are.
fn range_of(model: &ModelView) -> String {
    let words = &text().stage;
    let stages = &model.stages;
    if stages.iter().any(|stage| stage.recent.is_some()) {
        (words.last_seconds)(RECENT_NANOS / 1_000_000_000)
    } else if stages.iter().any(|stage| stage.session.is_some()) {
        words.whole_session.to_owned()
    } else {
        words.this_frame.to_owned()
    }
}

/// Height of title, bar and the answer's age, in points.
pub(super) const LEAST_HEIGHT: f32 = TITLE_HEIGHT + BAR_HEIGHT + 4.0 + ROW_HEIGHT;

fn title_ui(ui: &mut Ui, rect: Rect, range: String) {
    let weak = Palette::of(ui).weak;
    let line = rect.with_max_y(rect.top() + TITLE_HEIGHT - 4.0);
    let small = |text: &str| RichText::new(text).size(11.0).color(weak);
    let p99 = line.with_min_x(line.right() - FIGURE_WIDTH);
    let p50 = p99.translate(vec2(-FIGURE_WIDTH, 0.0));
    let name = line.with_max_x(p50.left());
    let title = (text().stage.title)(&range);
    text_in(ui, name, Align2::LEFT_CENTER, small(&title));
    text_in(ui, p50, Align2::RIGHT_CENTER, small("p50"));
    text_in(ui, p99, Align2::RIGHT_CENTER, small("p99"));
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
    let label = (text().stage.together)(&format::latency(total));
    response.widget_info(|| WidgetInfo::labeled(Role::Meter, true, &label));
}

/// A line for the age and for each stage: name, median, 99th percentile. Where not all fit the
/// shortest stages are left out; the tooltip has them.
fn rows_ui(ui: &mut Ui, rect: Rect, age: Option<&Stage>, parts: &[Stage]) {
    let rows = (rect.height() / ROW_HEIGHT) as usize;
    let mut longest: Vec<usize> = (0..parts.len()).collect();
    longest.sort_by_key(|&place| std::cmp::Reverse(parts[place].typical()));
    longest.truncate(rows.saturating_sub(1));
    longest.sort_unstable();
    let stages = longest.into_iter().map(|place| &parts[place]);
    let lines: Vec<&Stage> = age.into_iter().chain(stages).collect();
    let height = (rect.height() / lines.len().max(1) as f32).clamp(ROW_HEIGHT, HIGHEST_ROW);
    for (place, stage) in lines.into_iter().take(rows).enumerate() {
        let top = rect.top() + place as f32 * height;
        let line = Rect::from_min_max(pos2(rect.left(), top), pos2(rect.right(), top + height));
        line_ui(ui, line, stage, place == 0);
    }
}

/// Colour, name and figures of a stage, or the age of the frame, which has no colour.
fn line_ui(ui: &mut Ui, line: Rect, stage: &Stage, is_age: bool) {
    let palette = Palette::of(ui);
    let styled = |text: &str, color| {
        let text = if is_age {
            strong(text)
        } else {
            RichText::new(text)
        };
        text.size(12.0).color(color)
    };
    let p99 = line.with_min_x(line.right() - FIGURE_WIDTH);
    let p50 = p99.translate(vec2(-FIGURE_WIDTH, 0.0));
    let name = line.with_max_x(p50.left());
    let (name, color, word) = if is_age {
        (name, palette.text, text().stage.age)
    } else {
        let swatch = Rect::from_center_size(line.left_center() + vec2(4.0, 0.0), vec2(8.0, 8.0));
        let color = stage_color(ui.theme(), stage.name);
        ui.painter().rect_filled(swatch, 2.0, color);
        (
            name.with_min_x(name.left() + 14.0),
            palette.weak,
            stage_name(stage.name),
        )
    };
    text_in(ui, name, Align2::LEFT_CENTER, styled(word, color));
    let median = styled(&figure(stage.typical()), palette.text);
    text_in(ui, p50, Align2::RIGHT_CENTER, median);
    let tail = stage
        .stats
        .map_or_else(|| "–".to_owned(), |stats| figure(stats.p99));
    text_in(ui, p99, Align2::RIGHT_CENTER, styled(&tail, palette.weak));
}

/// Milliseconds without their unit, which the title has; longer ones with theirs.
fn figure(micros: u64) -> String {
    let (number, unit) = format::latency_parts(micros);
    if unit == "ms" {
        number
    } else {
        format!("{number} {unit}")
    }
}

/// Everything, on hovering.
fn table_ui(ui: &mut Ui, stages: &[Stage], range: &str) {
    let words = &text().stage;
    let weak = Palette::of(ui).weak;
    ui.label((words.percentiles)(range));
    Grid::new("stages")
        .num_columns(7)
        .min_row_height(17.0)
        .spacing([16.0, 4.0])
        .show(ui, |ui| {
            for head in ["", words.this_frame, "p50", "p90", "p99", words.max, ""] {
                ui.label(strong(head));
            }
            ui.end_row();
            for stage in stages {
                ui.label(stage_name(stage.name));
                ui.label(format::latency(stage.last));
                if let Some(stats) = stage.stats {
                    for micros in [stats.p50, stats.p90, stats.p99, stats.max] {
                        ui.label(format::latency(micros));
                    }
                } else {
                    for _ in 0..4 {
                        ui.label("–");
                    }
                }
                ui.label(RichText::new(stage_meaning(stage.name)).color(weak));
                ui.end_row();
            }
        });
    let note = words.age_note;
    ui.label(RichText::new(note).color(weak));
}
