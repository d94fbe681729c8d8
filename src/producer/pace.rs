use std::time::Duration;

/// When the next frame is due, so that frames come at a steady rate.
#[derive(Debug)]
pub(super) struct Pace {
    /// Nanoseconds from frame to frame; `None`: no pace.
    period_nanos: Option<u64>,
    due_nanos: Option<u64>,
}

impl Pace {
    /// A pace of `fps` frames per second; none for 0 and what is no rate.
    pub(super) fn new(fps: f64) -> Self {
        let period_nanos = (fps.is_finite() && fps > 0.0).then(|| (1e9 / fps) as u64);
        Self {
            period_nanos,
            due_nanos: None,
        }
    }

    /// The next frame is due at once, and the rhythm begins with it.
    pub(super) fn restart(&mut self) {
        self.due_nanos = None;
    }

    /// Time until the next frame is due; zero when it is.
    pub(super) fn wait(&self, now_nanos: u64) -> Duration {
        let due = self.due_nanos.unwrap_or(now_nanos);
        Duration::from_nanos(due.saturating_sub(now_nanos))
    }

    /// A frame came now. A delay of less than a period is made up for, so that the rate is right on
    /// average; after a longer one the rhythm begins anew, without a burst.
    pub(super) fn came(&mut self, now_nanos: u64) {
        let Some(period) = self.period_nanos else {
            return;
        };
        self.due_nanos = match self.due_nanos {
            Some(due) if now_nanos < due.saturating_add(period) => Some(due + period),
            _ => Some(now_nanos.saturating_add(period)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    #[test]
    fn small_delays_are_made_up_for_and_long_ones_are_not() {
        let mut pace = Pace::new(100.0);
        assert_eq!(pace.wait(5 * MILLI), Duration::ZERO);
        pace.came(5 * MILLI);
        assert_eq!(pace.wait(6 * MILLI), Duration::from_millis(9));
        pace.came(18 * MILLI);
        assert_eq!(pace.wait(18 * MILLI), Duration::from_millis(7));
        pace.came(500 * MILLI);
        assert_eq!(pace.wait(500 * MILLI), Duration::from_millis(10));
        pace.restart();
        assert_eq!(pace.wait(501 * MILLI), Duration::ZERO);
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut pace = Pace::new(fps);
            pace.came(1);
            assert_eq!(pace.wait(1), Duration::ZERO);
        }
    }
}
