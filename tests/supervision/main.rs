//! Processes that are killed, stopped, slow or gone, through the real binary.

mod answers;
mod ends;
mod lives;
#[path = "../support/mod.rs"]
mod support;
mod times;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ringside::recording::Row;
use rustix::process::Signal;
use support::{
    Running, children, data, descendants, eventually, finish, folder, predictions, ringside, root,
    run_json, segments, signal, start, start_unread, stat, summary, top, totals,
};

/// Seconds that long forms take more; the soak run sets `RINGSIDE_SOAK`.
fn rounds(short: u32, soak: u32) -> u32 {
    if std::env::var_os("RINGSIDE_SOAK").is_some() {
        soak
    } else {
        short
    }
}

/// A session file with these models (name, file below `tests/data`).
fn session_file(folder: &Path, head: &str, models: &[(&str, &str)]) -> std::path::PathBuf {
    let mut text = format!("{head}\n");
    for (name, file) in models {
        text += &format!(
            "[[model]]\nname = {name:?}\npath = {:?}\ndevice = \"cpu\"\nthreads = 1\n[model.preprocess]\npreset = \"raw\"\n",
            data(file)
        );
    }
    let path = folder.join("session.toml");
    std::fs::write(&path, text).expect("a session file");
    path
}

fn run_in_background(session: &Path, more: &[&str]) -> Running {
    let mut command = ringside(["run", "--json"]);
    start(command.arg(session).args(more))
}

/// Number of prediction rows in a report that is being written.
fn predictions_in(report: &Path) -> usize {
    let text = std::fs::read_to_string(report.join("rows.jsonl")).unwrap_or_default();
    text.matches("\"type\":\"prediction\"").count()
}

fn label(source_index: u64) -> String {
    format!("f{:02}", source_index % 60)
}
