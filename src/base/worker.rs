use std::io;
use std::thread::JoinHandle;

/// A named thread that is joined when the value is dropped.
///
/// The owner must have told the thread to end by then (by dropping the channel that it reads, for
/// example); declare that channel before the worker.
#[derive(Debug)]
pub struct Worker {
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts `body` on a thread called `name` (the kernel shows its first 15 bytes).
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)?;
        Ok(Self {
            thread: Some(thread),
        })
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("a worker thread panicked; its message is above");
        }
    }
}
