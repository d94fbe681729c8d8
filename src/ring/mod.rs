//! The shared-memory ring: a named segment in `/dev/shm` through which one producer hands frames
//! to any number of consumers and previews.
//!
//! ```text
//! Ring (session): creates, describes, closes, unlinks
//! Writer (producer) ── publish ──► slots ──► take ── Reader (consumer, one per member)
//!                                    └─────► copy ── Preview (window, `ringside ring snapshot`)
//! ```
//!
//! # How a frame gets through whole
//!
//! Every slot has a byte in the segment's file that is locked by open-file-description locks:
//! exclusively by the writer, shared by readers, always tried and never waited for. The kernel
//! drops them when a process dies, so `kill -9` at any instruction leaves no stale lock. Under its
//! lock the writer marks the slot as being written before the first byte and gives it its sequence
//! after the last; then it unlocks the slot, advances the head, and wakes the readers. A reader
//! locks, finds the sequence that it wants, copies, and finds it again.
//!
//! # Map
//!
//! | file | is |
//! |---|---|
//! | `layout` | where everything lies in the segment, and the checked header |
//! | `mapping` | bounds-checked access to the mapped bytes; the only `unsafe` here |
//! | `locks` | the lock bytes |
//! | `signal` | waiting on a shared futex word |
//! | `members` | the table of readers: who counts, what it has taken, what it holds |
//! | `slot` | a frame's description in its slot |
//! | `memory` | an opened segment: the above together |
//! | `owner`, `writer`, `reader`, `pins`, `turn`, `preview` | the handles |
//! | `segments`, `snapshot` | `ringside ring list`, `clean` and `snapshot` |

mod error;
mod layout;
mod locks;
mod mapping;
mod members;
mod memory;
mod owner;
mod pins;
mod preview;
mod reader;
mod segments;
mod signal;
mod slot;
mod snapshot;
mod turn;
mod writer;

pub use error::{PublishError, RingError};
pub use layout::{HELD_CAPACITY, MAX_MEMBERS, MAX_SLOTS, MIN_SLOTS, PATH_CAPACITY};
pub use members::MemberState;
pub use owner::{Ring, RingRequest, RingState, Shortage, SlotState, SlotUse};
pub use pins::Reporter;
pub use preview::{Preview, PreviewEntry};
pub use reader::{Reader, Take};
pub use segments::{Segment, SegmentState, list, sweep};
pub use snapshot::{SnapshotError, save_snapshot};
pub use turn::{Turn, TurnGuard};
pub use writer::{Published, Writer};
