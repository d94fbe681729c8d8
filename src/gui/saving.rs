//! Writes files that the user asked for, on a thread of its own.

use std::io;
use std::path::{Path, PathBuf};

use crossbeam::channel::{Receiver, Sender, bounded};

use super::pulse::Pulse;
use super::text::text;
use crate::base::{Worker, monotonic_nanos};

/// What came of a wish, in words; `Err`: it was not done, and why.
pub(super) type Words = Result<String, String>;
type Job = Box<dyn FnOnce() -> Words + Send>;

/// Jobs that wait at most; more are refused, and that is said.
const QUEUE: usize = 4;

/// What is said to the user for a while.
pub(super) struct Said {
    /// The words.
    pub(super) words: Words,
    /// Monotonic time since which it is said, in nanoseconds.
    pub(super) since_nanos: u64,
}

impl Said {
    /// Said from now on.
    pub(super) fn now(words: Words) -> Self {
        Self {
            words,
            since_nanos: monotonic_nanos(),
        }
    }
}

/// The thread that writes.
pub(super) struct Saver {
    jobs: Sender<Job>,
    results: Receiver<Words>,
    /// Ends when `jobs` is gone, which is dropped first.
    _worker: Worker,
}

impl Saver {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(super) fn start(pulse: Pulse) -> io::Result<Self> {
        let (jobs, to_do) = bounded::<Job>(QUEUE);
        // As many as there can be jobs; the window takes them at each pass.
        let (done, results) = bounded(QUEUE + 2);
        let worker = Worker::spawn("save", move || {
            for job in to_do {
                let words = job();
                if let Err(cause) = &words {
                    tracing::warn!("{cause}");
                }
                if done.try_send(words).is_err() {
                    tracing::warn!("nobody is told that a file was saved");
                }
                pulse.request();
            }
        })?;
        Ok(Self {
            jobs,
            results,
            _worker: worker,
        })
    }

    /// Does something on the thread; what comes of it is given by [`Self::take`].
    ///
    /// # Errors
    /// Too much is waiting, in words.
    pub(super) fn run(&self, job: impl FnOnce() -> Words + Send + 'static) -> Words {
        let sent = self.jobs.try_send(Box::new(job));
        sent.map(|()| String::new())
            .ok()
            .ok_or_else(|| text().rewind.busy.to_owned())
    }

    /// What came of a job.
    pub(super) fn take(&self) -> Option<Words> {
        self.results.try_recv().ok()
    }
}

/// Where files go that the user saves, unless told otherwise: `Pictures/Ringside` in the home folder,
/// or the current folder where there is none.
pub(super) fn default_folder() -> PathBuf {
    let pictures = std::env::var_os("XDG_PICTURES_DIR").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join("Pictures"));
    pictures
        .or_else(home)
        .map_or_else(|| PathBuf::from("."), |folder| folder.join("Ringside"))
}
