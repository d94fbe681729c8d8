use std::path::{Path, PathBuf};

use egui::{Align, Color32, Key, Label, Layout, RichText, Role, Sense, TextEdit, Ui, WidgetInfo};

use super::card::card_ui;
use super::draft::{self, Draft};
use super::options::options_ui;
use super::strings;
use crate::base::{escape_path, unescape_path};
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::icon::{Icon, icon_area};
use crate::gui::sources::{Purpose, SideCommand, heading};
use crate::gui::theme::{Palette, strong};
use crate::protocol::ModelSpec;
use crate::session::{ChildState, ModelView, SessionCommand, SessionView, check_model};

/// What is being typed and looked at in the list of models.
#[derive(Default)]
pub(in crate::gui) struct ModelForms {
    /// Path of a model to be added.
    path: String,
    /// The model whose options and card are open, by name.
    open: Option<String>,
    /// Its card is shown instead of its options.
    shows_card: bool,
    /// Its options, being edited.
    draft: Option<Draft>,
    renaming: Option<Renaming>,
}

struct Renaming {
    /// The name until now.
    name: String,
    /// The new one, being typed.
    text: String,
    error: Option<String>,
    /// Not shown before: it takes the focus.
    is_new: bool,
}

impl ModelForms {
    /// Takes a file as the labels of the model whose options are open.
    pub(in crate::gui) fn take_labels(&mut self, path: &Path) {
        if let Some(draft) = &mut self.draft {
            *draft.text_mut(draft::Key::Labels) = escape_path(path);
        }
    }

    fn toggle(&mut self, name: &str) {
        let was_open = self.open.as_deref() == Some(name);
        self.open = (!was_open).then(|| name.to_owned());
        self.draft = None;
    }
}

/// The models: state, menu, options and card of each, and a way to add one.
pub(in crate::gui) fn models_ui(
    ui: &mut Ui,
    view: &SessionView,
    forms: &mut ModelForms,
    commands: &CommandSender,
) {
    heading(ui, strings::MODELS);
    if view.models.is_empty() {
        ui.label(RichText::new(strings::NONE).color(Palette::of(ui).weak));
    }
    for model in &view.models {
        let id = ui.make_persistent_id(("model", &model.spec.name));
        ui.push_id(id, |ui| model_ui(ui, view, model, forms, commands));
    }
    add_ui(ui, forms, commands);
}

fn add_ui(ui: &mut Ui, forms: &mut ModelForms, commands: &CommandSender) {
    ui.horizontal(|ui| {
        let pick = SideCommand::Pick(Purpose::Model);
        let button = ui.button(strings::ADD);
        button.widget_info(|| WidgetInfo::labeled(Role::Button, true, pick.text()));
        if button.on_hover_text(strings::ADD_TIP).clicked() {
            commands.send(UiCommand::Side(pick));
        }
        let field = TextEdit::singleline(&mut forms.path)
            .hint_text(strings::PATH_HINT)
            .desired_width(f32::INFINITY);
        let field = ui.add(field);
        field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, strings::PATH));
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let text = forms.path.trim();
        if entered && !text.is_empty() {
            let path = absolute(text);
            commands.send(UiCommand::Side(SideCommand::AddModel(path)));
            forms.path.clear();
        }
    });
}

/// The path that a person typed: as it stands where it begins at the root or at `~`.
fn absolute(text: &str) -> PathBuf {
    let home = std::env::var_os("HOME").unwrap_or_default();
    let path = match text.strip_prefix("~/") {
        Some(rest) => Path::new(&home).join(rest),
        None => unescape_path(text),
    };
    std::path::absolute(&path).unwrap_or(path)
}

fn model_ui(
    ui: &mut Ui,
    view: &SessionView,
    model: &ModelView,
    forms: &mut ModelForms,
    commands: &CommandSender,
) {
    let name = model.spec.name.as_str();
    let is_open = forms.open.as_deref() == Some(name);
    if forms
        .renaming
        .as_ref()
        .is_some_and(|renaming| renaming.name == name)
    {
        rename_ui(ui, view, model, forms, commands);
    } else {
        row_ui(ui, view, model, is_open, forms, commands);
    }
    if forms.open.as_deref() != Some(name) {
        return;
    }
    let draft = forms.draft.get_or_insert_with(|| Draft::of(&model.spec));
    draft.rebase(&model.spec);
    ui.indent("open", |ui| {
        ui.horizontal(|ui| {
            ui.selectable_value(&mut forms.shows_card, false, strings::OPTIONS);
            ui.selectable_value(&mut forms.shows_card, true, strings::CARD);
        });
        if forms.shows_card {
            card_ui(ui, model);
        } else {
            options_ui(ui, model, draft, commands);
        }
    });
}

/// One line: open or not, state, name, menu.
fn row_ui(
    ui: &mut Ui,
    view: &SessionView,
    model: &ModelView,
    is_open: bool,
    forms: &mut ModelForms,
    commands: &CommandSender,
) {
    let palette = Palette::of(ui);
    let name = model.spec.name.as_str();
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (_, rect) = ui.allocate_space(egui::Vec2::splat(24.0));
            let menu = icon_area(ui, Icon::Menu, rect, &strings::menu_of(name), None);
            egui::Popup::menu(&menu).show(|ui| menu_ui(ui, view, model, forms, commands));
            let (state, color) = state_of(palette, &model.child);
            ui.label(RichText::new(state).small().color(color))
                .on_hover_text(state_details(&model.child));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let (dot, _) = ui.allocate_exact_size(egui::vec2(14.0, 14.0), Sense::hover());
                paint_triangle(ui, dot, is_open, color);
                let label = Label::new(strong(name)).truncate().sense(Sense::click());
                let label = ui.add(label);
                label.widget_info(|| {
                    WidgetInfo::selected(Role::Button, true, is_open, strings::model(name))
                });
                if label
                    .on_hover_text(model.spec.path.display().to_string())
                    .clicked()
                {
                    forms.toggle(name);
                }
            });
        });
    });
}

fn paint_triangle(ui: &Ui, rect: egui::Rect, is_open: bool, color: Color32) {
    let center = rect.center();
    let at = |x: f32, y: f32| center + egui::vec2(x, y);
    let points = if is_open {
        vec![at(-4.0, -2.5), at(4.0, -2.5), at(0.0, 3.5)]
    } else {
        vec![at(-2.5, -4.0), at(3.5, 0.0), at(-2.5, 4.0)]
    };
    ui.painter().add(egui::Shape::convex_polygon(
        points,
        color,
        egui::Stroke::NONE,
    ));
}

fn state_of(palette: &Palette, child: &ChildState) -> (&'static str, Color32) {
    let (place, color) = match child {
        ChildState::Waiting => (0, palette.weak),
        ChildState::Starting { .. } => (1, palette.accent),
        ChildState::Running => (2, palette.good),
        ChildState::Paused => (3, palette.warning),
        ChildState::Stale { .. } => (4, palette.warning),
        ChildState::Restarting { .. } => (5, palette.warning),
        ChildState::Failed(_) => (6, palette.bad),
        ChildState::Stopped => (7, palette.weak),
    };
    (strings::STATES[place], color)
}

fn state_details(child: &ChildState) -> String {
    match child {
        ChildState::Starting { step } => step.clone(),
        ChildState::Restarting { cause, .. } => cause.clone(),
        ChildState::Failed(problem) => problem.message.clone(),
        other => {
            let palette = Palette::for_theme(egui::Theme::Dark);
            state_of(palette, other).0.to_owned()
        }
    }
}

fn menu_ui(
    ui: &mut Ui,
    view: &SessionView,
    model: &ModelView,
    forms: &mut ModelForms,
    commands: &CommandSender,
) {
    let name = || model.spec.name.clone();
    let send = |command| commands.send(UiCommand::Side(command));
    let is_paused = model.child == ChildState::Paused;
    let (word, command) = if is_paused {
        (
            strings::RESUME,
            SessionCommand::ResumeModel { name: name() },
        )
    } else {
        (strings::PAUSE, SessionCommand::PauseModel { name: name() })
    };
    if ui.button(word).clicked() {
        send(SideCommand::Session(command));
    }
    if ui.button(strings::RESTART).clicked() {
        let model = Some(name());
        send(SideCommand::Session(SessionCommand::Restart { model }));
    }
    if ui.button(strings::RENAME).clicked() {
        forms.renaming = Some(Renaming {
            name: name(),
            text: name(),
            error: None,
            is_new: true,
        });
    }
    if ui.button(strings::DUPLICATE).clicked() {
        let copy = duplicate(&model.spec, view);
        send(SideCommand::Session(SessionCommand::AddModel(Box::new(
            copy,
        ))));
    }
    if ui.button(strings::REMOVE).clicked() {
        send(SideCommand::RemoveModel(Box::new((*model.spec).clone())));
    }
}

/// The same options under a free name.
fn duplicate(spec: &ModelSpec, view: &SessionView) -> ModelSpec {
    let taken = |name: &str| view.models.iter().any(|model| model.spec.name == name);
    let name = (2..)
        .map(|number| format!("{}-{number}", spec.name))
        .find(|name| !taken(name));
    ModelSpec {
        name: name.unwrap_or_default(),
        ..spec.clone()
    }
}

/// A field in place of the name; Enter takes it, Escape does not.
fn rename_ui(
    ui: &mut Ui,
    view: &SessionView,
    model: &ModelView,
    forms: &mut ModelForms,
    commands: &CommandSender,
) {
    let Some(renaming) = &mut forms.renaming else {
        return;
    };
    let field = ui.add(TextEdit::singleline(&mut renaming.text).desired_width(f32::INFINITY));
    field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, strings::NEW_NAME));
    if renaming.is_new {
        field.request_focus();
        renaming.is_new = false;
    }
    if field.changed() {
        renaming.error = None;
    }
    if let Some(error) = &renaming.error {
        ui.label(RichText::new(error).color(Palette::of(ui).bad));
    }
    if !field.lost_focus() {
        return;
    }
    if !ui.input(|input| input.key_pressed(Key::Enter)) {
        forms.renaming = None;
        return;
    }
    match renamed(view, model, renaming.text.trim()) {
        Ok(None) => forms.renaming = None,
        Ok(Some(spec)) => {
            if forms.open.as_deref() == Some(&renaming.name) {
                forms.open = Some(spec.name.clone());
            }
            let command = SessionCommand::ChangeModel {
                name: renaming.name.clone(),
                spec: Box::new(spec),
            };
            commands.send(UiCommand::Side(SideCommand::Session(command)));
            forms.renaming = None;
        }
        Err(error) => {
            renaming.error = Some(error);
            field.request_focus();
        }
    }
}

/// The model under another name; `None` where it has it already.
fn renamed(view: &SessionView, model: &ModelView, name: &str) -> Result<Option<ModelSpec>, String> {
    if name == model.spec.name {
        return Ok(None);
    }
    if view.models.iter().any(|other| other.spec.name == name) {
        return Err(strings::NAME_TAKEN.to_owned());
    }
    let spec = ModelSpec {
        name: name.to_owned(),
        ..(*model.spec).clone()
    };
    check_model(&spec).map_err(|error| error.to_string())?;
    Ok(Some(spec))
}
