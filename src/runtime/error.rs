use std::io;
use std::path::{Path, PathBuf};

use super::{Flavour, Rejected, ToolFailure, Version};

/// Why there is no ONNX Runtime to use.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The file that the user named cannot be used.
    #[error("ONNX Runtime {} or newer is needed, but {}", Version::NEEDED, .0)]
    Unusable(Rejected),
    /// None was found.
    #[error("no ONNX Runtime {} or newer was found{}", Version::NEEDED, list_rejected(.rejected))]
    NotFound {
        /// Files that were found but cannot be used.
        rejected: Vec<Rejected>,
    },
    /// `RINGSIDE_OFFLINE` is set.
    #[error("ONNX Runtime is not installed, and RINGSIDE_OFFLINE forbids to fetch it")]
    Offline {
        /// What to do by hand.
        by_hand: String,
    },
    /// No `pip` and no `uv` on the path.
    #[error("ONNX Runtime cannot be fetched: neither pip nor uv was found")]
    NoTool {
        /// What to do by hand.
        by_hand: String,
    },
    /// Every tool that was tried has failed.
    #[error("ONNX Runtime could not be fetched{}", list_failures(.failures))]
    Download {
        /// What each one said.
        failures: Vec<ToolFailure>,
        /// What to do by hand.
        by_hand: String,
    },
    /// No wheel is known for this machine.
    #[error("no ONNX Runtime for {flavour} is pinned for the processor {architecture}")]
    NoWheel {
        /// What was asked for.
        flavour: Flavour,
        /// This machine's processor.
        architecture: String,
    },
    /// A file is not the one that was pinned.
    #[error("`{}` is not the pinned file: its SHA-256 is {found}, expected {expected}", .path.display())]
    WrongDigest {
        /// The file; a member of a wheel stands below the wheel.
        path: PathBuf,
        /// The pinned digests.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A file cannot be read as a wheel.
    #[error("`{}` is not a readable wheel: {source}", .path.display())]
    NotAWheel {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: zip::result::ZipError,
    },
    /// There is no directory to install to.
    #[error("there is nowhere to install ONNX Runtime: neither XDG_DATA_HOME nor HOME is set")]
    NoDataDirectory,
    /// The system refuses something.
    #[error("cannot {what} `{}`: {source}", .path.display())]
    Io {
        /// What was tried, as `create`.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The caller asked to stop; nothing has changed.
    #[error("the installation of ONNX Runtime was cancelled; nothing has changed")]
    Cancelled,
}

impl RuntimeError {
    /// A stable identifier for rows and events.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unusable(_) => "runtime_unusable",
            Self::NotFound { .. } => "runtime_missing",
            Self::Offline { .. } => "runtime_offline",
            Self::NoTool { .. } | Self::Download { .. } => "runtime_download",
            Self::NoWheel { .. } => "runtime_no_wheel",
            Self::WrongDigest { .. } | Self::NotAWheel { .. } => "runtime_wheel",
            Self::NoDataDirectory | Self::Io { .. } => "runtime_io",
            Self::Cancelled => "runtime_cancelled",
        }
    }

    /// What to do, if there is something; may have several lines.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unusable(rejected) => Some(format!(
                "{} libonnxruntime.so of {} or newer, or leave it out and run `ringside runtime install`",
                match rejected.origin {
                    super::Origin::Environment => "set ORT_DYLIB_PATH to a",
                    _ => "name a",
                },
                Version::NEEDED
            )),
            Self::NotFound { .. } => Some(
                "run `ringside runtime install`, or name a library with --onnxruntime FILE".to_owned(),
            ),
            Self::Offline { by_hand } | Self::NoTool { by_hand } | Self::Download { by_hand, .. } => {
                Some(by_hand.clone())
            }
            Self::NoWheel { .. } => Some(format!(
                "build or fetch ONNX Runtime {} or newer and name it with --onnxruntime FILE",
                Version::NEEDED
            )),
            Self::WrongDigest { .. } | Self::NotAWheel { .. } => Some(
                "delete the file and fetch it again; if it stays so, the package index serves something else than what was released".to_owned(),
            ),
            Self::NoDataDirectory => Some("set HOME or XDG_DATA_HOME to a directory that you own".to_owned()),
            Self::Io { .. } | Self::Cancelled => None,
        }
    }
}

fn list_rejected(rejected: &[Rejected]) -> String {
    let mut text = String::new();
    for (index, one) in rejected.iter().enumerate() {
        let separator = if index == 0 { " (skipped: " } else { "; " };
        text.push_str(separator);
        text.push_str(&one.to_string());
    }
    if !rejected.is_empty() {
        text.push(')');
    }
    text
}

fn list_failures(failures: &[ToolFailure]) -> String {
    failures.iter().fold(String::new(), |mut text, failure| {
        text.push_str("\n  ");
        text.push_str(&failure.to_string().replace('\n', "\n    "));
        text
    })
}

/// An error of the system, with what was tried on which file.
pub(super) fn at(
    what: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> RuntimeError + use<> {
    let path = path.to_owned();
    move |source| RuntimeError::Io { what, path, source }
}
