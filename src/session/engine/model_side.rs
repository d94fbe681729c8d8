//! The models and their consumers: start, answers, lost frames, death.

use std::sync::Arc;

use super::Engine;
use super::resume::CAREFUL_POSITIONS;
use super::source_side::wrong_protocol;
use crate::base::monotonic_nanos;
use crate::frame::{FrameDescription, PixelOrder, SampleType};
use crate::protocol::{
    Command, ConsumerStart, Event, FrameEvent, ModelCard, ModelSpec, PredictionEvent, Role,
    Schedule,
};
use crate::recording::{Micros, PredictionRow, Row};
use crate::session::journal::problem;
use crate::session::managed::{Consequence, Death, Managed};
use crate::session::pairing::ModelKey;
use crate::session::ring_host::MemberTotals;
use crate::session::store::ModelStats;
use crate::session::view::{ChildState, LogLevel};

/// A model of the session.
pub(in crate::session) struct Model {
    pub(in crate::session) key: ModelKey,
    pub(in crate::session) spec: Arc<ModelSpec>,
    /// Its options from the next start on.
    pub(in crate::session) next_spec: Option<Arc<ModelSpec>>,
    pub(in crate::session) managed: Managed,
    /// Its entry in the rings' tables.
    pub(in crate::session) member: u32,
    /// What the entry had counted for models before it.
    totals_before: MemberTotals,
    pub(in crate::session) card: Option<Arc<ModelCard>>,
    pub(in crate::session) stats: ModelStats,
    pub(in crate::session) joined_at: Option<u64>,
    /// Its process has the model loaded.
    pub(in crate::session) ready: bool,
    /// It is among the readers: frames are for it, also while its process restarts.
    pub(in crate::session) counted: bool,
    /// Held by the user.
    pub(in crate::session) paused: bool,
    /// To be forgotten when its process has ended.
    pub(in crate::session) removed: bool,
    /// The frame that it had when its process died last.
    pub(in crate::session) lost_last: Option<u64>,
    /// How its process ended, if it was not asked to.
    pub(in crate::session) died_of: Option<String>,
    /// It has been ready at least once.
    pub(in crate::session) has_loaded_once: bool,
}

impl Model {
    /// Most frames that it has taken and not answered: a batch, of which the model itself may say
    /// how large it is, and what its workers prepare.
    pub(super) fn in_flight(&self) -> u32 {
        let batch = self.card.as_ref().map_or(0, |card| card.batch);
        batch.max(self.spec.batch).saturating_add(self.spec.workers)
    }

    /// Whether frames are held back until it is ready.
    pub(super) fn is_expected(&self) -> bool {
        let is_down = matches!(
            self.managed.state,
            ChildState::Failed(_) | ChildState::Stopped
        );
        !is_down && !self.paused && !self.removed
    }
}

impl Engine {
    /// Adds a model behind the others, without starting its process. `None` when there is no place.
    pub(super) fn new_model(&mut self, spec: ModelSpec) -> Option<usize> {
        let member = self.free_member()?;
        let key = self.next_model;
        self.next_model += 1;
        self.pairing.add(key);
        let mut stats = ModelStats::new();
        stats.answered.skip_to(self.rings.head());
        self.models.push(Model {
            key,
            spec: Arc::new(spec),
            next_spec: None,
            managed: Managed::new(Role::Consumer, self.options.restart.clone()),
            member,
            totals_before: self.rings.totals(member),
            card: None,
            stats,
            joined_at: None,
            ready: false,
            counted: false,
            paused: false,
            removed: false,
            lost_last: None,
            died_of: None,
            has_loaded_once: false,
        });
        Some(self.models.len() - 1)
    }

    /// Goes over to the options that wait for the next start. What was counted and compared so far
    /// is about another model.
    fn take_next_spec(&mut self, index: usize) {
        let Some(spec) = self.models[index].next_spec.take() else {
            return;
        };
        let key = self.next_model;
        self.next_model += 1;
        let model = &mut self.models[index];
        let before = std::mem::replace(&mut model.key, key);
        self.pairing.remove(before);
        self.pairing.add(key);
        model.totals_before = self.rings.totals(model.member);
        let answered = std::mem::take(&mut model.stats.answered);
        model.stats = ModelStats::new();
        model.stats.answered = answered;
        model.card = None;
        model.spec = spec;
    }

    /// Starts the process of a model.
    pub(super) fn start_model(&mut self, index: usize) {
        self.take_next_spec(index);
        let now = monotonic_nanos();
        let id = self.next_child_id();
        let models = self.models.len() as u32;
        let quota = self.quota();
        let model = &mut self.models[index];
        model.ready = false;
        let start = ConsumerStart {
            model: (*model.spec).clone(),
            delivery: self.delivery,
            schedule: self.schedule,
            onnxruntime: self.options.onnxruntime.clone(),
            models,
            frames: quota.map(|frames| frames.saturating_sub(model.stats.reported())),
        };
        let started = model.managed.start(
            &self.options.program,
            id,
            Command::Consume(Box::new(start)),
            self.to_inbox.clone(),
            now,
        );
        if let Err(problem) = started {
            let about = model.spec.name.clone();
            self.rings.forget(model.member);
            model.counted = false;
            self.failed(now, &about, problem);
            self.flow_if_ready();
            return;
        }
        // One whose name is gone is replaced, to which it will be told to attach.
        if self.rings.can_be_found() {
            for attachment in self.rings.reader_attachments(model.member) {
                model.managed.send(Command::Attach(attachment));
            }
        }
        self.replace_unfit_ring(now);
        self.write_off_unreachable(index);
    }

    /// Asks for the next ring when children cannot attach to this one or it has too few slots: a
    /// producer that is started again, and goes on where it is, makes one.
    fn replace_unfit_ring(&mut self, now: u64) {
        let is_unfit = self.rings.is_open() && !self.rings.serves(self.slots_wanted());
        let source = &mut self.source;
        if is_unfit && !source.is_over() && source.managed.is_alive() {
            source.managed.start_again = true;
            source.managed.stop(now);
        }
    }

    /// Lets a ready model take frames.
    pub(super) fn play_model(&mut self, index: usize) {
        let model = &mut self.models[index];
        if !self.flowing || !model.ready || model.paused || model.removed {
            return;
        }
        if !model.counted {
            self.rings.count_in(model.member);
            model.counted = true;
            if let Some(state) = self.rings.member_states(model.member).last() {
                model.joined_at.get_or_insert(state.joined_at);
                model.stats.answered.skip_to(state.joined_at);
            }
        }
        model.managed.send(Command::Play);
        model.managed.state = ChildState::Running;
    }

    /// Reacts to a consumer.
    pub(super) fn model_event(&mut self, index: usize, event: Event, received_nanos: u64) {
        let about = self.models[index].spec.name.clone();
        let model = &mut self.models[index];
        match event {
            Event::Hello { protocol, .. } => {
                if let Some(problem) = wrong_protocol(protocol) {
                    model.managed.give_up(problem.clone(), None);
                    self.rings.forget(model.member);
                    self.failed(received_nanos, &about, problem);
                }
            }
            Event::Attached { .. } => {}
            Event::Loading { step } => model.managed.state = ChildState::Starting { step },
            Event::Ready(card) => {
                // A restart tells nothing new.
                let is_news = model.card.as_ref().is_none_or(|known| {
                    known.sha256 != card.sha256
                        || known.provider.provider != card.provider.provider
                        || known.scores != card.scores
                });
                model.card = Some(Arc::from(card));
                model.ready = true;
                model.has_loaded_once = true;
                model.managed.state = if model.paused {
                    ChildState::Paused
                } else {
                    ChildState::Running
                };
                if is_news {
                    self.write_session_row();
                }
                // A model may take more frames at once than it was asked to.
                self.replace_unfit_ring(received_nanos);
                if self.flowing {
                    self.play_model(index);
                } else {
                    self.flow_if_ready();
                }
            }
            Event::Card(card) => {
                model.card = Some(Arc::from(card));
                self.write_session_row();
            }
            Event::Prediction(prediction) => self.answered(index, *prediction, received_nanos),
            Event::Unreported { count } => model.stats.unreported += count,
            Event::Detached { generation } => self.ring_left(index, generation),
            Event::Notice(notice) => {
                self.journal
                    .notice(received_nanos, LogLevel::Warning, &about, notice);
            }
            Event::Failed(problem) => model.managed.problem = Some(problem),
            other => tracing::warn!("a consumer says what only producers say: {other:?}"),
        }
    }

    fn answered(&mut self, index: usize, event: PredictionEvent, received_nanos: u64) {
        let contended = self.is_contended(index);
        let model = &mut self.models[index];
        let micros = Micros::new(
            &event.at_nanos,
            event.position.captured_nanos,
            received_nanos,
        );
        let row = PredictionRow {
            seq: event.seq,
            model: model.spec.name.clone(),
            provider: event.provider.clone(),
            path: event.position.path.clone(),
            width: event.width,
            height: event.height,
            warmup: event.warmup,
            batch: event.batch,
            contended,
            micros,
            output: event.output.clone(),
        };
        self.pairing.answered(model.key, event.seq, &event.output);
        let seq = event.seq;
        if seq > self.journal.frames_written() {
            self.early_frames
                .entry(seq)
                .or_insert_with(|| frame_of_answer(&event));
        }
        model.stats.add(event, received_nanos, micros);
        self.journal
            .about_frame(seq, Row::Prediction(Box::new(row)));
        if let Some(overdue) = self.journal.overdue() {
            self.fill_in_frames(overdue);
        }
        if self.source.is_over() || self.spec.frames.is_some() {
            self.next_tick = 0;
        }
    }

    /// Whether other models may run on the same device at the same time.
    fn is_contended(&self, index: usize) -> bool {
        let device = |model: &Model| model.card.as_ref().map(|card| card.provider.device);
        let own = device(&self.models[index]);
        let shares = |(other, model): (usize, &Model)| {
            other != index && model.counted && own.is_some() && device(model) == own
        };
        self.schedule == Schedule::Together && self.models.iter().enumerate().any(shares)
    }

    /// Frames that were for a model, and those of them that it took.
    pub(super) fn totals(&self, model: &Model) -> MemberTotals {
        let now = self.rings.totals(model.member);
        let before = model.totals_before;
        MemberTotals {
            published: now.published.saturating_sub(before.published),
            taken: now.taken.saturating_sub(before.taken),
        }
    }

    /// Reacts to a consumer's end.
    pub(super) fn consumer_died(&mut self, index: usize, death: &Death, now: u64) {
        self.dirty = true;
        self.write_off_death(index, &death.cause);
        let model = &mut self.models[index];
        model.ready = false;
        model.died_of = (!death.asked).then(|| death.cause.clone());
        let about = model.spec.name.clone();
        let consequence = model.managed.judge(death, now);
        let comes_back = matches!(
            consequence,
            Consequence::Restarts { .. } | Consequence::StartNow
        );
        if !comes_back {
            model.counted = false;
            self.rings.forget(model.member);
        }
        match consequence {
            Consequence::StartNow => self.start_model(index),
            Consequence::Restarts { delay_millis } => {
                let words = model.managed.last_words(&death.cause);
                let message =
                    format!("its process ended by {words}; starting again in {delay_millis} ms");
                let what = problem("restarting", message, None);
                self.journal.notice(now, LogLevel::Warning, &about, what);
            }
            Consequence::GivenUp(problem) => self.failed(now, &about, problem),
            Consequence::Stopped => {
                if model.removed {
                    let key = model.key;
                    self.models.remove(index);
                    self.pairing.remove(key);
                }
            }
        }
        self.flow_if_ready();
    }

    /// Notices ended children.
    pub(super) fn poll_children(&mut self, now: u64) {
        if let Some(death) = self.source.managed.poll(now) {
            self.producer_died(&death, now);
        }
        // Backwards, as a removed model leaves the list.
        for index in (0..self.models.len()).rev() {
            if let Some(death) = self.models[index].managed.poll(now) {
                self.consumer_died(index, &death, now);
            }
        }
    }

    /// Starts children whose waiting time is over.
    pub(super) fn restart_due(&mut self, now: u64) {
        let is_due = |managed: &Managed| managed.restart_at().is_some_and(|at| at <= now);
        if is_due(&self.source.managed) {
            self.resume_producer(CAREFUL_POSITIONS);
        }
        for index in 0..self.models.len() {
            if is_due(&self.models[index].managed) {
                self.start_model(index);
            }
        }
    }
}

/// What an answer tells about its frame, as far as rows need it.
fn frame_of_answer(event: &PredictionEvent) -> FrameEvent {
    FrameEvent {
        seq: event.seq,
        description: FrameDescription {
            width: event.width,
            height: event.height,
            sample: SampleType::U8,
            order: PixelOrder::Rgb,
            stride_bytes: event.width.saturating_mul(3),
        },
        position: event.position.clone(),
        published_nanos: event.at_nanos.published,
        xxh3: None,
    }
}
