use super::decode::UnknownDecoder;
use super::engine::EngineError;
use super::labels::LabelsError;
use super::library::LibraryError;
use super::model_file::ModelError;
use super::sidecar::SidecarError;
use crate::base::exit_code;
use crate::protocol::Problem;
use crate::ring::RingError;

/// Why a consumer gives up: what it tells its session, and how its process ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", problem.message)]
pub struct Failure {
    /// What is wrong, and what to do.
    pub problem: Problem,
    exit: u8,
}

impl Failure {
    /// Status with which the process ends: 4 a model that cannot be loaded, 5 a runtime or device
    /// that is missing, 1 anything else.
    pub const fn exit_status(&self) -> u8 {
        self.exit
    }

    /// The session does not speak as agreed.
    pub fn protocol(message: String) -> Self {
        Self::new(exit_code::FAILED, "protocol", message, None)
    }

    fn new(exit: u8, code: &str, message: String, hint: Option<&str>) -> Self {
        Self {
            problem: Problem {
                code: code.to_owned(),
                message,
                hint: hint.map(str::to_owned),
            },
            exit,
        }
    }
}

impl From<LibraryError> for Failure {
    fn from(error: LibraryError) -> Self {
        let hint = error.hint();
        Self::new(
            exit_code::RUNTIME,
            error.code(),
            error.to_string(),
            hint.as_deref(),
        )
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        let hint = Some(error.cause.hint());
        Self::new(
            exit_code::MODEL,
            error.cause.code(),
            error.to_string(),
            hint,
        )
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Model(error) => error.into(),
            EngineError::Device { .. } => Self::new(
                exit_code::RUNTIME,
                "device_unavailable",
                error.to_string(),
                Some("Use `auto` or `cpu`, leave out `strict`, or install what the reason names."),
            ),
        }
    }
}

impl From<LabelsError> for Failure {
    fn from(error: LabelsError) -> Self {
        let hint = Some("Name a text file with one label a line.");
        Self::new(exit_code::MODEL, "model_labels", error.to_string(), hint)
    }
}

impl From<SidecarError> for Failure {
    fn from(error: SidecarError) -> Self {
        let hint = Some("Correct the file beside the model, or delete it.");
        Self::new(exit_code::MODEL, "model_sidecar", error.to_string(), hint)
    }
}

impl From<UnknownDecoder> for Failure {
    fn from(error: UnknownDecoder) -> Self {
        Self::new(exit_code::MODEL, "model_layout", error.to_string(), None)
    }
}

impl From<RingError> for Failure {
    fn from(error: RingError) -> Self {
        Self::new(exit_code::FAILED, "ring", error.to_string(), None)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(exit_code::FAILED, "system", error.to_string(), None)
    }
}
