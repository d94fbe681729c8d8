//! Runs the real `ringside` binary and reads what it writes.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test binary uses its own part"
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ringside::recording::{ModelSummary, PredictionRow, Row, SummaryRow};

/// A run that takes longer than this hangs.
pub const HANG: Duration = Duration::from_secs(180);

/// The checkout's root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A file below `tests/data`.
pub fn data(path: &str) -> PathBuf {
    root().join("tests/data").join(path)
}

/// `ringside` with these arguments.
pub fn ringside<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringside"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
}

impl Finished {
    /// Exit code; a death by signal fails the test.
    pub fn code(&self) -> i32 {
        self.status
            .code()
            .unwrap_or_else(|| panic!("died: {}\n{}", self.status, self.stderr))
    }

    /// The rows on stdout.
    pub fn rows(&self) -> Vec<Row> {
        self.stdout
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }
}

/// Runs a command to its end; fails when it hangs, panics or dies by a signal.
pub fn finish(command: &mut Command) -> Finished {
    let finished = start(command).wait();
    assert!(
        !finished.stderr.contains("panicked"),
        "panic:\n{}",
        finished.stderr
    );
    assert!(
        finished.status.code().is_some(),
        "{}\n{}",
        finished.status,
        finished.stderr
    );
    finished
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).expect("a readable pipe");
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A program that is running; what it writes is read all the time, so that it never waits for us.
pub struct Running {
    child: Child,
    started: Instant,
    stdout: Option<thread::JoinHandle<String>>,
    stderr: thread::JoinHandle<String>,
}

/// Starts a program.
pub fn start(command: &mut Command) -> Running {
    let (mut running, stdout) = start_unread(command);
    running.stdout = Some(reader(Some(stdout)));
    running
}

/// Starts a program and leaves reading its stdout to the caller.
pub fn start_unread(command: &mut Command) -> (Running, ChildStdout) {
    let started = Instant::now();
    let mut child = command.spawn().expect("the program starts");
    let stdout = child.stdout.take().expect("a pipe");
    let stderr = reader(child.stderr.take());
    let running = Running {
        child,
        started,
        stdout: None,
        stderr,
    };
    (running, stdout)
}

impl Running {
    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end; fails when it hangs.
    pub fn wait(mut self) -> Finished {
        let waited = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                break status;
            }
            if waited.elapsed() > HANG {
                self.child.kill().expect("a child of ours");
                self.child.wait().expect("a child of ours");
                panic!("hangs; stderr:\n{}", self.stderr.join().expect("a reader"));
            }
            thread::sleep(Duration::from_millis(5));
        };
        Finished {
            status,
            seconds: self.started.elapsed().as_secs_f64(),
            stdout: self
                .stdout
                .map_or_else(String::new, |reader| reader.join().expect("a reader")),
            stderr: self.stderr.join().expect("a reader"),
        }
    }
}

/// `ringside run --json` on a source with models; further arguments follow.
pub fn run_json(source: &str, models: &[&Path], more: &[&str]) -> Finished {
    let mut command = ringside(["run", "--json", "--source", source]);
    for model in models {
        command.arg("--model").arg(model);
    }
    finish(command.args(more))
}

/// A `folder:` address.
pub fn folder(path: &Path) -> String {
    format!("folder:{}", ringside::base::escape_path(path))
}

/// An `image:` address.
pub fn image(path: &Path) -> String {
    format!("image:{}", ringside::base::escape_path(path))
}

/// The prediction rows.
pub fn predictions(rows: &[Row]) -> Vec<&PredictionRow> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Prediction(row) => Some(&**row),
            _ => None,
        })
        .collect()
}

/// The summary; a run without one fails the test.
pub fn summary(rows: &[Row]) -> &SummaryRow {
    match rows.last() {
        Some(Row::Summary(summary)) => summary,
        last => panic!("the last row is no summary: {last:?}"),
    }
}

/// A model's part of the summary.
pub fn totals<'a>(rows: &'a [Row], model: &str) -> &'a ModelSummary {
    let models = &summary(rows).models;
    models
        .iter()
        .find(|totals| totals.name == model)
        .unwrap_or_else(|| panic!("{model} is not in the summary"))
}

/// What a classifier put out for each class of a prediction, by name.
pub fn values(row: &PredictionRow) -> BTreeMap<String, f32> {
    match &row.output {
        ringside::prediction::Output::Classes { classes, .. } => classes
            .iter()
            .map(|class| (class.name.clone(), class.value))
            .collect(),
        other => panic!("no classes: {other:?}"),
    }
}

/// The best class of a prediction.
pub fn top(row: &PredictionRow) -> &str {
    row.output.top_class().map_or_else(
        || panic!("no classes: {:?}", row.output),
        |class| &class.name,
    )
}

/// Waits until `condition` holds; fails after [`HANG`].
pub fn eventually<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(started.elapsed() < HANG, "never happened: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Processes below `pid`, itself left out, from `/proc`.
pub fn descendants(pid: u32) -> Vec<u32> {
    let mut parents = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(child) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        if let Some(parent) = stat(child).map(|stat| stat.parent) {
            parents.insert(child, parent);
        }
    }
    let mut found = vec![pid];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        found.extend(
            parents
                .iter()
                .filter(|&(_, p)| *p == parent)
                .map(|(child, _)| *child),
        );
        at += 1;
    }
    found.split_off(1)
}

/// State and parent of a process, from `/proc`.
pub struct Stat {
    pub state: char,
    pub parent: u32,
    pub arguments: Vec<String>,
}

/// What `/proc` says of a process; `None` when there is none.
pub fn stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let arguments = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let arguments = arguments.split('\0').map(str::to_owned).collect();
    Some(Stat {
        state,
        parent,
        arguments,
    })
}

/// Children of `pid` that run this subcommand (`produce` or `consume`).
pub fn children(pid: u32, subcommand: &str) -> Vec<u32> {
    let runs = |pid: &u32| {
        stat(*pid).is_some_and(|stat| stat.arguments.iter().any(|word| word == subcommand))
    };
    descendants(pid).into_iter().filter(runs).collect()
}

/// Sends a signal.
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process");
    rustix::process::kill_process(pid, signal).expect("a process of ours");
}

/// Names of Ringside's segments in `/dev/shm` that belong to processes of this test, judged by the
/// difference to `before`.
pub fn segments() -> Vec<String> {
    let entries = std::fs::read_dir("/dev/shm").expect("/dev/shm").flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with("ringside-")).collect()
}
