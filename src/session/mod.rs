//! The session engine: session file, children, supervision, statistics, comparison.

mod child;
mod engine;
mod handle;
mod journal;
mod managed;
mod pairing;
mod process_state;
mod repro;
mod ring_host;
mod row_order;
mod row_writer;
mod spec;
mod spec_check;
mod spec_keys;
mod spec_paths;
mod stderr_line;
mod stderr_tail;
mod store;
mod supervisor;
mod view;

pub use handle::{
    OUTPUT_FAILED, Outcome, ReproWriter, Session, SessionError, SessionExit, SessionOptions,
};
pub use repro::{REPRO_FRAME, ReproCapture};
pub use spec::{RingSpec, SPEC_VERSION, SessionSpec, SpecError, SpecOverrides, unique_model_name};
pub use spec_check::check_model;
pub use supervisor::RestartPolicy;
pub use view::{
    AgreementView, ChildState, LogLevel, LogLine, ModelView, ProcessUsage, RECENT_NANOS, RingView,
    SessionCommand, SessionPhase, SessionView, ShownPrediction, SlotUse, SlotView, SourceView,
    StageStats,
};
