use std::sync::Arc;

use crate::frame::Frame;
use crate::session::{SessionCommand, SessionSpec, SessionView};

/// A session as the window sees it: pictures of its state, and commands to it.
///
/// The window and its preview thread share it.
pub trait SessionHandle: Send + Sync {
    /// The newest picture of the session; cheap.
    fn view(&self) -> Arc<SessionView>;
    /// Tells the session what to do; never waits for it to be done.
    fn send(&self, command: SessionCommand);
    /// Ends what runs, in order, and then starts the session `spec` in its place; never waits. The
    /// next views are those of the new one.
    fn open(&self, spec: SessionSpec);
    /// Ends the session and waits until its children are gone and its rows are written. The window
    /// calls it when it is closed or lost; it may be called again.
    fn end(&self);
}

/// What a session calls, from any thread, when its picture has changed.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Copies frames that predictions belong to, for the window's preview.
pub trait FramePreview: Send {
    /// Copies the frame `seq`, or the newest one, to `frame`, whose buffer is reused. Returns its
    /// sequence; `None` when it is not there (any more).
    ///
    /// # Errors
    /// The frames cannot be read at all, and why.
    fn copy(&mut self, seq: Option<u64>, frame: &mut Frame) -> Result<Option<u64>, String>;
}

/// Attaches to a ring by its name; called on the preview's thread.
pub type OpenPreview = Box<dyn Fn(&str) -> Result<Box<dyn FramePreview>, String> + Send>;
