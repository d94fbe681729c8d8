//! Makes the view.

use super::{Engine, Model};
use crate::session::view::{AgreementView, ModelView, SessionPhase, SessionView, SourceView};

impl Engine {
    /// A picture of everything now.
    pub(super) fn picture(&mut self, now: u64) -> SessionView {
        self.view_version += 1;
        let models = (0..self.models.len())
            .map(|index| self.model_view(index, now))
            .collect();
        SessionView {
            version: self.view_version,
            phase: self.phase(),
            at_nanos: now,
            started_nanos: self.started_nanos,
            source: self.source_view(now),
            models,
            ring: self.rings.view(),
            agreement: self.agreement(),
            log: self.journal.lines(),
        }
    }

    fn phase(&self) -> SessionPhase {
        if self.is_over() {
            SessionPhase::Stopped
        } else if self.stopping.is_some() {
            SessionPhase::Stopping
        } else if !self.flowing {
            SessionPhase::Starting
        } else if self.is_complete() {
            SessionPhase::Ended
        } else if self.paused {
            SessionPhase::Paused
        } else {
            SessionPhase::Running
        }
    }

    fn source_view(&mut self, now: u64) -> SourceView {
        let published = self.rings.head();
        let waits_for = self.waits_for.clone();
        let source = &mut self.source;
        SourceView {
            uri: source.shown_address(),
            child: source.managed.state.clone(),
            pid: source.managed.pid(),
            usage: source.managed.usage(),
            restarts: source.managed.supervisor.restarts(),
            info: source.info.clone(),
            state: source.state,
            delivery: Some(self.delivery),
            schedule: self.schedule,
            looping: source.looping,
            published,
            skipped: source.skipped,
            newest: source.newest.clone(),
            frames_per_second: source.rate.recent(now),
            stale_since: source.stale_since,
            waits_for,
            stderr: source.managed.stderr(),
        }
    }

    fn model_view(&mut self, index: usize, now: u64) -> ModelView {
        let dropped = self.dropped_so_far(&self.models[index]);
        let model = &mut self.models[index];
        let stats = &mut model.stats;
        ModelView {
            spec: model.spec.clone(),
            child: model.managed.state.clone(),
            pid: model.managed.pid(),
            usage: model.managed.usage(),
            restarts: model.managed.supervisor.restarts(),
            card: model.card.clone(),
            shown: stats.shown.clone(),
            recent: stats.recent(),
            stages: stats.stages(now),
            timeline: stats.timeline(),
            frames_per_second: stats.rate.recent(now),
            joined_at: model.joined_at,
            predicted: stats.predicted,
            dropped,
            lost: stats.lost,
            invalid: stats.invalid,
            unreported: stats.unreported,
            stderr: model.managed.stderr(),
        }
    }

    /// Frames that have passed a model by. In `every` those that it has not taken yet will be.
    fn dropped_so_far(&self, model: &Model) -> u64 {
        if self.delivery == crate::protocol::Delivery::Every {
            return 0;
        }
        let totals = self.totals(model);
        let states = self.rings.member_states(model.member);
        // The newest frames are still there to be taken.
        let untaken = states
            .last()
            .filter(|state| state.expected)
            .map_or(0, |state| u64::from(self.rings.head() > state.taken_seq));
        totals.published.saturating_sub(totals.taken + untaken)
    }

    fn agreement(&self) -> Vec<AgreementView> {
        let name = |key| {
            let model = self.models.iter().find(|model| model.key == key);
            model.map(|model| model.spec.name.clone())
        };
        let pairs = self.pairing.pairs();
        pairs
            .filter_map(|(a, b, counts)| {
                Some(AgreementView {
                    a: name(a)?,
                    b: name(b)?,
                    frames: counts.frames,
                    same: counts.same,
                })
            })
            .collect()
    }
}
