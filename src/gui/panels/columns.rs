//! What the timeline draws, without drawing.

use crate::recording::Micros;

/// One answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) seq: u64,
    pub(super) warmup: bool,
    pub(super) micros: Micros,
}

impl Column {
    /// All stages together, in microseconds.
    pub(super) fn total(&self) -> u64 {
        let stages = self.micros.stages();
        stages[..stages.len() - 1]
            .iter()
            .map(|(_, micros)| micros)
            .sum()
    }
}

pub(super) fn columns(timeline: &[(u64, bool, Micros)]) -> Vec<Column> {
    timeline
        .iter()
        .map(|&(seq, warmup, micros)| Column {
            seq,
            warmup,
            micros,
        })
        .collect()
}

/// The usual distance between the sequences of neighbours: 1 where every frame is answered, more
/// where the model is too slow for the source.
pub(super) fn stride(columns: &[Column]) -> u64 {
    let mut distances: Vec<u64> = columns
        .windows(2)
        .map(|pair| pair[1].seq.saturating_sub(pair[0].seq))
        .collect();
    distances.sort_unstable();
    distances
        .get(distances.len() / 2)
        .copied()
        .unwrap_or(1)
        .max(1)
}

/// Parts without a gap. Where every frame is answered one missing frame is a gap; where frames are
/// dropped all the time it takes three times the usual distance.
pub(super) fn runs(columns: &[Column], stride: u64) -> impl Iterator<Item = &[Column]> {
    let longest = if stride == 1 { 1 } else { stride * 3 };
    columns.chunk_by(move |a, b| b.seq.saturating_sub(a.seq) <= longest)
}

/// The number of places of an axis for `answers`: it grows in steps, up to `most`.
pub(super) fn window(answers: usize, most: usize) -> usize {
    let mut places = 50;
    while places < answers {
        places *= 2;
    }
    places.min(most)
}

/// The nearest-rank percentile of sorted values.
pub(super) fn percentile(sorted: &[u64], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// What an axis has to show: the budget too, unless that would squash what is there.
pub(super) fn with_budget(highest: u64, budget: u64) -> u64 {
    if highest.saturating_mul(3) >= budget {
        highest.max(budget)
    } else {
        highest
    }
}

/// An axis from 0 that shows `highest` and words above it: its end (1, 1.5, 2, 3, 5 or 7.5 times a power of ten, so
/// that it changes seldom) and the distance of its marks.
pub(super) fn nice_axis(highest: u64) -> (u64, u64) {
    let wanted = highest.saturating_add(highest / 5);
    let mut power: u64 = 100;
    loop {
        for (end, step) in [(10, 5), (15, 5), (20, 10), (30, 10), (50, 25), (75, 25)] {
            let end = power.saturating_mul(end) / 10;
            if end >= wanted {
                return (end, power.saturating_mul(step) / 10);
            }
        }
        match power.checked_mul(10) {
            Some(next) => power = next,
            None => return (u64::MAX, u64::MAX / 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seqs: &[u64]) -> Vec<Column> {
        let columns = seqs.iter().map(|&seq| Column {
            seq,
            warmup: false,
            micros: Micros::default(),
        });
        columns.collect()
    }

    fn run_starts(seqs: &[u64]) -> Vec<u64> {
        let columns = at(seqs);
        runs(&columns, stride(&columns))
            .map(|run| run[0].seq)
            .collect()
    }

    #[test]
    fn a_missing_frame_is_a_gap_where_every_frame_is_answered() {
        assert_eq!(run_starts(&[1, 2, 3, 5, 6, 7]), [1, 5]);
    }

    #[test]
    fn dropped_frames_are_no_gap_where_they_are_usual() {
        assert_eq!(run_starts(&[1, 4, 7, 11, 14, 40, 43]), [1, 40]);
    }

    #[test]
    fn the_total_leaves_out_the_age() {
        let column = Column {
            seq: 1,
            warmup: false,
            micros: Micros {
                wait: 1,
                copy: 2,
                preprocess: 3,
                queue: 4,
                inference: 5,
                decode: 6,
                age: 1000,
            },
        };
        assert_eq!(column.total(), 21);
    }

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(nice_axis(0), (100, 50));
        assert_eq!(nice_axis(9_800), (15_000, 5_000));
        assert_eq!(nice_axis(4_000), (5_000, 2_500));
        assert_eq!(nice_axis(u64::MAX).0, u64::MAX);
    }

    #[test]
    fn a_budget_is_shown_unless_answers_are_far_below_it() {
        assert_eq!(with_budget(12_000, 33_000), 33_000);
        assert_eq!(with_budget(50_000, 33_000), 50_000);
        assert_eq!(with_budget(9_000, 33_000), 9_000);
        assert_eq!(with_budget(u64::MAX, 33_000), u64::MAX);
    }

    #[test]
    fn a_young_timeline_is_shown_wide() {
        assert_eq!(window(0, 300), 50);
        assert_eq!(window(51, 300), 100);
        assert_eq!(window(250, 300), 300);
    }

    #[test]
    fn percentiles_are_nearest_rank() {
        let sorted: Vec<u64> = (1..=100).collect();
        assert_eq!(percentile(&sorted, 0.5), Some(50));
        assert_eq!(percentile(&sorted, 0.99), Some(99));
        assert_eq!(percentile(&[], 0.5), None);
    }
}
