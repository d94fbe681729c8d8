//! The session's thread: it owns all state, starts all children, and reacts to events, commands
//! and time in one loop. Nothing in the loop waits for anybody but the rows' outputs.

mod ending;
mod model_side;
mod picture;
mod resume;
mod source_side;
mod user;
mod watch;
mod write_off;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crossbeam::channel::{self, Receiver, Sender};
use crossbeam::select;

pub(super) use self::model_side::Model;
use self::source_side::Source;
use super::child::{ChildMessage, Incoming};
use super::handle::{OUTPUT_FAILED, Outcome, SessionOptions};
use super::journal::{Journal, problem};
use super::pairing::{ModelKey, Pairing};
use super::ring_host::RingHost;
use super::row_writer::SinkFailure;
use super::spec::SessionSpec;
use super::view::{LogLevel, SessionCommand, SessionView};
use crate::base::{Worker, monotonic_nanos};
use crate::protocol::{Delivery, FrameEvent, Problem, Schedule};
use crate::recording::{ModelRow, Row, SCHEMA, SessionRow, SourceRow};
use crate::ring;

/// Events of all children waiting for the session's thread. When it is full the children wait at
/// their pipes.
const INBOX: usize = 1024;

/// Events that are handled before children are looked at and a view is made.
const EVENTS_AT_ONCE: usize = 256;

/// How often children are looked at.
const TICK_NANOS: u64 = 100_000_000;

/// How often when one is about to end.
const SHORT_TICK_NANOS: u64 = 10_000_000;

/// Least time between two views for a window.
const VIEW_NANOS: u64 = 33_000_000;

/// Least time between two views for a progress bar.
const RARE_VIEW_NANOS: u64 = 200_000_000;

/// What [`Engine::new`] needs.
pub(super) struct EngineParts {
    pub(super) spec: SessionSpec,
    pub(super) options: SessionOptions,
    pub(super) commands: Receiver<SessionCommand>,
    pub(super) view: Arc<RwLock<Arc<SessionView>>>,
    pub(super) interrupted: Arc<AtomicBool>,
}

/// See the module.
pub(super) struct Engine {
    spec: SessionSpec,
    delivery: Delivery,
    schedule: Schedule,
    options: SessionOptions,
    run: String,
    started: String,
    started_nanos: u64,

    source: Source,
    models: Vec<Model>,
    rings: RingHost,
    pairing: Pairing,
    journal: Journal,
    /// Frames known from answers that came before the frame's own event.
    early_frames: BTreeMap<u64, FrameEvent>,
    failures: Vec<(String, Problem)>,
    helpers: Vec<Worker>,
    /// What helpers have done: a model's name, and what there is to say.
    saved: Receiver<(String, Problem)>,
    to_saved: Sender<(String, Problem)>,

    /// Frames may flow: every model that is waited for is ready.
    flowing: bool,
    /// Held by the user.
    paused: bool,
    /// Frames to publish although it is held, asked for before they could flow.
    steps: u32,
    /// Monotonic time since which the session is ending.
    stopping: Option<u64>,
    closed_pipe: bool,
    /// Name of the model that the producer has been waiting for, if for long.
    waits_for: Option<String>,

    next_child: u64,
    next_model: ModelKey,
    next_tick: u64,
    next_watch: u64,
    next_view: u64,
    dirty: bool,
    view_version: u64,

    inbox: Receiver<Incoming>,
    to_inbox: Sender<Incoming>,
    commands: Receiver<SessionCommand>,
    failed_sinks: Receiver<SinkFailure>,
    view: Arc<RwLock<Arc<SessionView>>>,
    interrupted: Arc<AtomicBool>,
}

impl Engine {
    /// Prepares a session; [`Self::run`] starts its children.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(super) fn new(parts: EngineParts) -> io::Result<Self> {
        let EngineParts {
            spec,
            mut options,
            commands,
            view,
            interrupted,
        } = parts;
        let started_nanos = monotonic_nanos();
        let sinks = std::mem::take(&mut options.sinks);
        let (journal, failed_sinks) =
            Journal::start(sinks, started_nanos, Arc::clone(&interrupted))?;
        let (to_inbox, inbox) = channel::bounded(INBOX);
        // One word for each time that a user saves something.
        let (to_saved, saved) = channel::unbounded();
        let source = Source {
            looping: spec.looping,
            ..Source::new(spec.source.clone(), options.restart.clone())
        };
        let mut engine = Self {
            delivery: spec.delivery(),
            schedule: spec.schedule(),
            run: ulid::Ulid::new().to_string(),
            started: jiff::Timestamp::now().to_string(),
            started_nanos,
            source,
            models: Vec::new(),
            rings: RingHost::default(),
            pairing: Pairing::default(),
            journal,
            early_frames: BTreeMap::new(),
            failures: Vec::new(),
            helpers: Vec::new(),
            saved,
            to_saved,
            flowing: false,
            paused: options.start_paused,
            steps: 0,
            stopping: None,
            closed_pipe: false,
            waits_for: None,
            next_child: 1,
            next_model: 1,
            next_tick: 0,
            next_watch: 0,
            next_view: 0,
            dirty: true,
            view_version: 0,
            inbox,
            to_inbox,
            commands,
            failed_sinks,
            view,
            interrupted,
            spec,
            options,
        };
        for spec in engine.spec.models.clone() {
            engine.new_model(spec);
        }
        Ok(engine)
    }

    /// Runs the session to its end. Children are started on this thread and do not outlive it.
    pub(super) fn run(mut self) -> Outcome {
        self.sweep();
        self.write_session_row();
        if self.source.is_named() {
            self.start_producer(None);
        }
        for model in 0..self.models.len() {
            self.start_model(model);
        }
        loop {
            self.wait();
            let now = monotonic_nanos();
            if now >= self.next_tick {
                self.tick(now);
            }
            if self.is_over() {
                return self.finish();
            }
            if self.dirty && now >= self.next_view {
                self.publish_view(now);
            }
        }
    }

    /// Waits for the next thing to do, and does it.
    fn wait(&mut self) {
        let now = monotonic_nanos();
        let mut until = self.next_tick;
        if self.dirty {
            until = until.min(self.next_view);
        }
        let timeout = Duration::from_nanos(until.saturating_sub(now));
        select! {
            recv(self.inbox) -> incoming => {
                if let Ok(incoming) = incoming {
                    self.receive(incoming);
                }
            }
            recv(self.commands) -> command => match command {
                Ok(command) => self.obey(command),
                // The handle is gone, which asks for the end before.
                Err(_) => {
                    self.commands = channel::never();
                    self.stop();
                }
            },
            recv(self.failed_sinks) -> failure => match failure {
                Ok(failure) => self.sink_failed(&failure),
                Err(_) => self.failed_sinks = channel::never(),
            },
            default(timeout) => {}
        }
        for _ in 0..EVENTS_AT_ONCE {
            let Ok(incoming) = self.inbox.try_recv() else {
                break;
            };
            self.receive(incoming);
        }
    }

    /// Hands a child's message to its side.
    fn receive(&mut self, incoming: Incoming) {
        let Incoming {
            child,
            received_nanos,
            message,
        } = incoming;
        self.dirty = true;
        let model = self
            .models
            .iter()
            .position(|model| model.managed.id == child);
        let managed = match model {
            Some(model) => &mut self.models[model].managed,
            None if self.source.managed.id == child => &mut self.source.managed,
            // A child of before.
            None => return,
        };
        match message {
            ChildMessage::Event(event) => {
                managed.heard(received_nanos);
                match model {
                    Some(model) => self.model_event(model, *event, received_nanos),
                    None => self.source_event(*event, received_nanos),
                }
            }
            ChildMessage::Garbled(line) => {
                let about = self.name_of(model).to_owned();
                let message = format!("its process wrote a line that is no event: {line}");
                self.journal
                    .log(received_nanos, LogLevel::Warning, &about, &message, None);
            }
            ChildMessage::Closed => {
                managed.closed(received_nanos);
                self.next_tick = 0;
            }
            ChildMessage::Died => self.next_tick = 0,
        }
    }

    /// Looks at children and time.
    fn tick(&mut self, now: u64) {
        self.poll_children(now);
        self.restart_due(now);
        if now >= self.next_watch {
            self.watch(now);
        }
        if self.interrupted.load(Ordering::SeqCst) {
            self.stop();
        }
        self.helpers.retain(|helper| !helper.is_finished());
        self.note_saved(now);
        self.stop_models(now);
        self.check_end();
        let children = || {
            let models = self.models.iter().map(|model| &model.managed);
            models.chain([&self.source.managed])
        };
        let tick = if self.stopping.is_some() || children().any(|child| child.is_ending()) {
            SHORT_TICK_NANOS
        } else {
            TICK_NANOS
        };
        let restart = children().filter_map(|child| child.restart_at()).min();
        self.next_tick = (now + tick).min(restart.unwrap_or(u64::MAX));
    }

    /// Removes what crashed sessions have left in `/dev/shm`.
    fn sweep(&mut self) {
        let now = monotonic_nanos();
        match ring::sweep() {
            Ok(swept) if swept.is_empty() => {}
            Ok(swept) => {
                let message = format!("removed what ended sessions had left: {}", swept.join(", "));
                self.journal
                    .log(now, LogLevel::Info, "session", &message, None);
            }
            Err(error) => {
                let message = format!("cannot look for what ended sessions have left: {error}");
                self.journal
                    .log(now, LogLevel::Warning, "session", &message, None);
            }
        }
    }

    fn write_session_row(&mut self) {
        let loaded = || {
            self.models
                .iter()
                .filter_map(|model| model.card.as_ref().map(|card| (model, card)))
        };
        let row = SessionRow {
            schema: SCHEMA,
            ringside: env!("CARGO_PKG_VERSION").to_owned(),
            run: self.run.clone(),
            started: self.started.clone(),
            host: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            source: SourceRow {
                uri: self.source.shown_address(),
                delivery: self.delivery,
                schedule: self.schedule,
            },
            onnxruntime: loaded().next().map(|(_, card)| card.onnxruntime.clone()),
            models: loaded()
                .map(|(model, card)| ModelRow::new(&model.spec, card))
                .collect(),
        };
        self.journal.row(Row::Session(Box::new(row)));
    }

    /// Name of a child in rows and log.
    fn name_of(&self, model: Option<usize>) -> &str {
        model.map_or("source", |model| &self.models[model].spec.name)
    }

    /// Notes that something gave up.
    fn failed(&mut self, now: u64, about: &str, what: Problem) {
        self.failures.push((about.to_owned(), what.clone()));
        self.journal.failed(now, about, what);
    }

    fn sink_failed(&mut self, failure: &SinkFailure) {
        let now = monotonic_nanos();
        if failure.is_closed_pipe() {
            // `| head` has seen enough.
            self.closed_pipe = true;
            if !self.options.interactive {
                self.stop();
            }
            return;
        }
        let what = problem(
            OUTPUT_FAILED,
            format!("rows can no longer be written: {}", failure.error),
            Some("free space or choose another folder; the session goes on without this output"),
        );
        self.failed(now, "session", what);
    }

    /// Sends what is held to the producer and the models, once all that are waited for are ready.
    fn flow_if_ready(&mut self) {
        if self.flowing || self.stopping.is_some() || !self.source.attached {
            return;
        }
        let waits = self.delivery == Delivery::Every || !self.source.is_live();
        let is_waited_for = |model: &Model| !model.ready && model.is_expected();
        if waits && self.models.iter().any(is_waited_for) {
            return;
        }
        if !self.models.is_empty() && !self.options.interactive && self.all_models_failed() {
            return;
        }
        self.flowing = true;
        for model in 0..self.models.len() {
            self.play_model(model);
        }
        self.play_producer();
    }

    fn all_models_failed(&self) -> bool {
        self.models.iter().all(|model| model.managed.has_failed())
    }

    /// Lowest entry of the ring's table that no model has.
    fn free_member(&self) -> Option<u32> {
        let taken: BTreeSet<u32> = self.models.iter().map(|model| model.member).collect();
        (0..ring::MAX_MEMBERS).find(|member| !taken.contains(member))
    }

    fn publish_view(&mut self, now: u64) {
        self.dirty = false;
        self.next_view = now
            + if self.options.interactive {
                VIEW_NANOS
            } else {
                RARE_VIEW_NANOS
            };
        let view = Arc::new(self.picture(now));
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = view;
        (self.options.wake)();
    }
}
