use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of `CLOCK_MONOTONIC`: comparable between processes of one machine and untouched by
/// steps of the wall clock.
pub fn monotonic_nanos() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The kernel keeps both fields of the monotonic clock non-negative.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Sleeps until the monotonic clock reaches `deadline_nanos`; returns at once when it has passed.
pub fn sleep_until(deadline_nanos: u64) {
    let now = monotonic_nanos();
    if deadline_nanos > now {
        std::thread::sleep(Duration::from_nanos(deadline_nanos - now));
    }
}
