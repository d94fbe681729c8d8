use std::sync::Arc;

use crate::frame::Frame;
use crate::session::{SessionCommand, SessionView};

/// A session as the window sees it: pictures of its state, and commands to it.
///
/// The window and its preview thread share it.
pub trait SessionHandle: Send + Sync {
    /// The newest picture of the session; cheap.
    fn view(&self) -> Arc<SessionView>;
    /// Tells the session what to do; never waits for it to be done.
    fn send(&self, command: SessionCommand);
}

/// What a session calls, from any thread, when its picture has changed.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Copies frames that predictions belong to, for the window's preview.
pub trait FramePreview: Send {
    /// Copies the frame `seq` to `frame`, whose buffer is reused; `false` when it is not there any
    /// more.
    ///
    /// # Errors
    /// The frames cannot be read at all, and why.
    fn copy(&mut self, seq: u64, frame: &mut Frame) -> Result<bool, String>;
}

/// Attaches to a ring by its name; called on the preview's thread.
pub type OpenPreview = Box<dyn Fn(&str) -> Result<Box<dyn FramePreview>, String> + Send>;
