//! What every other module may use: the monotonic clock, latency histograms, named worker
//! threads, paths and addresses as text, bytes as hexadecimal text, the nearest of some words, files
//! that people write, exit codes.

mod clock;
pub mod exit_code;
mod hexadecimal;
mod latency;
mod nearest;
mod path_text;
mod text_file;
mod worker;

pub use clock::{monotonic_nanos, sleep_until};
pub use hexadecimal::hexadecimal;
pub use latency::{LatencyStats, LatencyTracker};
pub use nearest::nearest;
pub use path_text::{escape_path, split_scheme, unescape_path};
pub use text_file::{MOST_TEXT_BYTES, read_limited, read_regular};
pub use worker::Worker;
