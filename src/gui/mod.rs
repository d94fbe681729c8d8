//! The window: a view of a session.
//!
//! [`run`] opens it. [`App`] takes a picture of the session at each pass, paints it, and sends
//! commands back; it does no work of its own, and repaints only when the session, the preview
//! thread or the user gives a reason to.

mod app;
mod command;
mod ending;
mod error;
mod format;
mod handle;
mod icon;
mod launch;
mod layout;
mod models;
mod motion;
mod palette;
mod panels;
mod picture_command;
mod pill;
mod preview;
mod pulse;
mod rewind;
mod saving;
mod settings;
mod sources;
mod state;
mod text;
mod theme;
mod tile;
mod toasts;
mod visibility;

pub use app::App;
pub use error::GuiError;
pub use handle::{FramePreview, OpenPreview, SessionHandle, Wake};
pub use launch::{WindowOptions, check_display, run};
pub use sources::{InstallFailure, InstallRuntime, InstallStep, WindowServices};
pub use text::Language;
