//! The session engine: session file, children, supervision, statistics, comparison.

mod view;

pub use view::{
    AgreementView, ChildState, LogLevel, LogLine, ModelView, RingView, SessionCommand,
    SessionPhase, SessionView, ShownPrediction, SlotUse, SlotView, SourceView, StageStats,
};
