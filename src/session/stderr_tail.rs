use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::stderr_line::shown_line;

/// Lines that are kept.
const LINES: usize = 40;

/// Longest line, in bytes; a longer one is cut into several.
const LINE_BYTES: u64 = 500;

/// The last lines that a child wrote to its stderr, as they are shown.
#[derive(Debug, Default)]
pub(super) struct StderrTail {
    lines: Mutex<VecDeque<String>>,
}

impl StderrTail {
    /// Reads `stderr` to its end, so that the child never waits for it; keeps only the last lines.
    pub(super) fn drain(&self, stderr: impl Read) {
        let mut input = BufReader::new(stderr);
        let mut line = Vec::new();
        loop {
            line.clear();
            match input.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) => self.push(String::from_utf8_lossy(&line).trim_end()),
                Err(error) => {
                    tracing::debug!("stderr of a child can no longer be read: {error}");
                    return;
                }
            }
        }
    }

    fn push(&self, line: &str) {
        tracing::debug!(target: "child", "{line}");
        let Some(line) = shown_line(line) else {
            return;
        };
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// The lines, oldest first.
    pub(super) fn lines(&self) -> Arc<[String]> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_kept_whatever_the_bytes() {
        let tail = StderrTail::default();
        let mut text = b"x\n".repeat(1000);
        text.extend_from_slice(b"\xff\xfe broken\n\nlast, without an end");
        tail.drain(&text[..]);
        let lines = tail.lines();
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines[LINES - 1], "last, without an end");
        assert_eq!(lines[LINES - 2], "\u{fffd}\u{fffd} broken");
    }

    #[test]
    fn an_endless_line_does_not_fill_memory() {
        let tail = StderrTail::default();
        tail.drain(std::io::repeat(b'y').take(10_000_000));
        assert_eq!(tail.lines().len(), LINES);
        assert!(
            tail.lines()
                .iter()
                .all(|line| line.len() as u64 <= LINE_BYTES)
        );
    }
}
