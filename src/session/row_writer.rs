use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam::channel::{self, Receiver, RecvTimeoutError, SendTimeoutError, Sender};

use crate::base::Worker;
use crate::recording::{Row, RowSink};

/// Rows waiting for one output. When it is full the session waits: a run is as fast as its rows can
/// be written, and none is left out.
const ROW_QUEUE: usize = 1024;

/// How often a session that waits for its outputs looks whether it is interrupted.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

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

/// Writes rows to all outputs, each on a thread of its own: one that is slow for a while does not
/// hold up the others.
#[derive(Debug)]
pub(super) struct RowWriter {
    outputs: Vec<Output>,
}

#[derive(Debug)]
struct Output {
    queue: Sender<Arc<Row>>,
    /// Disconnected when the thread has written its last row.
    end: Receiver<Infallible>,
    thread: Worker,
}

impl RowWriter {
    /// Starts writing to `sinks`; those that fail are reported to the second value.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(super) fn start(sinks: Vec<Box<dyn RowSink>>) -> io::Result<(Self, Receiver<SinkFailure>)> {
        // Each output fails at most once.
        let (failures, failed) = channel::bounded(sinks.len().max(1));
        let mut outputs = Vec::new();
        for sink in sinks {
            let (queue, rows) = channel::bounded(ROW_QUEUE);
            let (running, end) = channel::bounded(0);
            let failures = failures.clone();
            let thread = Worker::spawn("rows", move || {
                if let Err(error) = write_rows(sink, &rows) {
                    // There is room for it; without a session nobody asks.
                    drop(failures.try_send(SinkFailure { error }));
                }
                drop(running);
            })?;
            outputs.push(Output { queue, end, thread });
        }
        Ok((Self { outputs }, failed))
    }

    /// Writes a row; waits while an output does not keep up, unless `interrupted`.
    pub(super) fn write(&mut self, row: Row, interrupted: &AtomicBool) {
        let row = Arc::new(row);
        self.outputs
            .extract_if(.., |output| !output.write(&row, interrupted))
            .for_each(Output::abandon);
    }

    /// Waits until all rows are written; not for long when `interrupted`.
    pub(super) fn finish(&mut self, interrupted: &AtomicBool) {
        let outputs = self.outputs.drain(..);
        let threads: Vec<_> = outputs.map(|output| (output.end, output.thread)).collect();
        let mut deadline = None;
        for (end, thread) in threads {
            let has_ended = loop {
                if end.recv_timeout(LOOK_AGAIN) == Err(RecvTimeoutError::Disconnected) {
                    break true;
                }
                if interrupted.load(Ordering::SeqCst) {
                    let wait = || Instant::now() + INTERRUPTED_WAIT;
                    if Instant::now() >= *deadline.get_or_insert_with(wait) {
                        break false;
                    }
                }
            };
            if !has_ended {
                // It is stuck in a write and ends with the process.
                std::mem::forget(thread);
            }
        }
    }
}

impl Output {
    /// Queues a row; `false` when the output has failed, which is reported elsewhere, or is stuck.
    fn write(&self, row: &Arc<Row>, interrupted: &AtomicBool) -> bool {
        loop {
            match self.queue.send_timeout(Arc::clone(row), INTERRUPTED_WAIT) {
                Ok(()) => return true,
                Err(SendTimeoutError::Disconnected(_)) => return false,
                Err(SendTimeoutError::Timeout(_)) => {
                    if interrupted.load(Ordering::SeqCst) {
                        tracing::error!("an output takes no more rows; the rest is left out");
                        return false;
                    }
                }
            }
        }
    }

    /// Gives it no more rows and does not wait for those that it has.
    fn abandon(self) {
        drop(self.queue);
        leave(self.thread);
    }
}

/// Joins a thread that has ended; one that is stuck in a write ends with the process.
fn leave(thread: Worker) {
    if !thread.is_finished() {
        std::mem::forget(thread);
    }
}

fn write_rows(mut sink: Box<dyn RowSink>, rows: &Receiver<Arc<Row>>) -> io::Result<()> {
    for row in rows {
        sink.write_row(&row)?;
        if rows.is_empty() {
            sink.flush()?;
        }
    }
    sink.flush()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::recording::{JsonLines, LostRow};

    /// Bytes written, and an error after some of them.
    #[derive(Clone, Default)]
    struct Bytes {
        written: Arc<Mutex<Vec<u8>>>,
        capacity: Option<usize>,
    }

    impl io::Write for Bytes {
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
            Bytes::default(),
            Bytes {
                capacity: Some(100),
                ..Bytes::default()
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
