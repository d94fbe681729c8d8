use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::arguments::{FlavourArgument, RuntimeCommand};
use super::exit::{Ending, Exit};
use super::signals::Interrupts;
use crate::runtime::{self, Flavour, InstallRequest, Progress, RuntimeError};

pub(super) fn runtime(command: &RuntimeCommand) -> anyhow::Result<Exit> {
    match command {
        RuntimeCommand::List { onnxruntime } => list(onnxruntime.as_deref()),
        RuntimeCommand::Install { flavour, from, force } => {
            let flavour = match flavour {
                FlavourArgument::Cpu => Flavour::Cpu,
                FlavourArgument::Cuda => Flavour::Cuda,
            };
            let request = InstallRequest { flavour, wheel: from.clone(), force: *force };
            let found = with_progress(|progress| runtime::install(&request, progress))?;
            writeln!(io::stdout(), "ONNX Runtime {} is installed: {}", found.version, found.path.display())?;
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
        writeln!(output, "{}  ({}): {verdict}", candidate.path.display(), candidate.origin)?;
    }
    if candidates.is_empty() {
        writeln!(output, "no ONNX Runtime found; `ringside runtime install` fetches it")?;
    }
    Ok(if used { Exit::Done } else { Exit::Runtime })
}

/// Finds ONNX Runtime, or fetches it with a progress bar. A library that the user named is left for
/// the models to judge: they report it, and frames can be looked at all the same.
pub(super) fn ensure(onnxruntime: Option<&Path>) -> anyhow::Result<()> {
    with_progress(|progress| runtime::ensure(onnxruntime, progress))?;
    Ok(())
}

/// Runs an installation with a progress bar on stderr; a signal cancels it.
fn with_progress<T>(
    install: impl FnOnce(&mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<T, RuntimeError>,
) -> anyhow::Result<T> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancelled);
    let _interrupts = Interrupts::watch(move || flag.store(true, Ordering::Relaxed))
        .context("signals cannot be watched")?;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let mut announced = String::new();
    let result = install(&mut |progress| {
        show(&bar, &mut announced, &progress);
        if cancelled.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    result.map_err(|error| {
        let exit = match error {
            RuntimeError::Cancelled => Exit::Interrupted,
            _ => Exit::Runtime,
        };
        let hint = error.hint().map(|hint| format!("\n{hint}")).unwrap_or_default();
        Ending::new(exit, format!("{error}{hint}")).into()
    })
}
