use std::collections::BTreeMap;

use crate::recording::Row;

/// Rows that may wait for their frame. Beyond it the frames are made up from what is known.
const MOST_WAITING: usize = 4096;

/// Puts rows about a frame behind the row of the frame.
///
/// Frames come from one process and answers from others, so that an answer can be read first.
#[derive(Debug, Default)]
pub(super) struct RowOrder {
    /// Frames up to this sequence have been written, or will never be.
    written_up_to: u64,
    waiting: BTreeMap<u64, Vec<Row>>,
    waiting_count: usize,
}

impl RowOrder {
    /// Frames up to this sequence have been written, or will never be.
    pub(super) fn written_up_to(&self) -> u64 {
        self.written_up_to
    }

    /// The row back, when the frame `seq` has been written; else it waits.
    #[must_use]
    pub(super) fn about_frame(&mut self, seq: u64, row: Row) -> Option<Row> {
        if seq <= self.written_up_to {
            return Some(row);
        }
        self.waiting.entry(seq).or_default().push(row);
        self.waiting_count += 1;
        None
    }

    /// The frame up to which rows should no longer wait, when too many do.
    pub(super) fn overdue(&self) -> Option<u64> {
        (self.waiting_count > MOST_WAITING)
            .then(|| self.waiting.last_key_value().map(|(&seq, _)| seq))
            .flatten()
    }

    /// Notes that the row of frame `seq` has been written, and that none before it will be; the
    /// rows that waited for them, in order.
    pub(super) fn frame_written(&mut self, seq: u64) -> Vec<Row> {
        self.written_up_to = self.written_up_to.max(seq);
        let later = self.waiting.split_off(&(self.written_up_to + 1));
        let ready = std::mem::replace(&mut self.waiting, later);
        let rows: Vec<Row> = ready.into_values().flatten().collect();
        self.waiting_count -= rows.len();
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::LostRow;

    fn row(seq: u64) -> Row {
        Row::Lost(LostRow {
            seq,
            model: "m".to_owned(),
            reason: String::new(),
        })
    }

    #[test]
    fn rows_wait_for_their_frame_and_follow_it_in_order() {
        let mut order = RowOrder::default();
        assert_eq!(order.about_frame(2, row(2)), None);
        assert_eq!(order.about_frame(1, row(1)), None);
        assert_eq!(order.about_frame(3, row(3)), None);
        assert_eq!(order.frame_written(2), [row(1), row(2)]);
        assert_eq!(order.about_frame(2, row(2)), Some(row(2)));
        assert_eq!(order.frame_written(3), [row(3)]);
    }

    #[test]
    fn waiting_rows_are_bounded() {
        let mut order = RowOrder::default();
        for seq in 1..=MOST_WAITING as u64 {
            assert_eq!(order.about_frame(seq, row(seq)), None);
        }
        assert_eq!(order.overdue(), None);
        assert_eq!(order.about_frame(9000, row(9000)), None);
        assert_eq!(order.overdue(), Some(9000));
    }
}
