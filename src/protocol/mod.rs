//! The language between a session and its children: commands on the child's stdin, events on its
//! stdout, one JSON object a line, both closed enums.
//!
//! The first line to a child is [`Command::Produce`] or [`Command::Consume`]; its first line back
//! is [`Event::Hello`]. The end of stdin means exit.

mod command;
pub mod escaped;
mod event;
mod model;
mod source;
mod wire;

pub use command::{Attachment, Command, ConsumerStart, ProducerStart, Resume};
pub use event::{
    Event, FrameEvent, Gap, PredictionEvent, Problem, ReportTimes, Role, Skipped, SourceInfo,
    SourceState,
};
pub use model::{
    Chosen, ClassScores, DeviceChoice, DeviceChoiceError, ExecutedKernels, Filter, ModelCard,
    ModelSpec, NmsKind, Origin, Preprocess, PreprocessSpec, ProviderReport, Resize, ScoreMeaning,
    TensorInfo,
};
pub use source::{Delivery, Schedule};
pub use wire::{EventSender, Lines, MAX_LINE_BYTES, WireError, read_commands, take_over_stdout};

/// Version of the protocol; a child of another version is refused.
pub const PROTOCOL_VERSION: u32 = 1;
