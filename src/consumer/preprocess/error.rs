use crate::frame::FrameError;
use crate::protocol::Origin;

use super::InputType;

/// Why an input cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PreprocessError {
    /// The input is not an image of 1 or 3 channels.
    #[error(
        "the input's shape [{shape}] is not an image: expected [N,C,H,W] or [N,H,W,C] with 1 or 3 channels"
    )]
    NotAnImage {
        /// Dimensions, separated by commas; `?` where open.
        shape: String,
    },
    /// A preset that is not known.
    #[error(
        "unknown preset `{name}`: did you mean `{nearest}`? (auto, raw, imagenet, yolo, yolox)"
    )]
    UnknownPreset {
        /// As written.
        name: String,
        /// The most similar one.
        nearest: &'static str,
    },
    /// A value that cannot be used.
    #[error("preprocess.{key} = {value} ({}) cannot be used: {reason}", said_by(*.origin))]
    Unusable {
        /// The key of `[model.preprocess]`.
        key: &'static str,
        /// Its value.
        value: String,
        /// Who chose it.
        origin: Origin,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// The frame's description does not fit its pixels.
    #[error("the frame cannot be read: {0}")]
    Frame(#[from] FrameError),
    /// The caller's slice is of another type than the input.
    #[error("the input is {expected:?}, the tensor given is {actual:?}")]
    WrongType {
        /// The input's type.
        expected: InputType,
        /// The slice's.
        actual: InputType,
    },
    /// The caller's slice is of another length than the input.
    #[error("the input needs {needed} values, the tensor given has {actual}")]
    WrongLength {
        /// Values of one image.
        needed: usize,
        /// The slice's.
        actual: usize,
    },
    /// The resizing library refuses.
    #[error("the frame cannot be resized: {0}")]
    Resize(#[source] Box<dyn std::error::Error + Send + Sync>),
}

fn said_by(origin: Origin) -> &'static str {
    match origin {
        Origin::You => "from the session file or the command line",
        Origin::Sidecar => "from the file beside the model",
        Origin::Metadata => "from the model's metadata",
        Origin::Shape => "from the model's input",
        Origin::Graph | Origin::Answers => "from the model",
        Origin::Default => "the default",
    }
}
