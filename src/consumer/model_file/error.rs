use std::path::{Path, PathBuf};

use super::explain;

/// Why a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {cause}", crate::base::escape_path(path))]
pub struct ModelError {
    /// Its file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub cause: Cause,
}

/// What is wrong with a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// The path leads to a folder or a device.
    #[error("it is no file")]
    NotAFile,
    /// The file has no byte.
    #[error("the file is empty")]
    Empty,
    /// Git LFS left a pointer in place of the file.
    #[error("it is a Git LFS pointer, not the model")]
    LfsPointer,
    /// The file is a web page.
    #[error("it is an HTML page, not an ONNX file")]
    Html,
    /// The file is text.
    #[error("it is a text file, not an ONNX file")]
    Text,
    /// The file is in ONNX Runtime's own format, or no ONNX file at all, or cut off.
    #[error("it is not an ONNX file, or it was cut off ({0})")]
    NotOnnx(String),
    /// The format's version is newer than the library.
    #[error("IR version {found} is above {supported}, the newest that this ONNX Runtime supports")]
    IrTooNew {
        /// In the file.
        found: u64,
        /// Newest that the library reads.
        supported: u64,
    },
    /// The operators' version is newer than the library.
    #[error(
        "opset {found} of {domain} is above {supported}, the newest that this ONNX Runtime supports"
    )]
    OpsetTooNew {
        /// Of the operators.
        domain: String,
        /// In the file.
        found: u64,
        /// Newest that the library knows.
        supported: u64,
    },
    /// An operator is not known.
    #[error("operator {0} is not known to this ONNX Runtime")]
    UnknownOperator(String),
    /// Weights are kept in a file that is not there.
    #[error("its weights are in {}, which cannot be used: {reason}", path.display())]
    ExternalMissing {
        /// Where they should be.
        path: PathBuf,
        /// What is the matter.
        reason: String,
    },
    /// Weights are kept in a file that is too short.
    #[error("its weights are in {}, which has {bytes} bytes where {needed} are needed", path.display())]
    ExternalShort {
        /// Where they are.
        path: PathBuf,
        /// Size of that file.
        bytes: u64,
        /// Size that the model asks for.
        needed: u64,
    },
    /// Weights are kept outside the model's folder.
    #[error("tensor `{tensor}` asks for data in `{location}`, outside the model's folder")]
    ExternalEscapes {
        /// The tensor.
        tensor: String,
        /// The path that it names.
        location: String,
    },
    /// ONNX Runtime refuses the model for another reason.
    #[error("ONNX Runtime refuses it: {0}")]
    Refused(String),
    /// The model takes something else than one picture.
    #[error("{0}")]
    Input(String),
    /// Its preprocessing cannot be told.
    #[error("{0}")]
    Preprocess(String),
}

impl ModelError {
    /// An error about the model at `path`.
    pub fn new(path: &Path, cause: Cause) -> Self {
        Self {
            path: path.to_owned(),
            cause,
        }
    }

    /// What ONNX Runtime's `message` says about the model at `path`, in plain words.
    pub fn from_onnxruntime(path: &Path, message: &str) -> Self {
        Self::new(path, explain::explain(message))
    }
}

impl Cause {
    /// Stable identifier of the problem.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable(_) | Self::NotAFile => "model_missing",
            Self::Empty | Self::LfsPointer | Self::Html | Self::Text | Self::NotOnnx(_) => {
                "model_not_onnx"
            }
            Self::IrTooNew { .. } => "model_ir",
            Self::OpsetTooNew { .. } => "model_opset",
            Self::UnknownOperator(_) => "model_operator",
            Self::ExternalMissing { .. }
            | Self::ExternalShort { .. }
            | Self::ExternalEscapes { .. } => "model_weights",
            Self::Refused(_) => "model_invalid",
            Self::Input(_) => "model_input",
            Self::Preprocess(_) => "model_preprocess",
        }
    }

    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable(_) | Self::NotAFile => "Check the path of the model.",
            Self::Empty | Self::Html | Self::Text | Self::NotOnnx(_) => {
                "Download or export the model again."
            }
            Self::LfsPointer => "Run `git lfs pull` in the model's repository.",
            Self::IrTooNew { .. } | Self::OpsetTooNew { .. } => {
                "Use a newer ONNX Runtime, or export the model for an older version."
            }
            Self::UnknownOperator(_) => "Export the model with standard operators only.",
            Self::ExternalMissing { .. } | Self::ExternalShort { .. } => {
                "Keep the model's weight files beside it, whole."
            }
            Self::ExternalEscapes { .. } => {
                "Save the model again with its weights beside it, in files that it names alone."
            }
            Self::Refused(_) => "Check the model with the exporter that made it.",
            Self::Input(_) => "Ringside feeds models that take one picture.",
            Self::Preprocess(_) => "Set it in [model.preprocess] of the session file.",
        }
    }
}
