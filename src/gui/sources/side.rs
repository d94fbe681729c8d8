use std::path::Path;
use std::sync::Arc;

use egui::Context;

use super::files::Files;
use super::install::Installation;
use super::picker::Picker;
use super::reports::Report;
use super::{SideCommand, WindowServices, strings};
use crate::base::escape_path;
use crate::gui::Language;
use crate::gui::SessionHandle;
use crate::gui::models::ModelForms;
use crate::gui::settings::{Keeper, Settings, ThemeChoice};
use crate::protocol::ModelSpec;
use crate::session::{SessionCommand, SessionSpec, SessionView, SpecOverrides};

/// The state of the panel of source and models, and of what it opens.
pub(in crate::gui) struct Side {
    pub(super) context: Context,
    /// Reads and writes files; started when it is needed.
    pub(super) files: Option<Files<Report>>,
    /// Makes thumbnails; started when it is needed.
    pub(super) thumbnails: Option<Files<Report>>,
    pub(super) picker: Option<Picker>,
    pub(super) installation: Installation,
    pub(in crate::gui) keeper: Keeper,
    pub(in crate::gui) services: WindowServices,
    /// Whether the panel is open.
    pub(in crate::gui) open: bool,
    /// The address that is being typed.
    pub(super) address: String,
    /// Why the address was refused.
    pub(super) address_error: Option<&'static str>,
    /// What the user is being told.
    pub(super) notice: Option<Notice>,
    /// The model that was removed last.
    removed: Option<Box<ModelSpec>>,
    pub(in crate::gui) models: ModelForms,
    /// The language of the last pass.
    spoken: Option<Language>,
    /// When the session began that was seen last: another time is another session.
    started_nanos: u64,
    /// The session as it would be saved; its models and its loop are those of the view.
    pub(super) spec: SessionSpec,
}

/// Something that the user is told in the panel.
pub(super) struct Notice {
    pub(super) text: String,
    pub(super) is_bad: bool,
    /// The removal that is told of can be undone.
    pub(super) undo: bool,
}

impl Side {
    /// Nothing is remembered, and the panel is closed.
    pub(in crate::gui) fn new(context: &Context) -> Self {
        Self {
            context: context.clone(),
            files: None,
            thumbnails: None,
            picker: None,
            installation: Installation::default(),
            keeper: Keeper::forgetful(),
            services: WindowServices::default(),
            open: false,
            address: String::new(),
            address_error: None,
            notice: None,
            removed: None,
            models: ModelForms::default(),
            spoken: None,
            started_nanos: 0,
            spec: SessionSpec::default(),
        }
    }

    /// With what the program offers; the theme of before is in force again.
    pub(in crate::gui) fn with_services(context: &Context, services: WindowServices) -> Self {
        let keeper = match &services.settings {
            Some(file) => Keeper::open(file.clone()),
            None => Keeper::forgetful(),
        };
        context.set_theme(egui::ThemePreference::from(keeper.settings().theme));
        let mut side = Self {
            open: keeper.settings().sources_open,
            keeper,
            spec: services.spec.clone(),
            services,
            ..Self::new(context)
        };
        if let Some(file) = side.services.session_file.clone() {
            side.remember_session(&file);
        } else if !side.spec.source.is_empty() {
            let address = side.spec.source.clone();
            side.remember_source(&address);
        }
        side
    }

    /// Whether the session is another one than at the last pass.
    pub(in crate::gui) fn is_another_session(&mut self, view: &SessionView) -> bool {
        let before = std::mem::replace(&mut self.started_nanos, view.started_nanos);
        before != 0 && before != view.started_nanos
    }

    /// The language that was chosen before; `None`: as the system.
    pub(in crate::gui) fn language(&self) -> Option<Language> {
        let chosen = self.keeper.settings().language.as_str();
        Language::ALL
            .into_iter()
            .find(|language| language.name() == chosen)
    }

    /// Remembers another language than the one of the last pass: a person has chosen it.
    pub(in crate::gui) fn follow_language(&mut self, language: Language) {
        if self
            .spoken
            .replace(language)
            .is_some_and(|before| before != language)
        {
            self.keeper.settings_mut().language = language.name().to_owned();
        }
    }

    /// At each pass: takes what came from threads, and keeps what has changed.
    pub(in crate::gui) fn update(&mut self, context: &Context, session: &Arc<dyn SessionHandle>) {
        self.take_drops();
        self.take_reports(session);
        self.look_for_runtime(session);
        if let Some(text) = self.keeper.notice() {
            self.tell(text, true);
        }
        let theme = context.options(|options| options.theme_preference);
        let settings = self.keeper.settings_mut();
        settings.theme = ThemeChoice::from(theme);
        settings.sources_open = self.open;
        self.keeper.keep();
    }

    /// Does what the user asked for.
    pub(in crate::gui) fn run(
        &mut self,
        command: SideCommand,
        view: &SessionView,
        session: &Arc<dyn SessionHandle>,
    ) {
        match command {
            SideCommand::Toggle => self.open = !self.open,
            SideCommand::Session(command) => session.send(command),
            SideCommand::SetSource(text) => self.set_source(&text, session),
            SideCommand::UsePath { path, is_folder } => {
                let scheme = if is_folder { "folder:" } else { "image:" };
                self.remember_place(if is_folder {
                    Some(&path)
                } else {
                    path.parent()
                });
                self.set_source(&format!("{scheme}{}", escape_path(&path)), session);
            }
            SideCommand::AddModel(path) => {
                self.remember_place(path.parent());
                session.send(SessionCommand::AddModel(Box::new(ModelSpec {
                    path,
                    ..ModelSpec::default()
                })));
            }
            SideCommand::RemoveModel(spec) => {
                session.send(SessionCommand::RemoveModel {
                    name: spec.name.clone(),
                });
                self.notice = Some(Notice {
                    text: strings::removed(&spec.name),
                    is_bad: false,
                    undo: true,
                });
                self.removed = Some(spec);
            }
            SideCommand::UndoRemove => {
                self.notice = None;
                if let Some(spec) = self.removed.take() {
                    session.send(SessionCommand::AddModel(spec));
                }
            }
            SideCommand::Pick(purpose) => self.pick(purpose),
            SideCommand::OpenSession(file) => self.load_session(file),
            SideCommand::SaveSession(file) => self.save_session(file, view),
            SideCommand::OpenDemo => {
                if let Some(file) = self.services.demo.clone() {
                    self.load_session(file);
                }
            }
            SideCommand::InstallRuntime => self.install(),
            SideCommand::CancelInstall => self.installation.cancel(),
            SideCommand::Dismiss => self.notice = None,
        }
    }

    fn set_source(&mut self, text: &str, session: &Arc<dyn SessionHandle>) {
        let text = text.trim();
        if text.is_empty() {
            self.address_error = Some(strings::NO_ADDRESS);
            return;
        }
        let uri = with_home(text);
        let folder = std::env::current_dir().unwrap_or_default();
        let overrides = SpecOverrides {
            source: Some(uri.clone()),
            ..SpecOverrides::default()
        };
        if let Err(error) = self.spec.apply(&overrides, &folder) {
            self.tell(error.to_string(), true);
            return;
        }
        self.address.clear();
        self.address_error = None;
        let address = self.spec.source.clone();
        self.remember_source(&address);
        session.send(SessionCommand::SetSource { uri });
    }

    fn remember_source(&mut self, address: &str) {
        // Passwords are not for a file.
        let has_secret = address
            .split_once("://")
            .is_some_and(|(_, rest)| rest.contains('@'));
        if !has_secret {
            let list = &mut self.keeper.settings_mut().recent_sources;
            Settings::remember(list, address.to_owned());
        }
    }

    pub(super) fn remember_place(&mut self, folder: Option<&Path>) {
        if let Some(folder) = folder {
            let list = &mut self.keeper.settings_mut().recent_places;
            Settings::remember(list, escape_path(folder));
        }
    }

    pub(super) fn remember_session(&mut self, file: &Path) {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let list = &mut self.keeper.settings_mut().recent_sessions;
        Settings::remember(list, escape_path(&file));
    }

    pub(super) fn tell(&mut self, text: String, is_bad: bool) {
        // What went wrong is to be seen.
        self.open |= is_bad;
        self.notice = Some(Notice {
            text,
            is_bad,
            undo: false,
        });
    }
}

/// `~` as the user's own folder, as shells have it.
fn with_home(text: &str) -> String {
    let home = std::env::var("HOME").unwrap_or_default();
    match text.strip_prefix('~') {
        Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
            format!("{home}{rest}")
        }
        _ => text.to_owned(),
    }
}
