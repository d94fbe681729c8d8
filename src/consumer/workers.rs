use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::input::ImageInput;
use super::job::Job;
use super::preprocess::Preprocessor;
use crate::base::Worker;
use crate::protocol::Preprocess;

/// Makes inputs out of frames: on the inference thread, or on threads beside it.
pub(super) struct Preparation {
    preprocess: Preprocess,
    input: ImageInput,
    workers: u32,
    inline: Preprocessor,
    pool: Option<Pool>,
}

/// Threads that prepare jobs, and the jobs that they have.
struct Pool {
    // Both ends close when the pool is dropped, before the threads are joined. The channels need no
    // bound: a pipeline has only so many jobs.
    todo: Sender<Job>,
    done: Receiver<Job>,
    /// Sequences of the jobs handed out, oldest first.
    order: VecDeque<u64>,
    /// Jobs that came back before an older one.
    early: BTreeMap<u64, Job>,
    _threads: Vec<Worker>,
}

impl Preparation {
    /// Prepares on `workers` threads, or inline where that is 0.
    pub(super) fn new(preprocess: &Preprocess, input: &ImageInput, workers: u32) -> Self {
        Self {
            inline: Preprocessor::new(preprocess, &input.tensor),
            preprocess: preprocess.clone(),
            input: input.clone(),
            workers,
            pool: None,
        }
    }

    /// Prepares `job`, or hands it to a worker. Jobs come back from [`Self::collect`] in this order.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(super) fn submit(&mut self, mut job: Job, ready: &mut VecDeque<Job>) -> io::Result<()> {
        if self.workers == 0 {
            job.prepare(&mut self.inline, &self.input);
            ready.push_back(job);
            return Ok(());
        }
        let pool = match &mut self.pool {
            Some(pool) => pool,
            none => none.insert(Pool::start(&self.preprocess, &self.input, self.workers)?),
        };
        pool.order.push_back(job.seq);
        pool.todo
            .send(job)
            .map_err(|_closed| io::Error::other("all preprocessing threads have ended"))
    }

    /// Jobs that workers have.
    pub(super) fn pending(&self) -> usize {
        self.pool.as_ref().map_or(0, |pool| pool.order.len())
    }

    /// Moves prepared jobs to `ready` until it has `wanted`, or none is pending.
    ///
    /// # Errors
    /// All preprocessing threads have ended, which they do not do by themselves.
    pub(super) fn collect(&mut self, ready: &mut VecDeque<Job>, wanted: usize) -> io::Result<()> {
        let Some(pool) = &mut self.pool else {
            return Ok(());
        };
        while ready.len() < wanted
            && let Some(&next) = pool.order.front()
        {
            while !pool.early.contains_key(&next) {
                let job = pool.done.recv().map_err(|_closed| {
                    io::Error::other("a preprocessing thread ended before its frame was done")
                })?;
                pool.early.insert(job.seq, job);
            }
            pool.order.pop_front();
            ready.extend(pool.early.remove(&next));
        }
        Ok(())
    }

    /// Ends the threads; the next frame starts them again. All jobs must have been collected.
    pub(super) fn rest(&mut self) {
        self.pool = None;
    }
}

impl Pool {
    fn start(preprocess: &Preprocess, input: &ImageInput, workers: u32) -> io::Result<Self> {
        let (todo, jobs) = unbounded::<Job>();
        let (results, done) = unbounded::<Job>();
        let mut threads = Vec::new();
        for number in 0..workers {
            let (jobs, results) = (jobs.clone(), results.clone());
            let (preprocess, input) = (preprocess.clone(), input.clone());
            let mut preprocessor = Preprocessor::new(&preprocess, &input.tensor);
            threads.push(Worker::spawn(&format!("preprocess {number}"), move || {
                for mut job in jobs {
                    // A job that does not come back would be waited for for ever.
                    let prepare = AssertUnwindSafe(|| job.prepare(&mut preprocessor, &input));
                    if catch_unwind(prepare).is_err() {
                        job.failed =
                            Some("its preprocessing panicked; the log says where".to_owned());
                        preprocessor = Preprocessor::new(&preprocess, &input.tensor);
                    }
                    if results.send(job).is_err() {
                        return;
                    }
                }
            })?);
        }
        Ok(Self {
            todo,
            done,
            order: VecDeque::new(),
            early: BTreeMap::new(),
            _threads: threads,
        })
    }
}
