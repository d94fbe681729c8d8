use crate::protocol::Problem;
use crate::ring::RingError;
use crate::source::SourceError;

/// Why a producer gives up.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The session does not speak as expected.
    #[error("the first command to a producer has to be `produce`, not {0}")]
    Protocol(String),
    /// Every frame of an endless source is as large.
    #[error(
        "frames of {needed} bytes do not fit the ring, whose slots hold {slot_bytes} bytes of pixels"
    )]
    TooLarge {
        /// Bytes of pixels of a frame.
        needed: u64,
        /// Bytes of pixels that a slot holds.
        slot_bytes: u64,
    },
    /// The ring fails.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The source is lost.
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// What to do about frames that do not fit.
pub(super) const LARGER_SLOTS: &str = "raise `max_bytes` of [ring] (a ring has at least 3 slots) or enlarge /dev/shm, \
     or ask for smaller frames";

impl Failure {
    /// Whether another start would fail in the same way.
    pub(super) fn is_lasting(&self) -> bool {
        matches!(self, Self::TooLarge { .. })
    }

    /// The failure for the session: identifier, message and what to do.
    pub(super) fn problem(&self) -> Problem {
        let (code, hint) = match self {
            Self::Source(error) => return error.problem(),
            Self::Protocol(_) => (
                "protocol",
                "sessions and their children have to be of the same version",
            ),
            Self::TooLarge { .. } => ("frame_too_large", LARGER_SLOTS),
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
