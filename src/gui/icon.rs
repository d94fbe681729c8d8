//! Buttons with drawn icons: the same on every machine, crisp at every scale.

use egui::epaint::PathShape;
use egui::{
    Color32, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, Vec2, WidgetInfo,
};

use super::command::{CommandSender, UiCommand};
use super::theme::Palette;

/// What is drawn on a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Icon {
    Play,
    Pause,
    Step,
    Rewind,
    Loop,
    Theme,
    Language,
    Copy,
    Keys,
    Menu,
    Side,
}

/// Width and height of an icon button, in points.
const SIZE: f32 = 30.0;

/// A button that sends a command; `lit` shows that what it toggles is on.
pub(super) fn icon_button(
    ui: &mut Ui,
    icon: Icon,
    name: &str,
    lit: Option<bool>,
    command: UiCommand,
    commands: &CommandSender,
) -> Response {
    let (_, rect) = ui.allocate_space(Vec2::splat(SIZE));
    let response = icon_area(ui, icon, rect.shrink(1.0), name, lit);
    let response = response.on_hover_text(command.tooltip_with_key());
    if response.clicked() {
        commands.send(command);
    }
    response
}

/// An icon in `rect` that can be clicked.
pub(super) fn icon_area(
    ui: &mut Ui,
    icon: Icon,
    rect: Rect,
    name: &str,
    lit: Option<bool>,
) -> Response {
    let response = ui.allocate_rect(rect, Sense::click());
    response.widget_info(|| match lit {
        Some(lit) => WidgetInfo::selected(Role::Button, ui.is_enabled(), lit, name),
        None => WidgetInfo::labeled(Role::Button, ui.is_enabled(), name),
    });
    if ui.is_rect_visible(rect) {
        let visuals = ui.style().interact(&response);
        let palette = Palette::of(ui);
        let quiet =
            matches!(icon, Icon::Menu | Icon::Copy) && !response.hovered() && !response.has_focus();
        let (fill, color) = match lit {
            Some(true) => (palette.accent.gamma_multiply(0.22), palette.accent),
            _ if quiet => (Color32::TRANSPARENT, palette.weak),
            _ => (visuals.bg_fill, visuals.fg_stroke.color),
        };
        let stroke = if response.has_focus() {
            Stroke::new(1.5, palette.accent)
        } else {
            visuals.bg_stroke
        };
        let inside = egui::StrokeKind::Inside;
        ui.painter()
            .rect(rect, visuals.corner_radius, fill, stroke, inside);
        draw(ui.painter(), icon, rect.center(), color);
    }
    response
}

fn draw(painter: &Painter, icon: Icon, center: Pos2, color: Color32) {
    let at = |x: f32, y: f32| center + Vec2::new(x, y);
    let triangle = |points: [Pos2; 3]| {
        painter.add(Shape::convex_polygon(points.to_vec(), color, Stroke::NONE));
    };
    let bar = |x: f32, width: f32| {
        let rect = Rect::from_center_size(at(x, 0.0), Vec2::new(width, 12.0));
        painter.rect_filled(rect, 1.0, color);
    };
    let line = Stroke::new(1.6, color);
    match icon {
        Icon::Play => triangle([at(-4.0, -6.5), at(7.0, 0.0), at(-4.0, 6.5)]),
        Icon::Pause => {
            bar(-3.2, 3.4);
            bar(3.2, 3.4);
        }
        Icon::Step => {
            triangle([at(-5.0, -6.0), at(3.5, 0.0), at(-5.0, 6.0)]);
            bar(5.4, 2.4);
        }
        Icon::Rewind => {
            triangle([at(5.0, -6.0), at(-3.5, 0.0), at(5.0, 6.0)]);
            bar(-5.4, 2.4);
        }
        Icon::Loop => {
            painter.add(arc(center, 5.8, -60.0, 210.0, line));
            // Where the arc begins, pointing along it.
            triangle([at(-0.6, -9.0), at(-0.6, -1.6), at(4.6, -5.3)]);
        }
        Icon::Theme => {
            painter.circle_stroke(center, 6.0, line);
            painter.add(half_disc(center, 6.0, color));
        }
        Icon::Copy => {
            let sheet = |x: f32, y: f32| Rect::from_center_size(at(x, y), Vec2::new(7.0, 8.5));
            let line = Stroke::new(1.1, color);
            for (x, y) in [(-1.4, -1.6), (1.4, 1.6)] {
                painter.rect_stroke(sheet(x, y), 1.0, line, egui::StrokeKind::Middle);
            }
        }
        Icon::Menu => {
            for y in [-5.0, 0.0, 5.0] {
                painter.circle_filled(at(0.0, y), 1.6, color);
            }
        }
        Icon::Side => {
            let frame = Rect::from_center_size(center, Vec2::new(14.0, 12.0));
            painter.rect_stroke(frame, 2.0, line, egui::StrokeKind::Middle);
            painter.vline(center.x - 2.5, frame.y_range(), line);
        }
        Icon::Keys | Icon::Language => {
            let sign = if icon == Icon::Keys { "?" } else { "文" };
            painter.text(
                center,
                egui::Align2::CENTER_CENTER,
                sign,
                egui::FontId::proportional(15.0),
                color,
            );
        }
    }
}

/// An open arc between two angles, clockwise from the right, in degrees.
fn arc(center: Pos2, radius: f32, from: f32, to: f32, stroke: Stroke) -> Shape {
    let steps = 24;
    let points = (0..=steps)
        .map(|step| {
            let angle = (from + (to - from) * step as f32 / steps as f32).to_radians();
            center + radius * Vec2::angled(angle)
        })
        .collect();
    Shape::Path(PathShape::line(points, stroke))
}

/// The right half of a disc.
fn half_disc(center: Pos2, radius: f32, color: Color32) -> Shape {
    let points = (0..=16)
        .map(|step| {
            let angle = (-90.0 + 180.0 * step as f32 / 16.0_f32).to_radians();
            center + radius * Vec2::angled(angle)
        })
        .collect();
    Shape::convex_polygon(points, color, Stroke::NONE)
}
