use egui::{
    Align2, Color32, DragValue, Popup, PopupCloseBehavior, Rect, RichText, ScrollArea, Sense,
    Stroke, Theme, Ui, UiBuilder, Vec2,
};
use egui_plot::{
    FilledArea, GridMark, HLine, LineStyle, Plot, PlotBounds, PlotPoint, PlotUi, Span, Text, VLine,
};

use super::columns::{Column, columns, nice_axis, percentile, runs, stride, window, with_budget};
use super::histogram::histogram_ui;
use crate::gui::command::CommandSender;
use crate::gui::format;
use crate::gui::picture_command::PictureCommand;
use crate::gui::rewind::Kept;
use crate::gui::state::{TimelineView, WindowState};
use crate::gui::text::text;
use crate::gui::theme::{GAP, Palette, stage_color, strong};
use crate::recording::Micros;
use crate::session::{ChildState, ModelView, SessionView};

/// Points of width for each answer: fewer would not be told apart.
const COLUMN_POINTS: f32 = 3.0;
/// A chart is not made narrower than this; the row scrolls instead. In points.
const LEAST_WIDTH: f32 = 240.0;
/// Height of a chart's name and of the words at a line, in points.
const WORDS_HEIGHT: f64 = 34.0;
/// Width of a letter of a chart's name, roughly, in points.
const LETTER_WIDTH: f32 = 8.0;
/// Height of the scroll bar and the gap before it, in points.
const BAR_HEIGHT: f32 = 12.0;
/// Names of the stages that are stacked; the age contains them all.
const STACKED: usize = 6;

/// The durations of each model's last answers, stacked by stage.
pub(super) fn timelines_ui(
    ui: &mut Ui,
    view: &SessionView,
    state: &WindowState,
    commands: &CommandSender,
) {
    let solo = state.solo.as_deref();
    let models: Vec<&ModelView> = view
        .models
        .iter()
        .filter(|model| solo.is_none_or(|name| name == model.spec.name))
        .collect();
    if models.is_empty() {
        let words = RichText::new(text().stage.none);
        ui.label(words.color(Palette::of(ui).weak));
        return;
    }
    let area = ui.available_size();
    let number = models.len().max(1) as f32;
    let gaps = GAP * (number - 1.0);
    let width = ((area.x - gaps) / number).max(LEAST_WIDTH);
    let total = width * number + gaps;
    // The scroll bar has a place of its own.
    let height = area.y
        - if total > area.x + 0.5 {
            BAR_HEIGHT
        } else {
            0.0
        };
    ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        let (row, _) = ui.allocate_exact_size(Vec2::new(total, height), Sense::hover());
        for (place, model) in models.into_iter().enumerate() {
            let left = row.left() + place as f32 * (width + GAP);
            let rect = Rect::from_min_size(egui::pos2(left, row.top()), Vec2::new(width, height));
            if !ui.is_rect_visible(rect) {
                continue;
            }
            ui.scope_builder(
                UiBuilder::new().id_salt(&model.spec.name).max_rect(rect),
                |ui| timeline_ui(ui, model, state, commands),
            );
        }
    });
}

/// The colours of the stages.
pub(super) fn legend_ui(ui: &mut Ui, shown: &mut TimelineView) {
    ui.spacing_mut().item_spacing.x = 5.0;
    for (stage, _) in Micros::default().stages().into_iter().take(STACKED) {
        let (swatch, _) = ui.allocate_exact_size(Vec2::splat(9.0), Sense::hover());
        let color = stage_color(ui.theme(), stage);
        ui.painter().rect_filled(swatch, 2.0, color);
        let word = RichText::new(stage_name(stage))
            .small()
            .color(Palette::of(ui).weak);
        ui.label(word).on_hover_text(stage_meaning(stage));
        ui.add_space(4.0);
    }
    ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
    let button = ui.small_button((text().timeline.budget_of)(shown.budget_millis));
    let behavior = PopupCloseBehavior::CloseOnClickOutside;
    Popup::menu(&button.on_hover_text(text().timeline.budget_meaning))
        .close_behavior(behavior)
        .show(|ui| {
            let budget = DragValue::new(&mut shown.budget_millis)
                .range(1..=10_000)
                .suffix(" ms");
            ui.horizontal(|ui| {
                let label = ui.label(text().timeline.budget);
                ui.add(budget).labelled_by(label.id);
            });
            ui.checkbox(&mut shown.histogram, text().timeline.histogram);
        });
}

/// What a stage is called, by its name in rows.
pub(in crate::gui) fn stage_name(stage: &str) -> &'static str {
    let words = &text().stage;
    match stage {
        "wait" => words.wait,
        "copy" => words.copy,
        "preprocess" => words.preprocess,
        "queue" => words.queue,
        "inference" => words.inference,
        "decode" => words.decode,
        _ => words.age,
    }
}

/// What a stage is, in words.
pub(in crate::gui) fn stage_meaning(stage: &str) -> &'static str {
    let words = &text().stage;
    match stage {
        "wait" => words.wait_meaning,
        "copy" => words.copy_meaning,
        "preprocess" => words.preprocess_meaning,
        "queue" => words.queue_meaning,
        "inference" => words.inference_meaning,
        "decode" => words.decode_meaning,
        _ => words.age_meaning,
    }
}

fn timeline_ui(ui: &mut Ui, model: &ModelView, state: &WindowState, commands: &CommandSender) {
    let palette = Palette::of(ui);
    let name = model.spec.name.as_str();
    let most = (ui.available_width() / COLUMN_POINTS) as usize;
    let all = columns(&model.timeline);
    let shown = &all[all.len().saturating_sub(most)..];
    let places = window(shown.len(), most);
    if shown.is_empty() {
        let rect = ui.available_rect_before_wrap();
        ui.painter().text(
            rect.center(),
            Align2::CENTER_CENTER,
            match model.child {
                ChildState::Failed(_) => (text().stage.model_failed)(name),
                _ => (text().stage.no_answer_yet)(name),
            },
            egui::FontId::proportional(13.0),
            palette.weak,
        );
        return;
    }
    if state.timeline.histogram {
        histogram_ui(ui, name, &all, STACKED);
        return;
    }
    let steady: Vec<u64> = shown
        .iter()
        .filter(|column| !column.warmup)
        .map(Column::total)
        .collect();
    let highest = steady
        .iter()
        .copied()
        .max()
        .or_else(|| shown.iter().map(Column::total).max());
    let budget = u64::from(state.timeline.budget_millis) * 1000;
    let over = steady.iter().filter(|&&micros| micros > budget).count();
    let highest = with_budget(highest.unwrap_or(0), budget);
    let (top, step) = nice_axis(highest);
    let stride = stride(shown);
    let last = shown.last().map_or(0, |column| column.seq);
    let left = last as f64 - places as f64 * stride as f64;
    let right = (last + stride) as f64;
    let theme = ui.theme();
    let axis_font = egui::FontId::proportional(11.0);
    ui.style_mut()
        .text_styles
        .insert(egui::TextStyle::Body, axis_font);
    let response = Plot::new(("timeline", name))
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .allow_axis_zoom_drag(false)
        .show_crosshair(false)
        .label_formatter(|_| None)
        .show_background(false)
        .set_margin_fraction(Vec2::ZERO)
        .show_grid([false, true])
        .y_grid_spacer(move |_| marks(top, step))
        .y_axis_min_width(48.0)
        .x_axis_formatter(|mark, _| frame_label(mark.value))
        .y_axis_formatter(|mark, _| latency_label(mark.value))
        .height(ui.available_height())
        .show(ui, |plot| {
            let bounds = PlotBounds::from_min_max([left, 0.0], [right, top as f64]);
            plot.set_plot_bounds(bounds);
            stacks(plot, shown, stride, top, theme);
            warmups(plot, shown, stride, palette);
            let at = PlotPoint::new(right, top as f64);
            // Where the line is too high for words above it, they stand below.
            let height = f64::from(plot.response().rect.height().max(1.0));
            let highest = top as f64 * (1.0 - WORDS_HEIGHT / height);
            percentiles(plot, steady, at, highest, palette);
            budget_line(plot, budget, left, palette);
            if let Some(look_back) = state.look_back {
                let x = look_back.seq as f64 + stride as f64 / 2.0;
                let line = VLine::new("looking back", x).allow_hover(false);
                plot.vline(line.stroke(Stroke::new(1.5, palette.warning)));
            }
            let letters = (plot.response().rect.width() / LETTER_WIDTH) as usize;
            let mut title = format::elide_middle(name, letters.max(8));
            if over > 0 {
                title.push_str(&(text().timeline.over)(over, state.timeline.budget_millis));
            }
            let title = strong(title)
                .size(12.0)
                .color(palette.text)
                .background_color(palette.card.gamma_multiply(0.8));
            let corner = PlotPoint::new(left + (right - left) * 0.006, top as f64 * 0.985);
            plot.text(Text::new("name", corner, title).anchor(Align2::LEFT_TOP));
        });
    let at = response.response.hover_pos();
    let seq = at.map(|at| response.transform.value_from_position(at).x);
    let hovered = seq.and_then(|seq| {
        let covers = |column: &&Column| column.seq as f64 <= seq;
        let column = shown.iter().rev().find(covers)?;
        (seq < (column.seq + stride) as f64).then_some(column)
    });
    if let Some(column) = hovered {
        let kept = state.kept.get(column.seq);
        if response.response.clicked() {
            commands.send(PictureCommand::LookAt(column.seq).into());
        }
        response
            .response
            .on_hover_ui_at_pointer(|ui| column_details_ui(ui, column, kept));
    }
}

fn marks(top: u64, step: u64) -> Vec<GridMark> {
    let mark = |place: u64| GridMark {
        value: (place * step) as f64,
        step_size: step as f64,
    };
    (0..=top / step.max(1)).map(mark).collect()
}

fn frame_label(value: f64) -> String {
    if value >= 1.0 && value.fract() == 0.0 {
        format!("#{value:.0}")
    } else {
        String::new()
    }
}

fn latency_label(micros: f64) -> String {
    let millis = micros / 1000.0;
    if millis.fract() == 0.0 {
        format!("{millis:.0} ms")
    } else {
        format!("{millis} ms")
    }
}

/// One area for each stage and run of frames, as steps; between runs there is nothing.
fn stacks(plot: &mut PlotUi<'_>, shown: &[Column], stride: u64, top: u64, theme: Theme) {
    for run in runs(shown, stride) {
        let mut xs = Vec::with_capacity(run.len() * 2);
        for (place, column) in run.iter().enumerate() {
            let next = run.get(place + 1);
            let end = next.map_or(column.seq + stride, |next| next.seq);
            xs.extend([column.seq as f64, end as f64]);
        }
        let mut floor = vec![0.0; xs.len()];
        for stage in 0..STACKED {
            let mut ceiling = floor.clone();
            let mut name = "";
            for (column, ys) in run.iter().zip(ceiling.chunks_exact_mut(2)) {
                let (stage, micros) = column.micros.stages()[stage];
                name = stage;
                for y in ys {
                    *y = (*y + micros as f64).min(top as f64);
                }
            }
            let color = stage_color(theme, name);
            plot.add(
                FilledArea::new(name, &xs, &floor, &ceiling)
                    .fill_color(color)
                    .allow_hover(false)
                    .id((run[0].seq, stage)),
            );
            floor = ceiling;
        }
    }
}

/// Marks first runs, which no percentile contains.
fn warmups(plot: &mut PlotUi<'_>, shown: &[Column], stride: u64, palette: &Palette) {
    let mut marked = shown.chunk_by(|a, b| a.warmup == b.warmup);
    while let Some(part) = marked.by_ref().find(|part| part[0].warmup) {
        let from = part[0].seq as f64;
        let to = (part[part.len() - 1].seq + stride) as f64;
        plot.span(
            Span::new(text().stage.warmup, from..=to)
                .fill(palette.card.gamma_multiply(0.65))
                .border(Stroke::new(1.0, palette.weak))
                .label_align(Align2::LEFT_TOP),
        );
    }
}

/// Lines at the median and the 99th percentile of what is shown, warm-up left out.
fn percentiles(
    plot: &mut PlotUi<'_>,
    mut steady: Vec<u64>,
    at: PlotPoint,
    highest: f64,
    palette: &Palette,
) {
    steady.sort_unstable();
    for (name, share, color) in [("p50", 0.5, palette.text), ("p99", 0.99, palette.warning)] {
        let Some(micros) = percentile(&steady, share) else {
            return;
        };
        let faint: Color32 = color.gamma_multiply(0.7);
        plot.hline(
            HLine::new(name, micros as f64)
                .stroke(Stroke::new(1.0, faint))
                .allow_hover(false),
        );
        // Another range than that of the tile's list, so it is said.
        let words = &text().stage;
        let range = (words.last_number)(steady.len());
        let line = (words.line)(name, &range, &format::latency(micros));
        let text = RichText::new(line)
            .size(11.0)
            .color(color)
            .background_color(palette.card.gamma_multiply(0.8));
        let point = PlotPoint::new(at.x, micros as f64);
        let anchor = if name == "p50" || micros as f64 > highest {
            Align2::RIGHT_TOP
        } else {
            Align2::RIGHT_BOTTOM
        };
        plot.text(Text::new(name, point, text).anchor(anchor));
    }
}

/// The budget, dashed, where the axis reaches it.
fn budget_line(plot: &mut PlotUi<'_>, budget: u64, left: f64, palette: &Palette) {
    let line = HLine::new("budget", budget as f64)
        .stroke(Stroke::new(1.5, palette.bad))
        .style(LineStyle::dashed_loose())
        .allow_hover(false);
    plot.hline(line);
    let text = RichText::new((text().timeline.budget_of)((budget / 1000) as u32))
        .size(11.0)
        .color(palette.bad)
        .background_color(palette.card.gamma_multiply(0.8));
    let at = PlotPoint::new(left, budget as f64);
    plot.text(Text::new("budget", at, text).anchor(Align2::LEFT_BOTTOM));
}

fn column_details_ui(ui: &mut Ui, column: &Column, kept: Option<&Kept>) {
    let words = &text().stage;
    let mut title = (words.frame)(column.seq);
    if column.warmup {
        title.push_str(&format!(" · {}", words.warmup));
    }
    ui.label(strong(title));
    let weak = Palette::of(ui).weak;
    if let Some(path) = kept.and_then(|kept| kept.path.as_deref()) {
        ui.label(path);
    }
    let click = match kept {
        Some(_) => text().timeline.click,
        None => text().timeline.not_kept,
    };
    ui.label(RichText::new(click).small().color(weak));
    egui::Grid::new("column")
        .num_columns(2)
        .min_row_height(17.0)
        .show(ui, |ui| {
            for (stage, micros) in column.micros.stages() {
                ui.label(stage_name(stage));
                ui.label(format::latency(micros));
                ui.end_row();
            }
        });
}
