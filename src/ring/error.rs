use std::io;

use crate::frame::FrameError;

/// Why a ring cannot be created, opened or used.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    /// The name is not one of a ring.
    #[error("{name:?} is not the name of a ring; `ringside ring list` shows them")]
    BadName {
        /// The name.
        name: String,
    },
    /// There is no such segment (any more).
    #[error(
        "the ring {name} is not there: its session has ended, or another program removed it from /dev/shm"
    )]
    Absent {
        /// Name of the segment.
        name: String,
    },
    /// The segment's creator has not finished, or died before it had.
    #[error("the ring {name} is not initialised yet; try again in a moment")]
    NotInitialised {
        /// Name of the segment.
        name: String,
    },
    /// The segment was made by another version of Ringside.
    #[error("the ring {name} has layout version {found}, this program reads version {expected}")]
    WrongVersion {
        /// Name of the segment.
        name: String,
        /// Version in the segment.
        found: u32,
        /// Version of this program.
        expected: u32,
    },
    /// The file is shorter or longer than its header says.
    #[error(
        "the ring {name} has {actual} bytes where {expected} are described: it was cut or damaged"
    )]
    WrongSize {
        /// Name of the segment.
        name: String,
        /// Size of the file in bytes.
        actual: u64,
        /// Size that it must have.
        expected: u64,
    },
    /// A value in the segment makes no sense.
    #[error("the ring {name} is damaged: its {field} makes no sense")]
    Damaged {
        /// Name of the segment.
        name: String,
        /// Which value.
        field: &'static str,
    },
    /// `/dev/shm` has no room for the smallest ring.
    #[error(
        "/dev/shm has {free} bytes free and the smallest ring of these frames needs {needed}: remove what is not needed \
         there (`ringside ring clean` removes what crashed sessions left), enlarge it \
         (`mount -o remount,size=1G /dev/shm`, `docker run --shm-size=1g`), or use smaller frames"
    )]
    NoMemory {
        /// Bytes of a ring with the fewest slots.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The smallest ring is larger than the session's limit.
    #[error(
        "the smallest ring of these frames needs {needed} bytes and the limit is {max_bytes}: raise `max_bytes` of [ring], \
         or use smaller frames"
    )]
    OverLimit {
        /// Bytes of a ring with the fewest slots.
        needed: u64,
        /// The limit in bytes.
        max_bytes: u64,
    },
    /// Another producer, running or stopped, still has the ring.
    #[error("another producer still writes to the ring {name}; end it first")]
    WriterBusy {
        /// Name of the segment.
        name: String,
    },
    /// Another consumer, running or stopped, still has this entry.
    #[error("another consumer still is member {member} of the ring {name}; end it first")]
    MemberBusy {
        /// Name of the segment.
        name: String,
        /// The entry.
        member: u32,
    },
    /// The table of readers has no such entry.
    #[error("a ring has members 0 to {}, not {member}", super::MAX_MEMBERS - 1)]
    NoSuchMember {
        /// The entry.
        member: u32,
    },
    /// A consumer took frames without ever reporting them.
    #[error(
        "member {member} of the ring {name} holds {} frames that it has not reported",
        super::HELD_CAPACITY
    )]
    TooManyHeld {
        /// Name of the segment.
        name: String,
        /// The entry.
        member: u32,
    },
    /// The session that owned the ring has ended.
    #[error("the session that owned the ring {name} has ended")]
    OwnerGone {
        /// Name of the segment.
        name: String,
    },
    /// The ring was closed; nothing more can be published.
    #[error("the ring {name} is closed")]
    Closed {
        /// Name of the segment.
        name: String,
    },
    /// The system refused something.
    #[error("cannot {what} of the ring {name}: {source}")]
    Io {
        /// Name of the segment.
        name: String,
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The segment cannot be mapped.
    #[error("cannot map the ring {name}: {source}")]
    Map {
        /// Name of the segment.
        name: String,
        /// Why it failed.
        source: shared_memory::ShmemError,
    },
}

/// Why a frame was not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The frame's pixels do not fit a slot; a ring of a later generation must be made.
    #[error("the frame has {needed} bytes of pixels and the ring's slots {slot_bytes}")]
    TooLarge {
        /// Bytes of pixels.
        needed: u64,
        /// Bytes of pixels that a slot holds.
        slot_bytes: u64,
    },
    /// `cancel` said so while waiting.
    #[error("publishing was cancelled")]
    Cancelled,
    /// The frame's description does not fit its pixels.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The ring fails.
    #[error(transparent)]
    Ring(#[from] RingError),
}
