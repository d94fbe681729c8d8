#![expect(
    unsafe_code,
    reason = "the one place that touches shared memory; everything else uses its checked accesses"
)]

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use shared_memory::{Shmem, ShmemConf, ShmemError};

/// The bytes of a segment, mapped into this process.
///
/// No reference to plain shared bytes is ever handed out: control words are atomics, everything
/// else is copied in or out. Copies may race with a writer in another process; whoever copies must
/// hold the slot's lock and check its sequence afterwards.
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
    // Unmaps when dropped; unlinks the name if this process created it.
    _segment: Shmem,
}

// SAFETY: the mapping is a fixed range of memory that stays mapped until `_segment` is dropped, and
// all access to it goes through atomics or bounds-checked copies of bytes; `Shmem` is not touched
// between its construction and its drop.
unsafe impl Send for Mapping {}
// SAFETY: as above: shared access is by atomics and copies only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Creates the segment `name` of `len` bytes, mode 0600, and maps it without touching a page.
    /// The name is unlinked when the mapping is dropped.
    pub(super) fn create(name: &str, len: usize) -> Result<Self, ShmemError> {
        Self::new(ShmemConf::new().os_id(name).size(len).create()?)
    }

    /// Maps the existing segment `name`.
    pub(super) fn open(name: &str) -> Result<Self, ShmemError> {
        Self::new(ShmemConf::new().os_id(name).open()?)
    }

    fn new(segment: Shmem) -> Result<Self, ShmemError> {
        let start = NonNull::new(segment.as_ptr()).ok_or(ShmemError::MapSizeZero)?;
        Ok(Self {
            start,
            len: segment.len(),
            _segment: segment,
        })
    }

    /// Mapped bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The 32-bit word at `offset`.
    ///
    /// # Panics
    /// It is not wholly inside or not aligned; offsets come from a checked layout.
    pub(super) fn u32(&self, offset: usize) -> &AtomicU32 {
        let word = self.at(offset, size_of::<u32>()).cast::<AtomicU32>();
        assert!(word.is_aligned(), "a word at {offset} is not aligned");
        // SAFETY: `at` has checked the bounds, the line above the alignment; any bits are a u32; the
        // memory outlives the borrow of `self` and is accessed at this place by atomics alone.
        unsafe { word.as_ref() }
    }

    /// The 64-bit word at `offset`.
    ///
    /// # Panics
    /// As [`Self::u32`].
    pub(super) fn u64(&self, offset: usize) -> &AtomicU64 {
        let word = self.at(offset, size_of::<u64>()).cast::<AtomicU64>();
        assert!(word.is_aligned(), "a word at {offset} is not aligned");
        // SAFETY: as in `u32`.
        unsafe { word.as_ref() }
    }

    /// Copies `bytes` to `offset`.
    ///
    /// # Panics
    /// They do not fit.
    pub(super) fn write(&self, offset: usize, bytes: &[u8]) {
        let target = self.at(offset, bytes.len());
        // SAFETY: `at` has checked that the target lies in the mapping, which no Rust reference to
        // plain bytes ever covers, so it cannot overlap `bytes`.
        unsafe { target.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) }
    }

    /// Replaces the content of `bytes` by the `len` bytes at `offset`; allocates only to grow.
    ///
    /// # Panics
    /// They are not wholly inside.
    pub(super) fn read_into(&self, offset: usize, len: usize, bytes: &mut Vec<u8>) {
        let source = self.at(offset, len);
        bytes.clear();
        bytes.reserve(len);
        // SAFETY: `at` has checked the source, `reserve` has made room for `len` bytes, and after
        // the copy they are initialised. The vector lies outside the mapping.
        unsafe {
            source.copy_to_nonoverlapping(NonNull::new_unchecked(bytes.as_mut_ptr()), len);
            bytes.set_len(len);
        }
    }

    /// Pointer to `len` bytes at `offset`.
    fn at(&self, offset: usize, len: usize) -> NonNull<u8> {
        assert!(
            offset.checked_add(len).is_some_and(|end| end <= self.len),
            "{len} bytes at {offset} are outside a mapping of {} bytes",
            self.len
        );
        // SAFETY: the offset is inside the mapping.
        unsafe { self.start.add(offset) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    fn mapping(test: &str) -> Mapping {
        let name = format!("/ringside-test-{test}-{}", std::process::id());
        Mapping::create(&name, 8192).expect("room for two pages")
    }

    #[test]
    fn what_is_written_is_read_through_another_mapping() {
        let name = format!("/ringside-test-two-{}", std::process::id());
        let one = Mapping::create(&name, 8192).expect("room for two pages");
        let two = Mapping::open(&name).expect("it is there");
        assert_eq!(two.len(), 8192);
        one.write(8190, &[7, 9]);
        one.u64(16).store(5, Ordering::Release);
        let mut bytes = vec![1; 100];
        two.read_into(8189, 3, &mut bytes);
        assert_eq!(bytes, [0, 7, 9]);
        assert_eq!(two.u64(16).load(Ordering::Acquire), 5);
    }

    #[test]
    #[should_panic(expected = "outside a mapping of 8192 bytes")]
    fn a_read_past_the_end_is_caught() {
        mapping("past").read_into(8190, 3, &mut Vec::new());
    }

    #[test]
    #[should_panic(expected = "outside a mapping of 8192 bytes")]
    fn an_offset_that_overflows_is_caught() {
        mapping("overflow").write(usize::MAX, &[1]);
    }

    #[test]
    #[should_panic(expected = "not aligned")]
    fn a_word_that_is_not_aligned_is_caught() {
        mapping("aligned").u32(2);
    }
}
