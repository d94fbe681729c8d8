use std::collections::VecDeque;
use std::time::Duration;

/// When a child that died is started again, and when it is given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestartPolicy {
    /// Waiting time after the first, second, … death within `window`; the last one repeats.
    pub delays: Vec<Duration>,
    /// Most starts within `window`; a death after as many gives the child up.
    pub max_starts: usize,
    /// Time over which starts are counted. A child that ran well for less is not forgiven.
    pub window: Duration,
}

impl Default for RestartPolicy {
    /// Six starts within a minute, with delays from half a second, doubling.
    fn default() -> Self {
        Self {
            delays: [500, 1000, 2000, 4000, 8000]
                .map(Duration::from_millis)
                .to_vec(),
            max_starts: 6,
            window: Duration::from_secs(60),
        }
    }
}

/// What to do about a death.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Start it again at this monotonic time, in nanoseconds.
    RestartAt(u64),
    /// Leave it.
    GiveUp,
}

/// The starts of one child, judged by a [`RestartPolicy`].
#[derive(Debug)]
pub(super) struct Supervisor {
    policy: RestartPolicy,
    /// Monotonic times of the starts within the window; at most `max_starts`.
    starts: VecDeque<u64>,
    restarts: u32,
    has_started: bool,
}

impl Supervisor {
    pub(super) fn new(policy: RestartPolicy) -> Self {
        Self {
            policy,
            starts: VecDeque::new(),
            restarts: 0,
            has_started: false,
        }
    }

    /// How often the child has been started after its first start.
    pub(super) fn restarts(&self) -> u32 {
        self.restarts
    }

    /// Number of starts within the window.
    pub(super) fn recent_starts(&self) -> usize {
        self.starts.len()
    }

    /// Notes a start.
    pub(super) fn started(&mut self, now_nanos: u64) {
        self.forget(now_nanos);
        if self.starts.len() == self.policy.max_starts {
            self.starts.pop_front();
        }
        self.starts.push_back(now_nanos);
        if self.has_started {
            self.restarts = self.restarts.saturating_add(1);
        }
        self.has_started = true;
    }

    /// Judges a death that nobody asked for.
    pub(super) fn died(&mut self, now_nanos: u64) -> Verdict {
        self.forget(now_nanos);
        if self.starts.len() >= self.policy.max_starts {
            return Verdict::GiveUp;
        }
        let step = self.starts.len().saturating_sub(1);
        let delay = self.policy.delays.get(step).or(self.policy.delays.last());
        let delay_nanos = delay.map_or(0, |delay| delay.as_nanos() as u64);
        Verdict::RestartAt(now_nanos + delay_nanos)
    }

    /// Forgets all deaths: the user starts it by hand.
    pub(super) fn forgive(&mut self) {
        self.starts.clear();
    }

    fn forget(&mut self, now_nanos: u64) {
        let oldest = now_nanos.saturating_sub(self.policy.window.as_nanos() as u64);
        while self.starts.front().is_some_and(|&start| start < oldest) {
            self.starts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Starts and deaths of a child that lives `life` seconds each time, until it is given up or
    /// an hour has passed.
    fn starts_of(life: u64) -> (Vec<u64>, bool) {
        let mut supervisor = Supervisor::new(RestartPolicy::default());
        let mut now = 100 * SECOND;
        let mut starts = Vec::new();
        while now < 3700 * SECOND {
            supervisor.started(now);
            starts.push(now);
            now += life * SECOND;
            match supervisor.died(now) {
                Verdict::RestartAt(at) => now = at,
                Verdict::GiveUp => return (starts, true),
            }
        }
        (starts, false)
    }

    #[test]
    fn a_child_that_always_dies_is_started_six_times_with_growing_delays_and_given_up() {
        for life in [0, 3] {
            let (starts, given_up) = starts_of(life);
            assert!(given_up, "life of {life} s");
            assert_eq!(starts.len(), 6);
            assert!(starts[5] - starts[0] <= 60 * SECOND);
            let pauses: Vec<u64> = starts
                .windows(2)
                .map(|pair| (pair[1] - pair[0] - life * SECOND) / 1_000_000)
                .collect();
            assert_eq!(pauses, [500, 1000, 2000, 4000, 8000]);
        }
    }

    #[test]
    fn no_minute_has_more_than_six_starts_whatever_the_length_of_a_life() {
        for life in 0..70 {
            let (starts, _) = starts_of(life);
            for (position, &start) in starts.iter().enumerate() {
                let within = starts[position..]
                    .iter()
                    .filter(|&&at| at <= start + 60 * SECOND);
                assert!(within.count() <= 6, "life of {life} s: {starts:?}");
            }
        }
    }

    #[test]
    fn a_start_by_hand_forgives() {
        let mut supervisor = Supervisor::new(RestartPolicy::default());
        for _ in 0..6 {
            supervisor.started(SECOND);
        }
        assert_eq!(supervisor.died(SECOND), Verdict::GiveUp);
        supervisor.forgive();
        supervisor.started(SECOND);
        assert_eq!(
            supervisor.died(SECOND),
            Verdict::RestartAt(SECOND + SECOND / 2)
        );
        assert_eq!(supervisor.restarts(), 6);
    }
}
