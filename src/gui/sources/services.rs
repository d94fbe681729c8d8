use std::path::PathBuf;

use crate::session::SessionSpec;

/// What the program does for a window, and where it finds things.
#[derive(Default)]
pub struct WindowServices {
    /// Where settings are kept; `None`: nowhere.
    pub settings: Option<PathBuf>,
    /// The session that the window is opened on.
    pub spec: SessionSpec,
    /// Its file.
    pub session_file: Option<PathBuf>,
    /// The session file of the demo.
    pub demo: Option<PathBuf>,
}
