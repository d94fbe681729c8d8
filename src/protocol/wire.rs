use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam::channel::{self, Receiver, Sender, TrySendError};
use serde::de::DeserializeOwned;

use super::{Command, Event};
use crate::base::{Worker, exit_code};

/// Longest line that is read: longer ones are an error, so that a broken child cannot fill memory.
pub const MAX_LINE_BYTES: u64 = 16 << 20;

/// Events waiting for the pipe. When it is full, [`EventSender::offer`] gives the event up and
/// counts it; [`EventSender::send`] waits.
const EVENT_QUEUE: usize = 256;

/// Why a line could not be read.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The pipe failed.
    #[error("reading from the pipe: {0}")]
    Io(#[from] io::Error),
    /// A line is longer than [`MAX_LINE_BYTES`].
    #[error("a line is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// A line is not what is expected.
    #[error("unreadable line `{line}`: {cause}")]
    Unreadable {
        /// Its beginning.
        line: String,
        /// What is wrong.
        cause: serde_json::Error,
    },
}

/// Reads one message a line.
#[derive(Debug)]
pub struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
        }
    }

    /// The next message; `None` at the end. A last line without its newline (its writer was killed)
    /// is left out. After [`WireError::Unreadable`] the next call goes on with the next line.
    ///
    /// # Errors
    /// See [`WireError`].
    pub fn next_message<T: DeserializeOwned>(&mut self) -> Result<Option<T>, WireError> {
        self.line.clear();
        let read = self
            .input
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut self.line)?;
        if self.line.last() != Some(&b'\n') {
            return if read as u64 == MAX_LINE_BYTES {
                Err(WireError::TooLong)
            } else {
                Ok(None)
            };
        }
        match serde_json::from_slice(&self.line) {
            Ok(message) => Ok(Some(message)),
            Err(cause) => {
                let start = &self.line[..self.line.len().min(200)];
                let line = String::from_utf8_lossy(start).trim_end().to_owned();
                Err(WireError::Unreadable { line, cause })
            }
        }
    }
}

/// Keeps this process's stdout for events alone and points file descriptor 1 at stderr, so that a
/// library that prints cannot break the protocol. Call it before any other thread starts.
///
/// # Errors
/// stdout is closed, or no descriptor is left.
pub fn take_over_stdout() -> io::Result<File> {
    let private: OwnedFd = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(File::from(private))
}

enum Outgoing {
    Line(Vec<u8>),
    Flush(Sender<()>),
}

/// Sends events from any thread, as whole lines, through one writer thread.
#[derive(Clone)]
pub struct EventSender {
    queue: Sender<Outgoing>,
    unreported: Arc<AtomicU64>,
}

impl EventSender {
    /// Starts the writer thread on `output`. The thread ends when all senders are gone, or when the
    /// pipe is closed (the session is gone; the end of stdin then ends this process).
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn start(output: impl Write + Send + 'static) -> io::Result<(Self, Worker)> {
        let (queue, lines) = channel::bounded(EVENT_QUEUE);
        let worker = Worker::spawn("events", move || write_lines(output, &lines))?;
        Ok((
            Self {
                queue,
                unreported: Arc::default(),
            },
            worker,
        ))
    }

    /// Sends an event; waits while the queue is full.
    pub fn send(&self, event: &Event) {
        // The queue is closed only when the pipe is, and then nobody listens.
        drop(self.queue.send(Outgoing::Line(line(event))));
    }

    /// Sends an event unless the queue is full; then it is counted as unreported, and the count is
    /// sent before the next event that fits, or by [`Self::send_unreported`].
    pub fn offer(&self, event: &Event) {
        let missed = self.unreported.swap(0, Ordering::Relaxed);
        if missed > 0 && !self.try_line(&Event::Unreported { count: missed }) {
            self.unreported.fetch_add(missed + 1, Ordering::Relaxed);
        } else if !self.try_line(event) {
            self.unreported.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends how many offered events have been given up since that was last sent, if any; waits while
    /// the queue is full. For when no further event is going to be offered.
    pub fn send_unreported(&self) {
        let count = self.unreported.swap(0, Ordering::Relaxed);
        if count > 0 {
            self.send(&Event::Unreported { count });
        }
    }

    fn try_line(&self, event: &Event) -> bool {
        match self.queue.try_send(Outgoing::Line(line(event))) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => true,
            Err(TrySendError::Full(_)) => false,
        }
    }

    /// Waits until all events sent before are in the pipe, at most `timeout`; whether they are.
    pub fn flush(&self, timeout: Duration) -> bool {
        let (done, wait) = channel::bounded(1);
        self.queue
            .send_timeout(Outgoing::Flush(done), timeout)
            .is_ok()
            && wait.recv_timeout(timeout).is_ok()
    }
}

fn line(event: &Event) -> Vec<u8> {
    let mut line = serde_json::to_vec(event).expect("events have string keys only");
    line.push(b'\n');
    line
}

fn write_lines(mut output: impl Write, lines: &Receiver<Outgoing>) {
    for outgoing in lines {
        match outgoing {
            Outgoing::Line(line) => {
                if let Err(error) = output.write_all(&line) {
                    tracing::debug!("events can no longer be reported: {error}");
                    return;
                }
            }
            // Nobody waits any more: the flush timed out.
            Outgoing::Flush(done) => drop(done.send(())),
        }
    }
}

/// Reads commands from `input` on a thread of its own. When it ends (the session is gone) the
/// process exits at once with status 0, wherever its other threads are.
///
/// Commands that cannot be read are logged and left out.
///
/// # Errors
/// The system refuses another thread.
pub fn read_commands(input: impl Read + Send + 'static) -> io::Result<Receiver<Command>> {
    // A session sends few commands; one that does not fit waits in the pipe.
    let (sender, receiver) = channel::bounded(64);
    let body = move || {
        let mut lines = Lines::new(input);
        loop {
            match lines.next_message() {
                Ok(Some(command)) => {
                    // The main thread is on its way out; only the end of stdin matters now.
                    drop(sender.send(command));
                }
                Ok(None) => std::process::exit(exit_code::DONE.into()),
                Err(WireError::Unreadable { line, cause }) => {
                    tracing::error!("unreadable command `{line}`: {cause}");
                }
                Err(error) => {
                    tracing::error!("commands can no longer be read: {error}");
                    std::process::exit(exit_code::FAILED.into());
                }
            }
        }
    };
    // Not a `Worker`: the thread ends with the process.
    std::thread::Builder::new()
        .name("commands".to_owned())
        .spawn(body)?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use nix::fcntl::{FcntlArg, fcntl};

    use super::*;

    #[test]
    fn lines_are_read_whole_and_a_cut_off_one_is_left_out() {
        let text = b"{\"command\":\"play\"}\nnonsense\n{\"command\":\"step\",\"frames\":2}\n{\"command\":\"pau";
        let mut lines = Lines::new(&text[..]);
        assert_eq!(lines.next_message().expect("a line"), Some(Command::Play));
        assert!(matches!(
            lines.next_message::<Command>(),
            Err(WireError::Unreadable { .. })
        ));
        assert_eq!(
            lines.next_message().expect("a line"),
            Some(Command::Step { frames: 2 })
        );
        assert_eq!(lines.next_message::<Command>().expect("the end"), None);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let endless = io::repeat(b'x');
        assert!(matches!(
            Lines::new(endless).next_message::<Command>(),
            Err(WireError::TooLong)
        ));
    }

    #[test]
    fn events_that_do_not_fit_are_counted_and_the_count_is_reported() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let (sender, worker) = EventSender::start(writer).expect("a thread");
        let event = Event::Loading {
            step: "x".repeat(1000),
        };
        let offered = 1000;
        for _ in 0..offered {
            sender.offer(&event);
        }
        let mut lines = Lines::new(reader);
        let (mut seen, mut unreported) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // Waits for room, as the count is reported with the next event that fits.
                sender.flush(Duration::from_secs(60));
                sender.offer(&event);
                drop(sender);
            });
            while let Ok(Some(event)) = lines.next_message() {
                match event {
                    Event::Unreported { count } => unreported += count,
                    _ => seen += 1,
                }
            }
        });
        drop(worker);
        assert!(unreported > 0, "the pipe took everything");
        assert_eq!(seen + unreported, offered + 1);
    }

    #[test]
    fn what_could_not_be_reported_is_told_when_no_event_comes_after_it() {
        let (reader, writer) = io::pipe().expect("a pipe");
        fcntl(&writer, FcntlArg::F_SETPIPE_SZ(4096)).expect("a small pipe");
        let (sender, worker) = EventSender::start(writer).expect("a thread");
        let event = Event::Loading {
            step: "x".repeat(1000),
        };
        let offered = 1000;
        for _ in 0..offered {
            sender.offer(&event);
        }
        let mut lines = Lines::new(reader);
        let (mut seen, mut unreported) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                sender.send_unreported();
                // There is nothing left to tell.
                sender.send_unreported();
            });
            while let Ok(Some(event)) = lines.next_message() {
                match event {
                    Event::Unreported { count } => unreported += count,
                    _ => seen += 1,
                }
            }
        });
        drop(worker);
        assert!(unreported > 0, "the pipe took everything");
        assert_eq!(seen + unreported, offered);
    }
}
