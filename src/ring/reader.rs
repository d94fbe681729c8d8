use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::RingError;
use super::locks::{LockByte, LockKind};
use super::memory::{RingMemory, WRITING};
use super::pins::{Pins, Reporter};
use super::turn::Turn;
use crate::base::monotonic_nanos;
use crate::frame::Frame;
use crate::protocol::Delivery;

/// Longest sleep before a reader makes sure that the session lives.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A consumer's handle: one member of the ring.
pub struct Reader {
    pins: Arc<Pins>,
    joined: bool,
    /// Sequence of the last frame taken.
    cursor: u64,
    /// Whether the last wait ended with a frame: only then is it worth a spin.
    flowing: bool,
    /// Bytes of a description, reused.
    scratch: Vec<u8>,
}

/// What came of [`Reader::take`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// A frame has been copied.
    Frame {
        /// Its sequence.
        seq: u64,
        /// Monotonic time at which it was published, in nanoseconds.
        published_nanos: u64,
        /// Monotonic time at which it was found and locked.
        taken_nanos: u64,
        /// Monotonic time at which its copy was complete.
        copied_nanos: u64,
    },
    /// There was none in time.
    TimedOut,
    /// All frames have been taken and there will be no more.
    Closed,
}

impl Reader {
    /// Attaches to the ring `name` as `member`. A new process for a member that has died goes on
    /// after the last frame that its predecessor took or held.
    ///
    /// # Errors
    /// [`RingError::MemberBusy`] while another process, even a stopped one, is this member; what
    /// opening a ring gives.
    pub fn attach(name: &str, member: u32) -> Result<Self, RingError> {
        let (memory, locks) = RingMemory::open(name)?;
        memory.check_owner(&locks)?;
        let entry = memory.member(member)?;
        let alone = locks
            .try_lock(LockByte::Member(member), LockKind::Exclusive)
            .map_err(|error| memory.lock_error(error))?;
        if !alone {
            return Err(RingError::MemberBusy {
                name: name.to_owned(),
                member,
            });
        }
        entry.take_over();
        let cursor = entry.taken_seq();
        memory.taken().notify();
        Ok(Self {
            pins: Arc::new(Pins::new(memory, locks, member)),
            joined: false,
            cursor,
            flowing: false,
            scratch: Vec::new(),
        })
    }

    /// Sequence of the newest frame when this member was last counted in; it gets the ones after it.
    pub fn joined_at(&self) -> u64 {
        self.entry().map_or(0, |entry| entry.joined_at())
    }

    /// Enters the set of readers: from here frames are waited for in `every`, and counted. A member
    /// that the session expects is in it already and goes on where it was counted in.
    pub fn join(&mut self) {
        if let Ok(entry) = self.entry() {
            entry.count_in(|| self.pins.memory.head());
            self.cursor = entry.taken_seq();
            self.joined = true;
        }
    }

    /// Whether this member is counted: frames are kept for it in `every`.
    pub fn counts(&self) -> bool {
        self.entry().is_ok_and(|entry| entry.is_counted())
    }

    /// Takes nothing until the next [`Self::join`]. Whether it is waited for is left to the session,
    /// which counts members out and in.
    pub fn rest(&mut self) {
        self.joined = false;
    }

    /// Leaves the set of readers (paused): it is not waited for any more.
    pub fn leave(&mut self) {
        if let Ok(entry) = self.entry() {
            entry.count_out(self.pins.memory.last_for(&entry));
            self.pins.memory.taken().notify();
        }
        self.joined = false;
    }

    /// Copies the next frame (`every`) or the newest one (`live`) into `frame`, whose buffer is
    /// reused; waits for it at most `timeout`. Joins first if it has not.
    ///
    /// The frame counts as held until [`Reporter::reported`] or [`Reporter::give_up`].
    ///
    /// # Errors
    /// [`RingError::OwnerGone`] when the session has ended, [`RingError::TooManyHeld`], and
    /// [`RingError::Damaged`].
    pub fn take(&mut self, frame: &mut Frame, timeout: Duration) -> Result<Take, RingError> {
        if !self.joined {
            self.join();
        }
        let start = Instant::now();
        loop {
            let seen = self.memory().published().now();
            if let Some((slot, seq)) = self.next() {
                if let Some(take) = self.copy(seq, slot, frame)? {
                    self.flowing = true;
                    return Ok(take);
                }
                // In `live` the writer went on to this slot meanwhile; there is a newer frame.
                if start.elapsed() >= timeout {
                    return Ok(Take::TimedOut);
                }
                std::thread::yield_now();
                continue;
            }
            if self.memory().is_closed() && self.is_drained()? {
                return Ok(Take::Closed);
            }
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(Take::TimedOut);
            }
            if self.flowing {
                self.flowing = false;
                if self.memory().published().spin(seen) {
                    continue;
                }
            }
            self.memory().published().wait(seen, left.min(LOOK_AGAIN));
            if self.memory().published().now() == seen {
                self.memory().check_owner(&self.pins.locks)?;
            }
        }
    }

    /// The frame that is to be taken now, if there is one: its slot and sequence.
    fn next(&self) -> Option<(u32, u64)> {
        let memory = self.memory();
        let head = memory.head();
        if head <= self.cursor {
            return None;
        }
        let wanted = match memory.header.delivery {
            Delivery::Live => head,
            // The writer keeps every frame that a reader who counts has not taken. One who does not
            // count (any more) may find that frames are gone.
            Delivery::Every => self.cursor + 1,
        };
        memory
            .frames()
            .filter(|&(_, seq)| (wanted..=head).contains(&seq))
            .min_by_key(|&(_, seq)| seq)
    }

    fn copy(&mut self, seq: u64, slot: u32, frame: &mut Frame) -> Result<Option<Take>, RingError> {
        let pins = &self.pins;
        if !pins.lock(seq, slot)? {
            return Ok(None);
        }
        let taken_nanos = monotonic_nanos();
        let header = match pins.memory.copy(slot, frame, &mut self.scratch) {
            Ok(header) => header,
            Err(error) => {
                pins.abandon(slot);
                return Err(error);
            }
        };
        let copied_nanos = monotonic_nanos();
        if header.seq != seq || pins.memory.slot_seq(slot) != seq {
            pins.abandon(slot);
            return Err(pins.memory.damaged("sequence of a frame under its lock"));
        }
        frame.description = header.description;
        frame.position = header.position;
        pins.take(seq, slot)?;
        self.cursor = seq;
        Ok(Some(Take::Frame {
            seq,
            published_nanos: header.published_nanos,
            taken_nanos,
            copied_nanos,
        }))
    }

    /// Whether no frame can come any more in a ring that is closed: none is there, and no living
    /// writer was about to publish one when it was closed.
    fn is_drained(&self) -> Result<bool, RingError> {
        let memory = self.memory();
        let pending = (0..memory.layout().slots())
            .map(|slot| memory.slot_seq(slot))
            .any(|seq| seq == WRITING || seq > self.cursor);
        if pending && memory.is_held(&self.pins.locks, LockByte::Writer)? {
            return Ok(false);
        }
        Ok(memory.head() <= self.cursor)
    }

    /// Tells the ring what becomes of the frames taken; for any thread.
    pub fn reporter(&self) -> Reporter {
        Reporter::new(Arc::clone(&self.pins))
    }

    /// The turns on device `device` (0: CPU, 1 + N: CUDA device N) among the members of this ring.
    ///
    /// # Errors
    /// The system refuses another descriptor.
    pub fn turns(&self, device: u32) -> Result<Turn, RingError> {
        Turn::new(&self.memory().name, &self.pins.locks, device)
    }

    fn memory(&self) -> &RingMemory {
        &self.pins.memory
    }

    fn entry(&self) -> Result<super::members::MemberEntry<'_>, RingError> {
        self.memory().member(self.pins.member)
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Reader")
            .field("ring", &self.memory().name)
            .field("member", &self.pins.member)
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}
