use std::fs;

/// What the kernel says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessState {
    /// Stopped by a signal or a debugger.
    pub(super) stopped: bool,
    /// Processor time that all its threads have used, in clock ticks.
    pub(super) cpu_ticks: u64,
    /// Memory that it has in RAM, shared segments included, in pages.
    pub(super) resident_pages: u64,
}

impl ProcessState {
    /// Memory that it has in RAM, in bytes.
    pub(super) fn resident_bytes(&self) -> u64 {
        self.resident_pages
            .saturating_mul(rustix::param::page_size() as u64)
    }
}

/// Clock ticks as nanoseconds.
pub(super) fn ticks_to_nanos(ticks: u64) -> u64 {
    let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
    ticks.saturating_mul(1_000_000_000 / ticks_per_second)
}

/// Reads `/proc/PID/stat`; `None` when there is no such process.
pub(super) fn process_state(pid: u32) -> Option<ProcessState> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The fields after the name, which may have spaces and brackets (proc(5)): the state is the first,
/// user and system time are the 12th and 13th, the resident pages the 22nd.
fn parse(stat: &str) -> Option<ProcessState> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let user: u64 = fields.nth(10)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let resident_pages: i64 = fields.nth(8)?.parse().ok()?;
    Some(ProcessState {
        stopped: matches!(state, "T" | "t"),
        cpu_ticks: user + system,
        resident_pages: resident_pages.max(0).cast_unsigned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_do_not_shift_the_fields() {
        let stat = "42 (a) b) T 1 42 42 0 -1 4194560 100 0 0 0 17 5 0 0 20 0 4 0 900 1000 200 18446744073709551615 1";
        let expected = ProcessState {
            stopped: true,
            cpu_ticks: 22,
            resident_pages: 200,
        };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse("42 (a"), None);
    }

    #[test]
    fn this_process_is_not_stopped() {
        let state = process_state(std::process::id()).expect("it is there");
        assert!(!state.stopped);
        assert!(state.resident_bytes() > 100_000, "{state:?}");
        assert_eq!(process_state(u32::MAX), None);
    }
}
