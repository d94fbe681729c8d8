use crate::protocol::Problem;
use crate::ring::RingError;
use crate::source::SourceError;

/// Why a producer gives up.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The session does not speak as expected.
    #[error("the first command to a producer has to be `produce`, not {0}")]
    Protocol(String),
    /// The ring fails.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The source is lost.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl Failure {
    /// The failure for the session: identifier, message and what to do.
    pub(super) fn problem(&self) -> Problem {
        let (code, hint) = match self {
            Self::Source(error) => return error.problem(),
            Self::Protocol(_) => (
                "protocol",
                "sessions and their children have to be of the same version",
            ),
            Self::Ring(_) => (
                "ring",
                "`ringside ring list` shows the rings that there are",
            ),
        };
        Problem {
            code: code.to_owned(),
            message: self.to_string(),
            hint: Some(hint.to_owned()),
        }
    }
}
