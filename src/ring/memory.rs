use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

use super::layout::{
    CLOSED, HEAD, Header, Layout, MAX_MEMBERS, MAX_SEQ, PUBLISHED_CHANGES, PUBLISHED_SLEEPERS,
    SLOT_HEADER_BYTES, TAKEN_CHANGES, TAKEN_SLEEPERS,
};
use super::locks::{LockByte, LockFile};
use super::mapping::Mapping;
use super::members::MemberEntry;
use super::signal::Signal;
use super::slot::{self, SlotHeader};
use super::{RingError, segments};
use crate::frame::Frame;
use crate::protocol::Delivery;

/// State of a slot that has never been written, or whose writer died.
pub(super) const EMPTY: u64 = 0;
/// State of a slot that is being written.
pub(super) const WRITING: u64 = u64::MAX;

/// A segment that is open in this process: its header, checked, and access to everything else.
pub(super) struct RingMemory {
    pub(super) name: String,
    pub(super) header: Header,
    pub(super) mapping: Mapping,
}

impl RingMemory {
    /// Opens the segment `name`, with a descriptor for locks.
    ///
    /// # Errors
    /// Absent, not initialised, of another version, of a wrong size and damaged are told apart.
    pub(super) fn open(name: &str) -> Result<(Self, LockFile), RingError> {
        let path = segments::path_of(name)?;
        let locks =
            LockFile::open(&path).map_err(|error| io_error(name, "open the file", error))?;
        let bytes = locks
            .file()
            .metadata()
            .map_err(|error| io_error(name, "read the size", error))?
            .len();
        // Its creator may have made it and not yet given it a size, or memory.
        let begun = has_version_word(locks.file())
            .map_err(|error| io_error(name, "read the header", error))?;
        if bytes == 0 || !begun {
            return Err(RingError::NotInitialised {
                name: name.to_owned(),
            });
        }
        let mapping = Mapping::open(name).map_err(|source| RingError::Map {
            name: name.to_owned(),
            source,
        })?;
        let header = Header::read(&mapping, name)?;
        let memory = Self {
            name: name.to_owned(),
            header,
            mapping,
        };
        Ok((memory, locks))
    }

    /// Sequence of the newest frame.
    pub(super) fn head(&self) -> u64 {
        // SYNC: pairs with `set_head`: the slot of a frame that the head shows is complete and
        // unlocked.
        self.mapping.u64(HEAD).load(Ordering::SeqCst)
    }

    /// Makes frame `seq` the newest.
    pub(super) fn set_head(&self, seq: u64) {
        // SYNC: pairs with `head`.
        self.mapping.u64(HEAD).store(seq, Ordering::SeqCst);
    }

    /// Whether nothing more will be published.
    pub(super) fn is_closed(&self) -> bool {
        // SYNC: pairs with `close`. SeqCst, so that of the closing and a slot that is marked as
        // being written one is always seen by the other side.
        self.mapping.u32(CLOSED).load(Ordering::SeqCst) != 0
    }

    /// Lets nothing more be published, and tells everybody.
    pub(super) fn close(&self) {
        // SYNC: pairs with `is_closed`.
        self.mapping.u32(CLOSED).store(1, Ordering::SeqCst);
        self.published().notify();
        self.taken().notify();
    }

    /// Advanced when a frame was published or the ring was closed.
    pub(super) fn published(&self) -> Signal<'_> {
        Signal {
            changes: self.mapping.u32(PUBLISHED_CHANGES),
            sleepers: self.mapping.u32(PUBLISHED_SLEEPERS),
        }
    }

    /// Advanced when a frame was taken, a slot became free, or a reader was counted in or out.
    pub(super) fn taken(&self) -> Signal<'_> {
        Signal {
            changes: self.mapping.u32(TAKEN_CHANGES),
            sleepers: self.mapping.u32(TAKEN_SLEEPERS),
        }
    }

    /// The entry of `member` in the table of readers.
    pub(super) fn member(&self, member: u32) -> Result<MemberEntry<'_>, RingError> {
        if member >= MAX_MEMBERS {
            return Err(RingError::NoSuchMember { member });
        }
        Ok(MemberEntry::new(&self.mapping, member))
    }

    /// Sequence of the last frame that is for a reader who leaves now. In `every` it has missed
    /// none; in `live` it was too slow for those after its last.
    pub(super) fn last_for(&self, entry: &MemberEntry<'_>) -> u64 {
        match self.header.delivery {
            Delivery::Every => entry.taken_seq(),
            Delivery::Live => self.head(),
        }
    }

    /// The reader that counts and has taken least, with its cursor.
    pub(super) fn slowest(&self) -> Option<(u32, u64)> {
        (0..MAX_MEMBERS)
            .map(|member| (member, MemberEntry::new(&self.mapping, member)))
            .filter(|(_, entry)| entry.is_counted())
            .map(|(member, entry)| (member, entry.taken_seq()))
            .min_by_key(|&(_, taken)| taken)
    }

    /// Frames that readers probably keep because they are shown, by member.
    pub(super) fn shown(&self) -> [u64; MAX_MEMBERS as usize] {
        std::array::from_fn(|member| MemberEntry::new(&self.mapping, member as u32).shown())
    }

    /// Sequence of the frame in `slot`, or [`EMPTY`], or [`WRITING`].
    pub(super) fn slot_seq(&self, slot: u32) -> u64 {
        let word = self.mapping.u64(self.layout().slot_word(slot));
        // SYNC: pairs with `set_slot_seq`: the frame of a sequence that is seen is complete.
        word.load(Ordering::SeqCst)
    }

    /// Says what is in `slot`; only under its exclusive lock.
    pub(super) fn set_slot_seq(&self, slot: u32, seq: u64) {
        let word = self.mapping.u64(self.layout().slot_word(slot));
        // SYNC: pairs with `slot_seq`; see `is_closed` for the order after WRITING.
        word.store(seq, Ordering::SeqCst);
    }

    /// All slots with a frame: slot and sequence.
    pub(super) fn frames(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..self.layout().slots())
            .map(|slot| (slot, self.slot_seq(slot)))
            .filter(|&(_, seq)| seq != EMPTY && seq != WRITING)
    }

    /// The slot of frame `seq`, if it is there.
    pub(super) fn find(&self, seq: u64) -> Option<u32> {
        self.frames()
            .find(|&(_, found)| found == seq)
            .map(|(slot, _)| slot)
    }

    /// The description in `slot`, which must be locked; `scratch` is a buffer to be reused.
    pub(super) fn describe(
        &self,
        slot: u32,
        scratch: &mut Vec<u8>,
    ) -> Result<SlotHeader, RingError> {
        let offset = self.layout().slot_header(slot);
        self.mapping.read_into(offset, slot::FIXED_BYTES, scratch);
        let bytes = slot::encoded_bytes(scratch);
        debug_assert!(bytes <= SLOT_HEADER_BYTES);
        self.mapping.read_into(offset, bytes, scratch);
        slot::decode(scratch, self.layout().slot_bytes()).map_err(|field| self.damaged(field))
    }

    /// Copies the frame in `slot`, which must be locked, into `frame`.
    pub(super) fn copy(
        &self,
        slot: u32,
        frame: &mut Frame,
        scratch: &mut Vec<u8>,
    ) -> Result<SlotHeader, RingError> {
        let header = self.describe(slot, scratch)?;
        let bytes = header.description.pixel_bytes();
        self.mapping
            .read_into(self.layout().slot_pixels(slot), bytes, &mut frame.pixels);
        Ok(header)
    }

    /// Whether somebody else holds `byte`.
    pub(super) fn is_held(&self, locks: &LockFile, byte: LockByte) -> Result<bool, RingError> {
        locks
            .holder(byte)
            .map(|holder| holder.is_some())
            .map_err(|error| self.lock_error(error))
    }

    /// An error unless the session that owns the ring lives.
    pub(super) fn check_owner(&self, locks: &LockFile) -> Result<(), RingError> {
        if self.is_held(locks, LockByte::Owner)? {
            return Ok(());
        }
        Err(RingError::OwnerGone {
            name: self.name.clone(),
        })
    }

    /// Checks what a writer goes on from: every frame's sequence lies between the ring's first and
    /// the one after the head. Returns the highest.
    pub(super) fn check_seqs(&self) -> Result<u64, RingError> {
        let head = self.head();
        let first = self.header.first_seq;
        if head < first - 1 || head >= MAX_SEQ {
            return Err(self.damaged("newest sequence"));
        }
        let mut highest = head;
        for (_, seq) in self.frames() {
            if seq < first || seq > head + 1 {
                return Err(self.damaged("sequence of a slot"));
            }
            highest = highest.max(seq);
        }
        Ok(highest)
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.header.layout
    }

    pub(super) fn damaged(&self, field: &'static str) -> RingError {
        RingError::Damaged {
            name: self.name.clone(),
            field,
        }
    }

    pub(super) fn lock_error(&self, source: io::Error) -> RingError {
        io_error(&self.name, "use a lock", source)
    }
}

/// Whether the version word of a segment has been written, or cannot be there.
///
/// Before that the file may be a hole. Reading a hole through a mapping takes memory, and ends the
/// process when there is none; reading it as a file does not.
pub(super) fn has_version_word(file: &File) -> io::Result<bool> {
    let mut word = [0; size_of::<u64>()];
    let read = file.read_at(&mut word, 0)?;
    Ok(read < word.len() || word != [0; size_of::<u64>()])
}

/// An error of the system about the segment `name`.
pub(super) fn io_error(name: &str, what: &'static str, source: io::Error) -> RingError {
    let name = name.to_owned();
    if source.kind() == io::ErrorKind::NotFound {
        return RingError::Absent { name };
    }
    RingError::Io { name, what, source }
}
