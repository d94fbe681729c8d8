use std::collections::VecDeque;
use std::time::Duration;

use crossbeam::channel::{Receiver, RecvTimeoutError};

use super::failure::{Failure, LARGER_SLOTS};
use super::pace::Pace;
use crate::base::{exit_code, monotonic_nanos};
use crate::protocol::{
    Attachment, Command, Delivery, Event, EventSender, FrameEvent, PROTOCOL_VERSION, Problem,
    ProducerStart, Role, Skipped, SourceState,
};
use crate::ring::{PublishError, Published, RingError, Writer};
use crate::source::{self, Cursor, FrameSource, Step, Upcoming};

/// How long a producer waits for one before it, which is being killed, to let go of the ring.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it tries.
const BUSY_RETRY: Duration = Duration::from_millis(20);

/// Longest wait for an announced opening to be in the pipe.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves one session: obeys `commands` until [`Command::Stop`] or their end. Returns the exit
/// status.
pub(super) fn serve(commands: &Receiver<Command>, events: &EventSender) -> u8 {
    events.send(&Event::Hello {
        protocol: PROTOCOL_VERSION,
        pid: std::process::id(),
        role: Role::Producer,
    });
    let start = match commands.recv() {
        Ok(Command::Produce(start)) => start,
        Ok(Command::Stop) | Err(_) => return exit_code::DONE,
        Ok(other) => {
            let problem = Failure::Protocol(format!("{other:?}")).problem();
            events.send(&Event::Failed(problem));
            return exit_code::FAILED;
        }
    };
    events.send(&Event::Source {
        state: SourceState::Connecting,
        detail: None,
    });
    let source = match source::open(&start.source) {
        Ok(source) => source,
        Err(error) => {
            events.send(&Event::Failed(error.problem()));
            return exit_code::SOURCE;
        }
    };
    for notice in source.notices() {
        events.send(&Event::Notice(notice.clone()));
    }
    events.send(&Event::SourceOpened(source.info().clone()));
    match Playback::new(commands, events, source, &start).run() {
        Ok(()) => exit_code::DONE,
        Err(failure) => {
            events.send(&Event::Failed(failure.problem()));
            if failure.is_lasting() {
                exit_code::SOURCE
            } else {
                exit_code::FAILED
            }
        }
    }
}

/// What the session wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Paused,
    Playing,
    /// Publish this many frames, then pause.
    Stepping(u32),
}

struct Playback<'a> {
    commands: &'a Receiver<Command>,
    events: &'a EventSender,
    /// Commands received and not yet obeyed.
    inbox: VecDeque<Command>,
    source: Box<dyn FrameSource>,
    writer: Option<Writer>,
    delivery: Delivery,
    mode: Mode,
    has_ended: bool,
    /// The source's frame has not been published yet.
    holds_frame: bool,
    /// A larger ring has been asked for; what does not fit the next one is left out.
    asked_for_slot: bool,
    pass: u32,
    /// This pass was not wholly in vain, as far as is known.
    is_fruitful: bool,
    published: u64,
    limit: Option<u64>,
    /// Positions still to be opened one at a time.
    careful: u32,
    pace: Pace,
}

impl<'a> Playback<'a> {
    fn new(
        commands: &'a Receiver<Command>,
        events: &'a EventSender,
        mut source: Box<dyn FrameSource>,
        start: &ProducerStart,
    ) -> Self {
        source.set_looping(start.looping);
        if let Some(resume) = start.resume {
            source.seek(Cursor {
                source_index: resume.source_index,
                pass: resume.pass,
            });
        }
        let fps = if start.fps > 0.0 {
            start.fps
        } else {
            source.info().fps.unwrap_or(0.0)
        };
        Self {
            commands,
            events,
            inbox: VecDeque::new(),
            source,
            writer: None,
            delivery: start.delivery,
            mode: Mode::Paused,
            has_ended: false,
            holds_frame: false,
            asked_for_slot: false,
            pass: start.resume.map_or(0, |resume| resume.pass),
            is_fruitful: start.resume.is_some(),
            published: start.resume.map_or(0, |resume| resume.published),
            limit: start.frames,
            careful: start.resume.map_or(0, |resume| resume.careful),
            pace: Pace::new(fps),
        }
    }

    /// Obeys commands and publishes frames until it is told to stop.
    fn run(mut self) -> Result<(), Failure> {
        loop {
            self.inbox.extend(self.commands.try_iter());
            while let Some(command) = self.inbox.pop_front() {
                if command == Command::Stop {
                    return Ok(());
                }
                self.obey(command)?;
            }
            let is_active = self.mode != Mode::Paused && !self.has_ended && self.writer.is_some();
            let wait = match (is_active, self.holds_frame) {
                (false, _) => None,
                (true, true) => Some(Duration::ZERO),
                (true, false) => Some(self.pace.wait(monotonic_nanos())),
            };
            match wait {
                // Nothing to do before the next command.
                None => match self.commands.recv() {
                    Ok(command) => self.inbox.push_back(command),
                    Err(_) => return Ok(()),
                },
                Some(Duration::ZERO) => self.advance()?,
                Some(wait) => match self.commands.recv_timeout(wait) {
                    Ok(command) => self.inbox.push_back(command),
                    Err(RecvTimeoutError::Timeout) => self.advance()?,
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                },
            }
        }
    }

    fn obey(&mut self, command: Command) -> Result<(), Failure> {
        match command {
            Command::Attach(attachment) => self.attach(attachment)?,
            Command::Play => {
                if self.has_ended && !self.limit_is_reached() {
                    self.revive();
                    self.source.seek(Cursor {
                        source_index: 0,
                        pass: self.pass.saturating_add(1),
                    });
                }
                self.set_mode(Mode::Playing);
            }
            Command::Pause => self.set_mode(Mode::Paused),
            Command::Step { frames } => self.set_mode(Mode::Stepping(frames.max(1))),
            Command::Seek { source_index } => {
                self.holds_frame = false;
                self.is_fruitful = true;
                self.revive();
                self.source.seek(Cursor {
                    source_index,
                    pass: self.pass,
                });
            }
            Command::Loop { on } => {
                self.source.set_looping(on);
                if on {
                    self.revive();
                }
            }
            other => tracing::warn!("a producer does not know what to do with {other:?}"),
        }
        Ok(())
    }

    /// The source is no longer over.
    fn revive(&mut self) {
        if self.has_ended {
            self.has_ended = false;
            if self.mode != Mode::Paused {
                self.report_state(SourceState::Live);
            }
        }
    }

    fn attach(&mut self, attachment: Attachment) -> Result<(), Failure> {
        // The old ring's writer goes first: the new name may be the same ring again.
        self.writer = None;
        let deadline = monotonic_nanos() + BUSY_TIMEOUT.as_nanos() as u64;
        let writer = loop {
            match Writer::attach(&attachment.ring) {
                Err(RingError::WriterBusy { .. }) if monotonic_nanos() < deadline => {
                    std::thread::sleep(BUSY_RETRY);
                }
                result => break result?,
            }
        };
        self.events.send(&Event::Attached {
            attachment,
            joined_at: writer.head(),
        });
        self.writer = Some(writer);
        Ok(())
    }

    fn set_mode(&mut self, mode: Mode) {
        if mode == Mode::Paused && self.holds_frame {
            // It would be old when playing goes on.
            self.holds_frame = false;
            if let Some(frame) = self.source.frame() {
                let cursor = Cursor {
                    source_index: frame.position.source_index,
                    pass: frame.position.pass,
                };
                self.source.seek(cursor);
            }
        }
        // What is read ahead while single frames are shown would grow old, too.
        self.source
            .set_read_ahead(mode == Mode::Playing && self.careful == 0);
        self.pace.restart();
        if mode != self.mode {
            let state = match mode {
                Mode::Paused => SourceState::Paused,
                Mode::Playing | Mode::Stepping(_) => SourceState::Live,
            };
            self.report_state(state);
        }
        self.mode = mode;
    }

    fn report_state(&self, state: SourceState) {
        self.events.send(&Event::Source {
            state,
            detail: None,
        });
    }

    fn limit_is_reached(&self) -> bool {
        self.limit.is_some_and(|limit| self.published >= limit)
    }

    /// Takes the next step of the source, or publishes the frame of the last one.
    fn advance(&mut self) -> Result<(), Failure> {
        if self.limit_is_reached() {
            self.end();
            return Ok(());
        }
        if !self.holds_frame {
            match self.step()? {
                Step::Frame => {
                    self.pace.came(monotonic_nanos());
                    self.holds_frame = true;
                }
                Step::Skipped(skipped) => {
                    self.skip(skipped);
                    return Ok(());
                }
                Step::End => {
                    self.end();
                    return Ok(());
                }
            }
        }
        self.publish()
    }

    fn step(&mut self) -> Result<Step, Failure> {
        let upcoming = self.source.upcoming();
        if let Some(Upcoming { cursor, .. }) = &upcoming
            && self.pass != cursor.pass
        {
            self.pass = cursor.pass;
            self.is_fruitful = false;
        }
        if self.careful == 0 {
            return Ok(self.source.step()?);
        }
        if let Some(Upcoming { cursor, path }) = upcoming {
            self.events.send(&Event::Opening {
                source_index: cursor.source_index,
                pass: cursor.pass,
                path,
            });
            if !self.events.flush(FLUSH_TIMEOUT) {
                tracing::warn!("the session does not read events; a fatal file may go unnamed");
            }
        }
        let step = self.source.step()?;
        self.careful -= 1;
        if self.careful == 0 {
            self.source.set_read_ahead(self.mode == Mode::Playing);
        }
        Ok(step)
    }

    fn publish(&mut self) -> Result<(), Failure> {
        let (Some(writer), Some(frame)) = (&mut self.writer, self.source.frame()) else {
            self.holds_frame = false;
            return Ok(());
        };
        let (commands, inbox) = (self.commands, &mut self.inbox);
        let mut is_called = || {
            inbox.extend(commands.try_iter());
            !inbox.is_empty()
        };
        match writer.publish(frame, &mut is_called) {
            Ok(published) => self.report_frame(published),
            // The command is obeyed, then the frame is tried again if it still is to be.
            Err(PublishError::Cancelled) => {}
            Err(PublishError::TooLarge { needed, slot_bytes }) => {
                if self.asked_for_slot {
                    // The frames of a source without entries are all alike: the next will not fit.
                    if self.source.info().entries.is_none() {
                        return Err(Failure::TooLarge { needed, slot_bytes });
                    }
                    self.leave_out(format!(
                        "its {needed} bytes of pixels do not fit the ring, whose slots hold {slot_bytes}: \
                         {LARGER_SLOTS}"
                    ));
                } else {
                    self.asked_for_slot = true;
                    self.writer = None;
                    self.events.send(&Event::NeedsSlot { bytes: needed });
                }
            }
            Err(PublishError::Frame(error)) => self.leave_out(error.to_string()),
            // The session is about to name another ring; the frame goes there.
            Err(PublishError::Ring(RingError::Closed { .. })) => self.writer = None,
            Err(PublishError::Ring(error)) => return Err(error.into()),
        }
        Ok(())
    }

    /// Leaves the held frame out.
    fn leave_out(&mut self, reason: String) {
        self.holds_frame = false;
        self.asked_for_slot = false;
        if let Some(frame) = self.source.frame() {
            let skipped = Skipped {
                source_index: frame.position.source_index,
                path: frame.position.path.clone(),
                reason,
            };
            self.skip(skipped);
        }
    }

    /// Says what is left out. A loop in which nothing else comes has an end.
    fn skip(&mut self, skipped: Skipped) {
        self.events.send(&Event::Skipped(skipped));
        let next_pass = self
            .source
            .upcoming()
            .map(|upcoming| upcoming.cursor.pass)
            .filter(|&pass| pass > self.pass);
        if next_pass.is_some() && !self.is_fruitful {
            self.events.send(&Event::Notice(Problem {
                code: "nothing_to_loop".to_owned(),
                message: "nothing of the source could be published: it is not played again"
                    .to_owned(),
                hint: Some("see what was left out, and why".to_owned()),
            }));
            self.end();
        }
    }

    fn report_frame(&mut self, published: Published) {
        self.holds_frame = false;
        self.asked_for_slot = false;
        self.published += 1;
        self.is_fruitful = true;
        if let Some(frame) = self.source.frame() {
            let event = Event::Frame(FrameEvent {
                seq: published.seq,
                description: frame.description,
                position: frame.position.clone(),
                published_nanos: published.published_nanos,
                xxh3: Some(format!("{:016x}", self.source.xxh3())),
            });
            match self.delivery {
                Delivery::Every => self.events.send(&event),
                // A session that does not keep up must not hold a live source.
                Delivery::Live => self.events.offer(&event),
            }
        }
        if let Mode::Stepping(frames) = self.mode {
            if frames > 1 {
                self.mode = Mode::Stepping(frames - 1);
            } else {
                self.set_mode(Mode::Paused);
            }
        }
        if self.limit_is_reached() {
            self.end();
        }
    }

    fn end(&mut self) {
        self.has_ended = true;
        self.report_state(SourceState::Ended);
        self.events.send(&Event::Ended);
    }
}
