use std::io::Write;
use std::process::{ExitCode, Termination};

use crate::base::exit_code;

/// How the program ends; the numbers are part of its interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything was done.
    Done = exit_code::DONE,
    /// A model or the source gave up while running; the rest is complete.
    Failed = exit_code::FAILED,
    /// Wrong usage or session file.
    Usage = exit_code::USAGE,
    /// The source cannot be opened.
    Source = exit_code::SOURCE,
    /// No model could be loaded.
    Model = exit_code::MODEL,
    /// ONNX Runtime or a device is missing.
    Runtime = exit_code::RUNTIME,
    /// Interrupted by a signal.
    Interrupted = exit_code::INTERRUPTED,
}

impl Exit {
    /// The exit of a session or of a child process; its code is one of ours.
    pub(super) fn from_code(code: u8) -> Self {
        match code {
            exit_code::DONE => Self::Done,
            exit_code::USAGE => Self::Usage,
            exit_code::SOURCE => Self::Source,
            exit_code::MODEL => Self::Model,
            exit_code::RUNTIME => Self::Runtime,
            exit_code::INTERRUPTED => Self::Interrupted,
            _ => Self::Failed,
        }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

/// An error that ends the program with a status of its own; others end it with [`Exit::Failed`].
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Ending {
    /// The status.
    pub(super) exit: Exit,
    /// What happened, and what to do.
    pub(super) message: String,
}

impl Ending {
    pub(super) fn new(exit: Exit, message: impl ToString) -> Self {
        Self {
            exit,
            message: message.to_string(),
        }
    }
}

/// Prints an error on stderr and says how to end.
pub(super) fn report(error: &anyhow::Error) -> Exit {
    let closed_pipe = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe);
    if closed_pipe {
        return Exit::Done;
    }
    // stderr may be closed as well; there is nobody left to tell.
    drop(writeln!(std::io::stderr(), "ringside: {}", message(error)));
    of(error)
}

/// The error and its causes, but those that it has named itself.
fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

/// The status with which an error ends the program.
pub(super) fn of(error: &anyhow::Error) -> Exit {
    error
        .downcast_ref::<Ending>()
        .map_or(Exit::Failed, |ending| ending.exit)
}

/// Prints clap's message: help and version end well, the rest is wrong usage.
pub(super) fn usage(error: &clap::Error) -> Exit {
    // A closed pipe (`ringside --help | head -1`) ends quietly.
    drop(error.print());
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_named_once() {
        let cause = || std::io::Error::other("no room");
        let bare = anyhow::Error::new(cause()).context("cannot write a.png");
        assert_eq!(message(&bare), "cannot write a.png: no room");
        let named = anyhow::Error::new(cause()).context("cannot write a.png: no room");
        assert_eq!(message(&named), "cannot write a.png: no room");
    }
}
