use std::fmt;
use std::sync::Arc;

use super::RingError;
use super::locks::{LockByte, LockFile, LockKind};
use super::memory::RingMemory;
use crate::frame::{Frame, FrameDescription, FramePosition};

/// Sequence, shape, origin and time of publishing (monotonic, in nanoseconds) of a frame.
pub type PreviewEntry = (u64, FrameDescription, FramePosition, u64);

/// Copies frames out of a ring without being one of its readers: nobody ever waits for it.
pub struct Preview {
    memory: Arc<RingMemory>,
    locks: LockFile,
    scratch: Vec<u8>,
}

impl Preview {
    pub(super) fn new(memory: Arc<RingMemory>, locks: LockFile) -> Self {
        Self {
            memory,
            locks,
            scratch: Vec::new(),
        }
    }

    /// Attaches to the ring `name`, even to one whose session has died.
    ///
    /// # Errors
    /// What opening a ring gives.
    pub fn attach(name: &str) -> Result<Self, RingError> {
        let (memory, locks) = RingMemory::open(name)?;
        Ok(Self::new(Arc::new(memory), locks))
    }

    /// Copies frame `seq`, or the newest one, into `frame`, whose buffer is reused. Returns its
    /// sequence; `None` if it is not there (any more).
    ///
    /// # Errors
    /// [`RingError::Damaged`], or the system refuses a lock.
    pub fn copy(&mut self, seq: Option<u64>, frame: &mut Frame) -> Result<Option<u64>, RingError> {
        let seq = seq.unwrap_or_else(|| self.memory.head());
        let Some(slot) = self.memory.find(seq) else {
            return Ok(None);
        };
        let memory = Arc::clone(&self.memory);
        let header = self.locked(slot, seq, |scratch| memory.copy(slot, frame, scratch))?;
        Ok(header.map(|header| {
            frame.description = header.description;
            frame.position = header.position;
            header.seq
        }))
    }

    /// What is in the ring now, oldest first.
    ///
    /// # Errors
    /// As [`Self::copy`].
    pub fn describe(&mut self) -> Result<Vec<PreviewEntry>, RingError> {
        let memory = Arc::clone(&self.memory);
        let mut entries = Vec::new();
        for (slot, seq) in memory.frames() {
            if let Some(header) =
                self.locked(slot, seq, |scratch| memory.describe(slot, scratch))?
            {
                entries.push((
                    header.seq,
                    header.description,
                    header.position,
                    header.published_nanos,
                ));
            }
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        Ok(entries)
    }

    /// Reads `slot` under its lock; `None` if frame `seq` is not there any more.
    fn locked(
        &mut self,
        slot: u32,
        seq: u64,
        read: impl FnOnce(&mut Vec<u8>) -> Result<super::slot::SlotHeader, RingError>,
    ) -> Result<Option<super::slot::SlotHeader>, RingError> {
        let locked = self
            .locks
            .try_lock(LockByte::Slot(slot), LockKind::Shared)
            .map_err(|error| self.memory.lock_error(error))?;
        if !locked {
            return Ok(None);
        }
        let header = if self.memory.slot_seq(slot) == seq {
            read(&mut self.scratch).map(Some)
        } else {
            Ok(None)
        };
        let whole = self.memory.slot_seq(slot) == seq;
        self.locks.unlock(LockByte::Slot(slot));
        self.memory.taken().notify();
        Ok(header?.filter(|header| whole && header.seq == seq))
    }
}

impl fmt::Debug for Preview {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Preview")
            .field("ring", &self.memory.name)
            .finish_non_exhaustive()
    }
}
