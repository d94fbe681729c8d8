use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::view::{RECENT_NANOS, ShownPrediction, StageStats};
use crate::base::{LatencyStats, LatencyTracker};
use crate::prediction::Output;
use crate::protocol::PredictionEvent;
use crate::recording::Micros;

/// Fewer events, or a shorter time, make no rate of the last seconds.
const RATE_EVENTS: usize = 5;
const RATE_NANOS: u64 = 1_000_000_000;

/// Answers whose durations a view has.
const TIMELINE: usize = 240;

/// Last answers that a view has whole.
const RECENT_ANSWERS: usize = 16;

/// Answered frames that are known one by one, beyond those before which all are.
const ANSWERED_APART: usize = 4096;

/// Counts and times of one model's answers; its size does not grow with their number.
#[derive(Debug)]
pub(super) struct ModelStats {
    pub(super) predicted: u64,
    pub(super) invalid: u64,
    pub(super) lost: u64,
    pub(super) unreported: u64,
    pub(super) shown: Option<Arc<ShownPrediction>>,
    pub(super) rate: Rate,
    pub(super) answered: AnsweredFrames,
    stages: Vec<(&'static str, LatencyTracker)>,
    timeline: VecDeque<(u64, bool, Micros)>,
    recent: VecDeque<Arc<ShownPrediction>>,
}

impl ModelStats {
    pub(super) fn new() -> Self {
        let stages = Micros::default().stages();
        Self {
            predicted: 0,
            invalid: 0,
            lost: 0,
            unreported: 0,
            shown: None,
            rate: Rate::default(),
            answered: AnsweredFrames::default(),
            stages: stages
                .map(|(stage, _)| (stage, LatencyTracker::new(RECENT_NANOS)))
                .into(),
            timeline: VecDeque::with_capacity(TIMELINE),
            recent: VecDeque::with_capacity(RECENT_ANSWERS),
        }
    }

    /// Adds an answer received at `received_nanos`. Warm-up runs are shown and left out of the
    /// percentiles.
    pub(super) fn add(&mut self, event: PredictionEvent, received_nanos: u64, micros: Micros) {
        match event.output {
            Output::Invalid { .. } => self.invalid += 1,
            _ => self.predicted += 1,
        }
        self.answered.insert(event.seq);
        if self.timeline.len() == TIMELINE {
            self.timeline.pop_front();
        }
        self.timeline.push_back((event.seq, event.warmup, micros));
        if !event.warmup {
            self.rate.add(received_nanos);
            for ((_, tracker), (_, value)) in self.stages.iter_mut().zip(micros.stages()) {
                tracker.record(received_nanos, value);
            }
        }
        let shown = Arc::new(ShownPrediction {
            event,
            received_nanos,
            micros,
        });
        if self.recent.len() == RECENT_ANSWERS {
            self.recent.pop_front();
        }
        self.recent.push_back(Arc::clone(&shown));
        self.shown = Some(shown);
    }

    /// Answers that it has given, also those whose report did not get through.
    pub(super) fn reported(&self) -> u64 {
        self.predicted + self.invalid + self.unreported
    }

    /// Percentiles of each stage.
    pub(super) fn stages(&mut self, now_nanos: u64) -> Vec<StageStats> {
        let stats = |(stage, tracker): &mut (&'static str, LatencyTracker)| StageStats {
            stage,
            recent: tracker.recent(now_nanos),
            session: tracker.session(),
        };
        self.stages.iter_mut().map(stats).collect()
    }

    /// Percentiles of each stage over the whole session; stages without a value are left out.
    pub(super) fn summary(&self) -> BTreeMap<String, LatencyStats> {
        self.stages
            .iter()
            .filter_map(|(stage, tracker)| Some(((*stage).to_owned(), tracker.session()?)))
            .collect()
    }

    /// The last few answers, oldest first.
    pub(super) fn recent(&self) -> Arc<[Arc<ShownPrediction>]> {
        self.recent.iter().cloned().collect()
    }

    /// Durations of the last answers, oldest first.
    pub(super) fn timeline(&self) -> Arc<[(u64, bool, Micros)]> {
        self.timeline.iter().copied().collect()
    }
}

/// How often something happens.
#[derive(Debug, Default)]
pub(super) struct Rate {
    recent: VecDeque<u64>,
    first_nanos: Option<u64>,
    last_nanos: u64,
    count: u64,
}

impl Rate {
    /// Notes that it happened at `now_nanos`.
    pub(super) fn add(&mut self, now_nanos: u64) {
        self.first_nanos.get_or_insert(now_nanos);
        self.last_nanos = now_nanos;
        self.count += 1;
        self.recent.push_back(now_nanos);
        self.forget(now_nanos);
    }

    /// Times a second, over the last seconds, or over the last few events where they are rarer.
    /// `None` where that would be made of less than five events or of less than a second, and when
    /// it happens no more.
    pub(super) fn recent(&mut self, now_nanos: u64) -> Option<f64> {
        self.forget(now_nanos);
        let (first, last) = (*self.recent.front()?, *self.recent.back()?);
        let (count, span) = (self.recent.len(), last.saturating_sub(first));
        if count < RATE_EVENTS || span < RATE_NANOS {
            return None;
        }
        // Three times the usual distance is a stop.
        let longest = RECENT_NANOS.max(3 * span / (count as u64 - 1));
        (now_nanos.saturating_sub(last) <= longest)
            .then(|| per_second(count as u64, span))
            .flatten()
    }

    /// Times a second, from the first to the last; `None` for less than five events or a second.
    pub(super) fn whole(&self) -> Option<f64> {
        let span = self.last_nanos.saturating_sub(self.first_nanos?);
        if self.count < RATE_EVENTS as u64 || span < RATE_NANOS {
            return None;
        }
        per_second(self.count, span)
    }

    /// When it happened first, if it has.
    pub(super) fn first_nanos(&self) -> Option<u64> {
        self.first_nanos
    }

    /// When it happened last, if it has.
    pub(super) fn last_nanos(&self) -> Option<u64> {
        self.first_nanos.map(|_| self.last_nanos)
    }

    fn forget(&mut self, now_nanos: u64) {
        let oldest = now_nanos.saturating_sub(RECENT_NANOS);
        while self.recent.len() > RATE_EVENTS && self.recent.front().is_some_and(|&at| at < oldest)
        {
            self.recent.pop_front();
        }
    }
}

/// Rate of `count` events of which the first and the last are `span_nanos` apart.
fn per_second(count: u64, span_nanos: u64) -> Option<f64> {
    (count > 1 && span_nanos > 0).then(|| (count - 1) as f64 * 1e9 / span_nanos as f64)
}

/// Which frames a model has answered, or given up.
#[derive(Debug, Default)]
pub(super) struct AnsweredFrames {
    up_to: u64,
    apart: BTreeSet<u64>,
}

impl AnsweredFrames {
    /// All frames up to this sequence are done.
    pub(super) fn up_to(&self) -> u64 {
        self.up_to
    }

    /// Whether this frame is done.
    pub(super) fn contains(&self, seq: u64) -> bool {
        seq <= self.up_to || self.apart.contains(&seq)
    }

    /// Notes that a frame is done.
    pub(super) fn insert(&mut self, seq: u64) {
        if seq > self.up_to {
            self.apart.insert(seq);
        }
        // In `live` frames are missing on purpose; old ones do not matter any more.
        if self.apart.len() > ANSWERED_APART
            && let Some(oldest) = self.apart.pop_first()
        {
            self.up_to = oldest;
        }
        self.close_up();
    }

    /// Notes that no frame up to `seq` is for this model.
    pub(super) fn skip_to(&mut self, seq: u64) {
        if seq > self.up_to {
            self.up_to = seq;
            self.apart = self.apart.split_off(&(seq + 1));
            self.close_up();
        }
    }

    /// Frames up to `taken_seq` that are not done.
    pub(super) fn missing(&self, taken_seq: u64) -> Vec<u64> {
        (self.up_to + 1..=taken_seq)
            .filter(|seq| !self.apart.contains(seq))
            .collect()
    }

    fn close_up(&mut self) {
        while self.apart.first() == Some(&(self.up_to + 1)) {
            self.apart.pop_first();
            self.up_to += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::Output;
    use crate::protocol::ReportTimes;

    fn answer(seq: u64, warmup: bool) -> PredictionEvent {
        PredictionEvent {
            seq,
            width: 1,
            height: 1,
            position: Default::default(),
            provider: "CPU".to_owned(),
            warmup,
            batch: 1,
            at_nanos: ReportTimes::default(),
            output: Output::Raw {
                tensors: Vec::new(),
            },
        }
    }

    #[test]
    fn warm_up_is_counted_and_left_out_of_percentiles_and_rate() {
        let mut stats = ModelStats::new();
        let micros = |inference| Micros {
            inference,
            ..Micros::default()
        };
        stats.add(answer(1, true), 1_000_000_000, micros(900_000));
        for seq in 2..=12 {
            stats.add(answer(seq, false), seq * 100_000_000, micros(1000));
        }
        assert_eq!(stats.predicted, 12);
        let inference = stats.summary()["inference"];
        assert_eq!((inference.p50, inference.max), (1000, 1000));
        let rate = stats.rate.whole().expect("eleven answers");
        assert!((rate - 10.0).abs() < 1e-9, "{rate}");
        assert!(stats.timeline()[0].1, "the first one is marked");
    }

    #[test]
    fn a_hundred_thousand_answers_take_no_more_room_than_a_few() {
        let mut stats = ModelStats::new();
        for seq in 1..=100_000 {
            stats.add(answer(3 * seq, false), seq * 10_000_000, Micros::default());
        }
        assert_eq!(stats.timeline.len(), TIMELINE);
        let recent: Vec<u64> = stats.recent().iter().map(|shown| shown.event.seq).collect();
        assert_eq!((recent.len(), recent[15]), (RECENT_ANSWERS, 300_000));
        assert!(stats.answered.apart.len() <= ANSWERED_APART);
        assert!(
            stats.rate.recent.len() <= 501,
            "five seconds at 100 a second"
        );
        assert_eq!(stats.stages[0].1.count(), 100_000);
    }

    #[test]
    fn frames_that_were_taken_and_not_answered_are_known() {
        let mut answered = AnsweredFrames::default();
        answered.skip_to(10);
        for seq in [11, 12, 14] {
            answered.insert(seq);
        }
        assert_eq!(answered.up_to(), 12);
        assert_eq!(answered.missing(15), [13, 15]);
        assert!(answered.contains(14) && !answered.contains(13));
        answered.insert(13);
        assert_eq!(answered.up_to(), 14);
        answered.skip_to(20);
        assert_eq!(answered.missing(20), [0; 0]);
    }

    #[test]
    fn no_rate_is_made_of_few_events_of_a_moment_or_of_old_ones() {
        let mut rate = Rate::default();
        assert_eq!((rate.recent(0), rate.whole()), (None, None));
        for at in [1_000_000_000, 1_500_000_000, 2_000_000_000, 2_500_000_000] {
            rate.add(at);
            assert_eq!(rate.recent(at), None, "less than five");
            assert_eq!(rate.whole(), None, "less than five");
        }
        rate.add(3_000_000_000);
        assert_eq!(rate.recent(3_000_000_000), Some(2.0));
        assert_eq!(rate.recent(60_000_000_000), None, "it has stopped");
        assert_eq!(rate.whole(), Some(2.0));
        let mut burst = Rate::default();
        for at in 0..20 {
            burst.add(at * 10_000_000);
        }
        assert_eq!(burst.recent(200_000_000), None, "a fifth of a second");
        assert_eq!(burst.whole(), None, "a fifth of a second");
    }

    #[test]
    fn what_happens_rarely_has_a_rate_too() {
        let mut rate = Rate::default();
        for second in 0..10 {
            rate.add(second * 4_000_000_000);
        }
        assert_eq!(rate.recent(38_000_000_000), Some(0.25));
        assert_eq!(rate.recent(46_000_000_000), Some(0.25), "one is due");
        assert_eq!(rate.recent(49_000_000_000), None, "it has stopped");
    }
}
