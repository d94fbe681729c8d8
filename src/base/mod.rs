//! What every other module may use: the clock, histograms, threads, paths as text.

mod clock;
mod latency;
mod path_text;
mod worker;

pub use clock::{monotonic_nanos, sleep_until};
pub use latency::{LatencyStats, LatencyTracker};
pub use path_text::{escape_path, unescape_path};
pub use worker::Worker;
