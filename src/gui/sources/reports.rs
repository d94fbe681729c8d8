//! What the panel has done on other threads, and what comes of it.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{ColorImage, Ui};

use super::drops::commands_of;
use super::files::Files;
use super::picker::{Listing, Picker, PickerRequest, list, picker_ui, thumbnail};
use super::{Purpose, Side, SideCommand, strings};
use crate::base::unescape_path;
use crate::gui::SessionHandle;
use crate::gui::settings::{session_text, write_whole};
use crate::session::{SessionSpec, SessionView};

/// What came of a piece of work.
pub(super) enum Report {
    /// What is in a folder.
    Listing(Listing),
    /// Whether a typed path is a folder, or why it cannot be used.
    Look(PathBuf, Result<bool, String>),
    /// A small picture of a file.
    Thumbnail(PathBuf, Option<ColorImage>),
    /// What dropped files ask for.
    Dropped(Result<Vec<SideCommand>, String>),
    /// A session file has been read.
    Loaded(PathBuf, Result<Box<SessionSpec>, String>),
    /// A session file has been written.
    Saved(PathBuf, Result<(), String>),
}

impl Side {
    /// Whether keys belong to something that lies over the window.
    pub(in crate::gui) fn takes_keys(&self) -> bool {
        self.picker.is_some()
    }

    /// The picker, where it is open.
    pub(in crate::gui) fn picker_ui(&mut self, ui: &mut Ui) {
        if let Some(picker) = &mut self.picker {
            picker_ui(ui, picker);
        }
    }

    /// Has a piece of work done on the thread for files.
    fn work(&mut self, job: impl FnOnce() -> Report + Send + 'static) {
        if self.files.is_none() {
            self.files = self.start_thread("files");
        }
        if let Some(files) = &self.files {
            files.run(job);
        }
    }

    fn start_thread(&mut self, name: &str) -> Option<Files<Report>> {
        match Files::start(name, &self.context) {
            Ok(files) => Some(files),
            Err(error) => {
                self.tell(error.to_string(), true);
                None
            }
        }
    }

    /// Files that were dropped on the window since the last pass.
    pub(super) fn take_drops(&mut self) {
        let dropped = self.context.input(|input| input.raw.dropped_files.clone());
        if !dropped.is_empty() {
            let paths: Vec<PathBuf> = dropped.iter().map(|file| file.path().to_owned()).collect();
            self.work(move || Report::Dropped(commands_of(&paths)));
        }
    }

    /// What has been done since the last pass.
    pub(super) fn take_reports(&mut self, session: &Arc<dyn SessionHandle>) {
        let of = |files: &Option<Files<Report>>| files.as_ref().map(Files::take);
        let reports = of(&self.files).into_iter().chain(of(&self.thumbnails));
        for report in reports.flatten().collect::<Vec<_>>() {
            self.accept(report, session);
        }
        let requests = self.picker.as_mut().map(Picker::take_requests);
        for request in requests.into_iter().flatten() {
            self.serve(request, session);
        }
    }

    fn accept(&mut self, report: Report, session: &Arc<dyn SessionHandle>) {
        let context = self.context.clone();
        match (report, &mut self.picker) {
            (Report::Listing(listing), Some(picker)) => picker.accept_listing(listing),
            (Report::Look(path, found), Some(picker)) => picker.accept_look(path, found),
            (Report::Thumbnail(path, image), Some(picker)) => {
                picker.accept_thumbnail(&context, path, image);
            }
            (Report::Listing(_) | Report::Look(..) | Report::Thumbnail(..), None) => {}
            (Report::Dropped(Ok(commands)), _) => {
                for command in commands {
                    self.run(command, &session.view(), session);
                }
            }
            (Report::Dropped(Err(error)) | Report::Loaded(_, Err(error)), _) => {
                self.tell(error, true);
            }
            (Report::Loaded(file, Ok(spec)), _) => {
                self.remember_session(&file);
                self.notice = None;
                self.spec = (*spec).clone();
                session.open(*spec);
            }
            (Report::Saved(file, Ok(())), _) => {
                self.remember_session(&file);
                self.tell(strings::saved(&file.display().to_string()), false);
            }
            (Report::Saved(file, Err(error)), _) => {
                self.tell(
                    strings::not_saved(&file.display().to_string(), &error),
                    true,
                );
            }
        }
    }

    fn serve(&mut self, request: PickerRequest, session: &Arc<dyn SessionHandle>) {
        match request {
            PickerRequest::List(folder) => self.work(move || Report::Listing(list(folder))),
            PickerRequest::Look(path) => self.work(move || {
                let found = fs::metadata(&path).map_err(|error| error.to_string());
                Report::Look(path, found.map(|found| found.is_dir()))
            }),
            PickerRequest::Thumbnail(path) => {
                if self.thumbnails.is_none() {
                    self.thumbnails = self.start_thread("thumbnails");
                }
                if let Some(thumbnails) = &self.thumbnails {
                    thumbnails.run(move || {
                        // A decoder that panics on a broken picture takes nothing with it.
                        let image = catch_unwind(|| thumbnail(&path)).ok().flatten();
                        Report::Thumbnail(path, image)
                    });
                }
            }
            PickerRequest::Choose { path, is_folder } => self.chosen(path, is_folder, session),
            PickerRequest::Close => self.picker = None,
        }
    }

    fn chosen(&mut self, path: PathBuf, is_folder: bool, session: &Arc<dyn SessionHandle>) {
        let Some(picker) = self.picker.take() else {
            return;
        };
        let command = match picker.purpose {
            Purpose::Source => SideCommand::UsePath { path, is_folder },
            Purpose::Model => SideCommand::AddModel(path),
            Purpose::Session => SideCommand::OpenSession(path),
            Purpose::Save => SideCommand::SaveSession(path),
            Purpose::Labels => {
                self.remember_place(path.parent());
                self.models.take_labels(&path);
                return;
            }
        };
        self.run(command, &session.view(), session);
    }

    /// Opens the picker at the place that was used last.
    pub(super) fn pick(&mut self, purpose: Purpose) {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let recent: Vec<PathBuf> = self
            .keeper
            .settings()
            .recent_places
            .iter()
            .map(|place| unescape_path(place))
            .collect();
        let begin = recent
            .first()
            .cloned()
            .or_else(|| std::env::current_dir().ok())
            .or_else(|| home.clone())
            .unwrap_or_else(|| PathBuf::from("/"));
        let named = |path: PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            (name.into_owned(), path)
        };
        let fixed = home.map(|home| (strings::HOME.to_owned(), home));
        let root = (strings::ROOT.to_owned(), PathBuf::from("/"));
        let places = fixed
            .into_iter()
            .chain([root])
            .chain(recent.into_iter().map(named))
            .filter(|(name, _)| !name.is_empty())
            .collect();
        self.picker = Some(Picker::new(purpose, begin, places));
    }

    /// Reads a session file; its session is opened when it has been read.
    pub(super) fn load_session(&mut self, file: PathBuf) {
        self.remember_place(file.parent());
        self.work(move || {
            let loaded = SessionSpec::load(&file).map_err(|error| error.to_string());
            Report::Loaded(file, loaded.map(Box::new))
        });
    }

    /// Writes the session as it is now.
    pub(super) fn save_session(&mut self, file: PathBuf, view: &SessionView) {
        self.remember_place(file.parent());
        let spec = SessionSpec {
            models: view
                .models
                .iter()
                .map(|model| (*model.spec).clone())
                .collect(),
            looping: view.source.looping,
            ..self.spec.clone()
        };
        self.work(move || {
            let folder = file.parent().unwrap_or(Path::new("/"));
            let written = session_text(&spec, folder)
                .map_err(|error| error.to_string())
                .and_then(|text| write_whole(&file, &text).map_err(|error| error.to_string()));
            Report::Saved(file, written)
        });
    }
}
