//! What happens to the session when its window is lost without warning.

use std::cell::RefCell;
use std::io::Write;
use std::panic::{self, PanicHookInfo};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{GuiError, SessionHandle};

thread_local! {
    /// When the connection to an X server breaks, Xlib ends the process by `exit`, from within the
    /// event loop. The C library then still drops what belongs to this thread: the session ends as
    /// it does behind a window that is closed.
    static AT_EXIT: RefCell<Option<AtExit>> = const { RefCell::new(None) };
}

struct AtExit(Option<Arc<dyn SessionHandle>>);

impl Drop for AtExit {
    fn drop(&mut self) {
        if let Some(session) = self.0.take() {
            session.end();
            // stderr may be closed; there is nobody left to tell. Not by `tracing`, whose own part
            // of this thread may be gone.
            drop(writeln!(std::io::stderr(), "ringside: {}", GuiError::Lost));
        }
    }
}

/// Ends `session` also when the process ends within the event loop, until [`end`] is called.
pub(super) fn end_at_exit(session: Arc<dyn SessionHandle>) {
    AT_EXIT.set(Some(AtExit(Some(session))));
}

/// Ends the session, if one was started, and waits for its children.
pub(super) fn end() {
    if let Some(mut at_exit) = AT_EXIT.take()
        && let Some(session) = at_exit.0.take()
    {
        session.end();
    }
}

/// Whatever `Box<dyn Fn>` the hook was before.
type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// While it lives, panics of the libraries that open the window are kept instead of printed: where
/// an X window is destroyed by somebody else, or a display has no usable GL configuration, these
/// libraries panic, and [`super::run`] says it in words.
pub(super) struct QuietPanics {
    kept: Arc<Mutex<Option<String>>>,
    before: Arc<Hook>,
}

impl QuietPanics {
    pub(super) fn install() -> Self {
        let before: Arc<Hook> = Arc::new(panic::take_hook());
        let kept = Arc::<Mutex<Option<String>>>::default();
        let (loud, keep) = (Arc::clone(&before), Arc::clone(&kept));
        panic::set_hook(Box::new(move |info| {
            let of_window = info
                .location()
                .is_some_and(|place| is_window_library(Path::new(place.file())));
            if of_window {
                *keep.lock().unwrap_or_else(PoisonError::into_inner) = Some(info.to_string());
            } else {
                loud(info);
            }
        }));
        Self { kept, before }
    }

    /// The panic of a library of the window, if there was one.
    pub(super) fn take(&self) -> Option<String> {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

impl Drop for QuietPanics {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let before = Arc::clone(&self.before);
            panic::set_hook(Box::new(move |info| before(info)));
        }
    }
}

/// Whether a source file is of a library that opens windows and contexts.
fn is_window_library(file: &Path) -> bool {
    const LIBRARIES: [&str; 9] = [
        "winit",
        "eframe",
        "egui-winit",
        "egui_glow",
        "glow",
        "glutin",
        "smithay-client-toolkit",
        "wayland",
        "x11rb",
    ];
    file.components().any(|part| {
        let Some(name) = part.as_os_str().to_str() else {
            return false;
        };
        LIBRARIES.iter().any(|library| {
            name.strip_prefix(library)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_of_the_window_are_told_from_those_of_the_program() {
        for file in [
            "/r/winit-0.30.13/src/platform_impl/linux/x11/window.rs",
            "/r/eframe-0.37.0/src/native/glow_integration.rs",
            "vendor/wayland-client/src/conn.rs",
        ] {
            assert!(is_window_library(Path::new(file)), "{file}");
        }
        for file in ["src/gui/window.rs", "/r/egui-0.37.0/src/ui.rs"] {
            assert!(!is_window_library(Path::new(file)), "{file}");
        }
    }
}
