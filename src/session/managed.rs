use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;

use crossbeam::channel::Sender;

use super::child::{Child, Incoming, describe_exit};
use super::process_state::{process_state, ticks_to_nanos};
use super::supervisor::{RestartPolicy, Supervisor, Verdict};
use super::view::{ChildState, ProcessUsage};
use crate::base::exit_code;
use crate::protocol::{Command, Problem, Role};

/// Exit codes of a child whose fault does not go away by itself: the source cannot be opened, the
/// model cannot be loaded, runtime or device missing.
const LASTING_FAULTS: std::ops::RangeInclusive<i32> =
    exit_code::SOURCE as i32..=exit_code::RUNTIME as i32;

/// How long a start may take before it is said that it goes on.
const LONG_START_NANOS: u64 = 5_000_000_000;

/// How long a child is silent before it may have been stopped.
const LOOK_NANOS: u64 = 1_000_000_000;

/// How long a child may live on after it has closed its stdout.
const CLOSED_NANOS: u64 = 1_000_000_000;

/// How long a dead child's events are waited for, when another process keeps its stdout open.
const UNREAD_NANOS: u64 = 500_000_000;

/// A child over all its lives: started, watched, restarted, given up.
#[derive(Debug)]
pub(super) struct Managed {
    pub(super) role: Role,
    /// Number of the current life; messages of earlier ones are not for this one.
    pub(super) id: u64,
    pub(super) state: ChildState,
    pub(super) supervisor: Supervisor,
    /// Why it gives up, as it said itself.
    pub(super) problem: Option<Problem>,
    /// Monotonic time of its last event.
    pub(super) last_event_nanos: u64,
    /// Monotonic time of its start.
    started_nanos: u64,
    /// Monotonic time from which a start is said to take long.
    long_start_nanos: u64,
    /// It is to be started again when it has ended.
    pub(super) start_again: bool,
    /// It was asked to end.
    pub(super) asked: bool,
    /// Exit code of the life that gave it up, if any.
    pub(super) fault_code: Option<i32>,
    restart_at: Option<u64>,
    /// What it was before it became stale.
    before_stale: Option<ChildState>,
    /// Monotonic time at which its processor time was seen to grow, and how far.
    progress: (u64, u64),
    /// Time of the last look and the processor time then, in ticks.
    looked: (u64, u64),
    usage: Option<ProcessUsage>,
    /// A signal has stopped its process.
    is_halted: bool,
    child: Option<Child>,
    closed_at: Option<u64>,
    dead_at: Option<u64>,
    last_stderr: Arc<[String]>,
}

/// The end of a life.
#[derive(Debug, Clone)]
pub(super) struct Death {
    pub(super) status: ExitStatus,
    /// Whether it was asked to end.
    pub(super) asked: bool,
    /// Exit code or signal, in words.
    pub(super) cause: String,
}

/// What follows from a death.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Consequence {
    /// It had been asked to end and stays down.
    Stopped,
    /// It is to be started at once.
    StartNow,
    /// It will be started again after this many milliseconds.
    Restarts { delay_millis: u64 },
    /// It is given up.
    GivenUp(Problem),
}

impl Managed {
    pub(super) fn new(role: Role, policy: RestartPolicy) -> Self {
        Self {
            role,
            id: 0,
            state: ChildState::Waiting,
            supervisor: Supervisor::new(policy),
            problem: None,
            last_event_nanos: 0,
            started_nanos: 0,
            long_start_nanos: 0,
            start_again: false,
            asked: false,
            fault_code: None,
            restart_at: None,
            before_stale: None,
            progress: (0, 0),
            looked: (0, 0),
            usage: None,
            is_halted: false,
            child: None,
            closed_at: None,
            dead_at: None,
            last_stderr: Arc::default(),
        }
    }

    /// Starts the next life and sends its first command. A program that cannot be started is given
    /// up; the problem is returned.
    pub(super) fn start(
        &mut self,
        program: &Path,
        id: u64,
        first: Command,
        inbox: Sender<Incoming>,
        now_nanos: u64,
    ) -> Result<(), Problem> {
        self.id = id;
        self.problem = None;
        self.fault_code = None;
        self.restart_at = None;
        self.closed_at = None;
        self.dead_at = None;
        self.asked = false;
        self.start_again = false;
        self.last_event_nanos = now_nanos;
        self.started_nanos = now_nanos;
        self.long_start_nanos = now_nanos + LONG_START_NANOS;
        self.before_stale = None;
        self.progress = (now_nanos, 0);
        self.looked = (now_nanos, 0);
        self.usage = None;
        self.is_halted = false;
        self.supervisor.started(now_nanos);
        match Child::start(program, self.role, id, inbox) {
            Ok(child) => {
                self.child = Some(child);
                self.state = ChildState::Starting {
                    step: "starting".to_owned(),
                };
                self.send(first);
                Ok(())
            }
            Err(error) => {
                let problem = Problem {
                    code: "spawn_failed".to_owned(),
                    message: format!("{} cannot be started: {error}", program.display()),
                    hint: Some("check that the program file is there and executable, and the limit on processes".to_owned()),
                };
                self.state = ChildState::Failed(problem.clone());
                Err(problem)
            }
        }
    }

    /// Whether a process is there.
    pub(super) fn is_alive(&self) -> bool {
        self.child.is_some()
    }

    /// Whether it is given up.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.state, ChildState::Failed(_))
    }

    /// Its process.
    pub(super) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::pid)
    }

    /// Last lines of its stderr, oldest first.
    pub(super) fn stderr(&self) -> Arc<[String]> {
        self.child
            .as_ref()
            .map_or_else(|| Arc::clone(&self.last_stderr), Child::stderr)
    }

    /// Sends a command, if a process is there. One that takes no commands is ended, and restarted
    /// like any that dies.
    pub(super) fn send(&mut self, command: Command) {
        if let Some(child) = &mut self.child
            && !child.send(command)
        {
            tracing::warn!("process {} takes no commands and is ended", child.pid());
            child.kill();
        }
    }

    /// Does not start it again.
    pub(super) fn cancel_restart(&mut self) {
        self.restart_at = None;
    }

    /// Asks it to end.
    pub(super) fn stop(&mut self, now_nanos: u64) {
        self.cancel_restart();
        match &mut self.child {
            Some(child) => {
                self.asked = true;
                child.ask_to_stop(now_nanos);
            }
            None if matches!(self.state, ChildState::Failed(_)) => {}
            None => self.state = ChildState::Stopped,
        }
    }

    /// Ends it at once, as a fault.
    pub(super) fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            child.kill();
        }
    }

    /// Notes that it has said something.
    pub(super) fn heard(&mut self, now_nanos: u64) {
        self.last_event_nanos = now_nanos;
        self.is_halted = false;
        self.not_stale();
    }

    fn not_stale(&mut self) {
        if let Some(before) = self.before_stale.take() {
            self.state = before;
        }
    }

    /// What it does and for how many seconds, when its start takes long: first after a few seconds,
    /// then whenever that time has doubled.
    pub(super) fn long_start(&mut self, now_nanos: u64) -> Option<(&str, u64)> {
        let ChildState::Starting { step } = &self.state else {
            return None;
        };
        if now_nanos < self.long_start_nanos {
            return None;
        }
        let passed = now_nanos.saturating_sub(self.started_nanos);
        self.long_start_nanos = now_nanos + passed;
        Some((step, passed / 1_000_000_000))
    }

    /// Whether it is shown as stale.
    pub(super) fn is_stale(&self) -> bool {
        self.before_stale.is_some()
    }

    /// What its process uses, as [`Self::look`] found it last.
    pub(super) fn usage(&self) -> Option<ProcessUsage> {
        self.usage.filter(|_| self.child.is_some())
    }

    /// Asks the kernel about it.
    pub(super) fn look(&mut self, now_nanos: u64) {
        let process = self.pid().and_then(process_state);
        if let Some(process) = process {
            let (then_nanos, then_ticks) = self.looked;
            let used = ticks_to_nanos(process.cpu_ticks.saturating_sub(then_ticks));
            let passed = now_nanos.saturating_sub(then_nanos).max(1);
            self.usage = Some(ProcessUsage {
                cores: used as f32 / passed as f32,
                resident_bytes: process.resident_bytes(),
            });
            self.looked = (now_nanos, process.cpu_ticks);
        }
        if now_nanos.saturating_sub(self.last_event_nanos) < LOOK_NANOS {
            return;
        }
        self.is_halted = process.is_some_and(|process| process.stopped);
        if let Some(process) = process
            && process.cpu_ticks != self.progress.1
        {
            self.progress = (now_nanos, process.cpu_ticks);
        }
    }

    /// Nanoseconds for which it has neither said nor computed anything.
    pub(super) fn idle_nanos(&self, now_nanos: u64) -> u64 {
        now_nanos.saturating_sub(self.last_event_nanos.max(self.progress.0))
    }

    /// Judges what [`Self::look`] found; `true` when it has just become stale. It is when a signal
    /// has stopped its process, or when it has work, given as the longest time in nanoseconds that it
    /// may be idle, and is idle for longer.
    pub(super) fn watch(&mut self, now_nanos: u64, work_limit_nanos: Option<u64>) -> bool {
        let is_idle = work_limit_nanos.is_some_and(|limit| self.idle_nanos(now_nanos) > limit);
        if self.child.is_none() || self.asked || !(self.is_halted || is_idle) {
            self.not_stale();
            return false;
        }
        if self.before_stale.is_some() {
            return false;
        }
        let stale = ChildState::Stale {
            since_nanos: self.last_event_nanos,
        };
        self.before_stale = Some(std::mem::replace(&mut self.state, stale));
        true
    }

    /// Notes the end of its stdout.
    pub(super) fn closed(&mut self, now_nanos: u64) {
        self.closed_at = Some(now_nanos);
    }

    /// Whether something is about to happen to it that sends no message.
    pub(super) fn is_ending(&self) -> bool {
        self.child.is_some() && (self.asked || self.closed_at.is_some() || self.dead_at.is_some())
    }

    /// When it is to be started again, if it is.
    pub(super) fn restart_at(&self) -> Option<u64> {
        self.restart_at
    }

    /// Its death, once it has died and all its events have come.
    pub(super) fn poll(&mut self, now_nanos: u64) -> Option<Death> {
        let child = self.child.as_mut()?;
        child.hurry(now_nanos);
        if !self.asked
            && self
                .closed_at
                .is_some_and(|at| now_nanos > at + CLOSED_NANOS)
        {
            child.kill();
        }
        let status = child.try_reap()?;
        let dead_at = *self.dead_at.get_or_insert(now_nanos);
        if self.closed_at.is_none() && now_nanos < dead_at + UNREAD_NANOS {
            return None;
        }
        self.last_stderr = self
            .child
            .take()
            .map(Child::into_stderr)
            .unwrap_or_default();
        Some(Death {
            status,
            asked: self.asked,
            cause: describe_exit(status),
        })
    }

    /// Judges a death and notes what follows.
    pub(super) fn judge(&mut self, death: &Death, now_nanos: u64) -> Consequence {
        self.not_stale();
        if self.start_again {
            return Consequence::StartNow;
        }
        if self.has_failed() {
            return Consequence::Stopped;
        }
        if death.asked {
            self.state = ChildState::Stopped;
            return Consequence::Stopped;
        }
        let code = death.status.code();
        if code.is_some_and(|code| LASTING_FAULTS.contains(&code)) {
            let problem = self.problem.take().unwrap_or_else(|| Problem {
                code: "child_failed".to_owned(),
                message: self.last_words(&death.cause),
                hint: None,
            });
            return self.give_up(problem, code);
        }
        match self.supervisor.died(now_nanos) {
            Verdict::RestartAt(at_nanos) => {
                self.restart_at = Some(at_nanos);
                self.state = ChildState::Restarting {
                    attempt: self.supervisor.restarts() + 1,
                    at_nanos,
                    cause: death.cause.clone(),
                };
                Consequence::Restarts {
                    delay_millis: (at_nanos - now_nanos) / 1_000_000,
                }
            }
            Verdict::GiveUp => {
                let problem = Problem {
                    code: "gave_up".to_owned(),
                    message: format!(
                        "given up after {} starts: {}",
                        self.supervisor.recent_starts(),
                        self.last_words(&death.cause)
                    ),
                    hint: Some("see its last log lines; it can be restarted by hand".to_owned()),
                };
                self.give_up(problem, code)
            }
        }
    }

    /// Gives it up for a fault that is found from outside; it is ended.
    pub(super) fn give_up(&mut self, problem: Problem, code: Option<i32>) -> Consequence {
        self.kill();
        self.fault_code = code;
        self.state = ChildState::Failed(problem.clone());
        Consequence::GivenUp(problem)
    }

    /// How it ended, with what it said itself or its last line on stderr.
    pub(super) fn last_words(&self, cause: &str) -> String {
        let said = self.problem.as_ref().map(|problem| problem.message.clone());
        match said.or_else(|| self.last_stderr.last().cloned()) {
            Some(said) => format!("{cause}; it last said: {said}"),
            None => cause.to_owned(),
        }
    }
}
