use serde::{Deserialize, Serialize};

use super::{Attachment, ModelCard};
use crate::frame::{FrameDescription, FramePosition};
use crate::prediction::Output;

/// What a child tells its session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// First line of every child.
    Hello {
        /// [`PROTOCOL_VERSION`](super::PROTOCOL_VERSION) of the child.
        protocol: u32,
        /// Its process.
        pid: u32,
        /// What it is.
        role: Role,
    },
    /// The producer has opened its source and waits for a ring.
    SourceOpened(SourceInfo),
    /// The source's state changed.
    Source {
        /// The new state.
        state: SourceState,
        /// Why, where there is more to say.
        detail: Option<String>,
    },
    /// The child works on this ring.
    Attached {
        /// Which one.
        attachment: Attachment,
        /// Consumer: sequence of the newest frame when it joined; it gets the ones after it.
        joined_at: u64,
    },
    /// A carefully resuming producer is about to open this position.
    Opening {
        /// Position in the source.
        source_index: u64,
        /// How often the source had been played whole.
        pass: u32,
        /// What is there.
        path: Option<String>,
    },
    /// A frame has been published.
    Frame(FrameEvent),
    /// The next frame does not fit the ring's slots; the producer waits for a new ring.
    NeedsSlot {
        /// Bytes of pixels of the frame.
        bytes: u64,
    },
    /// An entry of the source was left out.
    Skipped(Skipped),
    /// The source delivered nothing for a while.
    Gap(Gap),
    /// The source has ended and all frames have been published.
    Ended,
    /// The consumer is at this step of its start.
    Loading {
        /// What is being loaded, in words.
        step: String,
    },
    /// The model is loaded and has run once; the consumer waits for
    /// [`Command::Play`](super::Command::Play).
    Ready(Box<ModelCard>),
    /// More is known of the model than when it was [`Self::Ready`].
    Card(Box<ModelCard>),
    /// A model's answer to one frame.
    Prediction(Box<PredictionEvent>),
    /// Answers that were not reported because the session did not keep up (live only).
    Unreported {
        /// How many since the last such event.
        count: u64,
    },
    /// A consumer has taken all frames of a ring that was replaced, and has left it.
    Detached {
        /// The ring left.
        generation: u32,
    },
    /// Something that the user should know.
    Notice(Problem),
    /// The child gives up and exits.
    Failed(Problem),
}

/// What a child is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Writes frames.
    Producer,
    /// Runs a model.
    Consumer,
}

/// What a source says of itself when it is opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceInfo {
    /// Its address, without secrets.
    pub uri: String,
    /// Number of entries of one pass, where it is known.
    pub entries: Option<u64>,
    /// Pixels of the largest frame that is expected.
    pub largest: FrameDescription,
    /// Whether it delivers by its own clock, as a camera does.
    pub live: bool,
    /// Frames per second of its own pace, if it has one.
    pub fps: Option<f64>,
}

/// Whether a source delivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// Being opened.
    Connecting,
    /// Delivering.
    Live,
    /// Held by the user.
    Paused,
    /// Over.
    Ended,
    /// Gone, being waited for.
    Lost,
}

/// A published frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameEvent {
    /// Sequence in the session, from 1.
    pub seq: u64,
    /// Shape and layout in the ring.
    pub description: FrameDescription,
    /// Where it comes from.
    pub position: FramePosition,
    /// Monotonic time of publishing, in nanoseconds.
    pub published_nanos: u64,
    /// XXH3-64 of the packed pixels, 16 hexadecimal digits.
    pub xxh3: Option<String>,
}

/// A part of the source that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Position in the source.
    pub source_index: u64,
    /// Path relative to the source's root, escaped.
    pub path: Option<String>,
    /// Why, in words.
    pub reason: String,
}

/// A time without frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Monotonic start, in nanoseconds.
    pub from_nanos: u64,
    /// Monotonic end, in nanoseconds.
    pub to_nanos: u64,
    /// Why, in words.
    pub reason: String,
}

/// A model's answer to one frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictionEvent {
    /// The frame's sequence.
    pub seq: u64,
    /// The frame's size and path, so that an answer can be read without its frame.
    pub width: u32,
    /// See `width`.
    pub height: u32,
    /// See `width`.
    pub position: FramePosition,
    /// The execution provider that ran it.
    pub provider: String,
    /// First runs, and first runs of a new input shape: left out of statistics.
    pub warmup: bool,
    /// Frames inferred in the same run.
    pub batch: u32,
    /// When each stage ended.
    pub at_nanos: ReportTimes,
    /// The answer.
    pub output: Output,
}

/// Monotonic nanoseconds at which each stage of a prediction ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportTimes {
    /// The frame was published.
    pub published: u64,
    /// The consumer took it.
    pub taken: u64,
    /// It was copied out of the ring.
    pub copied: u64,
    /// The input tensor was filled.
    pub preprocessed: u64,
    /// Inference began (after waiting for a worker, a batch or a turn).
    pub started: u64,
    /// Inference ended.
    pub inferred: u64,
    /// The outputs were decoded.
    pub decoded: u64,
}

/// Something wrong: what, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Stable identifier, as `cuda_unavailable`.
    pub code: String,
    /// What happened, to which file, device or model.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}
