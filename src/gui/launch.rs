use egui::Vec2;

use super::{App, GuiError, OpenPreview, SessionHandle, Wake};

/// What a window needs besides its session.
pub struct WindowOptions {
    /// Shown by the window manager, beside the program's name.
    pub title: String,
    /// Attaches to the session's ring for previews.
    pub open_preview: OpenPreview,
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

/// Opens the window on the session that `start` makes, and returns when it has been closed; the
/// session is dropped before that.
///
/// # Errors
/// There is no display, it cannot be drawn on, or the session cannot be started; see [`GuiError`].
pub fn run(
    options: WindowOptions,
    start: impl FnOnce(Wake) -> Result<Box<dyn SessionHandle>, Box<dyn std::error::Error + Send + Sync>>,
) -> Result<(), GuiError> {
    check_display()?;
    let WindowOptions {
        title,
        open_preview,
    } = options;
    let native = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title(format!("{title} – Ringside"))
            .with_app_id("ringside")
            .with_inner_size(FIRST_SIZE)
            .with_min_inner_size(SMALLEST_SIZE),
        renderer: eframe::Renderer::Glow,
        ..Default::default()
    };
    let create: eframe::AppCreator<'_> = Box::new(move |creation| {
        let app = App::new(&creation.egui_ctx, open_preview, start)?;
        Ok(Box::new(app))
    });
    eframe::run_native("ringside", native, create).map_err(GuiError::from_eframe)
}
