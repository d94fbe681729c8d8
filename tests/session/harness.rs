//! Sessions in this process, with children that can be made to misbehave.
#![allow(unreachable_pub, reason = "a module of two test binaries")]

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ringside::protocol::{DeviceChoice, ModelSpec, PreprocessSpec};
use ringside::recording::{Row, RowSink};
use ringside::session::{
    ModelView, RestartPolicy, Session, SessionOptions, SessionSpec, SessionView,
};

/// A step that takes longer than this hangs.
pub(crate) const HANG: Duration = Duration::from_secs(180);

/// The program that sessions start.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_ringside");

/// Rows as they are written.
#[derive(Clone, Default)]
pub(crate) struct Rows(Arc<Mutex<Vec<Row>>>);

impl Rows {
    pub(crate) fn all(&self) -> Vec<Row> {
        self.0.lock().expect("no panic").clone()
    }
}

impl RowSink for Rows {
    fn write_row(&mut self, row: &Row) -> io::Result<()> {
        self.0.lock().expect("no panic").push(row.clone());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file below `tests/data`.
pub(crate) fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(path)
}

/// A model below `tests/data/cases`.
pub(crate) fn model(name: &str, file: &str) -> ModelSpec {
    ModelSpec {
        name: name.to_owned(),
        path: data("cases").join(file),
        device: DeviceChoice::Cpu,
        threads: 1,
        preprocess: PreprocessSpec {
            preset: Some("raw".to_owned()),
            ..PreprocessSpec::default()
        },
        ..ModelSpec::default()
    }
}

/// A session of this source and these models.
pub(crate) fn spec(source: &str, models: Vec<ModelSpec>) -> SessionSpec {
    SessionSpec {
        source: source.to_owned(),
        models,
        ..SessionSpec::default()
    }
}

/// A running session and what it has written.
pub(crate) struct Run {
    pub(crate) session: Session,
    pub(crate) rows: Rows,
    pub(crate) folder: tempfile::TempDir,
}

/// A session of the real program that goes on until it is stopped.
pub(crate) fn interactive(spec: SessionSpec) -> Run {
    start(spec, |_| None, |options| options.interactive = true)
}

/// Starts a session. `script` makes the lines of a shell script, given a folder for its notes, that
/// run in each child before the real program: `$1` is the subcommand, `$first` the first line from
/// the session.
pub(crate) fn start(
    spec: SessionSpec,
    script: impl FnOnce(&Path) -> Option<String>,
    change: impl FnOnce(&mut SessionOptions),
) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let program = match script(folder.path()) {
        Some(body) => wrapper(folder.path(), &body),
        None => PROGRAM.into(),
    };
    let rows = Rows::default();
    let mut options = SessionOptions::new(program);
    options.sinks = vec![Box::new(rows.clone())];
    options.restart = quick();
    change(&mut options);
    let session = Session::start(spec, options).expect("threads");
    Run {
        session,
        rows,
        folder,
    }
}

/// The default policy at ten times the speed.
pub(crate) fn quick() -> RestartPolicy {
    let mut policy = RestartPolicy::default();
    for delay in &mut policy.delays {
        *delay /= 10;
    }
    policy
}

fn wrapper(folder: &Path, body: &str) -> PathBuf {
    let path = folder.join("ringside");
    let text = format!(
        "#!/bin/bash\nIFS= read -r first\nreal() {{ exec {PROGRAM} \"$1\" < <(printf '%s\\n' \"$first\"; exec cat); }}\n{body}\nreal \"$1\"\n"
    );
    fs::write(&path, text).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    path
}

impl Run {
    /// Waits until a view shows it.
    pub(crate) fn until<T>(
        &self,
        what: &str,
        mut seen: impl FnMut(&SessionView) -> Option<T>,
    ) -> T {
        let started = Instant::now();
        loop {
            let view = self.session.view();
            if let Some(value) = seen(&view) {
                return value;
            }
            assert!(
                started.elapsed() < HANG,
                "never happened: {what}; {view:#?}"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the view of a model shows it.
    pub(crate) fn until_model<T>(
        &self,
        name: &str,
        what: &str,
        mut seen: impl FnMut(&ModelView) -> Option<T>,
    ) -> T {
        self.until(what, |view| {
            let model = view.models.iter().find(|model| model.spec.name == name)?;
            seen(model)
        })
    }

    /// Waits until a model has answered `count` more frames.
    pub(crate) fn until_more_answers(&self, name: &str, count: u64) {
        let before = self.until_model(name, "a model", |model| Some(model.predicted));
        self.until_model(name, "answers", |model| {
            (model.predicted >= before + count).then_some(())
        });
    }
}
