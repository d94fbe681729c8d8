use egui::{
    Align2, Popup, Rect, RichText, Role, Sense, TextStyle, TextWrapMode, Ui, UiBuilder, Vec2,
    WidgetInfo, WidgetText, vec2,
};

use super::TileContext;
use super::badge::Badge;
use super::text::text_in;
use super::waiting::waiting_text;
use crate::gui::command::{CommandSender, SOLO_KEYS, UiCommand};
use crate::gui::format;
use crate::gui::icon::{Icon, icon_area};
use crate::gui::picture_command::PictureCommand;
use crate::gui::pill::Pill;
use crate::gui::state::TileState;
use crate::gui::text::text;
use crate::gui::theme::{Palette, strong};
use crate::session::{ChildState, ModelView, SessionPhase};

/// Width of a headline figure, in points.
const FIGURE_WIDTH: f32 = 86.0;
pub(super) const MENU_WIDTH: f32 = 26.0;

/// Heights of name, provider and state, in points.
const NAME_HEIGHT: f32 = 22.0;
const STATE_HEIGHT: f32 = 18.0;
const BADGE_HEIGHT: f32 = 22.0;
/// Width from which the rate is shown beside the age.
const RATE_FROM: f32 = 380.0;

/// Name, provider and state on the left; the headline figures on the right. Where the provider's
/// badge does not fit beside the name it has a line of its own.
pub(super) struct Header {
    badge: Option<Badge>,
    badge_is_below: bool,
    name_width: f32,
    figures: usize,
}

impl Header {
    pub(super) fn of(ui: &mut Ui, width: f32, context: &TileContext<'_>, tile: &TileState) -> Self {
        let model = context.model;
        let has_answers = tile.shown.is_some() && !matches!(model.child, ChildState::Failed(_));
        let figures = match has_answers {
            false => 0,
            true if width > RATE_FROM => 2,
            true => 1,
        };
        let badge = model.card.as_ref().map(|card| Badge::new(&card.provider));
        let name_width = name_width(ui, &model.spec.name);
        let title = width - MENU_WIDTH - 4.0 - figures as f32 * FIGURE_WIDTH - 8.0;
        let badge_width = badge
            .as_ref()
            .map_or(0.0, |badge| pill(ui, badge).width(ui));
        Self {
            badge_is_below: name_width + 8.0 + badge_width > title,
            badge,
            name_width,
            figures,
        }
    }

    pub(super) fn height(&self) -> f32 {
        let below = if self.has_line() { BADGE_HEIGHT } else { 0.0 };
        NAME_HEIGHT + STATE_HEIGHT + below
    }

    fn has_line(&self) -> bool {
        self.badge_is_below && self.badge.is_some()
    }

    pub(super) fn show(
        &self,
        ui: &mut Ui,
        rect: Rect,
        context: &TileContext<'_>,
        tile: &mut TileState,
        commands: &CommandSender,
    ) {
        let (main, line) = rect.split_top_bottom_at_y(rect.top() + NAME_HEIGHT + STATE_HEIGHT);
        let menu = main.with_min_x(main.right() - MENU_WIDTH);
        menu_ui(ui, menu, context.model, commands);
        let mut right = menu.left() - 4.0;
        if self.figures > 0 {
            let age = main.with_max_x(right).with_min_x(right - FIGURE_WIDTH);
            age_ui(ui, age, context, tile);
            right = age.left();
        }
        if self.figures > 1 {
            let rate = main
                .with_max_x(right + 6.0)
                .with_min_x(right - FIGURE_WIDTH);
            rate_ui(ui, rate, context.model);
            right = rate.left();
        }
        self.title_ui(ui, main.with_max_x(right - 8.0), context);
        if let Some(badge) = self.badge.as_ref().filter(|_| self.has_line()) {
            badge_ui(ui, line, badge);
        }
    }

    fn title_ui(&self, ui: &mut Ui, rect: Rect, context: &TileContext<'_>) {
        let palette = Palette::of(ui);
        let (top, bottom) = rect.split_top_bottom_at_y(rect.top() + NAME_HEIGHT);
        let name = name_text(&context.model.spec.name).color(palette.text);
        let name_rect = top.with_max_x((top.left() + self.name_width).min(top.right()));
        text_in(ui, name_rect, Align2::LEFT_CENTER, name).on_hover_ui(|ui| details_ui(ui, context));
        if let Some(badge) = self.badge.as_ref().filter(|_| !self.badge_is_below) {
            badge_ui(ui, top.with_min_x(name_rect.right() + 8.0), badge);
        }
        let state = RichText::new(state_text(context)).color(state_color(palette, context));
        text_in(ui, bottom, Align2::LEFT_CENTER, state.size(12.0))
            .on_hover_ui(|ui| details_ui(ui, context));
    }
}

fn name_text(name: &str) -> RichText {
    strong(name).size(15.0)
}

/// Width of a model's name, in points.
fn name_width(ui: &Ui, name: &str) -> f32 {
    let galley = WidgetText::from(name_text(name)).into_galley(
        ui,
        Some(TextWrapMode::Extend),
        f32::INFINITY,
        TextStyle::Body,
    );
    galley.size().x.ceil() + 1.0
}

fn age_ui(ui: &mut Ui, rect: Rect, context: &TileContext<'_>, tile: &mut TileState) {
    let flowing = context.view.phase == SessionPhase::Running;
    let micros = tile.headline_micros(flowing);
    let (number, unit) = format::latency_parts(micros);
    let words = &text().tile;
    let name = match tile.looked_back {
        Some(_) => text().stage.age,
        None => words.frame_age,
    };
    figure_ui(ui, rect, &number, unit, name, true).on_hover_text(words.frame_age_meaning);
}

fn rate_ui(ui: &mut Ui, rect: Rect, model: &ModelView) {
    let rate = model.frames_per_second;
    let number = rate.map_or_else(|| "–".to_owned(), format::rate);
    let unit = text().top.rate_unit;
    let words = &text().tile;
    figure_ui(ui, rect, &number, unit, words.answers, false).on_hover_text(words.answers_meaning);
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

fn pill<'a>(ui: &Ui, badge: &'a Badge) -> Pill<'a> {
    let palette = Palette::of(ui);
    Pill {
        text: &badge.text,
        color: if badge.is_fallback {
            palette.bad
        } else {
            palette.weak
        },
        is_state: false,
        name: &badge.text,
    }
}

fn badge_ui(ui: &mut Ui, rect: Rect, badge: &Badge) {
    if let Some(response) = pill(ui, badge).show_in(ui, rect) {
        response.on_hover_text(badge.details.as_str());
    }
}

/// The line below the name: what the process is doing, or what model it runs.
fn state_text(context: &TileContext<'_>) -> String {
    let words = &text().tile;
    let model = context.model;
    match &model.child {
        ChildState::Waiting | ChildState::Starting { .. } => first_small(&waiting_text(context)),
        ChildState::Running => match &model.card {
            Some(card) => {
                let file = card.path.file_name().unwrap_or(card.path.as_os_str());
                let threads = (words.threads)(card.threads);
                let file = file.to_string_lossy();
                format!("{file} · {} · {threads}", format::bytes(card.bytes))
            }
            None => first_small(&waiting_text(context)),
        },
        ChildState::Paused => words.paused.to_owned(),
        ChildState::Stale { .. } => words.no_answer.to_owned(),
        ChildState::Restarting { attempt, .. } => (words.restarting)(*attempt),
        ChildState::Failed(_) => words.failed.to_owned(),
        ChildState::Stopped => words.stopped.to_owned(),
    }
}

/// Text with a small first letter, as the line below a name has it.
fn first_small(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

fn state_color(palette: &Palette, context: &TileContext<'_>) -> egui::Color32 {
    match context.model.child {
        ChildState::Failed(_) => palette.bad,
        ChildState::Stale { .. } | ChildState::Restarting { .. } | ChildState::Paused => {
            palette.warning
        }
        _ => palette.weak,
    }
}

fn details_ui(ui: &mut Ui, context: &TileContext<'_>) {
    let words = &text().tile;
    let model = context.model;
    ui.label(strong(model.spec.name.as_str()));
    ui.label(model.spec.path.display().to_string());
    if let Some(pid) = model.pid {
        ui.label((words.process)(pid, model.restarts));
    }
    if let Some(card) = &model.card {
        for (word, tensors) in [(words.input, &card.inputs), (words.output, &card.outputs)] {
            for tensor in tensors {
                let shape = tensor.shape.join(" × ");
                ui.label(format!(
                    "{word} {}: {} [{shape}]",
                    tensor.name, tensor.dtype
                ));
            }
        }
        ui.label((words.labels)(&card.labels, u64::from(card.label_count)));
        ui.label(format!("ONNX Runtime {}", card.onnxruntime));
    }
    if let Some(joined_at) = model.joined_at.filter(|&joined_at| joined_at > 0) {
        ui.label((words.joined)(joined_at));
    }
    if context.number < SOLO_KEYS {
        ui.label((words.solo_key)(context.number + 1));
    }
}

fn menu_ui(ui: &mut Ui, rect: Rect, model: &ModelView, commands: &CommandSender) {
    let name = model.spec.name.clone();
    let place = Rect::from_center_size(rect.center_top() + vec2(0.0, 13.0), Vec2::splat(26.0));
    ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
        let label = (text().tile.menu_of)(&name);
        let response = icon_area(ui, Icon::Menu, place, &label, None);
        Popup::menu(&response).show(|ui| {
            let pause = match model.child {
                ChildState::Paused => UiCommand::ResumeModel(name.clone()),
                _ => UiCommand::PauseModel(name.clone()),
            };
            let of_model = || Some(name.clone());
            for command in [
                pause,
                UiCommand::RestartModel(name.clone()),
                PictureCommand::SaveFrame(of_model()).into(),
                PictureCommand::SaveTile(name.clone()).into(),
                PictureCommand::CopyRow(of_model()).into(),
            ] {
                let item = ui.button(command.text()).on_hover_text(command.tooltip());
                if item.clicked() {
                    commands.send(command);
                }
            }
        });
    });
}
