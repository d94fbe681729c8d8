//! The window's program, split by what the code does: [`App`] holds the fields, `logic` drains
//! inputs and paints nothing, `command_handling` runs commands, `ui` paints.

mod command_handling;
mod logic;
mod picture_commands;
mod ui;

use std::path::PathBuf;
use std::sync::Arc;

use crossbeam::channel::Receiver;
use raw_window_handle::HasWindowHandle;

use super::command::{CommandSender, UiCommand};
use super::preview::{Board, Previews};
use super::pulse::Pulse;
use super::rewind::SharedBuffer;
use super::saving::{self, Saver};
use super::sources::{Side, WindowServices};
use super::state::WindowState;
use super::text::Language;
use super::toasts::Toasts;
use super::visibility::Watch;
use super::{GuiError, OpenPreview, SessionHandle, Wake, motion, theme};
use crate::session::SessionView;
use picture_commands::Screenshots;

/// The window on a session.
pub struct App {
    /// Its thread holds the session, too, and is joined before the session is let go.
    previews: Previews,
    session: Arc<dyn SessionHandle>,
    /// The session's picture at this pass.
    view: Arc<SessionView>,
    state: WindowState,
    side: Side,
    commands: CommandSender,
    pending: Receiver<UiCommand>,
    pulse: Pulse,
    /// The frames shown last, which the preview thread fills.
    rewind: SharedBuffer,
    saver: Saver,
    /// Where saved files go.
    save_folder: PathBuf,
    /// A picture of the window that was asked for, and what of it is saved.
    screenshots: Screenshots,
    /// Whether the window was hidden at the last pass.
    was_hidden: bool,
    /// Tells `pulse` whether the window can be seen.
    watch: Option<Watch>,
}

impl App {
    /// Saves what the user saves below `folder`.
    pub fn set_save_folder(&mut self, folder: PathBuf) {
        self.save_folder = folder;
    }

    /// Installs the theme in `context` and shows the session that `start` makes; `start` gets what
    /// the session calls when its picture has changed.
    ///
    /// # Errors
    /// `start` fails, or the system refuses a thread.
    pub fn new(
        context: &egui::Context,
        open_preview: OpenPreview,
        start: impl FnOnce(
            Wake,
        )
            -> Result<Box<dyn SessionHandle>, Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<Self, GuiError> {
        let board = Arc::<Board>::default();
        let session = start(board.wake()).map_err(GuiError::Session)?;
        Self::attached(context, open_preview, board, Arc::from(session))
    }

    /// Installs the theme in `context` and shows a session that calls the wake of `board`.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(super) fn attached(
        context: &egui::Context,
        open_preview: OpenPreview,
        board: Arc<Board>,
        session: Arc<dyn SessionHandle>,
    ) -> Result<Self, GuiError> {
        theme::install(context);
        let pulse = Pulse::new(context.clone());
        let rewind = SharedBuffer::default();
        let previews = Previews::start(
            board,
            Arc::clone(&session),
            open_preview,
            Arc::clone(&rewind),
            pulse.clone(),
        )
        .map_err(GuiError::Thread)?;
        let saver = Saver::start(pulse.clone()).map_err(GuiError::Thread)?;
        let (commands, pending) = CommandSender::new(context.clone());
        let view = session.view();
        let still = motion::desktop_wants_none();
        theme::set_still(context, still);
        let state = WindowState {
            toasts: Toasts::after(&view),
            still,
            ..Default::default()
        };
        Ok(Self {
            previews,
            view,
            session,
            state,
            side: Side::new(context),
            commands,
            pending,
            pulse,
            rewind,
            saver,
            save_folder: saving::default_folder(),
            screenshots: Screenshots::default(),
            was_hidden: false,
            watch: None,
        })
    }
}

impl App {
    /// Writes the window in `language`.
    pub fn set_language(&mut self, language: Language) {
        self.state.language = language;
    }
}

impl App {
    /// Follows whether the window behind `handle` can be seen: a hidden one does nearly nothing.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(super) fn watch(&mut self, handle: &impl HasWindowHandle) -> Result<(), GuiError> {
        self.watch = Watch::start(handle, self.pulse.clone()).map_err(GuiError::Thread)?;
        Ok(())
    }

    /// With settings that are remembered, and with what the program does for the window.
    #[must_use]
    pub fn with_services(mut self, context: &egui::Context, services: WindowServices) -> Self {
        self.side = Side::with_services(context, services);
        let chosen = self.side.language();
        self.state.language = chosen.unwrap_or(self.state.language);
        self
    }
}

impl eframe::App for App {
    fn logic(&mut self, context: &egui::Context, _frame: &mut eframe::Frame) {
        self.update(context);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        tracing::trace!("painted");
        self.window_ui(ui);
        self.order_pictures();
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
