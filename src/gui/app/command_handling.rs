use egui::{Context, Theme, ThemePreference, ViewportCommand};

use super::App;
use crate::base::monotonic_nanos;
use crate::gui::command::UiCommand;
use crate::gui::palette::CommandPalette;
use crate::gui::panels::log_text;
use crate::gui::picture_command::PictureCommand;
use crate::gui::state::{LogFilter, Tab};
use crate::gui::theme;
use crate::session::{SessionCommand, SessionPhase};

/// Where folders that repeat an answer are made.
const REPRO_FOLDER: &str = "repro";

impl App {
    /// Does what the user asked for.
    pub(super) fn run_command(&mut self, context: &Context, command: UiCommand) {
        match command {
            UiCommand::TogglePlay => self.toggle_play(),
            UiCommand::Step if self.state.look_back.is_some() => {
                self.run_picture_command(context, PictureCommand::Forward);
            }
            UiCommand::Step => self.session.send(SessionCommand::Step { frames: 1 }),
            UiCommand::Rewind => self.session.send(SessionCommand::Seek { source_index: 0 }),
            UiCommand::ToggleLoop => {
                let on = !self.view.source.looping;
                self.session.send(SessionCommand::Loop { on });
            }
            UiCommand::NextTheme => next_theme(context),
            UiCommand::NextLanguage => self.state.language = self.state.language.next(),
            UiCommand::ShowLatency => self.state.tab = Tab::Latency,
            UiCommand::ShowLog => self.state.tab = Tab::Log,
            UiCommand::ShowProcesses => self.state.tab = Tab::Processes,
            UiCommand::ShowLogOf(name) => {
                self.state.tab = Tab::Log;
                self.state.log = LogFilter {
                    about: Some(name),
                    ..Default::default()
                };
            }
            UiCommand::CopyLog => context.copy_text(log_text(&self.view, &self.state.log)),
            UiCommand::CopyText(text) => context.copy_text(text),
            UiCommand::ToggleKeys => self.state.keys_open = !self.state.keys_open,
            UiCommand::Solo(number) => {
                let name = self.view.models.get(number).map(|model| &model.spec.name);
                if let Some(name) = name {
                    let alone = self.state.solo.as_ref() == Some(name);
                    self.state.solo = (!alone).then(|| name.clone());
                }
            }
            UiCommand::SoloOf(name) => {
                let alone = self.state.solo.as_ref() == Some(&name);
                self.state.solo = (!alone).then_some(name);
            }
            UiCommand::TogglePalette => {
                self.state.palette = match self.state.palette.take() {
                    None => Some(CommandPalette::default()),
                    Some(_) => None,
                };
            }
            UiCommand::ToggleMotion => {
                self.state.still = !self.state.still;
                theme::set_still(context, self.state.still);
            }
            UiCommand::ShowAll => self.state.solo = None,
            UiCommand::Quit => context.send_viewport_cmd(ViewportCommand::Close),
            UiCommand::RestartSource => self.session.send(SessionCommand::Restart { model: None }),
            UiCommand::RestartModel(name) => {
                self.session
                    .send(SessionCommand::Restart { model: Some(name) });
            }
            UiCommand::PauseModel(name) => self.session.send(SessionCommand::PauseModel { name }),
            UiCommand::RemoveModel(name) => self.session.send(SessionCommand::RemoveModel { name }),
            UiCommand::SaveRepro(name) => {
                self.state.repro = Some((name.clone(), monotonic_nanos()));
                // Where the program was started: the session says the whole path.
                let folder = REPRO_FOLDER.into();
                self.session.send(SessionCommand::CaptureRepro {
                    model: name,
                    folder,
                });
            }
            UiCommand::ResumeModel(name) => self.session.send(SessionCommand::ResumeModel { name }),
            UiCommand::Picture(command) => self.run_picture_command(context, command),
            UiCommand::Side(command) => self.side.run(command, &self.view, &self.session),
        }
    }

    fn toggle_play(&self) {
        match self.view.phase {
            SessionPhase::Paused => self.session.send(SessionCommand::Play),
            SessionPhase::Ended => {
                self.session.send(SessionCommand::Seek { source_index: 0 });
                self.session.send(SessionCommand::Play);
            }
            SessionPhase::Starting | SessionPhase::Running => {
                self.session.send(SessionCommand::Pause);
            }
            SessionPhase::Stopping | SessionPhase::Stopped => {}
        }
    }
}

/// As the system, then the other one, then the first one by choice.
fn next_theme(context: &Context) {
    let preference = context.options(|options| options.theme_preference);
    let system = context.system_theme().unwrap_or(Theme::Dark);
    let other = match system {
        Theme::Dark => ThemePreference::Light,
        Theme::Light => ThemePreference::Dark,
    };
    let next = if preference == ThemePreference::System {
        other
    } else if preference == other {
        ThemePreference::from(system)
    } else {
        ThemePreference::System
    };
    context.set_theme(next);
}
