use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam::channel::{self, Receiver, SendTimeoutError, Sender};

use crate::base::Worker;
use crate::recording::{Row, RowSink};

/// Rows waiting to be written. When it is full the session waits: a run is as fast as its rows can
/// be written, and none is left out.
const ROW_QUEUE: usize = 1024;

/// How long an interrupted session waits for an output that takes nothing.
const INTERRUPTED_WAIT: Duration = Duration::from_millis(500);

/// An output that failed; nothing more is written to it.
#[derive(Debug)]
pub(super) struct SinkFailure {
    /// Why.
    pub(super) error: io::Error,
}

impl SinkFailure {
    /// Whether the reader of a pipe has ended, which is no fault.
    pub(super) fn is_closed_pipe(&self) -> bool {
        self.error.kind() == io::ErrorKind::BrokenPipe
    }
}

/// Writes rows to all outputs on a thread of its own.
#[derive(Debug)]
pub(super) struct RowWriter {
    queue: Option<Sender<Row>>,
    thread: Option<Worker>,
}

impl RowWriter {
    /// Starts writing to `sinks`; those that fail are reported to the second value.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(super) fn start(sinks: Vec<Box<dyn RowSink>>) -> io::Result<(Self, Receiver<SinkFailure>)> {
        // Each output fails at most once.
        let (failures, failed) = channel::bounded(sinks.len().max(1));
        if sinks.is_empty() {
            let idle = Self {
                queue: None,
                thread: None,
            };
            return Ok((idle, failed));
        }
        let (queue, rows) = channel::bounded(ROW_QUEUE);
        let thread = Worker::spawn("rows", move || write_rows(sinks, &rows, &failures))?;
        let writer = Self {
            queue: Some(queue),
            thread: Some(thread),
        };
        Ok((writer, failed))
    }

    /// Writes a row; waits while the outputs do not keep up, unless `interrupted`.
    pub(super) fn write(&mut self, row: Row, interrupted: &AtomicBool) {
        let Some(queue) = &self.queue else {
            return;
        };
        let mut row = row;
        loop {
            match queue.send_timeout(row, INTERRUPTED_WAIT) {
                Ok(()) => return,
                Err(SendTimeoutError::Timeout(back)) if !interrupted.load(Ordering::Relaxed) => {
                    row = back;
                }
                Err(SendTimeoutError::Timeout(_)) => {
                    tracing::error!("an output takes no more rows; the rest is left out");
                    self.queue = None;
                    return;
                }
                // All outputs have failed, which has been said.
                Err(SendTimeoutError::Disconnected(_)) => {
                    self.queue = None;
                    return;
                }
            }
        }
    }

    /// Waits until all rows are written; not for long when `interrupted`.
    pub(super) fn finish(&mut self, interrupted: &AtomicBool) {
        self.queue = None;
        let Some(thread) = self.thread.take() else {
            return;
        };
        let mut deadline = None;
        while !thread.is_finished() {
            if interrupted.load(Ordering::Relaxed) {
                let deadline = *deadline.get_or_insert_with(|| Instant::now() + INTERRUPTED_WAIT);
                if Instant::now() >= deadline {
                    // It is stuck in a write; it ends with the process.
                    std::mem::forget(thread);
                    return;
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn write_rows(
    mut sinks: Vec<Box<dyn RowSink>>,
    rows: &Receiver<Row>,
    failures: &Sender<SinkFailure>,
) {
    let mut attempt = |write: &mut dyn FnMut(&mut dyn RowSink) -> io::Result<()>| {
        sinks.retain_mut(|sink| match write(sink.as_mut()) {
            Ok(()) => true,
            Err(error) => {
                // There is room for one failure of each sink; without a session nobody asks.
                drop(failures.try_send(SinkFailure { error }));
                false
            }
        });
        !sinks.is_empty()
    };
    for row in rows {
        if !attempt(&mut |sink| sink.write_row(&row)) {
            return;
        }
        if rows.is_empty() && !attempt(&mut |sink| sink.flush()) {
            return;
        }
    }
    attempt(&mut |sink| sink.flush());
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::recording::{JsonLines, LostRow};

    /// Bytes written, and an error after some of them.
    #[derive(Clone, Default)]
    struct Output {
        written: Arc<Mutex<Vec<u8>>>,
        capacity: Option<usize>,
    }

    impl io::Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut written = self.written.lock().expect("no panic");
            if self
                .capacity
                .is_some_and(|capacity| written.len() + bytes.len() > capacity)
            {
                return Err(io::ErrorKind::StorageFull.into());
            }
            written.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_reported_once_and_the_other_output_has_every_row() {
        let (good, full) = (
            Output::default(),
            Output {
                capacity: Some(100),
                ..Output::default()
            },
        );
        let sinks: Vec<Box<dyn RowSink>> = vec![
            Box::new(JsonLines::new(full)),
            Box::new(JsonLines::new(good.clone())),
        ];
        let (mut writer, failed) = RowWriter::start(sinks).expect("a thread");
        let interrupted = AtomicBool::new(false);
        for seq in 0..5000 {
            let row = LostRow {
                seq,
                model: "m".to_owned(),
                reason: "r".to_owned(),
            };
            writer.write(Row::Lost(row), &interrupted);
        }
        writer.finish(&interrupted);
        let failures: Vec<SinkFailure> = failed.try_iter().collect();
        assert_eq!(failures.len(), 1);
        assert!(!failures[0].is_closed_pipe());
        let text = String::from_utf8(good.written.lock().expect("no panic").clone());
        let seqs: Vec<u64> = text
            .expect("JSON is text")
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a row"))
            .map(|row| row["seq"].as_u64().expect("a number"))
            .collect();
        assert!(seqs.iter().copied().eq(0..5000));
    }

    #[test]
    fn an_interrupted_session_does_not_wait_for_an_output_that_takes_nothing() {
        struct Stuck;
        impl RowSink for Stuck {
            fn write_row(&mut self, _row: &Row) -> io::Result<()> {
                loop {
                    std::thread::park();
                }
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (mut writer, _failed) = RowWriter::start(vec![Box::new(Stuck)]).expect("a thread");
        let interrupted = AtomicBool::new(true);
        for seq in 0..2 * ROW_QUEUE as u64 {
            let row = LostRow {
                seq,
                model: String::new(),
                reason: String::new(),
            };
            writer.write(Row::Lost(row), &interrupted);
        }
        writer.finish(&interrupted);
    }
}
