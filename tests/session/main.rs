//! The session engine with real children, and with children that misbehave.

mod control;
mod faults;
mod harness;
mod killers;
mod outcomes;
mod rings;

use std::path::Path;

use ringside::recording::Row;
use ringside::session::ChildState;

pub(crate) const PATTERN: &str = "pattern:stamp?size=320x240&fps=30";

pub(crate) fn failure(state: &ChildState) -> Option<ringside::protocol::Problem> {
    match state {
        ChildState::Failed(problem) => Some(problem.clone()),
        _ => None,
    }
}

pub(crate) fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Sequence and position of every frame row, in order.
pub(crate) fn frames(rows: &[Row]) -> Vec<(u64, u64)> {
    let frame = |row: &Row| match row {
        Row::Frame(frame) => Some((frame.seq, frame.source_index)),
        _ => None,
    };
    rows.iter().filter_map(frame).collect()
}

/// Sequences that a model answered, in order.
pub(crate) fn answers(rows: &[Row], name: &str) -> Vec<u64> {
    let answer = |row: &Row| match row {
        Row::Prediction(answer) if answer.model == name => Some(answer.seq),
        _ => None,
    };
    rows.iter().filter_map(answer).collect()
}
