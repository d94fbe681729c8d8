use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::LatencyStats;
use crate::frame::{CapturedFrom, Orientation};
use crate::prediction::Output;
use crate::protocol::{
    ClassScores, Delivery, ExecutedKernels, ModelCard, NmsKind, Origin, Preprocess, ReportTimes,
    Schedule, TensorInfo,
};

/// One line of a recording.
///
/// Coordinates are pixels of the upright frame. Paths are relative to the source's root, escaped by
/// [`escape_path`](crate::base::escape_path). Times are monotonic, relative to the session's start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Row {
    /// The session and its models; written first, and again when more is known of a model.
    Session(Box<SessionRow>),
    /// A published frame.
    Frame(FrameRow),
    /// A model's answer to a frame.
    Prediction(Box<PredictionRow>),
    /// An entry of the source that was left out.
    Skipped(SkippedRow),
    /// A frame that a model took and never answered.
    Lost(LostRow),
    /// A time without frames.
    Gap(GapRow),
    /// Something that the user should know.
    Notice(ProblemRow),
    /// A model or the source gave up.
    Failed(ProblemRow),
    /// Totals; written last.
    Summary(Box<SummaryRow>),
}

/// See [`Row::Session`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRow {
    /// [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Version of the program.
    pub ringside: String,
    /// Identifier of the run (ULID: sorts by time).
    pub run: String,
    /// Wall-clock time of the session's start, RFC 3339; the anchor of all relative times.
    pub started: String,
    /// Name of the machine.
    pub host: String,
    /// The source.
    pub source: SourceRow,
    /// Version of ONNX Runtime, once a model has loaded it.
    pub onnxruntime: Option<String>,
    /// The models.
    pub models: Vec<ModelRow>,
}

/// The source of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRow {
    /// Its address, without secrets.
    pub uri: String,
    /// Which frames consumers get.
    pub delivery: Delivery,
    /// How models share a device.
    pub schedule: Schedule,
}

/// A model of a session, and what is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRow {
    /// Its name in the session.
    pub name: String,
    /// The file, escaped.
    pub path: String,
    /// The device asked for.
    pub asked: String,
    /// The provider that runs it.
    pub provider: Option<String>,
    /// Why it is not the one asked for.
    pub reason: Option<String>,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Size of the file.
    pub bytes: u64,
    /// Nodes assigned to each provider.
    pub assigned: BTreeMap<String, u32>,
    /// Kernels that each provider ran in one profiled run.
    pub executed: BTreeMap<String, ExecutedKernels>,
    /// Threads of inference.
    pub threads: u32,
    /// Frames inferred at once.
    pub batch: u32,
    /// `classify` or `raw`.
    pub task: String,
    /// Name of the decoder.
    pub layout: String,
    /// What a classifier's numbers are, and how that is known.
    #[serde(default)]
    pub scores: Option<ClassScores>,
    /// Where the labels come from.
    pub labels: String,
    /// Lowest score of a reported detection.
    pub threshold: f32,
    /// Overlap above which the weaker of two boxes goes.
    pub iou: f32,
    /// Between which boxes.
    pub nms: NmsKind,
    /// Preprocessing in force.
    pub preprocess: Preprocess,
    /// Who chose each key of it.
    pub preprocess_origins: BTreeMap<String, Origin>,
    /// Inputs, in order.
    pub inputs: Vec<TensorInfo>,
    /// Outputs, in order.
    pub outputs: Vec<TensorInfo>,
}

impl ModelRow {
    /// The row of a loaded model.
    pub fn new(spec: &crate::protocol::ModelSpec, card: &ModelCard) -> Self {
        Self {
            name: spec.name.clone(),
            path: crate::base::escape_path(&spec.path),
            asked: card.provider.asked.clone(),
            provider: Some(card.provider.provider.clone()),
            reason: card.provider.reason.clone(),
            sha256: card.sha256.clone(),
            bytes: card.bytes,
            assigned: card.provider.assigned.clone(),
            executed: card.provider.executed.clone(),
            threads: card.threads,
            batch: card.batch,
            task: card.task.value.clone(),
            layout: card.layout.clone(),
            scores: card.scores.clone(),
            labels: card.labels.clone(),
            threshold: spec.threshold,
            iou: spec.iou,
            nms: spec.nms,
            preprocess: card.preprocess.clone(),
            preprocess_origins: card.preprocess_origins.clone(),
            inputs: card.inputs.clone(),
            outputs: card.outputs.clone(),
        }
    }
}

/// See [`Row::Frame`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameRow {
    /// Sequence in the session, from 1.
    pub seq: u64,
    /// Path relative to the source's root; absent where the source has no files.
    pub path: Option<String>,
    /// Position in the source.
    pub source_index: u64,
    /// How often the source had been played whole before.
    pub pass: u32,
    /// Width of the upright frame.
    pub width: u32,
    /// Height of the upright frame.
    pub height: u32,
    /// Width and height as stored.
    pub stored: [u32; 2],
    /// The orientation tag that was applied.
    pub orientation: Orientation,
    /// Time in a video.
    pub media_seconds: Option<f64>,
    /// What the captured time means.
    pub captured_from: CapturedFrom,
    /// Times relative to the session's start.
    pub at_nanos: AtNanos,
    /// XXH3-64 of the packed pixels.
    pub xxh3: Option<String>,
}

/// Times of a frame, relative to the session's start; negative for a frame captured before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtNanos {
    /// When it was captured.
    pub captured: i64,
    /// When it was published.
    pub published: i64,
}

/// See [`Row::Prediction`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictionRow {
    /// The frame's sequence.
    pub seq: u64,
    /// The model's name.
    pub model: String,
    /// The execution provider that ran it.
    pub provider: String,
    /// The frame's path.
    pub path: Option<String>,
    /// Width of the upright frame.
    pub width: u32,
    /// Height of the upright frame.
    pub height: u32,
    /// First runs: left out of statistics.
    pub warmup: bool,
    /// Frames inferred in the same run.
    pub batch: u32,
    /// Whether other models ran on the device at the same time (schedule `together`).
    pub contended: bool,
    /// Durations of the stages.
    pub micros: Micros,
    /// The answer.
    pub output: Output,
}

/// Durations of a prediction's stages, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Micros {
    /// Published to taken.
    pub wait: u64,
    /// Taken to copied.
    pub copy: u64,
    /// Copied to preprocessed.
    pub preprocess: u64,
    /// Preprocessed to started: waiting for a worker, a batch or a turn.
    pub queue: u64,
    /// Started to inferred.
    pub inference: u64,
    /// Inferred to decoded.
    pub decode: u64,
    /// Captured to received by the session.
    pub age: u64,
}

impl Micros {
    /// The durations between the times of a report. A later stage with an earlier time (which a
    /// correct child never sends) counts as zero.
    pub fn new(times: &ReportTimes, captured_nanos: u64, received_nanos: u64) -> Self {
        let micros = |from: u64, to: u64| to.saturating_sub(from) / 1000;
        Self {
            wait: micros(times.published, times.taken),
            copy: micros(times.taken, times.copied),
            preprocess: micros(times.copied, times.preprocessed),
            queue: micros(times.preprocessed, times.started),
            inference: micros(times.started, times.inferred),
            decode: micros(times.inferred, times.decoded),
            age: micros(captured_nanos, received_nanos),
        }
    }

    /// Each stage by name, in order, the age last.
    pub fn stages(&self) -> [(&'static str, u64); 7] {
        [
            ("wait", self.wait),
            ("copy", self.copy),
            ("preprocess", self.preprocess),
            ("queue", self.queue),
            ("inference", self.inference),
            ("decode", self.decode),
            ("age", self.age),
        ]
    }
}

/// See [`Row::Skipped`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedRow {
    /// Position in the source.
    pub source_index: u64,
    /// Path relative to the source's root.
    pub path: Option<String>,
    /// Why.
    pub reason: String,
}

/// See [`Row::Lost`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostRow {
    /// The frame's sequence.
    pub seq: u64,
    /// The model that held it.
    pub model: String,
    /// Why.
    pub reason: String,
}

/// See [`Row::Gap`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapRow {
    /// Start, relative to the session's.
    pub from_nanos: i64,
    /// End.
    pub to_nanos: i64,
    /// Why.
    pub reason: String,
}

/// See [`Row::Notice`] and [`Row::Failed`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProblemRow {
    /// A model's name, `source`, or `session`.
    pub about: String,
    /// Stable identifier.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// See [`Row::Summary`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// Frames of the source.
    pub frames: FrameCounts,
    /// One for each model, in the session's order.
    pub models: Vec<ModelSummary>,
    /// One for each pair of models.
    pub comparison: Vec<Comparison>,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// Seconds from the first published frame to the end.
    pub seconds: f64,
}

/// Counts of a source's frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameCounts {
    /// Published.
    pub published: u64,
    /// Left out.
    pub skipped: u64,
}

/// Totals of a model, counted from when it joined: `published − taken = dropped`, and what it took is
/// predicted, invalid, lost or unreported. In `every`, frames that it could not take any more are
/// lost, too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelSummary {
    /// The model's name.
    pub name: String,
    /// Sequence of the newest frame when it joined.
    pub joined_at: u64,
    /// Frames answered, invalid answers left out.
    pub predicted: u64,
    /// Frames published that it did not take (live only).
    pub dropped: u64,
    /// Frames taken and never answered.
    pub lost: u64,
    /// Answers that could not be used.
    pub invalid: u64,
    /// Answers that were not reported (live only).
    pub unreported: u64,
    /// How often its process was restarted.
    pub restarts: u32,
    /// The provider that ran it.
    pub provider: Option<String>,
    /// Percentiles of each stage, warm-up left out.
    pub micros: BTreeMap<String, LatencyStats>,
    /// Answers a second, from its first to its last; `None` for less than five answers or one second.
    pub frames_per_second: Option<f64>,
}

/// Agreement of two models on the frames that both predicted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// A model's name.
    pub a: String,
    /// Another's.
    pub b: String,
    /// Frames that both predicted.
    pub frames: u64,
    /// Frames that only one predicted.
    pub unmatched: u64,
    /// Share of `frames` with the same top-1 class by name; `None` without a common frame.
    pub agreement: Option<f64>,
}
