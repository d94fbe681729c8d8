use std::collections::VecDeque;
use std::time::Duration;

use super::connection::Connection;
use super::failure::Failure;
use super::job::Job;
use super::runner::{Answers, Runner};
use super::workers::Preparation;
use crate::base::monotonic_nanos;
use crate::protocol::{
    ClassScores, Delivery, Event, EventSender, ModelSpec, PredictionEvent, Problem,
};
use crate::ring::{HELD_CAPACITY, Take};

/// Takes frames from a ring and reports what the model says about them.
pub(super) struct Pipeline {
    runner: Runner,
    /// The model's name in the session.
    name: String,
    events: EventSender,
    delivery: Delivery,
    preparation: Preparation,
    persistent_workers: bool,
    /// Frames of a run.
    batch: usize,
    /// Most frames on their way.
    depth: usize,
    /// Frames that may still be taken.
    left: u64,
    /// Jobs without a frame.
    idle: Vec<Job>,
    /// Jobs with an input, in the order of their frames.
    ready: VecDeque<Job>,
    /// Jobs that run now.
    running: Vec<Job>,
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Go on.
    More,
    /// All frames that there are, or that may be taken, have been answered.
    Drained,
}

/// Longest wait for a frame before commands are looked at.
const IDLE_WAIT: Duration = Duration::from_millis(50);
/// Longest wait for the rest of a batch; then it runs with what is there.
const BATCH_WAIT_NANOS: u64 = 100_000_000;

impl Pipeline {
    /// A pipeline around `runner`, with the options of `spec`.
    pub(super) fn new(
        runner: Runner,
        spec: &ModelSpec,
        delivery: Delivery,
        frames: Option<u64>,
        events: EventSender,
    ) -> Self {
        let ahead = match delivery {
            // A frame that waits ahead grows old.
            Delivery::Live => spec.workers.min(1),
            Delivery::Every => spec.workers,
        };
        let model = runner.model();
        let batch = model.batch as usize;
        Self {
            preparation: Preparation::new(&model.preprocess, &model.input, spec.workers),
            persistent_workers: spec.persistent_workers,
            name: spec.name.clone(),
            delivery,
            batch,
            // The ring remembers only so many frames of a reader, of which one stays pinned.
            depth: (batch + ahead as usize).min(HELD_CAPACITY - 1),
            left: frames.unwrap_or(u64::MAX),
            idle: Vec::new(),
            ready: VecDeque::new(),
            running: Vec::new(),
            runner,
            events,
        }
    }

    /// Options that act at once.
    pub(super) fn tune(&mut self, threshold: Option<f32>, top: Option<u32>) {
        self.runner.tune(threshold, top);
    }

    /// Takes frames, waiting a little for the first one, runs the model once on those that are
    /// there, and reports. With workers, frames of the next run are taken before and prepared
    /// meanwhile.
    ///
    /// # Errors
    /// The ring or a thread fails.
    pub(super) fn step(&mut self, connection: &mut Connection) -> Result<Step, Failure> {
        let drained = self.take(connection)?;
        if self.on_the_way() > 0 {
            self.run(connection)?;
        } else if drained {
            return Ok(Step::Drained);
        }
        Ok(Step::More)
    }

    /// Answers everything that has been taken; workers rest unless they are to be kept.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub(super) fn finish(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        while self.on_the_way() > 0 {
            self.run(connection)?;
        }
        if !self.persistent_workers {
            self.preparation.rest();
        }
        Ok(())
    }

    /// Whether it takes no more frames.
    pub(super) fn has_enough(&self) -> bool {
        self.left == 0
    }

    /// Ends the pipeline and not its model: the process ends now, and the kernel takes a model's memory
    /// back faster than ONNX Runtime gives it piece by piece.
    pub(super) fn leave_model(self) {
        let Self { runner, .. } = self;
        std::mem::forget(runner);
    }

    fn on_the_way(&self) -> usize {
        self.ready.len() + self.preparation.pending()
    }

    /// Takes as many frames as there may be on the way; whether there are no more.
    fn take(&mut self, connection: &mut Connection) -> Result<bool, Failure> {
        let mut deadline = None;
        while self.on_the_way() < self.depth {
            if self.left == 0 {
                return Ok(true);
            }
            let timeout = match self.on_the_way() {
                0 => IDLE_WAIT,
                frames if frames < self.batch => {
                    let now = monotonic_nanos();
                    let deadline = *deadline.get_or_insert(now + BATCH_WAIT_NANOS);
                    Duration::from_nanos(deadline.saturating_sub(now))
                }
                _ => Duration::ZERO,
            };
            let mut job = match self.idle.pop() {
                Some(job) => job,
                None => Job::new(self.runner.model().input.tensor.dtype),
            };
            match connection.reader.take(&mut job.frame, timeout)? {
                Take::Frame {
                    seq,
                    published_nanos,
                    taken_nanos,
                    copied_nanos,
                } => {
                    self.left -= 1;
                    job.seq = seq;
                    job.times.published = published_nanos;
                    job.times.taken = taken_nanos;
                    job.times.copied = copied_nanos;
                    self.preparation.submit(job, &mut self.ready)?;
                }
                Take::TimedOut => {
                    self.idle.push(job);
                    return Ok(false);
                }
                Take::Closed => {
                    self.idle.push(job);
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Runs the model on the oldest frames and reports on them.
    fn run(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        self.preparation.collect(&mut self.ready, self.batch)?;
        self.choose_running();
        let turn = connection.turn.as_mut();
        let answers = self.runner.answer(&mut self.running, turn)?;
        if let Some(known) = &answers.revised {
            self.tell_scores(known.as_ref());
        }
        self.report(connection, answers);
        Ok(())
    }

    /// Tells that the answers show what the model's numbers are, and that `known` was wrong, if it was.
    fn tell_scores(&self, known: Option<&ClassScores>) {
        let card = self.runner.card();
        if let (Some(known), Some(found)) = (known, &card.scores) {
            self.events.send(&Event::Notice(Problem {
                code: "scores_revised".to_owned(),
                message: format!(
                    "{}: its numbers are logits ({}); earlier answers took them for probabilities ({})",
                    self.name, found.evidence, known.evidence
                ),
                hint: Some("`layout = \"logits\"` says so from the start.".to_owned()),
            }));
        }
        self.events.send(&Event::Card(Box::new(card.clone())));
    }

    /// Moves the oldest frames that can run together from ready to running: frames of one size, as
    /// many as the model takes; a frame without an input stays by itself.
    fn choose_running(&mut self) {
        let fits = |first: Option<&Job>, next: &Job| {
            first.is_none_or(|first| {
                first.failed.is_none() && next.failed.is_none() && first.size == next.size
            })
        };
        while self.running.len() < self.batch
            && let Some(job) = self
                .ready
                .pop_front_if(|next| fits(self.running.first(), next))
        {
            self.running.push(job);
        }
    }

    fn report(&mut self, connection: &Connection, answers: Answers) {
        let batch = u32::try_from(self.running.len()).unwrap_or(u32::MAX);
        let provider = &self.runner.card().provider.provider;
        for (job, output) in self.running.iter().zip(answers.outputs) {
            let description = &job.frame.description;
            let event = Event::Prediction(Box::new(PredictionEvent {
                seq: job.seq,
                width: description.width,
                height: description.height,
                position: job.frame.position.clone(),
                provider: provider.clone(),
                warmup: answers.warmup,
                batch,
                at_nanos: job.times,
                output,
            }));
            match self.delivery {
                Delivery::Every => self.events.send(&event),
                Delivery::Live => self.events.offer(&event),
            }
            connection.reporter.reported(job.seq);
        }
        self.idle.append(&mut self.running);
    }
}
