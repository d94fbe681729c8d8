//! The panel beside the tiles: the source, the models, what is saved and opened; and what a window
//! shows that has neither.

mod command;
mod drops;
mod files;
mod guide;
mod install;
mod panel;
mod picker;
mod reports;
mod services;
mod side;
mod source_section;

pub(super) use command::{Purpose, SideCommand};
pub(super) use drops::drop_overlay_ui;
pub(super) use guide::{SHORT_HEIGHT, guide_ui};
pub(super) use panel::{heading, side_panel_ui};
pub use services::{InstallFailure, InstallRuntime, InstallStep, WindowServices};
pub(super) use side::Side;

/// All that this module says to people.
pub(super) mod strings {
    pub(in crate::gui) const SOURCE: &str = "Source";
    pub(in crate::gui) const ADDRESS: &str = "Address of the source";
    pub(in crate::gui) const ADDRESS_HINT: &str = "A path, or folder:, image:, pattern:…";
    pub(in crate::gui) const USE: &str = "Use";
    pub(in crate::gui) const USE_TIP: &str =
        "Take frames from this source; models stay loaded (Enter)";
    pub(in crate::gui) const RECENT: &str = "Recent sources";
    pub(in crate::gui) const NO_ADDRESS: &str = "Name a folder, a picture or another source.";
    pub(in crate::gui) const NO_SOURCE: &str = "No source";
    pub(in crate::gui) const SESSION: &str = "Session";
    pub(in crate::gui) const RECENT_SESSIONS: &str = "Recent sessions";
    pub(in crate::gui) const DISMISS: &str = "Dismiss";
    pub(in crate::gui) const UNDO: &str = "Undo";

    pub(in crate::gui) const NEW_SESSION: &str = "session.toml";
    pub(in crate::gui) const UP: &str = "Up";
    pub(in crate::gui) const UP_TIP: &str = "To the folder above (Alt+↑)";
    pub(in crate::gui) const PATH: &str = "Path";
    pub(in crate::gui) const HOME: &str = "Home";
    pub(in crate::gui) const ROOT: &str = "Computer";
    pub(in crate::gui) const LISTING: &str = "Reading the folder…";
    pub(in crate::gui) const OPEN_CHOSEN: &str = "Open";
    pub(in crate::gui) const USE_FOLDER: &str = "Use this folder";
    pub(in crate::gui) const USE_FOLDER_TIP: &str = "Take all pictures of the folder shown (Enter)";
    pub(in crate::gui) const CANCEL: &str = "Cancel";
    pub(in crate::gui) const SAVE: &str = "Save here";
    pub(in crate::gui) const REPLACE: &str = "Replace";
    pub(in crate::gui) const FILE_NAME: &str = "File name";
    pub(in crate::gui) const ALL_FILES: &str = "All files";
    pub(in crate::gui) const NO_RUNTIME: &str = "ONNX Runtime is missing";
    pub(in crate::gui) const NO_RUNTIME_TEXT: &str = "Models run with it. It is fetched with pip or uv (24 MB), checked, and kept in your data directory.";
    pub(in crate::gui) const INSTALL: &str = "Install";
    pub(in crate::gui) const INSTALL_AGAIN: &str = "Try again";
    pub(in crate::gui) const INSTALLING: &str = "ONNX Runtime is being installed";
    pub(in crate::gui) const NOT_INSTALLED: &str = "ONNX Runtime could not be installed";
    pub(in crate::gui) const DROP_UNKNOWN: &str = "Drop to use it";

    pub(in crate::gui) fn title(purpose: &super::Purpose) -> &'static str {
        use super::Purpose;
        match purpose {
            Purpose::Source => "Choose a folder or a picture",
            Purpose::Model => "Choose an ONNX model",
            Purpose::Labels => "Choose a file of labels",
            Purpose::Session => "Choose a session file",
            Purpose::Save => "Save the session",
        }
    }

    pub(in crate::gui) fn nothing(purpose: &super::Purpose) -> String {
        use super::Purpose;
        let what = match purpose {
            Purpose::Source => "no picture and no folder",
            Purpose::Model => "no ONNX file",
            Purpose::Labels => "no text file",
            Purpose::Session | Purpose::Save => "no session file",
        };
        format!("There is {what} here.")
    }

    pub(in crate::gui) fn unreadable(path: &std::path::Path, cause: &str) -> String {
        // The number after the system's words tells people nothing.
        let words = cause.split(" (os error").next().unwrap_or(cause);
        format!("{} cannot be read: {words}.", path.display())
    }

    pub(in crate::gui) fn drop_session(name: &str) -> String {
        format!("Open the session {name} instead of this one")
    }

    pub(in crate::gui) fn drop_model(name: &str) -> String {
        format!("Add the model {name}")
    }

    pub(in crate::gui) fn drop_source(name: &str) -> String {
        format!("Take frames from {name}")
    }

    pub(in crate::gui) fn removed(name: &str) -> String {
        format!("{name} was removed.")
    }

    pub(in crate::gui) fn saved(file: &str) -> String {
        format!("Saved as {file}.")
    }

    pub(in crate::gui) fn not_saved(file: &str, cause: &str) -> String {
        format!("{file} cannot be written: {cause}. Choose another folder.")
    }
}
