use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crossbeam::channel::{self, Receiver, Sender};

use super::engine::{Engine, EngineParts};
use super::repro::ReproCapture;
use super::spec::SessionSpec;
use super::supervisor::RestartPolicy;
use super::view::{SessionCommand, SessionPhase, SessionView};
use crate::base::{Worker, exit_code};
use crate::protocol::Problem;
use crate::recording::{RowSink, SummaryRow};

/// Commands waiting for the session's thread; more of them wait at the sender.
const COMMAND_QUEUE: usize = 256;

/// Writes a [`ReproCapture`] into a folder and gives the path of what it made.
pub type ReproWriter = Arc<dyn Fn(&ReproCapture, &Path) -> io::Result<PathBuf> + Send + Sync>;

/// How a session runs, apart from what it does.
pub struct SessionOptions {
    /// The program that is started as `PROGRAM produce` and `PROGRAM consume`.
    pub program: PathBuf,
    /// ONNX Runtime library named by the user.
    pub onnxruntime: Option<PathBuf>,
    /// Where rows are written.
    pub sinks: Vec<Box<dyn RowSink>>,
    /// Called on the session's thread when there is a new view; must not block.
    pub wake: Arc<dyn Fn() + Send + Sync>,
    /// Publish nothing until [`SessionCommand::Play`] or [`SessionCommand::Step`].
    pub start_paused: bool,
    /// Somebody is there to go on: the session does not end by itself when its source ends or its
    /// models fail, and it makes views more often.
    pub interactive: bool,
    /// When children that die are started again.
    pub restart: RestartPolicy,
    /// What [`SessionCommand::CaptureRepro`] writes with.
    pub repro: Option<ReproWriter>,
}

impl SessionOptions {
    /// Options of a session without rows that ends by itself.
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            onnxruntime: None,
            sinks: Vec::new(),
            wake: Arc::new(|| {}),
            start_paused: false,
            interactive: false,
            restart: RestartPolicy::default(),
            repro: None,
        }
    }
}

/// Why a session could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The system refuses another thread.
    #[error("the session's threads cannot be started: {0}; raise the limit on processes")]
    Thread(#[from] io::Error),
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionExit {
    /// Everything was done.
    Done,
    /// A model, the source or the ring gave up; the rest is complete.
    GaveUp,
    /// The source could not be opened.
    SourceCannotOpen,
    /// No model could be loaded.
    NoModelLoaded,
    /// ONNX Runtime or a device is missing.
    RuntimeMissing,
    /// The user ended it.
    Interrupted,
}

impl SessionExit {
    /// The program's exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => exit_code::DONE,
            Self::GaveUp => exit_code::FAILED,
            Self::SourceCannotOpen => exit_code::SOURCE,
            Self::NoModelLoaded => exit_code::MODEL,
            Self::RuntimeMissing => exit_code::RUNTIME,
            Self::Interrupted => exit_code::INTERRUPTED,
        }
    }
}

/// Code of the problem that rows can no longer be written to an output.
pub const OUTPUT_FAILED: &str = "output_failed";

/// What came of a session.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The totals, as in the last row.
    pub summary: SummaryRow,
    /// How it ended.
    pub exit: SessionExit,
    /// What gave up: a model's name, `source` or `session`, and why.
    pub failures: Vec<(String, Problem)>,
    /// Whether the reader of an output pipe ended; nothing more is to be written there.
    pub closed_pipe: bool,
}

/// A running session. Dropping it ends it and waits for its children.
pub struct Session {
    commands: Sender<SessionCommand>,
    view: Arc<RwLock<Arc<SessionView>>>,
    interrupted: Arc<AtomicBool>,
    ends_by_itself: bool,
    outcome: Receiver<Outcome>,
    worker: Worker,
}

impl Session {
    /// Starts a session on a thread of its own.
    ///
    /// # Errors
    /// See [`SessionError`]. What happens to children, source and ring is told by rows, view and
    /// outcome.
    pub fn start(spec: SessionSpec, options: SessionOptions) -> Result<Self, SessionError> {
        let (commands, to_do) = channel::bounded(COMMAND_QUEUE);
        // One outcome, which nobody may be waiting for.
        let (done, outcome) = channel::bounded(1);
        let view = Arc::new(RwLock::new(Arc::new(SessionView::default())));
        let interrupted = Arc::new(AtomicBool::new(false));
        let ends_by_itself = !options.interactive;
        let parts = EngineParts {
            spec,
            options,
            commands: to_do,
            view: Arc::clone(&view),
            interrupted: Arc::clone(&interrupted),
        };
        let engine = Engine::new(parts)?;
        let worker = Worker::spawn("session", move || {
            drop(done.send(engine.run()));
        })?;
        Ok(Self {
            commands,
            view,
            interrupted,
            ends_by_itself,
            outcome,
            worker,
        })
    }

    /// Tells the session to do something. After its end nothing happens. To stop a session that
    /// would end by itself is to interrupt it.
    pub fn send(&self, command: SessionCommand) {
        if command == SessionCommand::Stop && self.ends_by_itself {
            // Seen also while the session's thread waits for an output that takes no rows.
            self.interrupted.store(true, Ordering::SeqCst);
        }
        if self.commands.send(command).is_err() {
            tracing::debug!("the session has ended");
        }
    }

    /// The newest view; it never waits for the session's thread.
    pub fn view(&self) -> Arc<SessionView> {
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the session has ended and its children are gone.
    pub fn is_finished(&self) -> bool {
        self.worker.is_finished() || self.view().phase == SessionPhase::Stopped
    }

    /// Waits for the session's end; what came of it is told once.
    pub fn wait(&self) -> Outcome {
        self.outcome.recv().unwrap_or_else(|_| Outcome {
            summary: SummaryRow::default(),
            exit: SessionExit::GaveUp,
            failures: vec![(
                "session".to_owned(),
                Problem {
                    code: "session_panicked".to_owned(),
                    message: "the session's thread panicked; its message is above".to_owned(),
                    hint: Some("please report it".to_owned()),
                },
            )],
            closed_pipe: false,
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The thread is joined by `worker`.
        self.send(SessionCommand::Stop);
    }
}
