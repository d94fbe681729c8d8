use egui::{
    Align2, Rect, Response, RichText, Role, Sense, TextStyle, TextWrapMode, Ui, WidgetInfo,
    WidgetText,
};

/// A line of text at a place, shortened where it does not fit; the whole text is the tooltip then,
/// and always the name for assistive technology.
pub(super) fn text_in(
    ui: &mut Ui,
    rect: Rect,
    align: Align2,
    text: impl Into<RichText>,
) -> Response {
    let text: RichText = text.into();
    let whole = text.text().to_owned();
    let galley = WidgetText::from(text).into_galley(
        ui,
        Some(TextWrapMode::Truncate),
        rect.width(),
        TextStyle::Body,
    );
    let response = ui.allocate_rect(rect, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &whole));
    if ui.is_rect_visible(rect) {
        let place = align.align_size_within_rect(galley.size(), rect);
        let color = ui.visuals().text_color();
        ui.painter().galley(place.min, galley.clone(), color);
    }
    if galley.elided {
        response.on_hover_text(whole)
    } else {
        response
    }
}
