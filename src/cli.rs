//! Commands and exit codes.
//!
//! The children of a session; the other commands follow.

mod exit;

pub use exit::Exit;

/// Runs the program with the process's arguments and returns its exit status.
pub fn main() -> Exit {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .init();
    match std::env::args().nth(1).as_deref() {
        _ => Exit::Usage,
    }
}
