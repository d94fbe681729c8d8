use std::collections::HashSet;

use super::decode::Tuning;
use super::device::plain_reason;
use super::input::InputBuffer;
use super::job::Job;
use super::model::Model;
use super::preprocess::Preprocessor;
use super::tensor::OutputView;
use crate::base::monotonic_nanos;
use crate::frame::Frame;
use crate::prediction::Output;
use crate::protocol::{ClassScores, ModelCard, ModelSpec, ReportTimes};
use crate::ring::{RingError, Turn};

/// Runs a model on prepared frames and reads its answers.
pub struct Runner {
    model: Model,
    tuning: Tuning,
    /// Input of a run of several frames.
    batch_input: InputBuffer,
    /// Input shapes that have run: the first run of each is a warm-up.
    seen_shapes: HashSet<Vec<i64>>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// One for each frame, in order.
    pub outputs: Vec<Output>,
    /// Whether this was the first run with this input shape.
    pub warmup: bool,
    /// What the card said of the model's numbers until the answers showed what they are; `None`: the
    /// card says what it said.
    pub revised: Option<Option<ClassScores>>,
}

impl Runner {
    /// A runner for `model`, with the options of `spec`.
    pub fn new(model: Model, spec: &ModelSpec) -> Self {
        Self {
            tuning: Tuning {
                threshold: spec.threshold,
                top: spec.top,
            },
            batch_input: InputBuffer::new(model.input.tensor.dtype),
            seen_shapes: HashSet::new(),
            model,
        }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What is known of the model.
    pub fn card(&self) -> &ModelCard {
        &self.model.card
    }

    /// Options that act at once.
    pub fn tune(&mut self, threshold: Option<f32>, top: Option<u32>) {
        self.tuning.threshold = threshold.unwrap_or(self.tuning.threshold);
        self.tuning.top = top.unwrap_or(self.tuning.top);
    }

    /// Prepares and answers one frame by itself.
    ///
    /// # Errors
    /// See [`Self::answer`]; without turns there is none.
    pub fn predict(&mut self, frame: Frame) -> Result<(Output, ReportTimes), RingError> {
        let input = self.model.input.clone();
        let mut job = Job::new(input.tensor.dtype);
        job.frame = frame;
        job.prepare(
            &mut Preprocessor::new(&self.model.preprocess, &input.tensor),
            &input,
        );
        let mut jobs = [job];
        let mut answers = self.answer(&mut jobs, None)?;
        let output = answers.outputs.pop().unwrap_or(Output::Invalid {
            reason: "there is no answer".to_owned(),
        });
        Ok((output, jobs[0].times))
    }

    /// Answers `jobs`, which all have an input of the same size and are at most as many as the
    /// model's batch, or are one job without an input. Notes when each stage ended.
    ///
    /// A run that fails is an invalid answer to its frames, and the next one may be right.
    ///
    /// # Errors
    /// The turn cannot be had.
    pub fn answer(
        &mut self,
        jobs: &mut [Job],
        turn: Option<&mut Turn>,
    ) -> Result<Answers, RingError> {
        if let [job] = jobs
            && let Some(reason) = job.failed.take()
        {
            let now = monotonic_nanos();
            note(jobs, |times| {
                (times.started, times.inferred, times.decoded) = (now, now, now);
            });
            return Ok(Answers {
                outputs: vec![Output::Invalid { reason }],
                warmup: false,
                revised: None,
            });
        }
        let Model {
            engine,
            decoder,
            input,
            batch,
            ..
        } = &mut self.model;
        let count = jobs.len();
        // A model with a fixed batch is always fed a full one; an open one is as long as there are
        // frames.
        let frames = input.batch.map_or(count, |fixed| fixed as usize);
        let run_input = match &*jobs {
            [job] if *batch == 1 => &job.input,
            _ => {
                let size = jobs.first().map_or((0, 0), |job| job.size);
                let frames = u32::try_from(frames).unwrap_or(*batch);
                self.batch_input.resize(input, frames, size);
                for (index, job) in jobs.iter().enumerate() {
                    self.batch_input.copy_image(index, &job.input);
                }
                self.batch_input.clear_from(count);
                &self.batch_input
            }
        };
        let warmup = !self.seen_shapes.contains(run_input.shape());
        if warmup {
            self.seen_shapes.insert(run_input.shape().to_vec());
        }

        let guard = turn.map(Turn::acquire).transpose()?;
        let started = monotonic_nanos();
        let result = engine.run(run_input);
        let inferred = monotonic_nanos();
        drop(guard);

        let outputs = match &result {
            Ok(outputs) => {
                let views = OutputView::all(outputs);
                decoder.learn(&views, count, frames);
                let decode = |index| decoder.decode(&views, index, frames, self.tuning);
                (0..count).map(decode).collect()
            }
            Err(error) => {
                let reason = format!("the run failed: {}", plain_reason(error.message()));
                vec![Output::Invalid { reason }; count]
            }
        };
        let decoded = monotonic_nanos();
        drop(result);
        note(jobs, |times| {
            (times.started, times.inferred, times.decoded) = (started, inferred, decoded);
        });
        let found = self.model.decoder.scores();
        let revised = (self.model.card.scores.as_ref() != found)
            .then(|| std::mem::replace(&mut self.model.card.scores, found.cloned()));
        Ok(Answers {
            outputs,
            warmup,
            revised,
        })
    }
}

fn note(jobs: &mut [Job], set: impl Fn(&mut ReportTimes)) {
    jobs.iter_mut().for_each(|job| set(&mut job.times));
}
