use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::Arc;

use egui::Vec2;

use super::ending::{self, QuietPanics};
use super::preview::Board;
use super::{App, GuiError, Language, OpenPreview, SessionHandle, Wake, WindowServices};

/// Why a session could not be started.
type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// What a window needs besides its session.
pub struct WindowOptions {
    /// Shown by the window manager, beside the program's name.
    pub title: String,
    /// Attaches to the session's ring for previews.
    pub open_preview: OpenPreview,
    /// What the program does for the window.
    pub services: WindowServices,
}

/// Size of a new window, in points.
const FIRST_SIZE: Vec2 = Vec2::new(1280.0, 820.0);
/// Below this size not everything can be reached, in points.
const SMALLEST_SIZE: Vec2 = Vec2::new(720.0, 480.0);

/// Whether a display is named in the environment; asked before anything is started.
///
/// # Errors
/// [`GuiError::NoDisplay`].
pub fn check_display() -> Result<(), GuiError> {
    let named = |variable| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    let known = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
    if known.into_iter().any(named) {
        Ok(())
    } else {
        Err(GuiError::NoDisplay)
    }
}

/// Opens the window on the session that `start` makes, and returns when it has been closed and the
/// session has ended.
///
/// The session starts once the display is known to be there, while the window is still being made:
/// its children load meanwhile.
///
/// # Errors
/// There is no display, it cannot be drawn on, the session cannot be started, or the window is lost
/// while it is open; see [`GuiError`]. The session has ended in every case.
pub fn run(
    options: WindowOptions,
    start: impl FnOnce(Wake) -> Result<Box<dyn SessionHandle>, BoxedError> + 'static,
) -> Result<(), GuiError> {
    check_display()?;
    let WindowOptions {
        title,
        open_preview,
        services,
    } = options;
    let board = Arc::<Board>::default();
    let wake = board.wake();
    let started = Rc::new(RefCell::new(None));
    let early = Rc::clone(&started);
    let native = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title(format!("{title} – Ringside"))
            .with_app_id("ringside")
            .with_inner_size(FIRST_SIZE)
            .with_min_inner_size(SMALLEST_SIZE),
        renderer: eframe::Renderer::Glow,
        // Called when the display has been opened, before anything is drawn.
        window_builder: Some(Box::new(move |builder| {
            let session = start(wake).map(Arc::from);
            if let Ok(session) = &session {
                ending::end_at_exit(Arc::clone(session));
            }
            *early.borrow_mut() = Some(session);
            builder
        })),
        ..Default::default()
    };
    let opened = Rc::new(Cell::new(false));
    let is_open = Rc::clone(&opened);
    let create: eframe::AppCreator<'_> = Box::new(move |creation| {
        let session = started.take().ok_or("the window has no session")??;
        let mut app = App::attached(&creation.egui_ctx, open_preview, board, session)?;
        app.set_language(Language::of_environment());
        app = app.with_services(&creation.egui_ctx, services);
        app.watch(creation)?;
        is_open.set(true);
        Ok(Box::new(app))
    });
    let panics = QuietPanics::install();
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        eframe::run_native("ringside", native, create)
    }));
    ending::end();
    match result {
        Ok(result) => result.map_err(GuiError::from_eframe),
        Err(payload) => Err(GuiError::from_panic(
            panics.take(),
            payload.as_ref(),
            opened.get(),
        )),
    }
}
