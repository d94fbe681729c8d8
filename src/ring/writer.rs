use std::cmp::Reverse;
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::layout::{WAITS_FOR, WAITS_SINCE};
use super::locks::{LockByte, LockFile, LockKind};
use super::memory::{EMPTY, RingMemory, WRITING};
use super::slot::{self, PUBLISHED_NANOS};
use super::{PublishError, RingError};
use crate::base::monotonic_nanos;
use crate::frame::Frame;
use crate::protocol::Delivery;

/// Frames that may be published and not yet taken by everybody, in `every`: one to copy and one to
/// follow. More would leave the processor's cache before they are read.
const MAX_IN_FLIGHT: u64 = 2;
/// Longest sleep before the writer looks again and asks whether to give up.
const LOOK_AGAIN: Duration = Duration::from_millis(40);

/// The producer's handle; there is one at a time.
pub struct Writer {
    memory: RingMemory,
    locks: LockFile,
    /// Sequence of the newest frame.
    head: u64,
    /// Slots in the order in which they are tried, reused.
    candidates: Vec<(u32, u64)>,
    /// Description of the frame that is written, reused.
    description: Vec<u8>,
}

/// A frame that is in the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Its sequence.
    pub seq: u64,
    /// Monotonic time of publishing, in nanoseconds.
    pub published_nanos: u64,
}

impl Writer {
    /// Attaches to the ring `name` and goes on after the last frame that a writer before has
    /// completed: if that one died before it could show it, it is shown now.
    ///
    /// # Errors
    /// [`RingError::WriterBusy`] while another producer, even a stopped one, has the ring; what
    /// opening a ring gives.
    pub fn attach(name: &str) -> Result<Self, RingError> {
        let (memory, locks) = RingMemory::open(name)?;
        memory.check_owner(&locks)?;
        let alone = locks
            .try_lock(LockByte::Writer, LockKind::Exclusive)
            .map_err(|error| memory.lock_error(error))?;
        if !alone {
            return Err(RingError::WriterBusy {
                name: name.to_owned(),
            });
        }
        for slot in 0..memory.layout().slots() {
            if memory.slot_seq(slot) == WRITING {
                memory.set_slot_seq(slot, EMPTY);
            }
        }
        let head = memory.check_seqs()?;
        if head > memory.head() {
            memory.set_head(head);
            memory.published().notify();
        }
        memory.mapping.u32(WAITS_FOR).store(0, Ordering::Relaxed);
        Ok(Self {
            memory,
            locks,
            head,
            candidates: Vec::new(),
            description: Vec::new(),
        })
    }

    /// Bytes of pixels that a slot holds.
    pub fn slot_bytes(&self) -> u64 {
        self.memory.layout().slot_bytes()
    }

    /// Sequence of the newest frame.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Publishes `frame`. In `every` it first waits until all readers that count have taken the last
    /// but one; while it waits, `cancel` is asked at least every 50 ms.
    ///
    /// # Errors
    /// See [`PublishError`]; nothing has been published then.
    pub fn publish(
        &mut self,
        frame: &Frame,
        cancel: &mut dyn FnMut() -> bool,
    ) -> Result<Published, PublishError> {
        frame.check()?;
        let pixels = frame.description.pixel_bytes();
        if pixels as u64 > self.slot_bytes() {
            return Err(PublishError::TooLarge {
                needed: pixels as u64,
                slot_bytes: self.slot_bytes(),
            });
        }
        let slot = self.wait_for_slot(cancel)?;
        let memory = &self.memory;
        let before = memory.slot_seq(slot);
        memory.set_slot_seq(slot, WRITING);
        // After the mark: a reader that finds the ring closed waits for a slot that is marked.
        if memory.is_closed() {
            memory.set_slot_seq(slot, before);
            self.locks.unlock(LockByte::Slot(slot));
            memory.published().notify();
            return Err(closed(memory).into());
        }
        let seq = self.head + 1;
        let header = memory.layout().slot_header(slot);
        slot::encode(seq, frame, &mut self.description);
        memory.mapping.write(header, &self.description);
        memory
            .mapping
            .write(memory.layout().slot_pixels(slot), &frame.pixels[..pixels]);
        let published_nanos = monotonic_nanos();
        memory
            .mapping
            .write(header + PUBLISHED_NANOS, &published_nanos.to_le_bytes());
        memory.set_slot_seq(slot, seq);
        self.locks.unlock(LockByte::Slot(slot));
        memory.set_head(seq);
        memory.published().notify();
        self.head = seq;
        Ok(Published {
            seq,
            published_nanos,
        })
    }

    /// Waits for a slot that may be written, and locks it.
    fn wait_for_slot(&mut self, cancel: &mut dyn FnMut() -> bool) -> Result<u32, PublishError> {
        let mut waited = false;
        let slot = loop {
            let seen = self.memory.taken().now();
            if self.memory.is_closed() {
                break Err(closed(&self.memory).into());
            }
            let slowest = match self.memory.header.delivery {
                Delivery::Every => self.memory.slowest(),
                Delivery::Live => None,
            };
            // A cursor after the head is damage; it only costs its own reader frames.
            let floor = slowest.map_or(self.head, |(_, taken)| taken.min(self.head));
            let in_time = self.head - floor < MAX_IN_FLIGHT;
            if in_time && let Some(slot) = self.lock_free_slot(floor)? {
                break Ok(slot);
            }
            if cancel() {
                break Err(PublishError::Cancelled);
            }
            if !waited && self.memory.taken().spin(seen) {
                continue;
            }
            if !waited {
                let since = self.memory.mapping.u64(WAITS_SINCE);
                since.store(monotonic_nanos(), Ordering::Relaxed);
            }
            waited = true;
            let waits_for = slowest.filter(|_| !in_time);
            self.waits_for(waits_for.map_or(0, |(member, _)| member + 1));
            self.memory.check_owner(&self.locks)?;
            self.memory.taken().wait(seen, LOOK_AGAIN);
        };
        if waited {
            self.waits_for(0);
        }
        slot
    }

    fn waits_for(&self, code: u32) {
        let word = self.memory.mapping.u32(WAITS_FOR);
        word.store(code, Ordering::Relaxed);
    }

    /// Locks the free slot that was released last, because its memory is still in the cache: the
    /// most recent frame that everybody has taken (all up to `floor`) and nobody keeps, but never
    /// the newest.
    fn lock_free_slot(&mut self, floor: u64) -> Result<Option<u32>, RingError> {
        self.candidates.clear();
        let slots = 0..self.memory.layout().slots();
        self.candidates
            .extend(slots.map(|slot| (slot, self.memory.slot_seq(slot))));
        // Before the first frame the head is 0, as the sequence of an empty slot.
        self.candidates
            .retain(|&(_, seq)| seq == EMPTY || (seq != self.head && seq <= floor));
        // Those that are shown are locked for certain: to try them first would cost a call a frame.
        let shown = self.memory.shown();
        self.candidates
            .sort_unstable_by_key(|&(_, seq)| (shown.contains(&seq), Reverse(seq)));
        for &(slot, _) in &self.candidates {
            let locked = self
                .locks
                .try_lock(LockByte::Slot(slot), LockKind::Exclusive)
                .map_err(|error| self.memory.lock_error(error))?;
            if locked {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Writer")
            .field("name", &self.memory.name)
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}

fn closed(memory: &RingMemory) -> RingError {
    RingError::Closed {
        name: memory.name.clone(),
    }
}
