//! Exports of a run.

mod repro;

pub use repro::{ReproError, write_repro};
