use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;

use super::arguments::{RunArguments, SessionArguments};
use super::exit::{Ending, Exit};
use super::runtime_command;
use super::signals::Interrupts;
use super::terminal::Terminal;
use crate::recording::{self, JsonLines, RowSink};
use crate::session::{
    OUTPUT_FAILED, Session, SessionCommand, SessionExit, SessionOptions, SessionSpec, SpecOverrides,
};

/// Runs a session without a window.
pub(super) fn run(arguments: &RunArguments, onnxruntime: Option<PathBuf>) -> anyhow::Result<Exit> {
    let spec = session_spec(&arguments.session, "run")?;
    if spec.models.is_empty() {
        let message =
            "the session has no model: add a [[model]] to its file, or name one with --model FILE";
        return Err(Ending::new(Exit::Usage, message).into());
    }
    let mut sinks: Vec<Box<dyn RowSink>> = Vec::new();
    if let Some(folder) = &arguments.report {
        sinks.push(Box::new(recording::create(folder)?));
    }
    if arguments.json {
        sinks.push(Box::new(JsonLines::new(io::stdout())));
    } else {
        sinks.push(Box::new(Terminal::new(arguments.quiet)));
    }
    run_to_end(spec, onnxruntime, sinks)
}

/// Runs a session until it ends by itself or by a signal.
pub(super) fn run_to_end(
    spec: SessionSpec,
    onnxruntime: Option<PathBuf>,
    sinks: Vec<Box<dyn RowSink>>,
) -> anyhow::Result<Exit> {
    runtime_command::ensure(onnxruntime.as_deref())?;
    let outputs = sinks.len();
    let options = SessionOptions {
        sinks,
        ..options(onnxruntime)?
    };
    let session =
        Arc::new(Session::start(spec, options).map_err(|error| Ending::new(Exit::Failed, error))?);
    let stopped = Arc::clone(&session);
    let interrupts = Interrupts::watch(move || stopped.send(SessionCommand::Stop))
        .context("signals cannot be watched")?;
    let outcome = session.wait();
    let failures = outcome.failures.iter().map(|(_, problem)| problem);
    let unwritten: Vec<_> = failures
        .filter(|problem| problem.code == OUTPUT_FAILED)
        .collect();
    if unwritten.len() == outputs {
        // No output is left to say it.
        for problem in unwritten {
            drop(writeln!(io::stderr(), "ringside: {}", problem.message));
        }
    }
    Ok(if interrupts.seen() {
        Exit::Interrupted
    } else {
        exit_of(outcome.exit)
    })
}

/// Options that `run` and the window share.
pub(super) fn options(onnxruntime: Option<PathBuf>) -> anyhow::Result<SessionOptions> {
    let program = std::env::current_exe().context("the program's own file cannot be found")?;
    Ok(SessionOptions {
        onnxruntime,
        ..SessionOptions::new(program)
    })
}

pub(super) fn exit_of(exit: SessionExit) -> Exit {
    Exit::from_code(exit.code())
}

/// The session that the command line of `ringside COMMAND` describes.
pub(super) fn session_spec(
    arguments: &SessionArguments,
    command: &str,
) -> anyhow::Result<SessionSpec> {
    let usage = |error| Ending::new(Exit::Usage, error);
    let mut spec = match &arguments.session {
        Some(file) => SessionSpec::load(file).map_err(usage)?,
        // In a window, source and models can be named later.
        None if command == "gui" => SessionSpec {
            source: String::new(),
            ..SessionSpec::default()
        },
        None if arguments.source.as_deref().is_none_or(str::is_empty)
            || arguments.models.is_empty() =>
        {
            let message = format!(
                "name a session file, or a source and a model: ringside {command} --source folder:photos --model model.onnx"
            );
            return Err(Ending::new(Exit::Usage, message).into());
        }
        None => SessionSpec::default(),
    };
    let overrides = SpecOverrides {
        source: arguments.source.clone(),
        models: arguments.models.clone(),
        device: arguments.device,
        strict: arguments.strict,
        preset: arguments.preset.clone(),
        threshold: arguments.threshold,
        top: arguments.top,
        threads: arguments.threads,
        batch: arguments.batch,
        workers: arguments.workers,
        delivery: arguments.delivery.map(Into::into),
        schedule: arguments.schedule.map(Into::into),
        frames: arguments.frames,
        looping: arguments.looping,
        fps: arguments.fps,
    };
    let here = std::env::current_dir().context("the working directory cannot be found")?;
    spec.apply(&overrides, &here).map_err(usage)?;
    Ok(spec)
}
