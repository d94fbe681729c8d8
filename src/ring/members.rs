use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::layout::{HELD_CAPACITY, Layout};
use super::mapping::Mapping;

/// Words of an entry.
const COUNTED: usize = 0;
const TAKEN_SEQ: usize = 8;
const TAKEN_COUNT: usize = 16;
const JOINED_AT: usize = 24;
const LEFT_AT: usize = 32;
const PUBLISHED_BEFORE: usize = 40;
const WAS_IN: usize = 48;
const SHOWN: usize = 56;

/// What the ring knows of a reader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemberState {
    /// Whether it counts: in `every` the writer waits for it.
    pub expected: bool,
    /// Whether a process, running or stopped, is this member now.
    pub alive: bool,
    /// Sequence of the newest frame when it was last counted in; it gets the ones after it.
    pub joined_at: u64,
    /// Sequence of the last frame that it took.
    pub taken_seq: u64,
    /// Frames that it took.
    pub taken_count: u64,
    /// Frames published while it counted. In `live`, `published - taken_count` is what it was too
    /// slow for.
    pub published: u64,
    /// Sequences of the frames that it took and has not reported, in order.
    pub held: Vec<u64>,
}

/// The entry of one reader in the ring's table.
///
/// Counting in and out is done by the session or by the reader, everything else by the reader alone.
/// A new process that takes over an entry goes on where the old one ended.
pub(super) struct MemberEntry<'a> {
    mapping: &'a Mapping,
    member: u32,
}

impl<'a> MemberEntry<'a> {
    /// The entry of `member`, which must be less than [`MAX_MEMBERS`](super::MAX_MEMBERS).
    pub(super) fn new(mapping: &'a Mapping, member: u32) -> Self {
        Self { mapping, member }
    }

    /// Whether the writer waits for this reader in `every`.
    pub(super) fn is_counted(&self) -> bool {
        // SYNC: pairs with the store in `count_in`: who sees the mark sees the cursor that goes
        // with it.
        self.counted().load(Ordering::SeqCst) != 0
    }

    /// Sequence of the last frame that was taken.
    pub(super) fn taken_seq(&self) -> u64 {
        // SYNC: pairs with the store in `take`: a frame that is seen as taken is seen as held.
        self.word(TAKEN_SEQ).load(Ordering::SeqCst)
    }

    /// Sequence of the newest frame when the reader was last counted in.
    pub(super) fn joined_at(&self) -> u64 {
        self.word(JOINED_AT).load(Ordering::Relaxed)
    }

    /// Counts the reader in from the frame after the one that `head` gives; no effect if it is in.
    pub(super) fn count_in(&self, head: impl Fn() -> u64) {
        if self.is_counted() {
            return;
        }
        if self.word(WAS_IN).swap(1, Ordering::Relaxed) != 0 {
            let before = self.last_when_out().saturating_sub(self.joined_at());
            self.word(PUBLISHED_BEFORE)
                .fetch_add(before, Ordering::Relaxed);
        }
        self.start_after(head());
        // SYNC: pairs with the load in `is_counted`.
        self.counted().store(1, Ordering::SeqCst);
        // A writer that did not see the mark may have reused slots meanwhile, but none of a frame
        // after the head that is seen now.
        self.start_after(head());
    }

    fn start_after(&self, head: u64) {
        self.word(JOINED_AT).store(head, Ordering::SeqCst);
        self.word(TAKEN_SEQ).store(head, Ordering::SeqCst);
    }

    /// Sequence of the last frame that was for the reader, now that it is out. One that does not know
    /// yet that it is out takes frames that are published meanwhile; these were for it, too.
    fn last_when_out(&self) -> u64 {
        let left_at = self.word(LEFT_AT).load(Ordering::Relaxed);
        left_at.max(self.taken_seq())
    }

    /// Counts the reader out; what is published after `last` is not for it. No effect if it is out.
    pub(super) fn count_out(&self, last: u64) {
        if self.is_counted() {
            self.word(LEFT_AT).store(last, Ordering::Relaxed);
            // SYNC: pairs with the load in `is_counted`.
            self.counted().store(0, Ordering::SeqCst);
        }
    }

    /// Notes that the reader has taken frame `seq` and holds it until [`Self::release`]; `false` if
    /// it holds too many.
    pub(super) fn take(&self, seq: u64) -> bool {
        let free = self.held().find(|place| place.load(Ordering::Relaxed) == 0);
        let Some(place) = free else {
            return false;
        };
        // Held before taken: a reader that dies in between is known to have had the frame.
        place.store(seq, Ordering::Release);
        self.advance(seq);
        true
    }

    /// Notes that the frames up to `seq` have been taken.
    fn advance(&self, seq: u64) {
        self.word(TAKEN_COUNT).fetch_add(1, Ordering::Relaxed);
        // SYNC: pairs with the load in `taken_seq`.
        self.word(TAKEN_SEQ).store(seq, Ordering::SeqCst);
    }

    /// Notes that frame `seq` is not held any more.
    pub(super) fn release(&self, seq: u64) {
        for place in self.held() {
            if place.load(Ordering::Relaxed) == seq {
                place.store(0, Ordering::Release);
            }
        }
    }

    /// Notes that frame `seq` is kept although it has been reported.
    pub(super) fn show(&self, seq: u64) {
        self.word(SHOWN).store(seq, Ordering::Relaxed);
    }

    /// Sequence of the last frame that was kept after its report. A hint: its lock tells the truth.
    pub(super) fn shown(&self) -> u64 {
        self.word(SHOWN).load(Ordering::Relaxed)
    }

    /// Takes the entry over from a process that has ended: forgets what it held and goes on after it.
    pub(super) fn take_over(&self) {
        let last = self.held_seqs().into_iter().max().unwrap_or(0);
        if last > self.taken_seq() {
            self.advance(last);
        }
        for place in self.held() {
            place.store(0, Ordering::Release);
        }
    }

    /// What this entry says; `head` is the sequence of the newest frame.
    pub(super) fn state(&self, head: u64, alive: bool) -> MemberState {
        let expected = self.is_counted();
        // Before the cursor: a frame that is seen as taken was published.
        let taken_count = self.word(TAKEN_COUNT).load(Ordering::Relaxed);
        let taken_seq = self.taken_seq();
        let joined_at = self.joined_at();
        let until = if expected {
            head.max(taken_seq)
        } else {
            self.last_when_out()
        };
        let published = self
            .word(PUBLISHED_BEFORE)
            .load(Ordering::Relaxed)
            .saturating_add(until.saturating_sub(joined_at));
        MemberState {
            expected,
            alive,
            joined_at,
            taken_seq,
            taken_count,
            published,
            held: self.held_seqs(),
        }
    }

    fn held_seqs(&self) -> Vec<u64> {
        let mut seqs: Vec<u64> = self
            .held()
            .map(|place| place.load(Ordering::Acquire))
            .filter(|&seq| seq != 0)
            .collect();
        seqs.sort_unstable();
        seqs
    }

    fn held(&self) -> impl Iterator<Item = &'a AtomicU64> {
        (0..HELD_CAPACITY).map(|place| self.mapping.u64(Layout::held(self.member, place)))
    }

    fn counted(&self) -> &'a AtomicU32 {
        self.mapping.u32(Layout::member(self.member) + COUNTED)
    }

    fn word(&self, word: usize) -> &'a AtomicU64 {
        self.mapping.u64(Layout::member(self.member) + word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::layout::Layout;

    fn with_entry(test: &str, check: impl FnOnce(MemberEntry<'_>)) {
        let name = format!("/ringside-test-member-{test}-{}", std::process::id());
        let bytes = Layout::new(3, 1).expect("a small ring").bytes();
        let mapping = Mapping::create(&name, bytes).expect("room for it");
        check(MemberEntry::new(&mapping, 15));
    }

    #[test]
    fn a_frame_is_held_until_it_is_released() {
        with_entry("held", |entry| {
            entry.count_in(|| 4);
            assert!(entry.take(5) && entry.take(7));
            entry.release(5);
            let state = entry.state(9, true);
            assert_eq!(state.held, [7]);
            assert_eq!((state.taken_seq, state.taken_count), (7, 2));
            assert_eq!((state.joined_at, state.published), (4, 5));
            for seq in 0..HELD_CAPACITY as u64 - 1 {
                assert!(entry.take(8 + seq));
            }
            assert!(!entry.take(1000), "there is no place left");
        });
    }

    #[test]
    fn what_is_published_while_a_reader_is_out_is_not_counted() {
        with_entry("out", |entry| {
            entry.count_in(|| 10);
            assert!(entry.take(12));
            entry.count_out(13);
            entry.count_out(14);
            assert_eq!(entry.state(20, true).published, 3);
            assert!(entry.take(15), "it does not know yet");
            assert_eq!(entry.state(20, true).published, 5);
            entry.count_in(|| 20);
            entry.count_in(|| 21);
            let state = entry.state(25, true);
            assert_eq!((state.joined_at, state.published), (20, 5 + 5));
            assert_eq!(state.taken_count, 2);
        });
    }

    #[test]
    fn a_successor_goes_on_after_what_was_held() {
        with_entry("successor", |entry| {
            entry.count_in(|| 0);
            assert!(entry.take(1));
            // Its process died between marking frame 2 as held and as taken.
            entry
                .mapping
                .u64(Layout::held(15, 9))
                .store(2, Ordering::Relaxed);
            assert_eq!(entry.state(3, false).held, [1, 2]);
            entry.take_over();
            let state = entry.state(3, true);
            assert_eq!((state.taken_seq, state.taken_count), (2, 2));
            assert!(state.held.is_empty());
        });
    }
}
