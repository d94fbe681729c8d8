//! When a session ends, and what it leaves.

use super::{Engine, Model};
use crate::base::{exit_code, monotonic_nanos};
use crate::prediction::Output;
use crate::protocol::{Delivery, Problem};
use crate::recording::{Comparison, FrameCounts, ModelSummary, Row, SummaryRow};
use crate::session::handle::{Outcome, SessionExit};
use crate::session::journal::problem;

/// How long the consumers wait for the producer's end before they are asked to end, too.
const PRODUCER_END_NANOS: u64 = 500_000_000;

impl Engine {
    /// Asks all children to end, the producer first, so that what it has published last is counted
    /// for everybody. The session is over when they have ended.
    pub(super) fn stop(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        let now = monotonic_nanos();
        self.stopping = Some(now);
        self.dirty = true;
        self.next_tick = 0;
        self.source.managed.start_again = false;
        self.source.managed.stop(now);
        for model in &mut self.models {
            model.managed.start_again = false;
            model.managed.cancel_restart();
        }
    }

    /// Asks the consumers to end, when the producer of a stopping session has, or takes long to.
    pub(super) fn stop_models(&mut self, now: u64) {
        let Some(since) = self.stopping else {
            return;
        };
        if self.source.managed.is_alive() && now < since + PRODUCER_END_NANOS {
            return;
        }
        self.end_models(now);
    }

    fn end_models(&mut self, now: u64) {
        // Wakes those that wait for a frame; the others obey before they take the next one.
        self.rings.announce_end();
        for model in &mut self.models {
            model.managed.stop(now);
        }
    }

    /// Whether all children have ended after the session was asked to.
    pub(super) fn is_over(&self) -> bool {
        self.stopping.is_some()
            && !self.source.managed.is_alive()
            && self.models.iter().all(|model| !model.managed.is_alive())
    }

    /// Ends a session that nobody watches when there is nothing more to do.
    pub(super) fn check_end(&mut self) {
        if self.stopping.is_some() || self.options.interactive {
            return;
        }
        let no_model_left = !self.models.is_empty() && self.all_models_failed();
        let is_complete = self.is_complete();
        if no_model_left || is_complete || self.has_enough_frames() {
            self.stop();
        }
        if is_complete {
            // All has been published and answered: there is nothing to wait for.
            self.end_models(monotonic_nanos());
        }
    }

    /// Whether the source is over and all models have answered.
    pub(super) fn is_complete(&self) -> bool {
        let head = self.rings.head();
        self.source.is_over()
            && !self.source.managed.is_ending()
            && self.models.iter().all(|model| self.is_done(model, head))
    }

    /// Whether a model has nothing to do with frames up to `head` any more.
    fn is_done(&self, model: &Model, head: u64) -> bool {
        if !model.counted {
            return true;
        }
        match self.delivery {
            Delivery::Every => model.stats.answered.up_to() >= head,
            // What it took and reports is read before its end; what it did not take is dropped. One
            // that has as many frames as were asked for has left the ring.
            Delivery::Live => {
                let states = self.rings.member_states(model.member);
                !model.ready
                    || states.last().is_none_or(|state| {
                        (!state.expected || state.taken_seq >= head) && state.held.is_empty()
                    })
            }
        }
    }

    /// How many frames each model is to answer, where that is what ends the session: in `every` the
    /// producer counts, and in a window nothing ends by itself.
    pub(super) fn quota(&self) -> Option<u64> {
        self.spec
            .frames
            .filter(|_| self.delivery == Delivery::Live && !self.options.interactive)
    }

    /// Whether every model that works has answered as many frames as were asked for.
    fn has_enough_frames(&self) -> bool {
        let Some(frames) = self.quota() else {
            return false;
        };
        let mut working = self
            .models
            .iter()
            .filter(|model| !model.managed.has_failed() && !model.paused)
            .peekable();
        match working.peek() {
            Some(_) => working.all(|model| model.stats.reported() >= frames),
            None => self.models.is_empty() && self.rings.head() >= frames,
        }
    }

    /// Completes rows and summary, gives the rings back, and tells how it went.
    pub(super) fn finish(mut self) -> Outcome {
        self.fill_in_frames(self.rings.head());
        self.helpers.clear();
        self.note_saved(monotonic_nanos());
        self.say_what_failed();
        let summary = self.summary();
        self.journal.row(Row::Summary(Box::new(summary.clone())));
        self.journal.finish();
        self.rings.close();
        let exit = self.exit();
        self.publish_view(monotonic_nanos());
        Outcome {
            summary,
            exit,
            failures: self.failures,
            closed_pipe: self.closed_pipe,
        }
    }

    /// Says what came to nothing although nobody gave up: a run that has nothing to show for it did
    /// not go well.
    fn say_what_failed(&mut self) {
        if self.was_interrupted() || self.options.interactive {
            return;
        }
        let now = monotonic_nanos();
        let skipped = self.source.skipped;
        if self.rings.head() == 0 && skipped > 0 && !self.source.managed.has_failed() {
            let message = format!("nothing in it could be read: {skipped} entries were left out");
            let hint = Some("the `skipped` rows say why");
            self.failed(now, "source", problem("no_frames", message, hint));
        }
        let silent: Vec<_> = self
            .models
            .iter()
            .filter(|model| !model.managed.has_failed())
            .filter_map(|model| Some((model.spec.name.clone(), self.without_answer(model)?)))
            .collect();
        for (name, what) in silent {
            self.failed(now, &name, what);
        }
    }

    /// What is wrong with a model that had frames and has no usable answer to any of them.
    fn without_answer(&self, model: &Model) -> Option<Problem> {
        let stats = &model.stats;
        let taken = self.totals(model).taken;
        if taken + stats.lost == 0 || stats.predicted + stats.unreported > 0 {
            return None;
        }
        let last = stats.shown.as_ref().map(|shown| &shown.event.output);
        Some(match last {
            Some(Output::Invalid { reason }) if stats.lost == 0 => problem(
                "all_invalid",
                format!(
                    "none of its {} answers can be used: {reason}",
                    stats.invalid
                ),
                Some("check the model and its preprocessing"),
            ),
            _ => problem(
                "no_answer",
                format!(
                    "it has no answer to any frame: {taken} taken, {} lost, {} invalid",
                    stats.lost, stats.invalid
                ),
                Some("the `lost` rows say why"),
            ),
        })
    }

    fn exit(&self) -> SessionExit {
        if self.was_interrupted() {
            return SessionExit::Interrupted;
        }
        if self.source.managed.fault_code == Some(i32::from(exit_code::SOURCE))
            && self.rings.head() == 0
        {
            return SessionExit::SourceCannotOpen;
        }
        let never_loaded = self.models.iter().all(|model| !model.has_loaded_once);
        if !self.models.is_empty() && never_loaded && self.all_models_failed() {
            let codes = self.models.iter().map(|model| model.managed.fault_code);
            return if codes
                .into_iter()
                .all(|code| code == Some(i32::from(exit_code::RUNTIME)))
            {
                SessionExit::RuntimeMissing
            } else {
                SessionExit::NoModelLoaded
            };
        }
        if self.failures.is_empty() {
            SessionExit::Done
        } else {
            SessionExit::GaveUp
        }
    }

    fn was_interrupted(&self) -> bool {
        self.interrupted.load(std::sync::atomic::Ordering::SeqCst)
    }

    fn summary(&self) -> SummaryRow {
        let first = self.source.rate.first_nanos();
        let answers = self.models.iter().map(|model| &model.stats.rate);
        let last = answers
            .chain([&self.source.rate])
            .filter_map(|rate| rate.last_nanos())
            .max();
        let span = first
            .zip(last)
            .map(|(first, last)| last.saturating_sub(first));
        SummaryRow {
            frames: FrameCounts {
                published: self.rings.head(),
                skipped: self.source.skipped,
            },
            models: self
                .models
                .iter()
                .map(|model| self.model_summary(model))
                .collect(),
            comparison: self.comparison(),
            interrupted: self.was_interrupted(),
            seconds: span.unwrap_or(0) as f64 / 1e9,
        }
    }

    fn model_summary(&self, model: &Model) -> ModelSummary {
        let totals = self.totals(model);
        let stats = &model.stats;
        ModelSummary {
            name: model.spec.name.clone(),
            joined_at: model.joined_at.unwrap_or(0),
            predicted: stats.predicted,
            dropped: totals.published.saturating_sub(totals.taken),
            lost: stats.lost,
            invalid: stats.invalid,
            unreported: stats.unreported,
            restarts: model.managed.supervisor.restarts(),
            provider: model
                .card
                .as_ref()
                .map(|card| card.provider.provider.clone()),
            micros: stats.summary(),
            frames_per_second: stats.rate.whole(),
        }
    }

    fn comparison(&self) -> Vec<Comparison> {
        let name = |key| {
            let model = self.models.iter().find(|model| model.key == key);
            model.map_or("", |model| &model.spec.name)
        };
        self.pairing
            .counts()
            .iter()
            .map(|(&(a, b), counts)| counts.row(name(a), name(b)))
            .collect()
    }
}
