use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::arguments::{FlavourArgument, RuntimeCommand};
use super::exit::{self, Ending, Exit};
use super::signals::Interrupts;
use crate::runtime::{self, Flavour, InstallRequest, Progress, RuntimeError};

pub(super) fn runtime(
    command: &RuntimeCommand,
    onnxruntime: Option<&Path>,
) -> anyhow::Result<Exit> {
    match command {
        RuntimeCommand::List => list(onnxruntime),
        RuntimeCommand::Install {
            flavour,
            from,
            force,
        } => {
            let flavour = match flavour {
                FlavourArgument::Cpu => Flavour::Cpu,
                FlavourArgument::Cuda => Flavour::Cuda,
            };
            let request = InstallRequest {
                flavour,
                wheel: from.clone(),
                force: *force,
            };
            let found = with_progress(|progress| runtime::install(&request, progress))?;
            writeln!(
                io::stdout(),
                "ONNX Runtime {} is installed: {}",
                found.version,
                found.path.display()
            )?;
            Ok(Exit::Done)
        }
    }
}

fn list(onnxruntime: Option<&Path>) -> anyhow::Result<Exit> {
    let mut output = io::stdout().lock();
    let mut used = false;
    let candidates = runtime::list(onnxruntime);
    for candidate in &candidates {
        let verdict = match &candidate.version {
            Ok(version) if !used => {
                used = true;
                format!("{version}, used")
            }
            Ok(version) => version.to_string(),
            Err(defect) => format!("not used: {defect}"),
        };
        writeln!(
            output,
            "{}  ({}): {verdict}",
            candidate.path.display(),
            candidate.origin
        )?;
    }
    if candidates.is_empty() {
        writeln!(
            output,
            "no ONNX Runtime found; `ringside runtime install` fetches it"
        )?;
    }
    Ok(if used { Exit::Done } else { Exit::Runtime })
}

/// Finds ONNX Runtime, or fetches it with a progress bar. Where neither works the session goes on:
/// its models report it, and frames can be looked at all the same.
pub(super) fn ensure(onnxruntime: Option<&Path>) -> anyhow::Result<()> {
    match runtime::find(onnxruntime) {
        Err(RuntimeError::NotFound { .. }) => {}
        Ok(_) | Err(_) => return Ok(()),
    }
    match with_progress(|progress| runtime::ensure(onnxruntime, progress)) {
        Err(error) if exit::of(&error) != Exit::Interrupted => {
            exit::report(&error);
            Ok(())
        }
        result => result.map(|_found| ()),
    }
}

/// Runs an installation with a progress bar on stderr; a signal cancels it.
fn with_progress<T>(
    install: impl FnOnce(&mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<T, RuntimeError>,
) -> anyhow::Result<T> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancelled);
    let _interrupts = Interrupts::watch(move || flag.store(true, Ordering::Relaxed))
        .context("signals cannot be watched")?;
    let bar = InstallBar::new();
    let result = install(&mut |progress| {
        bar.show(progress);
        if cancelled.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    bar.0.finish_and_clear();
    result.map_err(|error| {
        let exit = match error {
            RuntimeError::Cancelled => Exit::Interrupted,
            _ => Exit::Runtime,
        };
        let hint = error.hint().map(|hint| format!("\n{hint}"));
        Ending::new(exit, format!("{error}{}", hint.unwrap_or_default())).into()
    })
}

/// Progress of an installation on stderr, where that is a terminal.
struct InstallBar(ProgressBar);

impl InstallBar {
    fn new() -> Self {
        let template = "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec}";
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        Self(bar.with_style(style).with_message("ONNX Runtime"))
    }

    fn show(&self, progress: Progress) {
        let (step, bytes) = step(progress);
        let message = format!("ONNX Runtime: {step}");
        if self.0.is_hidden() && self.0.message() != message {
            // A log file gets one line a step. A closed stderr has no reader.
            drop(writeln!(io::stderr(), "{message}"));
        }
        self.0.set_message(message);
        if let Some((done, total)) = bytes {
            self.0.set_length(total);
            self.0.set_position(done);
        }
    }
}

/// A step of an installation in words, with bytes done and all bytes where they are known.
pub(super) fn step(progress: Progress) -> (String, Option<(u64, u64)>) {
    match progress {
        Progress::Waiting => ("waiting for another installation".to_owned(), None),
        Progress::Asking { tool } => (format!("asking {tool}"), None),
        Progress::Downloading {
            tool,
            done_bytes,
            total_bytes,
        } => (
            format!("downloading with {tool}"),
            Some((done_bytes, total_bytes)),
        ),
        Progress::Checking {
            done_bytes,
            total_bytes,
        } => ("checking".to_owned(), Some((done_bytes, total_bytes))),
        Progress::Unpacking {
            done_bytes,
            total_bytes,
        } => ("unpacking".to_owned(), Some((done_bytes, total_bytes))),
    }
}
