use egui::{
    Align, Align2, Button, Checkbox, Frame, Id, Key, Label, Layout, Margin, Modal, Rect, RichText,
    Role, ScrollArea, Sense, TextEdit, TextStyle, TextWrapMode, Ui, UiBuilder, Vec2, WidgetInfo,
    WidgetText, vec2,
};

use super::keys::take_keys;
use super::listing::{Entry, Kind};
use super::{Picker, PickerRequest};
use crate::gui::format;
use crate::gui::sources::{Purpose, strings};
use crate::gui::theme::{Palette, strong};

/// Size where the window is large enough, in points.
const SIZE: Vec2 = Vec2::new(760.0, 520.0);
const PLACES_WIDTH: f32 = 150.0;
const ROW_HEIGHT: f32 = 26.0;
/// Height of a row with a thumbnail, in points.
const PICTURE_HEIGHT: f32 = 44.0;

/// The picker, over everything else.
pub(in crate::gui::sources) fn picker_ui(ui: &mut Ui, picker: &mut Picker) {
    let screen = ui.ctx().content_rect();
    let size = SIZE.min(screen.size() - Vec2::splat(48.0));
    let frame = Frame::popup(ui.style()).inner_margin(Margin::same(14));
    let shown = Modal::new(Id::unique("picker"))
        .frame(frame)
        .show(ui.ctx(), |ui| {
            ui.set_min_size(size);
            ui.set_max_size(size);
            take_keys(ui, picker);
            ui.label(strong(strings::title(&picker.purpose)).size(17.0));
            path_ui(ui, picker);
            let body = ui.available_rect_before_wrap();
            let (body, foot) = body.split_top_bottom_at_y(body.bottom() - 40.0);
            let (places, list) = body.split_left_right_at_x(body.left() + PLACES_WIDTH);
            in_rect(ui, "places", places, |ui| places_ui(ui, picker));
            in_rect(ui, "list", list.with_min_x(list.left() + 10.0), |ui| {
                list_ui(ui, picker);
            });
            in_rect(ui, "foot", foot.with_min_y(foot.top() + 8.0), |ui| {
                foot_ui(ui, picker);
            });
            ui.advance_cursor_after_rect(foot);
        });
    if shown.should_close() {
        picker.requests.push(PickerRequest::Close);
    }
}

fn in_rect(ui: &mut Ui, salt: &str, rect: Rect, contents: impl FnOnce(&mut Ui)) {
    ui.scope_builder(UiBuilder::new().id_salt(salt).max_rect(rect), contents);
}

fn path_ui(ui: &mut Ui, picker: &mut Picker) {
    ui.horizontal(|ui| {
        let up = ui.add_enabled(
            picker.folder.parent().is_some(),
            Button::new(strings::UP).small(),
        );
        if up.on_hover_text(strings::UP_TIP).clicked() {
            picker.go_up();
        }
        let completes = !picker.prefix().is_empty();
        let field = TextEdit::singleline(&mut picker.path)
            .lock_focus(completes)
            .cursor_at_end(true)
            .desired_width(f32::INFINITY);
        let field = ui.add(field);
        field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, strings::PATH));
        if picker.is_new {
            picker.is_new = false;
            field.request_focus();
        }
        if field.changed() {
            picker.typed();
        }
        if field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
            picker.enter();
            field.request_focus();
        }
    });
    ui.add_space(8.0);
}

fn places_ui(ui: &mut Ui, picker: &mut Picker) {
    let mut chosen = None;
    ScrollArea::vertical()
        .id_salt("places")
        .auto_shrink(false)
        .show(ui, |ui| {
            for (name, path) in &picker.places {
                let is_here = *path == picker.folder;
                let label = format::elide_middle(name, 20);
                let button = ui.selectable_label(is_here, label);
                if button.on_hover_text(path.display().to_string()).clicked() {
                    chosen = Some(path.clone());
                }
            }
        });
    if let Some(folder) = chosen {
        picker.go(folder);
    }
}

fn list_ui(ui: &mut Ui, picker: &mut Picker) {
    let palette = Palette::of(ui);
    ui.painter().rect_filled(ui.max_rect(), 6.0, palette.well);
    let visible = picker.visible();
    let message = match (&picker.error, picker.is_loading) {
        (Some(error), _) => Some((error.clone(), palette.bad)),
        (None, true) => Some((strings::LISTING.to_owned(), palette.weak)),
        (None, false) if visible.is_empty() => {
            Some((strings::nothing(&picker.purpose), palette.weak))
        }
        _ => None,
    };
    if let Some((text, color)) = message {
        Frame::new().inner_margin(12).show(ui, |ui| {
            ui.add(Label::new(RichText::new(text).color(color)).wrap());
        });
        return;
    }
    let height = if picker.purpose == Purpose::Source {
        PICTURE_HEIGHT
    } else {
        ROW_HEIGHT
    };
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut area = ScrollArea::vertical()
        .id_salt(&picker.folder)
        .auto_shrink(false);
    if let Some(place) = picker.selected.filter(|_| picker.scroll) {
        // In the middle, where there is something on both sides.
        let top = place as f32 * height - (ui.available_height() - height) / 2.0;
        area = area.vertical_scroll_offset(top.max(0.0));
        picker.scroll = false;
    }
    area.show_rows(ui, height, visible.len(), |ui, rows| {
        for place in rows {
            if let Some(entry) = visible.get(place) {
                row_ui(ui, picker, place, entry, height);
            }
        }
    });
}

fn row_ui(ui: &mut Ui, picker: &mut Picker, place: usize, entry: &Entry, height: f32) {
    let palette = Palette::of(ui);
    let is_selected = picker.selected == Some(place);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
    response.widget_info(|| {
        WidgetInfo::selected(Role::ListItem, true, is_selected, entry.name.as_str())
    });
    if is_selected || response.hovered() {
        let strength = if is_selected { 0.25 } else { 0.1 };
        ui.painter()
            .rect_filled(rect, 4.0, palette.accent.gamma_multiply(strength));
    }
    let side = height - 4.0;
    let picture = Rect::from_min_size(rect.min + vec2(6.0, 2.0), Vec2::splat(side));
    if entry.kind == Kind::Picture && height > ROW_HEIGHT {
        if let Some(texture) = picker.thumbnail(&entry.path) {
            let size = texture.size_vec2();
            let size = size * (side / size.max_elem().max(1.0));
            let place = Rect::from_center_size(picture.center(), size);
            egui::Image::new((texture.id(), size)).paint_at(ui, place);
        }
    } else {
        paint_symbol(ui, picture, entry.kind);
    }
    let text = Rect::from_min_max(
        egui::pos2(picture.right() + 8.0, rect.top()),
        rect.max - vec2(8.0, 0.0),
    );
    paint_texts(ui, text, entry);
    if response.clicked() {
        picker.selected = Some(place);
        if entry.kind != Kind::Folder && picker.purpose == Purpose::Save {
            picker.name.clone_from(&entry.name);
        }
    }
    if response.double_clicked() {
        picker.activate(entry);
    }
}

/// The name at the left, shortened where it has to be, and the size at the right.
fn paint_texts(ui: &Ui, rect: Rect, entry: &Entry) {
    let palette = Palette::of(ui);
    let is_folder = entry.kind == Kind::Folder;
    let galley = |text: RichText, width: f32| {
        WidgetText::from(text).into_galley(ui, Some(TextWrapMode::Truncate), width, TextStyle::Body)
    };
    let mut left = rect;
    if !is_folder {
        let size = RichText::new(format::bytes(entry.bytes)).small();
        let size = galley(size.color(palette.weak), rect.width());
        let place = Align2::RIGHT_CENTER.align_size_within_rect(size.size(), rect);
        left.max.x = place.left() - 10.0;
        ui.painter().galley(place.min, size, palette.weak);
    }
    let slash = if is_folder { "/" } else { "" };
    let name = RichText::new(format!("{}{slash}", entry.name)).color(palette.text);
    let name = galley(name, left.width());
    let place = Align2::LEFT_CENTER.align_size_within_rect(name.size(), left);
    ui.painter().galley(place.min, name, palette.text);
}

/// A folder, or a sheet of paper.
fn paint_symbol(ui: &Ui, rect: Rect, kind: Kind) {
    let palette = Palette::of(ui);
    let center = rect.center();
    let painter = ui.painter();
    if kind == Kind::Folder {
        let body = Rect::from_center_size(center + vec2(0.0, 1.0), vec2(16.0, 11.0));
        let tab = Rect::from_min_size(body.min - vec2(0.0, 2.0), vec2(7.0, 4.0));
        painter.rect_filled(tab, 1.0, palette.accent);
        painter.rect_filled(body, 2.0, palette.accent);
    } else {
        let sheet = Rect::from_center_size(center, vec2(11.0, 14.0));
        let line = egui::Stroke::new(1.2, palette.weak);
        painter.rect_stroke(sheet, 1.5, line, egui::StrokeKind::Middle);
    }
}

fn foot_ui(ui: &mut Ui, picker: &mut Picker) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let visible = picker.visible();
        let selected = picker
            .selected
            .and_then(|place| visible.get(place))
            .cloned();
        match picker.purpose {
            Purpose::Save => {
                let file = picker.file_to_write();
                let exists = picker
                    .entries
                    .iter()
                    .any(|entry| Some(&entry.path) == file.as_ref());
                let text = if exists {
                    strings::REPLACE
                } else {
                    strings::SAVE
                };
                if ui.add_enabled(file.is_some(), Button::new(text)).clicked() {
                    picker.choose_name();
                }
            }
            _ => {
                let open = ui.add_enabled(selected.is_some(), Button::new(strings::OPEN_CHOSEN));
                if let Some(entry) = &selected
                    && open.clicked()
                {
                    picker.activate(entry);
                }
            }
        }
        if picker.purpose == Purpose::Source
            && ui
                .add_enabled(picker.error.is_none(), Button::new(strings::USE_FOLDER))
                .on_hover_text(strings::USE_FOLDER_TIP)
                .clicked()
        {
            picker.choose_folder();
        }
        if ui.button(strings::CANCEL).clicked() {
            picker.requests.push(PickerRequest::Close);
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            if picker.purpose == Purpose::Save {
                let field = ui.add(TextEdit::singleline(&mut picker.name).desired_width(200.0));
                field
                    .widget_info(|| WidgetInfo::labeled(Role::TextInput, true, strings::FILE_NAME));
                if field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
                    picker.choose_name();
                }
            } else {
                ui.add(Checkbox::new(&mut picker.all_files, strings::ALL_FILES));
            }
        });
    });
}
