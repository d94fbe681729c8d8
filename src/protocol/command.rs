use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Delivery, ModelSpec, Schedule};

/// What a session tells a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Be the producer (first line).
    Produce(ProducerStart),
    /// Be a consumer (first line).
    Consume(Box<ConsumerStart>),
    /// Attach to this ring; a later one replaces it when all its frames have been taken.
    Attach(Attachment),
    /// Producer: publish. Consumer: take frames.
    Play,
    /// Producer: stop publishing. Consumer: leave the set of readers until [`Self::Play`].
    Pause,
    /// Producer: publish this many frames, then pause again.
    Step {
        /// Frames; at least 1.
        frames: u32,
    },
    /// Producer: go on from this position of the source.
    Seek {
        /// See [`FramePosition`](crate::frame::FramePosition)`::source_index`.
        source_index: u64,
    },
    /// Producer: begin again at the end, or not.
    Loop {
        /// Whether to begin again.
        on: bool,
    },
    /// Consumer: options that act at once.
    Tune {
        /// Lowest score shown.
        threshold: Option<f32>,
        /// Number of classes reported.
        top: Option<u32>,
    },
    /// End cleanly: report what has been taken, release everything, exit 0.
    Stop,
}

/// How a producer begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProducerStart {
    /// Source address: `folder:…`, `image:…`, `pattern:…`, or a bare path. Absolute paths, escaped
    /// by [`escape_path`](crate::base::escape_path).
    pub source: String,
    /// Which frames consumers get.
    pub delivery: Delivery,
    /// Begin again at the end.
    pub looping: bool,
    /// Frames per second; 0: the source's own pace, or as fast as they are taken.
    pub fps: f64,
    /// Publish at most this many frames.
    pub frames: Option<u64>,
    /// Set when another producer of this source has died.
    pub resume: Option<Resume>,
}

/// Where a restarted producer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// First position of the source to open.
    pub source_index: u64,
    /// How often the source had been played whole.
    pub pass: u32,
    /// Frames published before, by all producers of this source.
    pub published: u64,
    /// Number of positions to open one at a time, each announced by
    /// [`Event::Opening`](super::Event::Opening) before it is touched, so that a file that kills the decoder is known.
    pub careful: u32,
}

/// How a consumer begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsumerStart {
    /// The model and its options; paths are absolute.
    pub model: ModelSpec,
    /// Which frames it gets.
    pub delivery: Delivery,
    /// How it shares its device with the session's other models.
    pub schedule: Schedule,
    /// ONNX Runtime library named by the user, if any; else it is looked for.
    #[serde(default, with = "super::escaped::option")]
    pub onnxruntime: Option<PathBuf>,
    /// Number of models in the session, among which cores are shared.
    pub models: u32,
    /// Most frames to take; then it leaves the readers.
    #[serde(default)]
    pub frames: Option<u64>,
}

/// A ring and one's place in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Name of the segment.
    pub ring: String,
    /// Counts the rings of a session from 1.
    pub generation: u32,
    /// A consumer's entry in the ring's table; `None` for the producer.
    pub member: Option<u32>,
}
