use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command as Program, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam::channel::{
    self, Receiver, RecvTimeoutError, SendTimeoutError, Sender, TrySendError,
};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

use super::stderr_tail::StderrTail;
use crate::base::{Worker, monotonic_nanos};
use crate::protocol::{Command, Event, Lines, Role, WireError};

/// Commands waiting for a child's stdin. A child that lets them pile up is deaf, and is ended.
const COMMAND_QUEUE: usize = 64;

/// Unreadable lines of one child that are passed on; the rest are only dropped.
const GARBLED_LINES: usize = 5;

/// How long a child that was asked to stop may take before it gets SIGTERM.
const ASKED_NANOS: u64 = 1_800_000_000;

/// How long it may take from SIGTERM until it gets SIGKILL.
const TERMINATED_NANOS: u64 = 400_000_000;

/// How long threads of a dead child may take to see the end of its pipes. A process that the child
/// put out of its group can keep them open for ever; the threads are then left to it.
const PIPE_END: Duration = Duration::from_secs(1);

/// What comes from a child.
#[derive(Debug)]
pub(super) enum ChildMessage {
    /// An event.
    Event(Box<Event>),
    /// A line that is none.
    Garbled(String),
    /// The end of its stdout.
    Closed,
    /// The end of its process, which can be reaped now.
    Died,
}

/// A message and where it comes from.
#[derive(Debug)]
pub(super) struct Incoming {
    /// The `id` that the child was started with.
    pub(super) child: u64,
    /// Monotonic time at which it was read, in nanoseconds.
    pub(super) received_nanos: u64,
    /// The message.
    pub(super) message: ChildMessage,
}

/// How far the end of a child has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    No,
    Asked { at_nanos: u64 },
    Terminated { at_nanos: u64 },
    Killed,
}

/// A child process: asked, then ended, and always reaped; its helpers (its process group) go with
/// it.
///
/// It must be started on a thread that lives longer than it: the kernel kills a child when the
/// thread that started it ends.
#[derive(Debug)]
pub(super) struct Child {
    process: std::process::Child,
    pid: Pid,
    commands: Sender<Command>,
    stderr: Arc<StderrTail>,
    abandoned: Arc<AtomicBool>,
    threads: Vec<Worker>,
    /// Disconnected when all threads have ended.
    threads_end: Receiver<Infallible>,
    ending: Ending,
    status: Option<ExitStatus>,
}

impl Child {
    /// Starts `program` in a process group of its own as `role`; its messages go to `inbox` under
    /// `id`.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(super) fn start(
        program: &Path,
        role: Role,
        id: u64,
        inbox: Sender<Incoming>,
    ) -> io::Result<Self> {
        let subcommand = match role {
            Role::Producer => "produce",
            Role::Consumer => "consume",
        };
        let mut process = Program::new(program)
            .arg(subcommand)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // ONNX Runtime asks this before a program can tell it to send nothing home.
            .env("ORT_DISABLE_TELEMETRY", "1")
            .process_group(0)
            .spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (
            process.stdin.take(),
            process.stdout.take(),
            process.stderr.take(),
        ) else {
            return Err(io::Error::other("the child has no pipes"));
        };
        let (commands, to_write) = channel::bounded(COMMAND_QUEUE);
        let (running, threads_end) = channel::bounded(0);
        let mut child = Self {
            pid: Pid::from_child(&process),
            process,
            commands,
            stderr: Arc::default(),
            abandoned: Arc::default(),
            threads: Vec::new(),
            threads_end,
            ending: Ending::No,
            status: None,
        };
        // From here on dropping `child` ends the process.
        let end = pidfd_open(child.pid, PidfdFlags::empty());
        let tail = Arc::clone(&child.stderr);
        let abandoned = Arc::clone(&child.abandoned);
        // Dropped before `child`, which waits for all of them.
        let running = running;
        let mut spawn = |name: &str, body: Box<dyn FnOnce() + Send>| -> io::Result<()> {
            let running = running.clone();
            child.threads.push(Worker::spawn(name, move || {
                body();
                drop(running);
            })?);
            Ok(())
        };
        if let Ok(end) = end {
            // Without it the session finds the death when it looks at its children next.
            let (inbox, abandoned) = (inbox.clone(), Arc::clone(&abandoned));
            let body = move || tell_death(&end, id, &inbox, &abandoned);
            spawn("child-end", Box::new(body))?;
        }
        spawn(
            "child-commands",
            Box::new(move || write_commands(stdin, &to_write)),
        )?;
        spawn(
            "child-events",
            Box::new(move || read_events(stdout, id, &inbox, &abandoned)),
        )?;
        spawn("child-stderr", Box::new(move || tail.drain(stderr)))?;
        Ok(child)
    }

    /// The process.
    pub(super) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Sends a command; `false` when the child has let too many pile up.
    #[must_use]
    pub(super) fn send(&self, command: Command) -> bool {
        match self.commands.try_send(command) {
            // The pipe is closed: the child is dying, which is noticed elsewhere.
            Ok(()) | Err(TrySendError::Disconnected(_)) => true,
            Err(TrySendError::Full(_)) => false,
        }
    }

    /// The last lines of its stderr, oldest first.
    pub(super) fn stderr(&self) -> Arc<[String]> {
        self.stderr.lines()
    }

    /// Ends it, and gives the last lines of its stderr, to the very last.
    pub(super) fn into_stderr(self) -> Arc<[String]> {
        let stderr = Arc::clone(&self.stderr);
        drop(self);
        stderr.lines()
    }

    /// Asks it to end; [`Self::hurry`] then sees to it that it does.
    pub(super) fn ask_to_stop(&mut self, now_nanos: u64) {
        if self.ending == Ending::No {
            self.ending = Ending::Asked {
                at_nanos: now_nanos,
            };
            if !self.send(Command::Stop) {
                self.kill();
            }
        }
    }

    /// Sends SIGTERM and then SIGKILL to a child that was asked to stop and has not within its time.
    pub(super) fn hurry(&mut self, now_nanos: u64) {
        match self.ending {
            Ending::Asked { at_nanos } if now_nanos >= at_nanos + ASKED_NANOS => {
                self.ending = Ending::Terminated {
                    at_nanos: now_nanos,
                };
                self.signal_group(Signal::TERM);
            }
            Ending::Terminated { at_nanos } if now_nanos >= at_nanos + TERMINATED_NANOS => {
                self.kill();
            }
            _ => {}
        }
    }

    /// Ends it and its helpers at once.
    pub(super) fn kill(&mut self) {
        if self.status.is_none() {
            self.ending = Ending::Killed;
            self.signal_group(Signal::KILL);
        }
    }

    /// The exit status, once it has died; its helpers are ended and it is reaped then.
    pub(super) fn try_reap(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() && self.is_dead() {
            // Before it is reaped, so that the number of the group is still its own.
            self.signal_group(Signal::KILL);
            self.status = self.process.wait().ok();
        }
        self.status
    }

    fn is_dead(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that there is no such child to wait for.
        !matches!(waitid(WaitId::Pid(self.pid), options), Ok(None))
    }

    fn signal_group(&self, signal: Signal) {
        if let Err(error) = kill_process_group(self.pid, signal) {
            tracing::debug!("signal to process group {:?}: {error}", self.pid);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
        if self.status.is_none() {
            self.signal_group(Signal::KILL);
            if let Err(error) = self.process.wait() {
                tracing::error!("process {} cannot be reaped: {error}", self.pid());
            }
        }
        // Closes the queue, so that the writer thread ends.
        let (closed, _) = channel::bounded(0);
        self.commands = closed;
        let all_end = match self.threads_end.recv_timeout(PIPE_END) {
            Err(RecvTimeoutError::Disconnected) => true,
            Err(RecvTimeoutError::Timeout) => false,
        };
        for thread in self.threads.drain(..) {
            if !all_end && !thread.is_finished() {
                tracing::warn!("a process outside the child's group keeps its pipes open");
                std::mem::forget(thread);
            }
        }
    }
}

/// How a child ended, in words: `exit code 1`, `signal 9 (SIGKILL)`.
pub(super) fn describe_exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => {
            let name = nix::sys::signal::Signal::try_from(signal)
                .map(|signal| format!(" ({signal})"))
                .unwrap_or_default();
            format!("signal {signal}{name}")
        }
        (None, None) => "an unknown end".to_owned(),
    }
}

fn write_commands(stdin: ChildStdin, commands: &Receiver<Command>) {
    use std::io::Write;

    let mut stdin = stdin;
    for command in commands {
        let mut line = serde_json::to_vec(&command).expect("commands have string keys only");
        line.push(b'\n');
        if let Err(error) = stdin.write_all(&line) {
            tracing::debug!("a child takes no more commands: {error}");
            return;
        }
    }
}

fn read_events(stdout: ChildStdout, id: u64, inbox: &Sender<Incoming>, abandoned: &AtomicBool) {
    let mut lines = Lines::new(stdout);
    let mut garbled = 0;
    loop {
        let message = match lines.next_message::<Event>() {
            Ok(Some(event)) => ChildMessage::Event(Box::new(event)),
            Ok(None) => ChildMessage::Closed,
            Err(WireError::Unreadable { line, cause }) => {
                garbled += 1;
                if garbled > GARBLED_LINES {
                    continue;
                }
                ChildMessage::Garbled(format!("`{line}`: {cause}"))
            }
            Err(error) => {
                tracing::warn!("events of a child can no longer be read: {error}");
                ChildMessage::Closed
            }
        };
        let is_last = matches!(message, ChildMessage::Closed);
        if !pass_on(message, id, inbox, abandoned) || is_last {
            return;
        }
    }
}

/// Waits for the end of the process and says so.
fn tell_death(process: &OwnedFd, id: u64, inbox: &Sender<Incoming>, abandoned: &AtomicBool) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(error) = waitid(WaitId::PidFd(process.as_fd()), options) {
        if error != Errno::INTR {
            // It has been reaped already.
            return;
        }
    }
    pass_on(ChildMessage::Died, id, inbox, abandoned);
}

/// Puts a message into the inbox. A full one holds the child back, until nobody waits for its
/// messages any more: then `false`.
fn pass_on(
    message: ChildMessage,
    id: u64,
    inbox: &Sender<Incoming>,
    abandoned: &AtomicBool,
) -> bool {
    let mut incoming = Incoming {
        child: id,
        received_nanos: monotonic_nanos(),
        message,
    };
    while let Err(error) = inbox.send_timeout(incoming, Duration::from_millis(50)) {
        match error {
            SendTimeoutError::Timeout(back) if !abandoned.load(Ordering::Relaxed) => {
                incoming = back;
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;
