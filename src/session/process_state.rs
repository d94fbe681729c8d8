use std::fs;

/// What the kernel says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessState {
    /// Stopped by a signal or a debugger.
    pub(super) stopped: bool,
    /// Processor time that all its threads have used, in clock ticks.
    pub(super) cpu_ticks: u64,
}

/// Reads `/proc/PID/stat`; `None` when there is no such process.
pub(super) fn process_state(pid: u32) -> Option<ProcessState> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The fields after the name, which may have spaces and brackets (proc(5)): the state is the first,
/// user and system time are the 12th and 13th.
fn parse(stat: &str) -> Option<ProcessState> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let user: u64 = fields.nth(10)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(ProcessState {
        stopped: matches!(state, "T" | "t"),
        cpu_ticks: user + system,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_do_not_shift_the_fields() {
        let stat = "42 (a) b) T 1 42 42 0 -1 4194560 100 0 0 0 17 5 0 0 20 0 4 0 900 1000 200";
        let expected = ProcessState {
            stopped: true,
            cpu_ticks: 22,
        };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse("42 (a"), None);
    }

    #[test]
    fn this_process_is_not_stopped() {
        let state = process_state(std::process::id()).expect("it is there");
        assert!(!state.stopped);
        assert_eq!(process_state(u32::MAX), None);
    }
}
