//! Source → ring: the `ringside produce` child process.

mod failure;
mod pace;
mod playback;
#[cfg(test)]
mod tests;

use std::io;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;

use crate::base::exit_code;
use crate::protocol::{EventSender, read_commands, take_over_stdout};

/// Runs this process as a producer: commands on stdin, events on stdout. Call it before any other
/// thread starts. Returns the exit status: 0 asked to stop, 1 failed, 3 the source cannot be opened;
/// at the end of stdin the process exits with 0 wherever it is.
pub fn run() -> u8 {
    match serve() {
        Ok(status) => status,
        Err(error) => {
            tracing::error!("the producer cannot start: {error}");
            exit_code::FAILED
        }
    }
}

fn serve() -> io::Result<u8> {
    // A session that died before this is noticed by the end of stdin.
    set_pdeathsig(Signal::SIGKILL)?;
    let stdout = take_over_stdout()?;
    let (events, event_writer) = EventSender::start(stdout)?;
    let commands = read_commands(io::stdin())?;
    let status = playback::serve(&commands, &events);
    // The writer ends when all senders are gone and everything is in the pipe.
    drop(events);
    drop(event_writer);
    Ok(status)
}
