use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::RingError;
use super::locks::{LockByte, LockFile, LockKind};
use super::memory::RingMemory;

/// A frame that a reader has taken.
struct Kept {
    seq: u64,
    /// Where it lies, as long as its lock is held.
    slot: Option<u32>,
    reported: bool,
}

/// The frames that a reader keeps, and the locks that keep them: what its copying thread and its
/// reporting threads share.
pub(super) struct Pins {
    pub(super) memory: RingMemory,
    pub(super) locks: LockFile,
    pub(super) member: u32,
    kept: Mutex<Vec<Kept>>,
}

impl Pins {
    pub(super) fn new(memory: RingMemory, locks: LockFile, member: u32) -> Self {
        Self {
            memory,
            locks,
            member,
            kept: Mutex::new(Vec::new()),
        }
    }

    /// Locks `slot`, where frame `seq` was found, and checks that it still is there.
    pub(super) fn lock(&self, seq: u64, slot: u32) -> Result<bool, RingError> {
        let _kept = self.kept();
        let locked = self
            .locks
            .try_lock(LockByte::Slot(slot), LockKind::Shared)
            .map_err(|error| self.memory.lock_error(error))?;
        if locked && self.memory.slot_seq(slot) != seq {
            self.locks.unlock(LockByte::Slot(slot));
            return Ok(false);
        }
        Ok(locked)
    }

    /// Gives `slot` back without having taken its frame.
    pub(super) fn abandon(&self, slot: u32) {
        self.locks.unlock(LockByte::Slot(slot));
    }

    /// Notes that frame `seq` has been copied from `slot`, and keeps it there if the ring pins.
    pub(super) fn take(&self, seq: u64, slot: u32) -> Result<(), RingError> {
        let mut kept = self.kept();
        let pinned = self.memory.header.pins;
        if !pinned {
            self.locks.unlock(LockByte::Slot(slot));
        }
        if !self.memory.member(self.member)?.take(seq) {
            if pinned {
                self.locks.unlock(LockByte::Slot(slot));
            }
            return Err(RingError::TooManyHeld {
                name: self.memory.name.clone(),
                member: self.member,
            });
        }
        kept.push(Kept {
            seq,
            slot: pinned.then_some(slot),
            reported: false,
        });
        drop(kept);
        self.memory.taken().notify();
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        // The list is whole at every point where a thread can panic.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the frames for which `keep` is false, and gives their slots back.
    fn retain(&self, kept: &mut Vec<Kept>, keep: impl Fn(&Kept) -> bool) {
        let before = kept.len();
        kept.retain(|frame| {
            let keep = keep(frame);
            if !keep && let Some(slot) = frame.slot {
                self.locks.unlock(LockByte::Slot(slot));
            }
            keep
        });
        if kept.len() < before {
            self.memory.taken().notify();
        }
    }

    fn release(&self, seq: u64) {
        if let Ok(entry) = self.memory.member(self.member) {
            entry.release(seq);
        }
    }

    fn show(&self, seq: u64) {
        if let Ok(entry) = self.memory.member(self.member) {
            entry.show(seq);
        }
    }
}

/// Tells the ring what has become of the frames that a reader took. Cheap to clone, for threads.
#[derive(Clone)]
pub struct Reporter {
    pins: Arc<Pins>,
}

impl Reporter {
    pub(super) fn new(pins: Arc<Pins>) -> Self {
        Self { pins }
    }

    /// The prediction of frame `seq` has been reported: it stays pinned so that it can be shown with
    /// its prediction, until that of a later frame has been reported.
    pub fn reported(&self, seq: u64) {
        let mut kept = self.pins.kept();
        self.pins.release(seq);
        for frame in kept.iter_mut().filter(|frame| frame.seq == seq) {
            frame.reported = true;
        }
        let newest = kept
            .iter()
            .filter(|frame| frame.reported)
            .map(|frame| frame.seq)
            .max();
        self.pins.show(newest.unwrap_or(0));
        self.pins.retain(&mut kept, |frame| {
            !frame.reported || Some(frame.seq) == newest
        });
    }

    /// There will be no prediction of frame `seq`.
    pub fn give_up(&self, seq: u64) {
        let mut kept = self.pins.kept();
        self.pins.release(seq);
        self.pins.retain(&mut kept, |frame| frame.seq != seq);
    }
}

impl std::fmt::Debug for Reporter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Reporter")
            .field("ring", &self.pins.memory.name)
            .field("member", &self.pins.member)
            .finish_non_exhaustive()
    }
}
