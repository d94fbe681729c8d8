use std::collections::BTreeMap;

use egui::{Checkbox, ComboBox, DragValue, Grid, RichText, Role, Slider, TextEdit, Ui, WidgetInfo};

use super::draft::{Draft, Key};
use super::{strings, values};
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::sources::{Purpose, SideCommand};
use crate::gui::theme::Palette;
use crate::protocol::{ModelSpec, Origin};
use crate::session::{ModelView, SessionCommand};

/// Limits of the width of a field, in points.
const FIELD_WIDTH: std::ops::RangeInclusive<f32> = 60.0..=160.0;
/// Width of an option's name and of what stands beside its field, in points.
const OTHERS_WIDTH: f32 = 230.0;
/// The same where names are short.
const SHORT_OTHERS_WIDTH: f32 = 158.0;
/// Width of what stands beside a field, at least, in points.
const MARK_WIDTH: f32 = 60.0;

/// All options of a model: those that act at once, and those that start it anew together.
pub(super) fn options_ui(
    ui: &mut Ui,
    model: &ModelView,
    draft: &mut Draft,
    commands: &CommandSender,
) {
    let weak = Palette::of(ui).weak;
    ui.label(RichText::new(strings::AT_ONCE).small().color(weak));
    tune_ui(ui, model, commands);
    ui.add_space(4.0);
    ui.label(RichText::new(strings::RESTARTS).small().color(weak));
    let made = draft.spec();
    let errors = made.as_ref().err().cloned().unwrap_or_default();
    apply_ui(ui, model, draft, made, commands);
    keys_ui(ui, model, &Key::GENERAL, draft, &errors, commands);
    ui.label(RichText::new(strings::PREPROCESSING).small().color(weak));
    keys_ui(ui, model, &Key::PREPROCESSING, draft, &errors, commands);
}

/// The button that takes all changes at once, and the one that takes none.
fn apply_ui(
    ui: &mut Ui,
    model: &ModelView,
    draft: &mut Draft,
    made: Result<ModelSpec, BTreeMap<Key, String>>,
    commands: &CommandSender,
) {
    ui.horizontal(|ui| {
        let may_apply = draft.has_changes() && made.is_ok();
        let apply = ui.add_enabled(may_apply, egui::Button::new(strings::APPLY));
        if apply.on_hover_text(strings::APPLY_TIP).clicked()
            && let Ok(spec) = made
        {
            let command = SessionCommand::ChangeModel {
                name: model.spec.name.clone(),
                spec: Box::new(spec),
            };
            commands.send(UiCommand::Side(SideCommand::Session(command)));
        }
        let revert = ui.add_enabled(draft.has_changes(), egui::Button::new(strings::REVERT));
        if revert.on_hover_text(strings::REVERT_TIP).clicked() {
            *draft = Draft::of(&model.spec);
        }
    });
}

/// Width of a field, so that a line fits the panel.
fn field_width(ui: &Ui, others: f32) -> f32 {
    (ui.available_width() - others).clamp(*FIELD_WIDTH.start(), *FIELD_WIDTH.end())
}

fn tune_ui(ui: &mut Ui, model: &ModelView, commands: &CommandSender) {
    let tune = |threshold, top| {
        let command = SessionCommand::Tune {
            name: model.spec.name.clone(),
            threshold,
            top,
        };
        commands.send(UiCommand::Side(SideCommand::Session(command)));
    };
    let width = field_width(ui, OTHERS_WIDTH);
    Grid::new("at once").num_columns(2).show(ui, |ui| {
        ui.label(strings::THRESHOLD);
        let mut threshold = model.spec.threshold;
        ui.spacing_mut().slider_width = width;
        let slider = ui.add(Slider::new(&mut threshold, 0.0..=1.0).fixed_decimals(2));
        slider.widget_info(|| WidgetInfo::slider(true, f64::from(threshold), strings::THRESHOLD));
        if slider.changed() {
            tune(Some(threshold), None);
        }
        ui.end_row();
        ui.label(strings::TOP);
        let mut top = model.spec.top;
        let value = ui.add(DragValue::new(&mut top).range(1..=1000).speed(0.1));
        value.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, strings::TOP));
        if value.changed() {
            tune(None, Some(top));
        }
        ui.end_row();
    });
}

fn keys_ui(
    ui: &mut Ui,
    model: &ModelView,
    keys: &[Key],
    draft: &mut Draft,
    errors: &BTreeMap<Key, String>,
    commands: &CommandSender,
) {
    let palette = Palette::of(ui);
    let salt = keys.first().map_or("", |key| key.name());
    let is_short = keys == Key::PREPROCESSING;
    let others = if is_short {
        SHORT_OTHERS_WIDTH
    } else {
        OTHERS_WIDTH
    };
    let width = field_width(ui, others);
    Grid::new(salt)
        .num_columns(3)
        .min_col_width(MARK_WIDTH)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            for &key in keys {
                let color = if errors.contains_key(&key) {
                    palette.bad
                } else if draft.is_changed(key) {
                    palette.accent
                } else {
                    palette.text
                };
                ui.label(RichText::new(key.name()).color(color));
                let effective = values::effective(&model.spec, model.card.as_deref(), key);
                let shown = effective.as_ref().map_or("", |(value, _)| value.as_str());
                field_ui(ui, key, draft, shown, width);
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 4.0;
                    if !draft.text_mut(key).is_empty() {
                        reset_ui(ui, key, draft);
                    } else if let Some((_, origin)) = &effective {
                        let origin = origin_word(key, *origin);
                        ui.label(RichText::new(origin).small().color(palette.weak));
                    }
                    if key == Key::Labels {
                        browse_ui(ui, commands);
                    }
                });
                ui.end_row();
                if let Some(error) = errors.get(&key) {
                    ui.label("");
                    let error = RichText::new(error).small().color(palette.bad);
                    ui.scope(|ui| {
                        ui.set_max_width(width + MARK_WIDTH);
                        ui.add(egui::Label::new(error).wrap());
                    });
                    ui.end_row();
                }
            }
        });
}

fn browse_ui(ui: &mut Ui, commands: &CommandSender) {
    let browse = ui.small_button("…");
    browse.widget_info(|| WidgetInfo::labeled(Role::Button, true, strings::BROWSE));
    if browse.on_hover_text(strings::BROWSE).clicked() {
        let pick = SideCommand::Pick(Purpose::Labels);
        commands.send(UiCommand::Side(pick));
    }
}

fn reset_ui(ui: &mut Ui, key: Key, draft: &mut Draft) {
    let palette = Palette::of(ui);
    ui.label(
        RichText::new(strings::ORIGINS[0])
            .small()
            .color(palette.accent),
    );
    let button = ui.small_button("×");
    let name = strings::reset(key.name());
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    if button.on_hover_text(strings::RESET_TIP).clicked() {
        draft.text_mut(key).clear();
    }
}

/// Who chose a value; the options that no file speaks of have plain defaults.
fn origin_word(key: Key, origin: Origin) -> &'static str {
    let place = match origin {
        Origin::You => 0,
        Origin::Sidecar => 1,
        Origin::Metadata => 2,
        Origin::Shape => 3,
        Origin::Graph => 4,
        Origin::Answers => 5,
        Origin::Default if Key::PREPROCESSING.contains(&key) && key != Key::Preset => 6,
        Origin::Default => return strings::DEFAULT,
    };
    strings::ORIGINS[place]
}

/// The widget of one option: a switch, a choice or a text. Where nothing is chosen it shows what is
/// in force, fainter.
fn field_ui(ui: &mut Ui, key: Key, draft: &mut Draft, effective: &str, width: f32) {
    let name = key.name();
    let weak = Palette::of(ui).weak;
    let text = draft.text_mut(key);
    if values::is_switch(key) {
        let mut on = text == "true";
        let switch = ui.add(Checkbox::without_text(&mut on));
        switch.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, on, name));
        if switch.changed() {
            *text = if on { "true".to_owned() } else { String::new() };
        }
        return;
    }
    let choices = values::choices(key);
    if choices.is_empty() {
        let field = TextEdit::singleline(text)
            .hint_text(effective.to_owned())
            .desired_width(width);
        ui.add(field)
            .widget_info(|| WidgetInfo::labeled(Role::TextInput, true, name));
        return;
    }
    let shown = if text.is_empty() {
        RichText::new(effective).color(weak)
    } else {
        RichText::new(text.as_str())
    };
    let combo = ComboBox::from_id_salt(name)
        .width(width)
        .selected_text(shown)
        .truncate()
        .show_ui(ui, |ui| {
            let unset = (String::new(), format!("{} {effective}", strings::DEFAULT));
            let others = choices
                .iter()
                .map(|choice| ((*choice).to_owned(), (*choice).to_owned()));
            for (value, label) in std::iter::once(unset).chain(others) {
                ui.selectable_value(text, value, label);
            }
        });
    combo
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, name));
}
