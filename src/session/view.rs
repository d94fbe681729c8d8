use std::path::PathBuf;
use std::sync::Arc;

use crate::base::LatencyStats;
use crate::protocol::{
    Delivery, FrameEvent, ModelCard, ModelSpec, PredictionEvent, Problem, Schedule, SourceInfo,
    SourceState,
};
use crate::recording::Micros;

/// What "the last seconds" are in a view, in nanoseconds.
pub const RECENT_NANOS: u64 = 5_000_000_000;

/// What the window, or anybody else, can tell a running session.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionCommand {
    /// Publish frames.
    Play,
    /// Stop publishing.
    Pause,
    /// Publish this many frames, then pause.
    Step {
        /// At least 1.
        frames: u32,
    },
    /// Go on from this position of the source.
    Seek {
        /// Position in the source.
        source_index: u64,
    },
    /// Begin again at the end of the source, or not.
    Loop {
        /// Whether to begin again.
        on: bool,
    },
    /// Take frames from another source; models stay loaded.
    SetSource {
        /// Its address.
        uri: String,
    },
    /// Add a model.
    AddModel(Box<ModelSpec>),
    /// Give a model other options, also another name. Its process is started anew only if it has to
    /// be: not for a name, a threshold or a number of classes.
    ChangeModel {
        /// Its name until now.
        name: String,
        /// All its options from now on.
        spec: Box<ModelSpec>,
    },
    /// Stop a model and forget it.
    RemoveModel {
        /// Its name.
        name: String,
    },
    /// Let a model leave the set of readers.
    PauseModel {
        /// Its name.
        name: String,
    },
    /// Let it join again.
    ResumeModel {
        /// Its name.
        name: String,
    },
    /// Options of a model that act at once.
    Tune {
        /// Its name.
        name: String,
        /// Lowest score shown.
        threshold: Option<f32>,
        /// Number of classes reported.
        top: Option<u32>,
    },
    /// Start a child anew, also one that was given up.
    Restart {
        /// A model's name, or `None` for the producer.
        model: Option<String>,
    },
    /// Save the frame that a model's shown prediction belongs to, the model's hash and its
    /// preprocessing as a folder from which the prediction can be repeated.
    CaptureRepro {
        /// The model's name.
        model: String,
        /// Where the folder is made.
        folder: PathBuf,
    },
    /// End: stop all children, write the summary.
    Stop,
}

/// A consistent picture of a session, made by the session's thread and never changed.
#[derive(Debug, Clone, Default)]
pub struct SessionView {
    /// Counts the pictures; a window repaints when it changed.
    pub version: u64,
    /// What the session is doing.
    pub phase: SessionPhase,
    /// Monotonic time of this picture, in nanoseconds.
    pub at_nanos: u64,
    /// Monotonic time of the session's start, in nanoseconds.
    pub started_nanos: u64,
    /// The source and its producer.
    pub source: SourceView,
    /// The models, in the session's order.
    pub models: Vec<ModelView>,
    /// The ring, once there is one.
    pub ring: Option<RingView>,
    /// Agreement of each pair of models.
    pub agreement: Vec<AgreementView>,
    /// The newest log lines, oldest first.
    pub log: Arc<[LogLine]>,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionPhase {
    /// Children are starting; nothing is published yet.
    #[default]
    Starting,
    /// Frames flow.
    Running,
    /// Held by the user.
    Paused,
    /// The source has ended and all models have answered.
    Ended,
    /// Children are being stopped.
    Stopping,
    /// All children are gone.
    Stopped,
}

/// The source and its producer.
#[derive(Debug, Clone, Default)]
pub struct SourceView {
    /// Its address, without secrets.
    pub uri: String,
    /// State of the producer's process.
    pub child: ChildState,
    /// Its process.
    pub pid: Option<u32>,
    /// What its process uses.
    pub usage: Option<ProcessUsage>,
    /// How often it was restarted.
    pub restarts: u32,
    /// What the source says of itself.
    pub info: Option<SourceInfo>,
    /// Whether it delivers.
    pub state: Option<SourceState>,
    /// Which frames consumers get.
    pub delivery: Option<Delivery>,
    /// How models share a device.
    pub schedule: Schedule,
    /// Whether it begins again at the end.
    pub looping: bool,
    /// Frames published.
    pub published: u64,
    /// Entries left out.
    pub skipped: u64,
    /// The newest frame.
    pub newest: Option<Arc<FrameEvent>>,
    /// Frames published a second, over the last seconds; `None` while there are too few to tell.
    pub frames_per_second: Option<f64>,
    /// Monotonic time since which nothing was delivered by a source that should, in nanoseconds.
    pub stale_since: Option<u64>,
    /// Name of the model that the producer waits for, where it does for long.
    pub waits_for: Option<String>,
    /// Last lines of its stderr.
    pub stderr: Arc<[String]>,
}

/// State of a child's process.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ChildState {
    /// Not started yet.
    #[default]
    Waiting,
    /// Starting.
    Starting {
        /// What it is doing, in words.
        step: String,
    },
    /// Ready or running.
    Running,
    /// Left the set of readers by the user's wish.
    Paused,
    /// Alive but silent although there is work.
    Stale {
        /// Monotonic time of its last event, in nanoseconds.
        since_nanos: u64,
    },
    /// Died and will be started again.
    Restarting {
        /// How often it has been restarted.
        attempt: u32,
        /// Monotonic time of the next start, in nanoseconds.
        at_nanos: u64,
        /// Exit code or signal.
        cause: String,
    },
    /// Given up; can be restarted by hand.
    Failed(Problem),
    /// Ended as it was asked to.
    Stopped,
}

/// What a process uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessUsage {
    /// Processor time over the last half second, in cores.
    pub cores: f32,
    /// Memory in RAM, shared segments and libraries included.
    pub resident_bytes: u64,
}

/// A model and its consumer.
#[derive(Debug, Clone, Default)]
pub struct ModelView {
    /// Its options.
    pub spec: Arc<ModelSpec>,
    /// State of the consumer's process.
    pub child: ChildState,
    /// Its process.
    pub pid: Option<u32>,
    /// What its process uses.
    pub usage: Option<ProcessUsage>,
    /// How often it was restarted.
    pub restarts: u32,
    /// What is known of the model, once it is loaded.
    pub card: Option<Arc<ModelCard>>,
    /// Its newest answer.
    pub shown: Option<Arc<ShownPrediction>>,
    /// Its last few answers, oldest first: several may come between two pictures of a session.
    pub recent: Arc<[Arc<ShownPrediction>]>,
    /// Percentiles of each stage, warm-up left out.
    pub stages: Vec<StageStats>,
    /// Durations of its last answers, oldest first: sequence, warm-up or not, durations.
    pub timeline: Arc<[(u64, bool, Micros)]>,
    /// Answers a second, over the last seconds; `None` while there are too few to tell.
    pub frames_per_second: Option<f64>,
    /// Sequence of the newest frame when it joined.
    pub joined_at: Option<u64>,
    /// Frames answered, invalid answers left out.
    pub predicted: u64,
    /// Frames published that it did not take.
    pub dropped: u64,
    /// Frames taken and never answered.
    pub lost: u64,
    /// Answers that could not be used.
    pub invalid: u64,
    /// Answers that were not reported.
    pub unreported: u64,
    /// Last lines of its stderr.
    pub stderr: Arc<[String]>,
}

/// An answer, and when it came.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownPrediction {
    /// The answer.
    pub event: PredictionEvent,
    /// Monotonic time at which the session received it, in nanoseconds.
    pub received_nanos: u64,
    /// Durations of its stages.
    pub micros: Micros,
}

/// Percentiles of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageStats {
    /// The stage, as in [`Micros::stages`].
    pub stage: &'static str,
    /// Over the last seconds.
    pub recent: Option<LatencyStats>,
    /// Over the whole session.
    pub session: Option<LatencyStats>,
}

/// The ring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RingView {
    /// Name of the segment; a preview attaches to it.
    pub name: String,
    /// Counts the rings of a session.
    pub generation: u32,
    /// Bytes of the segment.
    pub bytes: u64,
    /// Sequence of the newest frame.
    pub head: u64,
    /// Whether frames stay pinned until the next prediction.
    pub pins: bool,
    /// The slots.
    pub slots: Vec<SlotView>,
}

/// A slot of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotView {
    /// Sequence of its frame; 0 when it has none.
    pub seq: u64,
    /// What is happening to it.
    pub used: SlotUse,
}

/// What is happening to a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotUse {
    /// Nothing.
    Free,
    /// Being written.
    Writing,
    /// Being read, or kept for a shown prediction.
    Pinned,
}

/// Agreement of two models on the frames that both predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct AgreementView {
    /// A model's name.
    pub a: String,
    /// Another's.
    pub b: String,
    /// Frames that both predicted.
    pub frames: u64,
    /// Frames of these with the same top-1 class by name.
    pub same: u64,
}

/// How grave a log line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Good to know.
    Info,
    /// Should be looked at.
    Warning,
    /// Something does not work.
    Error,
}

/// A line of the session's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Monotonic time, in nanoseconds.
    pub at_nanos: u64,
    /// How grave it is.
    pub level: LogLevel,
    /// A model's name, `source`, or `session`.
    pub about: String,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}
