use egui::{Align, Button, Frame, Layout, Margin, Stroke, Ui};

use super::agreement::agreement_ui;
use super::log::log_ui;
use super::processes::processes_ui;
use super::timeline::{legend_ui, timelines_ui};
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::state::{Tab, WindowState};
use crate::gui::theme::{CARD_RADIUS, PADDING, Palette};
use crate::session::{LogLevel, SessionView};

/// The tabs below the tiles, and the models' agreement.
pub(in crate::gui) fn bottom_ui(
    ui: &mut Ui,
    view: &SessionView,
    state: &mut WindowState,
    commands: &CommandSender,
) {
    let palette = Palette::of(ui);
    Frame::new()
        .fill(palette.card)
        .stroke(Stroke::new(1.0, palette.line))
        .corner_radius(CARD_RADIUS)
        .inner_margin(Margin {
            left: PADDING as i8,
            right: PADDING as i8,
            top: 6,
            bottom: 8,
        })
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                tabs_ui(ui, view, state.tab, commands);
                if state.tab == Tab::Latency && ui.available_width() > LEGEND_AND_AGREEMENT {
                    ui.add_space(14.0);
                    legend_ui(ui, &mut state.timeline);
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    agreement_ui(ui, &view.agreement);
                });
            });
            ui.add_space(6.0);
            match state.tab {
                Tab::Latency => timelines_ui(ui, view, state, commands),
                Tab::Log => log_ui(ui, view, &mut state.log, commands),
                Tab::Processes => processes_ui(ui, view, state, commands),
            }
            ui.take_available_space();
        });
}

/// Width below which the agreement is shown without the legend, in points: the tiles have the
/// stages' colours, too.
const LEGEND_AND_AGREEMENT: f32 = 560.0;

fn tabs_ui(ui: &mut Ui, view: &SessionView, open: Tab, commands: &CommandSender) {
    ui.spacing_mut().item_spacing.x = 4.0;
    let graves = view
        .log
        .iter()
        .filter(|line| line.level >= LogLevel::Warning);
    let log = match graves.count() {
        0 => UiCommand::ShowLog.text().to_owned(),
        number => format!("{} · {number}", UiCommand::ShowLog.text()),
    };
    let latency = UiCommand::ShowLatency;
    for (tab, text, command) in [
        (Tab::Latency, latency.text().to_owned(), latency),
        (Tab::Log, log, UiCommand::ShowLog),
        (
            Tab::Processes,
            UiCommand::ShowProcesses.text().to_owned(),
            UiCommand::ShowProcesses,
        ),
    ] {
        let button = Button::selectable(tab == open, text);
        let response = ui.add(button).on_hover_text(command.tooltip_with_key());
        if response.clicked() {
            commands.send(command);
        }
    }
}
