//! The rows of a run: one JSON object a line, on stdout with `--json` and in a recording's
//! `rows.jsonl`.

mod folder;
mod row;
mod sink;

pub use folder::{RecordingError, create};
pub use row::{
    AtNanos, Comparison, FrameCounts, FrameRow, GapRow, LostRow, Micros, ModelRow, ModelSummary,
    PredictionRow, ProblemRow, Row, SessionRow, SkippedRow, SourceRow, SummaryRow,
};
pub use sink::{JsonLines, RowSink};

/// Version of the rows.
pub const SCHEMA: u32 = 1;
