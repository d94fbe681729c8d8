//! What every other module may use: the clock, histograms, threads, paths as text, exit codes.

mod clock;
pub mod exit_code;
mod latency;
mod path_text;
mod words;
mod worker;

pub use clock::{monotonic_nanos, sleep_until};
pub use latency::{LatencyStats, LatencyTracker};
pub use path_text::{escape_path, unescape_path};
pub use words::{hexadecimal, nearest, split_scheme};
pub use worker::Worker;
