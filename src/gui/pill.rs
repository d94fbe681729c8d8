use egui::{
    Align2, Color32, FontId, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo, WidgetText, vec2,
};

use super::theme::strong;

/// A word on a tinted ground, as a state or a property has it.
pub(super) struct Pill<'a> {
    /// The word.
    pub(super) text: &'a str,
    /// Of the word; the ground has it fainter.
    pub(super) color: Color32,
    /// A dot before the word, and heavier letters.
    pub(super) is_state: bool,
    /// The name for assistive technology.
    pub(super) name: &'a str,
}

const HEIGHT: f32 = 18.0;
const STATE_HEIGHT: f32 = 28.0;
const DOT: f32 = 8.0;

impl Pill<'_> {
    fn padding(&self) -> f32 {
        if self.is_state { 10.0 } else { 7.0 }
    }

    fn dot_width(&self) -> f32 {
        if self.is_state { DOT + 7.0 } else { 0.0 }
    }

    /// How wide it is where nothing is shortened, in points.
    pub(super) fn width(&self, ui: &Ui) -> f32 {
        self.galley(ui, f32::INFINITY).size().x + self.dot_width() + 2.0 * self.padding()
    }

    /// At the place where `ui` is, as wide as it needs.
    pub(super) fn show(&self, ui: &mut Ui) -> Response {
        let height = if self.is_state { STATE_HEIGHT } else { HEIGHT };
        let width = self.width(ui);
        let (_, rect) = ui.allocate_space(vec2(width, height));
        self.paint(ui, rect)
    }

    /// At the left of `rect`, shortened where it does not fit; `None` where not even a few letters
    /// do.
    pub(super) fn show_in(&self, ui: &mut Ui, rect: Rect) -> Option<Response> {
        let margins = self.dot_width() + 2.0 * self.padding();
        if rect.width() < margins + 20.0 {
            return None;
        }
        let text = self.galley(ui, rect.width() - margins);
        let size = Vec2::new(text.size().x + margins, HEIGHT);
        let rect = Align2::LEFT_CENTER.align_size_within_rect(size, rect);
        Some(self.paint(ui, rect))
    }

    fn galley(&self, ui: &Ui, width: f32) -> std::sync::Arc<egui::Galley> {
        let text = if self.is_state {
            strong(self.text).size(12.0)
        } else {
            egui::RichText::new(self.text).size(11.0)
        };
        WidgetText::from(text.color(self.color)).into_galley(
            ui,
            Some(egui::TextWrapMode::Truncate),
            width,
            FontId::proportional(11.0),
        )
    }

    fn paint(&self, ui: &mut Ui, rect: Rect) -> Response {
        let response = ui.interact(rect, ui.next_auto_id(), Sense::hover());
        ui.skip_ahead_auto_ids(1);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, self.name));
        let radius = if self.is_state { 6.0 } else { 4.0 };
        let inner = rect.shrink2(vec2(self.padding(), 0.0));
        let text = self.galley(ui, inner.width() - self.dot_width() + 1.0);
        let painter = ui.painter();
        painter.rect_filled(rect, radius, self.color.gamma_multiply(0.15));
        if self.is_state {
            let dot = inner.left_center() + vec2(DOT / 2.0, 0.0);
            painter.circle_filled(dot, DOT / 2.0, self.color);
        }
        let place = inner.with_min_x(inner.left() + self.dot_width());
        let place = Align2::LEFT_CENTER.align_size_within_rect(text.size(), place);
        painter.galley(place.min, text, self.color);
        response
    }
}
