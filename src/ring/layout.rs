use std::sync::atomic::Ordering;

use xxhash_rust::xxh3::xxh3_64;

use super::RingError;
use super::mapping::Mapping;
use crate::protocol::Delivery;

/// Entries in the table of readers.
pub const MAX_MEMBERS: u32 = 16;
/// Fewest slots: the newest frame, one being copied, one being written.
pub const MIN_SLOTS: u32 = 3;
/// Most slots.
pub const MAX_SLOTS: u32 = 256;
/// Frames that a reader may have taken and not yet reported.
pub const HELD_CAPACITY: usize = 128;
/// Bytes of a frame's path that a slot keeps.
pub const PATH_CAPACITY: usize = SLOT_HEADER_BYTES - 128;

/// Version of everything in this file, in `slot.rs` and in `members.rs`.
pub(super) const VERSION: u32 = 1;

/// Upper half of the first word: "RING".
const MAGIC: u32 = u32::from_be_bytes(*b"RING");
const PAGE: usize = 4096;
/// Apart by this much, two words share no cache line and no pair that is fetched together.
const LINE: usize = 128;

const HEADER: usize = 0;
/// Words of the header: the version, the fields, their checksum.
const HEADER_WORDS: usize = FIELDS + 2;
const FIELDS: usize = 8;

/// Control words, each on a line of its own by who writes it.
pub(super) const HEAD: usize = PAGE;
pub(super) const CLOSED: usize = PAGE + LINE;
pub(super) const PUBLISHED_CHANGES: usize = PAGE + 2 * LINE;
pub(super) const PUBLISHED_SLEEPERS: usize = PUBLISHED_CHANGES + LINE / 2;
pub(super) const TAKEN_CHANGES: usize = PAGE + 3 * LINE;
pub(super) const TAKEN_SLEEPERS: usize = TAKEN_CHANGES + LINE / 2;
pub(super) const WAITS_FOR: usize = PAGE + 4 * LINE;
pub(super) const WAITS_SINCE: usize = WAITS_FOR + 8;

const MEMBERS: usize = 2 * PAGE;
const MEMBER_BYTES: usize = LINE + HELD_CAPACITY * size_of::<u64>();
const SLOT_WORDS: usize = (MEMBERS + MAX_MEMBERS as usize * MEMBER_BYTES).next_multiple_of(LINE);
const SLOTS: usize = (SLOT_WORDS + MAX_SLOTS as usize * size_of::<u64>()).next_multiple_of(PAGE);
/// Description and path of a frame; its pixels follow on a page of their own.
pub(super) const SLOT_HEADER_BYTES: usize = 2 * PAGE;

/// Sizes and places of everything in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    slots: u32,
    slot_bytes: u64,
    slot_stride: usize,
    bytes: usize,
}

impl Layout {
    /// The layout for `slots` slots whose pixels take at most `slot_bytes` bytes; `None` if that is
    /// not a ring or does not fit the address space.
    pub(super) fn new(slots: u32, slot_bytes: u64) -> Option<Self> {
        if !(MIN_SLOTS..=MAX_SLOTS).contains(&slots) || slot_bytes == 0 {
            return None;
        }
        let slot_stride = usize::try_from(slot_bytes)
            .ok()?
            .checked_next_multiple_of(PAGE)?
            .checked_add(SLOT_HEADER_BYTES)?;
        let bytes = slot_stride
            .checked_mul(slots as usize)?
            .checked_add(SLOTS)?;
        // File sizes are signed.
        i64::try_from(bytes).ok()?;
        Some(Self {
            slots,
            slot_bytes,
            slot_stride,
            bytes,
        })
    }

    /// Number of slots.
    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    /// Bytes of pixels that a slot holds.
    pub(super) fn slot_bytes(&self) -> u64 {
        self.slot_bytes
    }

    /// Size of the segment.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Most slots that a segment of `bytes` has room for.
    pub(super) fn slots_within(&self, bytes: u64) -> u32 {
        let room = bytes.saturating_sub(SLOTS as u64) / self.slot_stride as u64;
        u32::try_from(room).unwrap_or(u32::MAX).min(MAX_SLOTS)
    }

    /// Offset of the word with the sequence of slot `slot`.
    pub(super) fn slot_word(&self, slot: u32) -> usize {
        debug_assert!(slot < self.slots);
        SLOT_WORDS + slot as usize * size_of::<u64>()
    }

    /// Offset of the description in slot `slot`.
    pub(super) fn slot_header(&self, slot: u32) -> usize {
        debug_assert!(slot < self.slots);
        SLOTS + slot as usize * self.slot_stride
    }

    /// Offset of the pixels in slot `slot`.
    pub(super) fn slot_pixels(&self, slot: u32) -> usize {
        self.slot_header(slot) + SLOT_HEADER_BYTES
    }

    /// Offset of the entry `member` in the table of readers.
    pub(super) fn member(member: u32) -> usize {
        debug_assert!(member < MAX_MEMBERS);
        MEMBERS + member as usize * MEMBER_BYTES
    }

    /// Offset of place `place` in the list of frames that `member` holds.
    pub(super) fn held(member: u32, place: usize) -> usize {
        debug_assert!(place < HELD_CAPACITY);
        Self::member(member) + LINE + place * size_of::<u64>()
    }
}

/// What the creator says of a segment, once and for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) layout: Layout,
    pub(super) generation: u32,
    pub(super) delivery: Delivery,
    /// Whether readers keep the frames that they work on locked.
    pub(super) pins: bool,
    /// Sequence of the first frame that is published here.
    pub(super) first_seq: u64,
    /// The creator, as its own process namespace calls it.
    pub(super) owner_pid: u32,
}

impl Header {
    /// Writes everything, the version word last.
    pub(super) fn write(&self, mapping: &Mapping) {
        let fields = self.fields();
        for (field, value) in (1..).zip(fields) {
            mapping.u64(word(field)).store(value, Ordering::Relaxed);
        }
        mapping
            .u64(word(FIELDS + 1))
            .store(checksum(&fields), Ordering::Relaxed);
        let version = u64::from(MAGIC) << 32 | u64::from(VERSION);
        // SYNC: pairs with the load in `read`: who sees the version sees the whole header and all
        // control words that were set before.
        mapping.u64(word(0)).store(version, Ordering::Release);
    }

    /// Reads each value once and checks it against the others and the size of the mapping.
    ///
    /// # Errors
    /// [`RingError::NotInitialised`], [`RingError::WrongVersion`], [`RingError::WrongSize`] or
    /// [`RingError::Damaged`].
    pub(super) fn read(mapping: &Mapping, name: &str) -> Result<Self, RingError> {
        let damaged = |field| RingError::Damaged {
            name: name.to_owned(),
            field,
        };
        let actual = mapping.len() as u64;
        if mapping.len() < HEADER_WORDS * size_of::<u64>() {
            return Err(RingError::WrongSize {
                name: name.to_owned(),
                actual,
                expected: SLOTS as u64,
            });
        }
        // SYNC: pairs with the last store in `write`.
        let version = mapping.u64(word(0)).load(Ordering::Acquire);
        if version == 0 {
            return Err(RingError::NotInitialised {
                name: name.to_owned(),
            });
        }
        if version >> 32 != u64::from(MAGIC) {
            return Err(damaged("first word"));
        }
        let version = version as u32;
        if version != VERSION {
            return Err(RingError::WrongVersion {
                name: name.to_owned(),
                found: version,
                expected: VERSION,
            });
        }
        let fields: [u64; FIELDS] =
            std::array::from_fn(|field| mapping.u64(word(field + 1)).load(Ordering::Relaxed));
        let [
            bytes,
            slots,
            slot_bytes,
            generation,
            delivery,
            pins,
            first_seq,
            owner_pid,
        ] = fields;
        if bytes != actual {
            return Err(RingError::WrongSize {
                name: name.to_owned(),
                actual,
                expected: bytes,
            });
        }
        let layout = u32::try_from(slots)
            .ok()
            .and_then(|slots| Layout::new(slots, slot_bytes))
            .filter(|layout| layout.bytes as u64 == bytes)
            .ok_or_else(|| damaged("number and size of slots"))?;
        let header = Self {
            layout,
            generation: u32::try_from(generation)
                .ok()
                .ok_or_else(|| damaged("generation"))?,
            delivery: delivery_of(delivery).ok_or_else(|| damaged("delivery"))?,
            pins: match pins {
                0 => false,
                1 => true,
                _ => return Err(damaged("pin mark")),
            },
            first_seq: Some(first_seq)
                .filter(|&seq| (1..=MAX_SEQ).contains(&seq))
                .ok_or_else(|| damaged("first sequence"))?,
            owner_pid: u32::try_from(owner_pid)
                .ok()
                .ok_or_else(|| damaged("owner"))?,
        };
        if mapping.u64(word(FIELDS + 1)).load(Ordering::Relaxed) != checksum(&fields) {
            return Err(damaged("header checksum"));
        }
        Ok(header)
    }

    fn fields(&self) -> [u64; FIELDS] {
        [
            self.layout.bytes as u64,
            u64::from(self.layout.slots),
            self.layout.slot_bytes,
            u64::from(self.generation),
            match self.delivery {
                Delivery::Live => 1,
                Delivery::Every => 2,
            },
            u64::from(self.pins),
            self.first_seq,
            u64::from(self.owner_pid),
        ]
    }
}

/// Highest sequence; a ring never gets there.
pub(super) const MAX_SEQ: u64 = u64::MAX >> 1;

fn delivery_of(code: u64) -> Option<Delivery> {
    match code {
        1 => Some(Delivery::Live),
        2 => Some(Delivery::Every),
        _ => None,
    }
}

/// Offset of word `index` of the header.
fn word(index: usize) -> usize {
    HEADER + index * size_of::<u64>()
}

fn checksum(fields: &[u64; FIELDS]) -> u64 {
    let mut bytes = [0; FIELDS * size_of::<u64>()];
    for (bytes, field) in bytes.chunks_exact_mut(size_of::<u64>()).zip(fields) {
        bytes.copy_from_slice(&field.to_le_bytes());
    }
    xxh3_64(&bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_part_of_a_layout_has_a_place_of_its_own(
            slots in MIN_SLOTS..=MAX_SLOTS,
            slot_bytes in 1_u64..100_000_000,
        ) {
            let layout = Layout::new(slots, slot_bytes).expect("an ordinary ring");
            prop_assert!(word(HEADER_WORDS) <= HEAD);
            prop_assert!(WAITS_SINCE + 8 <= Layout::member(0));
            prop_assert!(Layout::held(MAX_MEMBERS - 1, HELD_CAPACITY - 1) + 8 <= layout.slot_word(0));
            prop_assert!(layout.slot_word(slots - 1) + 8 <= layout.slot_header(0));
            for slot in 0..slots {
                prop_assert_eq!(layout.slot_pixels(slot) % PAGE, 0);
                let end = layout.slot_pixels(slot) + slot_bytes as usize;
                let next = if slot + 1 < slots { layout.slot_header(slot + 1) } else { layout.bytes() };
                prop_assert!(end <= next);
            }
            prop_assert_eq!(layout.slots_within(layout.bytes() as u64), slots);
            prop_assert_eq!(layout.slots_within(layout.bytes() as u64 - 1), slots - 1);
        }

        #[test]
        fn no_size_overflows(slots in any::<u32>(), slot_bytes in any::<u64>()) {
            if let Some(layout) = Layout::new(slots, slot_bytes) {
                prop_assert!(layout.bytes() as u128 > u128::from(slots) * u128::from(slot_bytes));
            }
        }
    }
}
