use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// Installs ONNX Runtime; `None`: it cannot.
    pub install_runtime: Option<InstallRuntime>,
    /// Install it without being asked, once, where it is missing.
    pub install_at_once: bool,
}

/// Installs ONNX Runtime on the thread that calls it. What it is given is told each step, at least
/// every 200 ms, and breaks to cancel.
pub type InstallRuntime = Arc<
    dyn Fn(&mut dyn FnMut(InstallStep) -> ControlFlow<()>) -> Result<(), InstallFailure>
        + Send
        + Sync,
>;

/// How far an installation is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InstallStep {
    /// What is being done, in words.
    pub what: String,
    /// Share of it that is done, 0 to 1; `None`: not known.
    pub share: Option<f32>,
}

/// Why there is still no ONNX Runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallFailure {
    /// What happened.
    pub message: String,
    /// What to do; may have several lines.
    pub hint: Option<String>,
}
