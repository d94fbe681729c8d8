use egui::{Align, Align2, Button, Layout, RichText, Ui, UiBuilder, Vec2, vec2};

use super::{Purpose, SideCommand};
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::text::text;
use crate::gui::theme::{Palette, strong};
use crate::session::SessionView;

/// Size of the guide, in points.
pub(in crate::gui) const GUIDE_SIZE: Vec2 = Vec2::new(440.0, 250.0);
/// Height of the guide below a picture, in points.
pub(in crate::gui) const SHORT_HEIGHT: f32 = 110.0;

/// What a session lacks, and the ways to get it.
pub(in crate::gui) fn guide_ui(
    ui: &mut Ui,
    area: egui::Rect,
    view: &SessionView,
    commands: &CommandSender,
) {
    let palette = Palette::of(ui);
    let no_source = view.source.uri.is_empty();
    let no_model = view.models.is_empty();
    let is_short = area.height() < GUIDE_SIZE.y;
    let size = vec2(
        GUIDE_SIZE.x.min(area.width()),
        if is_short { SHORT_HEIGHT } else { GUIDE_SIZE.y }.min(area.height()),
    );
    let rect = Align2::CENTER_CENTER.align_size_within_rect(size, area);
    let builder = UiBuilder::new()
        .max_rect(rect)
        .layout(Layout::top_down(Align::Center));
    ui.scope_builder(builder, |ui| {
        let title = match (no_source, no_model) {
            (true, true) => text().side.guide_title,
            (true, false) => text().side.no_source_yet,
            _ => text().side.no_model,
        };
        ui.label(strong(title).size(20.0));
        ui.add_space(4.0);
        if !is_short {
            ui.label(RichText::new(text().side.guide_text).color(palette.weak));
            ui.add_space(10.0);
        }
        let offers = [
            (
                no_source,
                SideCommand::Pick(Purpose::Source),
                text().side.choose_source,
                text().side.choose_source_text,
            ),
            (
                no_model,
                SideCommand::Pick(Purpose::Model),
                text().side.choose_model,
                text().side.choose_model_text,
            ),
            (
                no_source && no_model,
                SideCommand::OpenDemo,
                text().side.demo,
                text().side.demo_text,
            ),
            (
                no_source,
                SideCommand::SetSource("pattern:bars".to_owned()),
                text().side.pattern,
                text().side.pattern_text,
            ),
        ];
        for (_, command, title, text) in offers.into_iter().filter(|(offered, ..)| *offered) {
            let button = Button::new(strong(title).size(14.0))
                .right_text(RichText::new(text).color(palette.weak).size(12.0))
                .min_size(vec2(ui.available_width(), 34.0));
            let response = ui.add(button);
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, title));
            if response.clicked() {
                commands.send(UiCommand::Side(command));
            }
            ui.add_space(4.0);
        }
    });
}
