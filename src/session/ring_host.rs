use std::collections::BTreeSet;

use super::view::{RingView, SlotUse, SlotView};
use crate::frame::Frame;
use crate::protocol::{Attachment, Delivery};
use crate::ring::{
    self, MemberState, Preview, PreviewEntry, Ring, RingError, RingRequest, RingState,
};

/// Slots kept for previews that copy a frame while others are written.
const PREVIEW_SLOTS: u32 = 2;

/// Slots beyond what readers and previews may have in their hands.
const SPARE_SLOTS: u32 = 2;

/// The rings of a session: the current one, and those that readers have not left yet.
#[derive(Default)]
pub(super) struct RingHost {
    current: Option<Hosted>,
    draining: Vec<Hosted>,
    generation: u32,
    /// Sequence of the newest frame of rings that are gone.
    past_head: u64,
    /// What members did in rings that are gone.
    past: [MemberTotals; ring::MAX_MEMBERS as usize],
}

struct Hosted {
    ring: Ring,
    preview: Preview,
    /// Members that were told to attach and have not left.
    members: BTreeSet<u32>,
}

/// Frames that were for a member, and those of them that it took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MemberTotals {
    pub(super) published: u64,
    pub(super) taken: u64,
}

/// What a ring is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct RingWish {
    pub(super) delivery: Delivery,
    pub(super) frame_bytes: u64,
    pub(super) slots: u32,
    pub(super) max_bytes: u64,
}

/// Number of slots that models with these frames in flight and the previews need: over all models,
/// the frames in flight and one that stays pinned until the next answer, then the previews, then
/// two to write to.
pub(super) fn slots_for(in_flight: impl Iterator<Item = u32>) -> u32 {
    let readers: u32 = in_flight
        .map(|frames| frames.saturating_add(1))
        .fold(0, u32::saturating_add);
    readers.saturating_add(PREVIEW_SLOTS + SPARE_SLOTS)
}

impl RingHost {
    /// Makes the next ring and closes the current one, which stays until its readers have left it.
    ///
    /// # Errors
    /// There is no room for it; the current ring then stays as it is.
    pub(super) fn open(&mut self, wish: RingWish) -> Result<(), RingError> {
        let ring = Ring::create(&RingRequest {
            generation: self.generation + 1,
            delivery: wish.delivery,
            frame_bytes: wish.frame_bytes,
            slots: wish.slots,
            max_bytes: wish.max_bytes,
            first_seq: self.head() + 1,
        })?;
        let preview = ring.preview()?;
        self.generation += 1;
        let next = Hosted {
            ring,
            preview,
            members: BTreeSet::new(),
        };
        if let Some(old) = self.current.replace(next) {
            old.ring.close();
            self.draining.push(old);
            self.drop_left();
        }
        Ok(())
    }

    /// Whether there is a ring.
    pub(super) fn is_open(&self) -> bool {
        self.current.is_some()
    }

    /// Whether children can attach to the ring: a foreign program can remove its name.
    pub(super) fn can_be_found(&self) -> bool {
        self.current
            .as_ref()
            .is_some_and(|hosted| hosted.ring.is_linked())
    }

    /// Whether children can attach, and everybody who needs them has slots. A ring for which there
    /// was not enough memory is left as it is.
    pub(super) fn serves(&self, slots: u32) -> bool {
        let has_slots = |hosted: &Hosted| hosted.ring.slots() >= slots || !hosted.ring.pins();
        self.can_be_found() && self.current.as_ref().is_some_and(has_slots)
    }

    /// Number of slots of the current ring, and why they are fewer than were wanted, if they are.
    pub(super) fn shortage(&self) -> Option<(u32, ring::Shortage)> {
        let ring = &self.current.as_ref()?.ring;
        Some((ring.slots(), ring.shortage()?))
    }

    /// Sequence of the newest frame; 0 before the first.
    pub(super) fn head(&self) -> u64 {
        self.current
            .as_ref()
            .map_or(self.past_head, |hosted| hosted.ring.state().head)
    }

    /// Sequence of the newest frame up to the end of ring `generation`, while that ring is there.
    pub(super) fn head_of(&self, generation: u32) -> Option<u64> {
        let mut hosted = self.draining.iter().chain(&self.current);
        let found = hosted.find(|hosted| hosted.ring.generation() == generation)?;
        Some(found.ring.state().head)
    }

    /// Where the producer attaches.
    pub(super) fn writer_attachment(&self) -> Option<Attachment> {
        let ring = &self.current.as_ref()?.ring;
        Some(Attachment {
            ring: ring.name().to_owned(),
            generation: ring.generation(),
            member: None,
        })
    }

    /// Where a consumer attaches, in order: it reads each ring to its end before the next one. Rings
    /// that it has left, or that were closed before it first came, are left out.
    pub(super) fn reader_attachments(&mut self, member: u32) -> Vec<Attachment> {
        let mut attachments: Vec<Attachment> = self
            .draining
            .iter()
            .filter(|hosted| hosted.members.contains(&member))
            .map(|hosted| attachment(&hosted.ring, member))
            .collect();
        if let Some(current) = &mut self.current {
            current.members.insert(member);
            attachments.push(attachment(&current.ring, member));
        }
        attachments
    }

    /// Where a consumer that is attached to the ring before goes on.
    pub(super) fn next_attachment(&mut self, member: u32) -> Option<Attachment> {
        self.reader_attachments(member).pop()
    }

    /// Notes that a member has read a ring to its end.
    pub(super) fn left(&mut self, generation: u32, member: u32) {
        for hosted in &mut self.draining {
            if hosted.ring.generation() == generation {
                hosted.members.remove(&member);
            }
        }
        self.drop_left();
    }

    /// Counts a member in: from now on frames are for it.
    pub(super) fn count_in(&self, member: u32) {
        if let Some(current) = &self.current {
            current.ring.expect_member(member);
        }
    }

    /// Counts a member out of the current ring.
    pub(super) fn count_out(&self, member: u32) {
        if let Some(current) = &self.current {
            current.ring.remove_member(member);
        }
    }

    /// Notes that a member is gone for good, or will come back as a new one.
    pub(super) fn forget(&mut self, member: u32) {
        self.count_out(member);
        for hosted in &mut self.draining {
            hosted.ring.remove_member(member);
            hosted.members.remove(&member);
        }
        self.drop_left();
    }

    /// What the rings know of a member, oldest ring first.
    pub(super) fn member_states(&self, member: u32) -> Vec<MemberState> {
        let hosted = self.draining.iter().chain(&self.current);
        hosted.map(|hosted| hosted.ring.member(member)).collect()
    }

    /// Frames that were for a member, and those that it took, over all rings.
    pub(super) fn totals(&self, member: u32) -> MemberTotals {
        let mut totals = self.past.get(member as usize).copied().unwrap_or_default();
        for state in self.member_states(member) {
            totals.add(&state);
        }
        totals
    }

    /// The current ring's state.
    pub(super) fn state(&self) -> Option<RingState> {
        self.current.as_ref().map(|hosted| hosted.ring.state())
    }

    /// The current ring as a view shows it.
    pub(super) fn view(&self) -> Option<RingView> {
        let ring = &self.current.as_ref()?.ring;
        let state = ring.state();
        let slots = state.slots.iter().map(|slot| SlotView {
            seq: slot.seq,
            used: match slot.used {
                ring::SlotUse::Free => SlotUse::Free,
                ring::SlotUse::Writing => SlotUse::Writing,
                ring::SlotUse::Pinned => SlotUse::Pinned,
            },
        });
        Some(RingView {
            name: ring.name().to_owned(),
            generation: ring.generation(),
            bytes: ring.bytes(),
            head: state.head,
            pins: ring.pins(),
            slots: slots.collect(),
        })
    }

    /// The frames that are still in a ring, oldest first.
    pub(super) fn describe(&mut self) -> Vec<PreviewEntry> {
        let mut frames = Vec::new();
        for hosted in self.draining.iter_mut().chain(&mut self.current) {
            match hosted.preview.describe() {
                Ok(found) => frames.extend(found),
                Err(error) => tracing::warn!("frames of {:?}: {error}", hosted.ring.name()),
            }
        }
        frames
    }

    /// A copy of frame `seq`, if it is still in a ring.
    pub(super) fn copy(&mut self, seq: u64) -> Option<Frame> {
        let mut frame = Frame::empty();
        for hosted in self.draining.iter_mut().chain(&mut self.current) {
            match hosted.preview.copy(Some(seq), &mut frame) {
                Ok(Some(_)) => return Some(frame),
                Ok(None) => {}
                Err(error) => tracing::warn!("frame {seq} of {:?}: {error}", hosted.ring.name()),
            }
        }
        None
    }

    /// Tells readers of the current ring that no more frames come.
    pub(super) fn announce_end(&self) {
        if let Some(hosted) = &self.current {
            hosted.ring.close();
        }
    }

    /// Drops all rings; the segments are unlinked.
    pub(super) fn close(&mut self) {
        self.past_head = self.head();
        self.draining.extend(self.current.take());
        for hosted in &mut self.draining {
            hosted.members.clear();
        }
        self.drop_left();
    }

    fn drop_left(&mut self) {
        let past = &mut self.past;
        self.draining.retain(|hosted| {
            if !hosted.members.is_empty() {
                return true;
            }
            for (totals, member) in past.iter_mut().zip(0..) {
                totals.add(&hosted.ring.member(member));
            }
            false
        });
    }
}

impl MemberTotals {
    fn add(&mut self, state: &MemberState) {
        self.published += state.published;
        self.taken += state.taken_count;
    }
}

fn attachment(ring: &Ring, member: u32) -> Attachment {
    Attachment {
        ring: ring.name().to_owned(),
        generation: ring.generation(),
        member: Some(member),
    }
}
