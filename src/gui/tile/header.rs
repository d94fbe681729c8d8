use egui::{Align2, Popup, Rect, RichText, Role, Sense, Ui, UiBuilder, Vec2, WidgetInfo, vec2};

use super::TileContext;
use super::badge::Badge;
use super::text::text_in;
use crate::gui::command::{CommandSender, SOLO_KEYS, UiCommand};
use crate::gui::format;
use crate::gui::icon::{Icon, icon_area};
use crate::gui::pill::Pill;
use crate::gui::state::TileState;
use crate::gui::theme::{Palette, strong};
use crate::session::{ChildState, ModelView, SessionPhase};

/// Width of a headline figure, in points.
const FIGURE_WIDTH: f32 = 86.0;
const MENU_WIDTH: f32 = 26.0;

/// Name, provider and state on the left; the headline figures on the right.
pub(super) fn header_ui(
    ui: &mut Ui,
    rect: Rect,
    context: &TileContext<'_>,
    tile: &mut TileState,
    commands: &CommandSender,
) {
    let menu = Rect::from_min_max(
        rect.right_top() - vec2(MENU_WIDTH, 0.0),
        rect.right_bottom(),
    );
    menu_ui(ui, menu, context.model, commands);
    let mut right = menu.left() - 4.0;
    if tile.shown.is_some() && !matches!(context.model.child, ChildState::Failed(_)) {
        let mut place = || {
            let figure = Rect::from_min_max(
                egui::pos2(right - FIGURE_WIDTH, rect.top()),
                egui::pos2(right, rect.bottom()),
            );
            right -= FIGURE_WIDTH;
            figure
        };
        let age = place();
        age_ui(ui, age, context, tile);
        if rect.width() > 380.0 {
            let rate = place().with_max_x(age.left() + 6.0);
            rate_ui(ui, rate, context.model);
        }
    }
    let title = rect.with_max_x(right - 8.0);
    title_ui(ui, title, context);
}

fn age_ui(ui: &mut Ui, rect: Rect, context: &TileContext<'_>, tile: &mut TileState) {
    let flowing = context.phase == SessionPhase::Running;
    let micros = tile.headline_micros(flowing);
    let (number, unit) = format::latency_parts(micros);
    figure_ui(ui, rect, &number, unit, "frame age", true).on_hover_text(
        "From the frame's capture to its first appearance in this window with its answer",
    );
}

fn rate_ui(ui: &mut Ui, rect: Rect, model: &ModelView) {
    let rate = model.frames_per_second;
    let number = rate.map_or_else(|| "–".to_owned(), format::rate);
    figure_ui(ui, rect, &number, "fps", "answers", false).on_hover_text("Frames answered a second");
}

/// A large number with its unit above its name, set to the right.
fn figure_ui(
    ui: &mut Ui,
    rect: Rect,
    number: &str,
    unit: &str,
    name: &str,
    is_headline: bool,
) -> egui::Response {
    let palette = Palette::of(ui);
    let (size, color) = if is_headline {
        (22.0, palette.text)
    } else {
        (17.0, palette.weak)
    };
    let (top, bottom) = rect.split_top_bottom_at_y(rect.top() + 25.0);
    let unit_width = 24.0;
    let baseline = 2.5;
    text_in(
        ui,
        top.with_max_x(top.right() - unit_width),
        Align2::RIGHT_CENTER,
        strong(number).size(size).color(color),
    );
    text_in(
        ui,
        top.with_min_x(top.right() - unit_width + 3.0)
            .translate(vec2(0.0, baseline)),
        Align2::LEFT_CENTER,
        RichText::new(unit).size(12.0).color(palette.weak),
    );
    text_in(
        ui,
        bottom.with_max_x(bottom.right() - unit_width),
        Align2::RIGHT_CENTER,
        RichText::new(name).small().color(palette.weak),
    );
    let response = ui.allocate_rect(rect, Sense::hover());
    let whole = format!("{name} {number} {unit}");
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &whole));
    response
}

fn title_ui(ui: &mut Ui, rect: Rect, context: &TileContext<'_>) {
    let palette = Palette::of(ui);
    let model = context.model;
    let (top, bottom) = rect.split_top_bottom_at_y(rect.top() + 22.0);
    let name = strong(model.spec.name.as_str())
        .size(15.0)
        .color(palette.text);
    let badge = model.card.as_ref().map(|card| Badge::new(&card.provider));
    // The name first; the badge gets what is left and is shortened if it must.
    let width = ui.fonts_mut(|fonts| {
        let font = egui::FontId::proportional(15.0);
        let galley = fonts.layout_no_wrap(model.spec.name.clone(), font, palette.text);
        galley.size().x * 1.06 + 2.0
    });
    let name_rect = top.with_max_x((top.left() + width).min(top.right()));
    text_in(ui, name_rect, Align2::LEFT_CENTER, name).on_hover_ui(|ui| details_ui(ui, context));
    if let Some(badge) = badge {
        badge_ui(ui, top.with_min_x(name_rect.right() + 8.0), &badge);
    }
    let state = RichText::new(state_text(model)).color(state_color(palette, model));
    text_in(ui, bottom, Align2::LEFT_CENTER, state.size(12.0))
        .on_hover_ui(|ui| details_ui(ui, context));
}

fn badge_ui(ui: &mut Ui, rect: Rect, badge: &Badge) {
    let palette = Palette::of(ui);
    let pill = Pill {
        text: &badge.text,
        color: if badge.is_fallback {
            palette.bad
        } else {
            palette.weak
        },
        is_state: false,
        name: &badge.text,
    };
    if let Some(response) = pill.show_in(ui, rect) {
        response.on_hover_text(badge.details.as_str());
    }
}

/// The line below the name: what the process is doing, or what model it runs.
fn state_text(model: &ModelView) -> String {
    match &model.child {
        ChildState::Waiting => "waiting to start".to_owned(),
        ChildState::Starting { .. } => "starting".to_owned(),
        ChildState::Running => match &model.card {
            Some(card) => {
                let file = card.path.file_name().unwrap_or(card.path.as_os_str());
                let threads = match card.threads {
                    1 => "1 thread".to_owned(),
                    number => format!("{number} threads"),
                };
                let file = file.to_string_lossy();
                format!("{file} · {} · {threads}", format::bytes(card.bytes))
            }
            None => "running".to_owned(),
        },
        ChildState::Paused => "paused".to_owned(),
        ChildState::Stale { .. } => "no answer".to_owned(),
        ChildState::Restarting { attempt, .. } => format!("restarting, attempt {attempt}"),
        ChildState::Failed(_) => "failed".to_owned(),
        ChildState::Stopped => "stopped".to_owned(),
    }
}

fn state_color(palette: &Palette, model: &ModelView) -> egui::Color32 {
    match model.child {
        ChildState::Failed(_) => palette.bad,
        ChildState::Stale { .. } | ChildState::Restarting { .. } | ChildState::Paused => {
            palette.warning
        }
        _ => palette.weak,
    }
}

fn details_ui(ui: &mut Ui, context: &TileContext<'_>) {
    let model = context.model;
    ui.label(strong(model.spec.name.as_str()));
    ui.label(model.spec.path.display().to_string());
    if let Some(pid) = model.pid {
        let restarts = model.restarts;
        ui.label(format!("Process {pid}, restarted {restarts} times"));
    }
    if let Some(card) = &model.card {
        for (word, tensors) in [("Input", &card.inputs), ("Output", &card.outputs)] {
            for tensor in tensors {
                let shape = tensor.shape.join(" × ");
                ui.label(format!(
                    "{word} {}: {} [{shape}]",
                    tensor.name, tensor.dtype
                ));
            }
        }
        ui.label(format!("Labels: {} ({})", card.labels, card.label_count));
        ui.label(format!("ONNX Runtime {}", card.onnxruntime));
    }
    if let Some(joined_at) = model.joined_at.filter(|&joined_at| joined_at > 0) {
        ui.label(format!("Joined after frame #{joined_at}"));
    }
    if context.number < SOLO_KEYS {
        ui.label(format!("Key {}: show alone", context.number + 1));
    }
}

fn menu_ui(ui: &mut Ui, rect: Rect, model: &ModelView, commands: &CommandSender) {
    let name = model.spec.name.clone();
    let place = Rect::from_center_size(rect.center_top() + vec2(0.0, 13.0), Vec2::splat(26.0));
    ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
        let label = format!("Menu of {name}");
        let response = icon_area(ui, Icon::Menu, place, &label, None);
        Popup::menu(&response).show(|ui| {
            let pause = match model.child {
                ChildState::Paused => UiCommand::ResumeModel(name.clone()),
                _ => UiCommand::PauseModel(name.clone()),
            };
            for command in [pause, UiCommand::RestartModel(name.clone())] {
                let item = ui.button(command.text()).on_hover_text(command.tooltip());
                if item.clicked() {
                    commands.send(command);
                }
            }
        });
    });
}
