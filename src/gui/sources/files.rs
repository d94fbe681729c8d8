use std::io;

use crossbeam::channel::{Receiver, Sender, unbounded};
use egui::Context;

use crate::base::Worker;

/// Work with files, one piece after the other, on a thread of its own: a slow disk never stops the
/// window. What comes of each is taken at a later pass.
pub(super) struct Files<R> {
    /// The channels have no bound: a person's clicks fill the one, each pass empties the other.
    jobs: Option<Sender<Job<R>>>,
    reports: Receiver<R>,
    _worker: Worker,
}

type Job<R> = Box<dyn FnOnce() -> R + Send>;

impl<R: Send + 'static> Files<R> {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(super) fn start(name: &str, context: &Context) -> io::Result<Self> {
        let (jobs, to_do) = unbounded::<Job<R>>();
        let (done, reports) = unbounded();
        let context = context.clone();
        let worker = Worker::spawn(name, move || {
            for job in to_do {
                if done.send(job()).is_err() {
                    return;
                }
                context.request_repaint();
            }
        })?;
        Ok(Self {
            jobs: Some(jobs),
            reports,
            _worker: worker,
        })
    }

    /// Has something done.
    pub(super) fn run(&self, job: impl FnOnce() -> R + Send + 'static) {
        if let Some(jobs) = &self.jobs {
            // The thread lives beside us.
            drop(jobs.send(Box::new(job)));
        }
    }

    /// What has been done since the last call.
    pub(super) fn take(&self) -> Vec<R> {
        self.reports.try_iter().collect()
    }
}

impl<R> Drop for Files<R> {
    fn drop(&mut self) {
        self.jobs = None;
    }
}
