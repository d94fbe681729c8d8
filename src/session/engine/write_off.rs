//! Frames that were for a model and will never be answered.

use std::collections::BTreeSet;

use super::{Engine, Model};
use crate::protocol::Delivery;
use crate::recording::{LostRow, Row};

impl Engine {
    /// A model has read a ring to its end, and has answered all that it took from it.
    pub(super) fn ring_left(&mut self, index: usize, generation: u32) {
        let head = self.rings.head_of(generation);
        self.rings.left(generation, self.models[index].member);
        if let Some(head) = head {
            self.write_off_missing(index, head, "the consumer left its ring without taking it");
        }
    }

    /// Writes off the frames up to `head` that were for a model and are not answered. In `live`
    /// those that it did not take are dropped, not lost.
    fn write_off_missing(&mut self, index: usize, head: u64, reason: &str) {
        let model = &self.models[index];
        if self.delivery == Delivery::Every && model.counted {
            let missing = model.stats.answered.missing(head);
            self.write_off(index, missing, reason);
        }
    }

    /// Frames that were for a model and will never be answered.
    fn write_off(&mut self, index: usize, seqs: impl IntoIterator<Item = u64>, reason: &str) {
        let model = &mut self.models[index];
        for seq in seqs {
            model.stats.lost += 1;
            model.stats.answered.insert(seq);
            let row = LostRow {
                seq,
                model: model.spec.name.clone(),
                reason: reason.to_owned(),
            };
            self.journal.about_frame(seq, Row::Lost(row));
        }
    }

    /// Writes off what a dead consumer had taken and not answered.
    pub(super) fn write_off_death(&mut self, index: usize, cause: &str) {
        let unanswered = self.unanswered(&self.models[index]);
        let taken = self.totals(&self.models[index]).taken;
        let last = unanswered.last().copied();
        self.write_off(index, unanswered, &format!("consumer ended by {cause}"));
        let model = &mut self.models[index];
        model.lost_last = last.or(model.lost_last);
        // In `live`, answers that were on their way out of the dead process cannot be named.
        let stats = &mut model.stats;
        let known = stats.predicted + stats.invalid + stats.lost + stats.unreported;
        stats.unreported += taken.saturating_sub(known);
    }

    /// Frames that a model has not answered although it took them, oldest first.
    fn unanswered(&self, model: &Model) -> BTreeSet<u64> {
        let states = self.rings.member_states(model.member);
        let mut seqs: BTreeSet<u64> = states.iter().flat_map(|state| state.held.clone()).collect();
        if self.delivery == Delivery::Every && model.counted {
            let taken = states.iter().map(|state| state.taken_seq).max();
            seqs.extend(model.stats.answered.missing(taken.unwrap_or(0)));
        }
        seqs.retain(|&seq| !model.stats.answered.contains(seq));
        seqs
    }

    /// Frames of a ring whose name is gone cannot be read by a process that starts now; when no
    /// producer is there to go on in another ring, nothing else tells their fate.
    pub(super) fn write_off_unreachable(&mut self, index: usize) {
        let is_unreachable = self.rings.is_open() && !self.rings.can_be_found();
        if is_unreachable && self.source.is_over() {
            let head = self.rings.head();
            self.write_off_missing(
                index,
                head,
                "another program removed its ring from /dev/shm",
            );
        }
    }
}
