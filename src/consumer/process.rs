use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, TryRecvError};
use nix::sys::prctl;
use nix::sys::signal::Signal;

use super::connection::Connection;
use super::failure::Failure;
use super::library::Library;
use super::model::Model;
use super::pipeline::{Pipeline, Step};
use super::reading::Reading;
use super::runner::Runner;
use crate::base::exit_code;
use crate::protocol::{
    Attachment, Command, ConsumerStart, Event, EventSender, PROTOCOL_VERSION, Problem, Role,
    read_commands, take_over_stdout,
};

/// Longest wait for the last events to reach the session.
const FLUSH_WAIT: Duration = Duration::from_secs(5);

/// Runs the `ringside consume` process: commands on stdin, events on stdout. Returns when it is asked
/// to stop or gives up, with the process's exit code; the process ends by itself when stdin does.
pub fn run() -> u8 {
    match start() {
        Ok(code) => code,
        Err(error) => {
            tracing::error!("the consumer cannot talk to its session: {error}");
            exit_code::FAILED
        }
    }
}

fn start() -> std::io::Result<u8> {
    // Where the kernel does not know this, the end of stdin still ends the process.
    if let Err(error) = prctl::set_pdeathsig(Signal::SIGKILL) {
        tracing::warn!("the consumer may outlive its session: {error}");
    }
    let (events, writer) = EventSender::start(take_over_stdout()?)?;
    let commands = read_commands(std::io::stdin())?;
    events.send(&Event::Hello {
        protocol: PROTOCOL_VERSION,
        pid: std::process::id(),
        role: Role::Consumer,
    });
    let result = consume(&commands, &events);
    events.send_unreported();
    let code = match result {
        Ok(()) => exit_code::DONE,
        Err(failure) => {
            tracing::error!("{failure}");
            events.send(&Event::Failed(failure.problem.clone()));
            failure.exit_status()
        }
    };
    events.flush(FLUSH_WAIT);
    drop(events);
    drop(writer);
    Ok(code)
}

fn consume(commands: &Receiver<Command>, events: &EventSender) -> Result<(), Failure> {
    let begun = Instant::now();
    let start = match commands.recv() {
        Ok(Command::Consume(start)) => *start,
        Ok(other) => {
            return Err(Failure::protocol(format!(
                "the first command must be `consume`, not {other:?}"
            )));
        }
        // The end of stdin ends the process.
        Err(_closed) => return Ok(()),
    };
    let reading = Reading::start(&start.model.path)?;
    // Attached before ONNX Runtime is loaded, so that a ring that is waited for is joined in time.
    let mut early = VecDeque::new();
    let attachment = loop {
        match commands.recv() {
            Ok(Command::Attach(attachment)) => break attachment,
            Ok(Command::Stop) | Err(_) => return Ok(()),
            Ok(other) => early.push_back(other),
        }
    };
    let connection = Connection::open(attachment, events)?;
    let mut consumer = Consumer::load(start, reading, connection, events, begun)?;
    for command in early {
        consumer.obey(command)?;
    }
    while !consumer.stopped {
        match consumer.next_command(commands) {
            Ok(command) => consumer.obey(command)?,
            Err(TryRecvError::Empty) => consumer.step()?,
            Err(TryRecvError::Disconnected) => break,
        }
    }
    consumer.finish()
}

/// A consumer whose model is loaded.
struct Consumer {
    start: ConsumerStart,
    events: EventSender,
    pipeline: Pipeline,
    target: super::device::Target,
    connection: Connection,
    /// Rings to go on with when this one has been drained.
    next_rings: VecDeque<Attachment>,
    playing: bool,
    stopped: bool,
}

impl Consumer {
    fn load(
        start: ConsumerStart,
        reading: Reading,
        connection: Connection,
        events: &EventSender,
        begun: Instant,
    ) -> Result<Self, Failure> {
        let spec = &start.model;
        let micros = || u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        events.send(&loading("loading ONNX Runtime"));
        let attached_micros = micros();
        let library = Library::load(start.onnxruntime.as_deref())?;
        let library_micros = micros() - attached_micros;
        events.send(&loading(&format!("loading {}", spec.name)));
        let mut model = Model::load_read(spec, start.models, &library, reading)?;
        let load_micros = &mut model.card.load_micros;
        load_micros.insert("attach".to_owned(), attached_micros);
        load_micros.insert("onnxruntime".to_owned(), library_micros);
        load_micros.insert("all".to_owned(), micros());
        for notice in model.notices.iter().chain(&workers_notice(&start)) {
            events.send(&Event::Notice(notice.clone()));
        }
        events.send(&Event::Ready(Box::new(model.card.clone())));
        let target = model.engine.target();
        let runner = Runner::new(model, spec);
        let pipeline = Pipeline::new(runner, spec, start.delivery, start.frames, events.clone());
        let mut consumer = Self {
            pipeline,
            target,
            connection,
            events: events.clone(),
            next_rings: VecDeque::new(),
            playing: false,
            stopped: false,
            start,
        };
        consumer.enter_ring()?;
        Ok(consumer)
    }

    /// The next command; waits for one where there is nothing else to do.
    fn next_command(&self, commands: &Receiver<Command>) -> Result<Command, TryRecvError> {
        if self.playing && !self.connection.drained {
            commands.try_recv()
        } else {
            commands
                .recv()
                .map_err(|_closed| TryRecvError::Disconnected)
        }
    }

    fn obey(&mut self, command: Command) -> Result<(), Failure> {
        match command {
            Command::Attach(attachment) => {
                self.next_rings.push_back(attachment);
                // A ring whose frames are for others need not be drained.
                let is_for_others = !self.playing && !self.connection.reader.counts();
                if is_for_others || self.connection.drained {
                    self.change_ring()?;
                }
            }
            Command::Play => {
                self.playing = true;
                self.join_or_leave();
            }
            Command::Pause => {
                self.playing = false;
                self.pipeline.finish(&mut self.connection)?;
                self.connection.reader.rest();
                while !self.next_rings.is_empty() && !self.connection.reader.counts() {
                    self.change_ring()?;
                }
            }
            Command::Tune { threshold, top } => self.pipeline.tune(threshold, top),
            Command::Stop => self.stopped = true,
            other => tracing::error!("a consumer cannot obey {other:?}"),
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Failure> {
        if self.pipeline.step(&mut self.connection)? == Step::Drained {
            self.connection.drained = true;
            if self.pipeline.has_enough() {
                // What comes is for others: it is not dropped by this one.
                self.connection.reader.leave();
            }
            // Another event may be long in coming.
            self.events.send_unreported();
            if !self.next_rings.is_empty() {
                self.change_ring()?;
            }
        }
        Ok(())
    }

    fn change_ring(&mut self) -> Result<(), Failure> {
        if let Some(attachment) = self.next_rings.pop_front() {
            self.connection.leave(&self.events);
            self.connection = Connection::open(attachment, &self.events)?;
            self.enter_ring()?;
        }
        Ok(())
    }

    fn enter_ring(&mut self) -> Result<(), Failure> {
        let ConsumerStart {
            schedule, delivery, ..
        } = self.start;
        self.connection
            .take_turns(self.target, schedule, delivery)?;
        if self.playing {
            self.join_or_leave();
        }
        Ok(())
    }

    /// Joins the ring's readers to take frames; one that has enough leaves them instead, as the session
    /// may have counted it in when it resumed.
    fn join_or_leave(&mut self) {
        if self.pipeline.has_enough() {
            self.connection.reader.leave();
        } else {
            self.connection.reader.join();
        }
    }

    /// Reports what has been taken.
    fn finish(mut self) -> Result<(), Failure> {
        self.pipeline.finish(&mut self.connection)?;
        self.pipeline.leave_model();
        Ok(())
    }
}

fn loading(step: &str) -> Event {
    Event::Loading {
        step: step.to_owned(),
    }
}

/// `persistent_workers` without workers is no error, as it is elsewhere: it is left out, and said.
fn workers_notice(start: &ConsumerStart) -> Option<Problem> {
    let spec = &start.model;
    (spec.persistent_workers && spec.workers == 0).then(|| Problem {
        code: "persistent_workers".to_owned(),
        message: format!(
            "{}: persistent_workers has no effect with workers = 0: frames are prepared inline",
            spec.name
        ),
        hint: Some("Set `workers`, or leave out `persistent_workers`.".to_owned()),
    })
}
