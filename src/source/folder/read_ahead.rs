//! Decodes files on several threads before they are asked for, in order, within a memory budget.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crossbeam::channel::{self, Receiver, Sender};
use xxhash_rust::xxh3::xxh3_64;

use crate::base::Worker;
use crate::source::picture::{Picture, PictureError, PictureReader};

/// A decoded file.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) picture: Picture,
    /// XXH3-64 of its pixels.
    pub(super) xxh3: u64,
    /// Holds its part of the memory budget.
    _reservation: Option<Reservation>,
}

/// Decodes one file on the calling thread.
pub(super) fn decode(
    reader: &mut PictureReader,
    path: &Path,
    max_bytes: u64,
    pixels: Vec<u8>,
) -> Result<Decoded, PictureError> {
    finish(reader.read(path, max_bytes, pixels, |_| None))
}

fn finish(
    result: Result<(Picture, Option<Reservation>), PictureError>,
) -> Result<Decoded, PictureError> {
    let (picture, reservation) = result?;
    let xxh3 = xxh3_64(&picture.pixels);
    Ok(Decoded {
        picture,
        xxh3,
        _reservation: reservation,
    })
}

struct Job {
    ticket: u64,
    path: PathBuf,
    pixels: Vec<u8>,
    /// Holds one answer. Its other end is gone when nobody wants it any more.
    answer: Sender<Result<Decoded, PictureError>>,
}

/// Threads that decode files in the order in which they are asked for.
#[derive(Debug)]
pub(super) struct ReadAhead {
    jobs: Option<Sender<Job>>,
    pending: VecDeque<Pending>,
    next_ticket: u64,
    budget: Arc<Budget>,
    wanted_from: Arc<AtomicU64>,
    depth: usize,
    workers: Vec<Worker>,
}

#[derive(Debug)]
struct Pending {
    index: u64,
    ticket: u64,
    answer: Receiver<Result<Decoded, PictureError>>,
}

impl ReadAhead {
    /// Starts `threads` threads. All that they hold at a time stays within `max_bytes` of files and
    /// pixels, except that the picture that is waited for is always decoded.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(super) fn start(threads: usize, max_bytes: u64) -> io::Result<Self> {
        // One more than there are threads, so that none rests while a frame is being published;
        // deeper queues would only make frames older.
        let depth = threads + 1;
        let (jobs, queue) = channel::bounded::<Job>(depth);
        let budget = Arc::new(Budget::new(max_bytes));
        let wanted_from = Arc::new(AtomicU64::new(0));
        let workers = (0..threads)
            .map(|number| {
                let (queue, budget) = (queue.clone(), Arc::clone(&budget));
                let wanted_from = Arc::clone(&wanted_from);
                Worker::spawn(&format!("decode {number}"), move || {
                    decode_jobs(&queue, &budget, &wanted_from, max_bytes);
                })
            })
            .collect::<io::Result<_>>()?;
        Ok(Self {
            jobs: Some(jobs),
            pending: VecDeque::with_capacity(depth),
            next_ticket: 0,
            budget,
            wanted_from,
            depth,
            workers,
        })
    }

    /// Whether another file may be asked for.
    pub(super) fn has_room(&self) -> bool {
        self.pending.len() < self.depth
    }

    /// The entry asked for last, if it has not been taken.
    pub(super) fn last_index(&self) -> Option<u64> {
        self.pending.back().map(|pending| pending.index)
    }

    /// Whether that entry has been asked for and not been taken.
    pub(super) fn awaits(&self, index: u64) -> bool {
        self.pending.iter().any(|pending| pending.index == index)
    }

    /// Asks for entry `index`, the file at `path`; `pixels` is a buffer to reuse.
    pub(super) fn ask(&mut self, index: u64, path: PathBuf, pixels: Vec<u8>) {
        let (answer, receiver) = channel::bounded(1);
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.pending.push_back(Pending {
            index,
            ticket,
            answer: receiver,
        });
        let job = Job {
            ticket,
            path,
            pixels,
            answer,
        };
        // The queue takes as many as may be pending. Without threads, `take` finds no answer.
        if let Some(jobs) = &self.jobs {
            drop(jobs.send(job));
        }
    }

    /// Waits for entry `index`; those asked for before it are forgotten. `None` if it was not asked
    /// for, or its thread has died.
    pub(super) fn take(&mut self, index: u64) -> Option<Result<Decoded, PictureError>> {
        while self.pending.front()?.index != index {
            self.pending.pop_front();
        }
        let pending = self.pending.pop_front()?;
        self.budget.serve(pending.ticket);
        pending.answer.recv().ok()
    }

    /// Forgets all that was asked for.
    pub(super) fn forget(&mut self) {
        self.pending.clear();
        self.wanted_from.store(self.next_ticket, Ordering::Relaxed);
        self.budget.serve(self.next_ticket);
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.wanted_from.store(u64::MAX, Ordering::Relaxed);
        self.budget.serve(u64::MAX);
        self.jobs = None;
        self.workers.clear();
    }
}

fn decode_jobs(
    queue: &Receiver<Job>,
    budget: &Arc<Budget>,
    wanted_from: &AtomicU64,
    max_bytes: u64,
) {
    let mut reader = PictureReader::default();
    for job in queue {
        if job.ticket < wanted_from.load(Ordering::Relaxed) {
            continue;
        }
        let result = reader.read(&job.path, max_bytes, job.pixels, |bytes| {
            Some(budget.reserve(job.ticket, bytes))
        });
        // Nobody waits for it any more after a seek.
        drop(job.answer.send(finish(result)));
    }
}

/// Memory for pictures that wait to be taken.
#[derive(Debug)]
struct Budget {
    max_bytes: u64,
    use_: Mutex<BudgetUse>,
    changed: Condvar,
}

#[derive(Debug)]
struct BudgetUse {
    bytes: u64,
    /// Jobs up to this one are waited for and get memory in any case.
    serving: Option<u64>,
}

impl Budget {
    fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            use_: Mutex::new(BudgetUse {
                bytes: 0,
                serving: None,
            }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BudgetUse> {
        // Nothing that can panic happens under the lock.
        self.use_.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `bytes` fit, or job `ticket` is the one that is waited for.
    fn reserve(self: &Arc<Self>, ticket: u64, bytes: u64) -> Reservation {
        let mut in_use = self.lock();
        while in_use.bytes > 0
            && in_use.bytes + bytes > self.max_bytes
            && in_use.serving.is_none_or(|serving| ticket > serving)
        {
            in_use = self
                .changed
                .wait(in_use)
                .unwrap_or_else(PoisonError::into_inner);
        }
        in_use.bytes += bytes;
        Reservation {
            budget: Arc::clone(self),
            bytes,
        }
    }

    fn serve(&self, ticket: u64) {
        self.lock().serving = Some(ticket);
        self.changed.notify_all();
    }
}

/// A part of the budget, given back when dropped.
#[derive(Debug)]
struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.lock().bytes -= self.bytes;
        self.budget.changed.notify_all();
    }
}
