//! Exports of a run.
