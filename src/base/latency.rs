use std::collections::VecDeque;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Percentiles of a latency, in microseconds. All zero when nothing was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyStats {
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest value.
    pub max: u64,
}

/// Largest latency that is told apart, in microseconds (one hour); longer ones count as this.
const HIGHEST_MICROS: u64 = 3_600_000_000;

/// One latency over a whole session (fixed memory, 3 significant digits) and over its last values.
#[derive(Debug, Clone)]
pub struct LatencyTracker {
    session: Histogram<u64>,
    recent: VecDeque<(u64, u64)>,
    window_nanos: u64,
}

impl LatencyTracker {
    /// A tracker whose recent view covers the last `window_nanos`.
    ///
    /// # Panics
    /// Never: the bounds of the histogram are constants that it accepts.
    pub fn new(window_nanos: u64) -> Self {
        let session = Histogram::new_with_bounds(1, HIGHEST_MICROS, 3)
            .expect("constant histogram bounds are valid");
        Self {
            session,
            recent: VecDeque::new(),
            window_nanos,
        }
    }

    /// Adds a latency of `micros` measured at `now_nanos` (monotonic).
    pub fn record(&mut self, now_nanos: u64, micros: u64) {
        self.session.saturating_record(micros);
        self.recent.push_back((now_nanos, micros));
        self.forget(now_nanos);
    }

    /// Number of latencies over the whole session.
    pub fn count(&self) -> u64 {
        self.session.len()
    }

    /// Percentiles over the whole session; `None` before the first value.
    pub fn session(&self) -> Option<LatencyStats> {
        (!self.session.is_empty()).then(|| LatencyStats {
            p50: self.session.value_at_quantile(0.5),
            p90: self.session.value_at_quantile(0.9),
            p99: self.session.value_at_quantile(0.99),
            max: self.session.max(),
        })
    }

    /// Percentiles over the recent window, exact; `None` when the window is empty.
    pub fn recent(&mut self, now_nanos: u64) -> Option<LatencyStats> {
        self.forget(now_nanos);
        let mut values: Vec<u64> = self.recent.iter().map(|&(_, micros)| micros).collect();
        values.sort_unstable();
        let rank = |quantile: f64| {
            // Nearest rank: the smallest value with at least this share of values at or below it.
            let position = (quantile * values.len() as f64).ceil() as usize;
            values[position.saturating_sub(1)]
        };
        (!values.is_empty()).then(|| LatencyStats {
            p50: rank(0.5),
            p90: rank(0.9),
            p99: rank(0.99),
            max: rank(1.0),
        })
    }

    fn forget(&mut self, now_nanos: u64) {
        let oldest = now_nanos.saturating_sub(self.window_nanos);
        while self.recent.front().is_some_and(|&(at, _)| at < oldest) {
            self.recent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_rank() {
        let mut tracker = LatencyTracker::new(u64::MAX);
        for micros in 1..=100 {
            tracker.record(micros, micros);
        }
        let expected = LatencyStats {
            p50: 50,
            p90: 90,
            p99: 99,
            max: 100,
        };
        assert_eq!(tracker.session(), Some(expected));
        assert_eq!(tracker.recent(100), Some(expected));
    }

    #[test]
    fn old_values_leave_the_recent_view_and_stay_in_the_session() {
        let mut tracker = LatencyTracker::new(10);
        tracker.record(0, 1000);
        tracker.record(100, 5);
        assert_eq!(tracker.recent(100).map(|stats| stats.max), Some(5));
        assert_eq!(tracker.session().map(|stats| stats.max), Some(1000));
        assert_eq!(tracker.recent(1000), None);
    }

    #[test]
    fn no_value_gives_no_percentile() {
        let mut tracker = LatencyTracker::new(10);
        assert_eq!(tracker.session(), None);
        assert_eq!(tracker.recent(0), None);
    }
}
