//! Finds children that are silent although they have work, and models that hold up the others.

use super::Engine;
use crate::protocol::{Delivery, Schedule, SourceState};
use crate::ring::MemberState;
use crate::session::journal::problem;
use crate::session::view::LogLevel;

/// How often it is looked.
const WATCH_NANOS: u64 = 500_000_000;

/// How long a child with work may neither say nor compute anything.
const SILENT_NANOS: u64 = 2_000_000_000;

/// How long the producer may wait for a model before a view says so.
const WAIT_NANOS: u64 = 1_000_000_000;

/// How long before a row says so, as slow models are no news.
const LONG_WAIT_NANOS: u64 = 3_000_000_000;

impl Engine {
    /// Looks for stale children and waits.
    pub(super) fn watch(&mut self, now: u64) {
        self.next_watch = now + WATCH_NANOS;
        if self.stopping.is_some() {
            return;
        }
        self.source.managed.look(now);
        for model in &mut self.models {
            model.managed.look(now);
        }
        self.watch_models(now);
        self.watch_wait(now);
        self.watch_source(now);
    }

    fn watch_models(&mut self, now: u64) {
        for index in 0..self.models.len() {
            let limit =
                (self.has_work(index) && !self.waits_for_turn(index, now)).then_some(SILENT_NANOS);
            let model = &mut self.models[index];
            let was_stale = model.managed.is_stale();
            if model.managed.watch(now, limit) {
                let about = model.spec.name.clone();
                self.is_stale(now, &about);
            }
            self.dirty |= was_stale != self.models[index].managed.is_stale();
            self.watch_start(index, now);
        }
    }

    /// Says what a model does whose start takes long.
    fn watch_start(&mut self, index: usize, now: u64) {
        // Without a ring it waits for the source.
        if !self.rings.is_open() {
            return;
        }
        let model = &mut self.models[index];
        if let Some((step, seconds)) = model.managed.long_start(now) {
            let message = format!("still {step}, for {seconds} s");
            let what = problem("still_loading", message, None);
            let about = model.spec.name.clone();
            self.journal.notice(now, LogLevel::Info, &about, what);
        }
    }

    /// Whether there are frames that a model has not answered.
    fn has_work(&self, index: usize) -> bool {
        let model = &self.models[index];
        let states = self.rings.member_states(model.member);
        let has_frames =
            |state: &MemberState| !state.held.is_empty() || state.taken_seq < self.rings.head();
        let has_enough = self
            .quota()
            .is_some_and(|frames| model.stats.reported() >= frames);
        model.ready && model.counted && !has_enough && states.last().is_some_and(has_frames)
    }

    /// Whether a model may be idle because another one has the device.
    fn waits_for_turn(&self, index: usize, now: u64) -> bool {
        let mut others = self
            .models
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != index);
        self.schedule == Schedule::Turns
            && self.delivery == Delivery::Every
            && others.any(|(_, model)| {
                model.counted
                    && model.managed.is_alive()
                    && model.managed.idle_nanos(now) <= SILENT_NANOS
            })
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
        let waits_nanos = state.as_ref().map_or(0, |state| state.waits_nanos);
        let member = state
            .and_then(|state| state.waits_for)
            .filter(|_| waits_nanos >= WAIT_NANOS);
        let model =
            member.and_then(|member| self.models.iter().find(|model| model.member == member));
        let name = model.map(|model| model.spec.name.clone());
        let is_long = waits_nanos >= LONG_WAIT_NANOS;
        if let Some(name) = name.as_ref().filter(|_| is_long) {
            let message = format!("the producer waits for model `{name}`, which takes no frame");
            let what = problem(
                "waiting",
                message,
                Some("pause, restart or remove the model, or use `live` delivery"),
            );
            self.journal
                .notice_rarely(now, LogLevel::Warning, name, what);
        }
        if name != self.waits_for {
            self.waits_for = name;
            self.dirty = true;
        }
    }

    fn is_stale(&mut self, now: u64, about: &str) {
        let what = problem(
            "stale",
            "its process is alive and silent although it has work".to_owned(),
            Some("it may be stopped or stuck; it can be restarted by hand"),
        );
        self.journal
            .notice_rarely(now, LogLevel::Warning, about, what);
        self.dirty = true;
    }
}
