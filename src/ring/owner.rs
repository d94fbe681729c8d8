use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{FallocateFlags, fallocate, statvfs};
use rustix::io::Errno;

use super::layout::{Header, Layout, MAX_MEMBERS, MAX_SLOTS, MIN_SLOTS, WAITS_FOR, WAITS_SINCE};
use super::locks::{LockByte, LockFile, LockKind};
use super::mapping::Mapping;
use super::members::{MemberEntry, MemberState};
use super::memory::{EMPTY, RingMemory, WRITING, io_error};
use super::preview::Preview;
use super::{RingError, segments};
use crate::base::monotonic_nanos;
use crate::protocol::Delivery;

/// What a session wants of a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingRequest {
    /// Counts the rings of a session from 1.
    pub generation: u32,
    /// Which frames readers get.
    pub delivery: Delivery,
    /// Bytes of pixels of the largest frame; at least 1.
    pub frame_bytes: u64,
    /// Slots wanted: over all readers, frames in flight and one pinned, then the previews, then 2.
    pub slots: u32,
    /// Largest size of the segment in bytes.
    pub max_bytes: u64,
    /// Sequence of the first frame published here, from 1: that of the last one before, plus 1.
    pub first_seq: u64,
}

/// The session's handle: it has made the segment, keeps it alive, and unlinks it when dropped.
pub struct Ring {
    memory: Arc<RingMemory>,
    locks: LockFile,
    shortage: Option<Shortage>,
}

/// Why a ring has fewer slots than were wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// No ring has more than [`MAX_SLOTS`].
    Format,
    /// More would go beyond [`RingRequest::max_bytes`].
    Limit,
    /// `/dev/shm` has no room for more.
    Memory,
}

/// What a ring does at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingState {
    /// Sequence of the newest frame; the one before the first as long as there is none.
    pub head: u64,
    /// Whether a producer, running or stopped, has the ring.
    pub writer_alive: bool,
    /// The reader whose slowness the writer waits for now, in `every`.
    pub waits_for: Option<u32>,
    /// How long it has been waiting, in nanoseconds.
    pub waits_nanos: u64,
    /// All slots.
    pub slots: Vec<SlotState>,
}

/// What a slot is used for at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotState {
    /// Sequence of its frame; 0 without one.
    pub seq: u64,
    /// By whom it is used.
    pub used: SlotUse,
}

/// By whom a slot is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotUse {
    /// By nobody.
    Free,
    /// By the writer.
    Writing,
    /// By readers that copy its frame or keep it pinned.
    Pinned,
}

impl Ring {
    /// Creates a segment with as many slots as are wanted, or as fit (at least 3).
    ///
    /// All its memory is reserved here, so that writing a frame never fails for lack of it.
    ///
    /// # Errors
    /// [`RingError::OverLimit`] and [`RingError::NoMemory`] when not even 3 slots fit; errors of the
    /// system.
    pub fn create(request: &RingRequest) -> Result<Self, RingError> {
        let smallest = layout(MIN_SLOTS, request)?;
        let over_limit = RingError::OverLimit {
            needed: smallest.bytes() as u64,
            max_bytes: request.max_bytes,
        };
        let within_format = request.slots.clamp(MIN_SLOTS, MAX_SLOTS);
        let mut slots = within_format.min(smallest.slots_within(request.max_bytes));
        if slots < MIN_SLOTS {
            return Err(over_limit);
        }
        let mut shortage = if slots < within_format {
            Some(Shortage::Limit)
        } else {
            (slots < request.slots).then_some(Shortage::Format)
        };
        loop {
            if let Some(ring) = Self::try_create(request, layout(slots, request)?, shortage)? {
                return Ok(ring);
            }
            shortage = Some(Shortage::Memory);
            let free = free_bytes()?;
            slots = smallest.slots_within(free).min(slots - 1);
            if slots < MIN_SLOTS {
                return Err(RingError::NoMemory {
                    needed: smallest.bytes() as u64,
                    free,
                });
            }
        }
    }

    /// Creates the segment; `None` if there is no memory for it.
    fn try_create(
        request: &RingRequest,
        layout: Layout,
        shortage: Option<Shortage>,
    ) -> Result<Option<Self>, RingError> {
        let name = segments::new_name(request.generation);
        let mapping = Mapping::create(&name, layout.bytes()).map_err(|source| RingError::Map {
            name: name.clone(),
            source,
        })?;
        let locks = LockFile::open(&segments::path_of(&name)?)
            .map_err(|error| io_error(&name, "open the file", error))?;
        // No page has been touched yet: a page that is not there would end the process.
        match fallocate(
            locks.file(),
            FallocateFlags::empty(),
            0,
            layout.bytes() as u64,
        ) {
            Ok(()) => {}
            Err(Errno::NOSPC | Errno::NOMEM | Errno::DQUOT | Errno::FBIG) => return Ok(None),
            Err(error) => return Err(io_error(&name, "reserve the memory", error.into())),
        }
        let header = Header {
            layout,
            generation: request.generation,
            delivery: request.delivery,
            pins: shortage.is_none(),
            first_seq: request.first_seq.max(1),
            owner_pid: std::process::id(),
        };
        let memory = RingMemory {
            name,
            header,
            mapping,
        };
        // Before the version word: whoever finds an initialised ring finds its owner alive.
        let owned = locks
            .try_lock(LockByte::Owner, LockKind::Exclusive)
            .map_err(|error| memory.lock_error(error))?;
        if !owned {
            // This process slept for so long that another one is sweeping the segment away.
            return Err(RingError::Absent { name: memory.name });
        }
        memory.set_head(header.first_seq - 1);
        header.write(&memory.mapping);
        Ok(Some(Self {
            memory: Arc::new(memory),
            locks,
            shortage,
        }))
    }

    /// Name of the segment, by which children attach.
    pub fn name(&self) -> &str {
        &self.memory.name
    }

    /// Counts the rings of a session from 1.
    pub fn generation(&self) -> u32 {
        self.memory.header.generation
    }

    /// Bytes of pixels that a slot holds.
    pub fn slot_bytes(&self) -> u64 {
        self.memory.layout().slot_bytes()
    }

    /// Size of the segment.
    pub fn bytes(&self) -> u64 {
        self.memory.layout().bytes() as u64
    }

    /// Number of slots.
    pub fn slots(&self) -> u32 {
        self.memory.layout().slots()
    }

    /// Why it has fewer slots than were wanted, if it has.
    pub fn shortage(&self) -> Option<Shortage> {
        self.shortage
    }

    /// Whether readers keep a frame until the next prediction: not when there is memory for fewer
    /// slots than were wanted.
    pub fn pins(&self) -> bool {
        self.memory.header.pins
    }

    /// Whether others can still attach by name: a foreign program can unlink it (Python's
    /// `SharedMemory` does so when it exits). Whoever is attached goes on; a new ring is needed for
    /// others.
    pub fn is_linked(&self) -> bool {
        let linked = segments::path_of(&self.memory.name)
            .ok()
            .and_then(|path| std::fs::metadata(path).ok());
        let ours = self.locks.file().metadata().ok();
        linked
            .zip(ours)
            .is_some_and(|(linked, ours)| linked.ino() == ours.ino())
    }

    /// Lets nothing more be published: readers get [`Take::Closed`](super::Take::Closed) after the
    /// last frame.
    pub fn close(&self) {
        self.memory.close();
    }

    /// Counts `member` in from the frame after the newest: in `every` the writer waits for it, even
    /// before it has attached. An entry that the ring does not have is ignored.
    pub fn expect_member(&self, member: u32) {
        if let Ok(entry) = self.memory.member(member) {
            entry.count_in(|| self.memory.head());
        }
    }

    /// Counts `member` out (given up, removed or paused): the writer does not wait for it any more.
    pub fn remove_member(&self, member: u32) {
        if let Ok(entry) = self.memory.member(member) {
            entry.count_out(self.memory.last_for(&entry));
            self.memory.taken().notify();
        }
    }

    /// What the ring knows of `member`; an entry that it does not have is as one that was never used.
    pub fn member(&self, member: u32) -> MemberState {
        self.memory
            .member(member)
            .map(|entry| self.member_state(member, &entry))
            .unwrap_or_default()
    }

    fn member_state(&self, member: u32, entry: &MemberEntry<'_>) -> MemberState {
        let alive = self.is_held(LockByte::Member(member));
        entry.state(self.memory.head(), alive)
    }

    /// What the ring does now.
    pub fn state(&self) -> RingState {
        let memory = &self.memory;
        let writer_alive = self.is_held(LockByte::Writer);
        let waits_for = memory.mapping.u32(WAITS_FOR).load(Ordering::Relaxed);
        let waits_since = memory.mapping.u64(WAITS_SINCE).load(Ordering::Relaxed);
        let waits_for = waits_for
            .checked_sub(1)
            .filter(|&member| writer_alive && member < MAX_MEMBERS);
        RingState {
            head: memory.head(),
            writer_alive,
            waits_for,
            waits_nanos: waits_for.map_or(0, |_| monotonic_nanos().saturating_sub(waits_since)),
            slots: (0..self.slots())
                .map(|slot| self.slot_state(slot))
                .collect(),
        }
    }

    fn slot_state(&self, slot: u32) -> SlotState {
        let seq = match self.memory.slot_seq(slot) {
            EMPTY | WRITING => 0,
            seq => seq,
        };
        let used = match self.locks.holder(LockByte::Slot(slot)) {
            Ok(Some(LockKind::Exclusive)) => SlotUse::Writing,
            Ok(Some(LockKind::Shared)) => SlotUse::Pinned,
            Ok(None) | Err(_) => SlotUse::Free,
        };
        SlotState { seq, used }
    }

    /// A handle to copy frames out, for another thread. Works also when the name is unlinked.
    ///
    /// # Errors
    /// The system refuses another descriptor.
    pub fn preview(&self) -> Result<Preview, RingError> {
        let locks = self
            .locks
            .reopen()
            .map_err(|error| io_error(self.name(), "open the file", error))?;
        Ok(Preview::new(Arc::clone(&self.memory), locks))
    }

    fn is_held(&self, byte: LockByte) -> bool {
        self.memory
            .is_held(&self.locks, byte)
            .inspect_err(|error| tracing::error!("{error}"))
            .unwrap_or(false)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.memory.close();
        // The mapping unlinks the name, too, but previews may keep it for longer.
        if self.is_linked()
            && let Err(error) = segments::unlink(&self.memory.name)
        {
            tracing::warn!("{error}");
        }
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Ring")
            .field("name", &self.memory.name)
            .field("header", &self.memory.header)
            .finish_non_exhaustive()
    }
}

fn layout(slots: u32, request: &RingRequest) -> Result<Layout, RingError> {
    // More than the address space is more than any limit.
    Layout::new(slots, request.frame_bytes.max(1)).ok_or(RingError::OverLimit {
        needed: request.frame_bytes.saturating_mul(u64::from(slots)),
        max_bytes: request.max_bytes,
    })
}

/// Bytes free in `/dev/shm`.
fn free_bytes() -> Result<u64, RingError> {
    let space = statvfs(segments::DIRECTORY).map_err(|error| RingError::Io {
        name: segments::DIRECTORY.to_owned(),
        what: "read the free space",
        source: io::Error::from(error),
    })?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}
