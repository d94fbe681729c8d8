//! Finds children that are silent although they have work, and models that hold up the others.

use super::Engine;
use crate::protocol::SourceState;
use crate::session::journal::problem;
use crate::session::view::LogLevel;

/// How often it is looked.
const WATCH_NANOS: u64 = 500_000_000;

/// How long a child with work may neither say nor compute anything.
const SILENT_NANOS: u64 = 2_000_000_000;

/// How long the producer may wait for a model before it is told.
const WAIT_NANOS: u64 = 1_000_000_000;

impl Engine {
    /// Looks for stale children and waits.
    pub(super) fn watch(&mut self, now: u64) {
        self.next_watch = now + WATCH_NANOS;
        if self.stopping.is_some() {
            return;
        }
        self.watch_models(now);
        self.watch_wait(now);
        self.watch_source(now);
    }

    fn watch_models(&mut self, now: u64) {
        for index in 0..self.models.len() {
            let model = &self.models[index];
            let has_work = model.ready
                && model.counted
                && self
                    .rings
                    .member_states(model.member)
                    .last()
                    .is_some_and(|state| {
                        !state.held.is_empty() || state.taken_seq < self.rings.head()
                    });
            let model = &mut self.models[index];
            if model.managed.watch(now, has_work.then_some(SILENT_NANOS)) {
                let about = model.spec.name.clone();
                self.is_stale(now, &about);
            }
            self.dirty |= self.models[index].managed.is_stale();
        }
    }

    fn watch_source(&mut self, now: u64) {
        let delivers = self.flowing
            && self.source.attached
            && !self.paused
            && !self.source.is_over()
            && !matches!(
                self.source.state,
                Some(SourceState::Ended | SourceState::Paused)
            )
            && self
                .rings
                .state()
                .is_some_and(|state| state.waits_for.is_none());
        let own_fps = self.source.info.as_ref().and_then(|info| info.fps);
        let fps = Some(self.spec.fps).filter(|&fps| fps > 0.0).or(own_fps);
        // A slow source may be silent for as long as three of its frames last.
        let pace_nanos = fps.map_or(0, |fps| (3e9 / fps.max(1e-3)) as u64);
        let limit = SILENT_NANOS.max(pace_nanos);
        if self.source.managed.watch(now, delivers.then_some(limit)) {
            self.is_stale(now, "source");
        }
        let last = self.source.rate.last_nanos().unwrap_or(now);
        let is_late = delivers && now > last.saturating_add(limit);
        if is_late != self.source.stale_since.is_some() {
            self.source.stale_since = is_late.then_some(last);
            self.dirty = true;
        }
    }

    fn watch_wait(&mut self, now: u64) {
        let state = self.rings.state();
        let member = state
            .filter(|state| state.waits_nanos >= WAIT_NANOS)
            .and_then(|state| state.waits_for);
        let model =
            member.and_then(|member| self.models.iter().find(|model| model.member == member));
        let name = model.map(|model| model.spec.name.clone());
        if name == self.waits_for {
            return;
        }
        if let Some(name) = &name {
            let message = format!("the producer waits for model `{name}`, which takes no frame");
            let what = problem(
                "waiting",
                message,
                Some("pause, restart or remove the model, or use `live` delivery"),
            );
            self.journal.notice(now, LogLevel::Warning, name, what);
        }
        self.waits_for = name;
        self.dirty = true;
    }

    fn is_stale(&mut self, now: u64, about: &str) {
        let what = problem(
            "stale",
            "its process is alive and silent although it has work".to_owned(),
            Some("it may be stopped or stuck; it can be restarted by hand"),
        );
        self.journal.notice(now, LogLevel::Warning, about, what);
        self.dirty = true;
    }
}
