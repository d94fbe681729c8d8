//! Commands and exit codes.
//!
//! `ringside` alone opens the window on the demo session. `run` is the same engine without a
//! window. `produce` and `consume` are the children that both of them start.

mod arguments;
mod demo;
mod exit;
mod ring_command;
mod run_command;
mod runtime_command;
mod settings_file;
mod signals;
mod terminal;
mod window_command;
mod window_session;

pub use arguments::Arguments;
pub use exit::Exit;

use arguments::Command;
use clap::Parser;

/// Runs the program with the process's arguments and returns its exit status.
pub fn main() -> Exit {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::usage(&error),
    };
    init_logging();
    let onnxruntime = arguments.onnxruntime;
    let result = match arguments.command {
        None => window_command::demo(onnxruntime),
        Some(Command::Gui(session)) => window_command::gui(&session, onnxruntime),
        Some(Command::Run(run)) => run_command::run(&run, onnxruntime),
        Some(Command::Runtime(command)) => {
            runtime_command::runtime(&command, onnxruntime.as_deref())
        }
        Some(Command::Ring(command)) => ring_command::ring(&command),
        Some(Command::Produce) => return Exit::from_code(crate::producer::run()),
        Some(Command::Consume) => return Exit::from_code(crate::consumer::run()),
    };
    result.unwrap_or_else(|error| exit::report(&error))
}

/// Log lines go to stderr, without times: the session adds those of its own clock. What a session
/// logs is shown by its window or printed from its rows.
fn init_logging() {
    use std::io::IsTerminal;

    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_from_env("RINGSIDE_LOG").unwrap_or_else(|_default| {
        EnvFilter::new("warn,ort=error,ringside::session::journal=off,winit=error")
    });
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        .with_target(false)
        .init();
}
