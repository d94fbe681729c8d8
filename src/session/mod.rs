//! The session engine: session file, children, supervision, statistics, comparison.

mod child;
mod spec;
mod spec_keys;
mod spec_paths;
mod stderr_tail;
mod supervisor;
mod view;

pub use spec::{
    RingSpec, SPEC_VERSION, SessionSpec, SpecError, SpecOverrides, check_model, unique_model_name,
};
pub use supervisor::RestartPolicy;
pub use view::{
    AgreementView, ChildState, LogLevel, LogLine, ModelView, RingView, SessionCommand,
    SessionPhase, SessionView, ShownPrediction, SlotUse, SlotView, SourceView, StageStats,
};
