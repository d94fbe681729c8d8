//! The source and its producer: start, frames, larger rings.

use std::sync::Arc;

use super::Engine;
use super::model_side::Model;
use crate::base::monotonic_nanos;
use crate::frame::FramePosition;
use crate::protocol::{
    Command, Delivery, Event, FrameEvent, PROTOCOL_VERSION, Problem, ProducerStart, Resume, Role,
    Skipped, SourceInfo, SourceState,
};
use crate::recording::{GapRow, Row, SkippedRow};
use crate::ring::{RingError, Shortage};
use crate::session::journal::problem;
use crate::session::managed::Managed;
use crate::session::ring_host::{RingWish, slots_for};
use crate::session::spec_paths::without_secrets;
use crate::session::store::Rate;
use crate::session::supervisor::RestartPolicy;
use crate::session::view::{ChildState, LogLevel};

/// Share of the limit that a slot may take when the largest frame does not fit it: as many slots as
/// a ring has at least, and room for what stands beside the pixels.
const SLOTS_AT_LIMIT: u64 = 4;

/// The source of a session.
pub(in crate::session) struct Source {
    pub(in crate::session) managed: Managed,
    pub(super) address: String,
    pub(in crate::session) info: Option<SourceInfo>,
    pub(in crate::session) state: Option<SourceState>,
    /// The producer works on the current ring.
    pub(in crate::session) attached: bool,
    /// The producer has been told to publish.
    pub(super) was_played: bool,
    /// The source has ended and all its frames are published.
    pub(in crate::session) ended: bool,
    pub(in crate::session) looping: bool,
    pub(in crate::session) skipped: u64,
    pub(in crate::session) newest: Option<Arc<FrameEvent>>,
    pub(in crate::session) rate: Rate,
    /// Monotonic time since which nothing came that should have.
    pub(in crate::session) stale_since: Option<u64>,
    /// A new ring is made when it is opened.
    pub(super) needs_ring: bool,
    /// Sequence of the last frame before this source.
    pub(super) published_before: u64,
    /// Furthest place (pass, position) of which a frame or a skipped entry is known.
    pub(super) furthest: Option<Place>,
    /// Newest frame whose place is known.
    pub(super) newest_placed: u64,
    /// What a carefully resuming producer has announced and not yet delivered.
    pub(super) opening: Option<(Place, Option<String>)>,
    /// Address of the next source, taken when the producer of this one has ended.
    pub(super) next_address: Option<String>,
}

/// A pass over the source and a position in it, in the order in which they are played.
pub(super) type Place = (u32, u64);

fn place(position: &FramePosition) -> Place {
    (position.pass, position.source_index)
}

impl Source {
    pub(super) fn new(address: String, policy: RestartPolicy) -> Self {
        Self {
            managed: Managed::new(Role::Producer, policy),
            address,
            info: None,
            state: None,
            attached: false,
            was_played: false,
            ended: false,
            looping: false,
            skipped: 0,
            newest: None,
            rate: Rate::default(),
            stale_since: None,
            needs_ring: true,
            published_before: 0,
            furthest: None,
            newest_placed: 0,
            opening: None,
            next_address: None,
        }
    }

    /// Whether there is one: a session may begin without.
    pub(super) fn is_named(&self) -> bool {
        !self.address.is_empty()
    }

    /// Its address, without secrets.
    pub(super) fn shown_address(&self) -> String {
        without_secrets(&self.address)
    }

    /// Whether it delivers by its own clock.
    pub(super) fn is_live(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.live)
    }

    /// Whether nothing more comes from it.
    pub(super) fn is_over(&self) -> bool {
        self.ended || self.managed.has_failed()
    }

    /// Notes where frame `seq` comes from.
    fn placed(&mut self, seq: u64, position: &FramePosition) {
        if seq > self.newest_placed && seq > self.published_before {
            self.newest_placed = seq;
            // Not the highest: a seek may have gone back.
            self.furthest = Some(place(position));
            self.forget_opening(place(position));
        }
    }

    fn reached(&mut self, place: Place) {
        self.furthest = self.furthest.max(Some(place));
        self.forget_opening(place);
    }

    /// The producer goes on from entry `source_index`, which comes after frame `head`.
    pub(super) fn sought(&mut self, source_index: u64, head: u64) {
        let pass = self.furthest.map_or(0, |(pass, _)| pass);
        self.furthest = source_index.checked_sub(1).map(|before| (pass, before));
        self.newest_placed = self.newest_placed.max(head);
    }

    fn forget_opening(&mut self, place: Place) {
        if self
            .opening
            .as_ref()
            .is_some_and(|(opening, _)| *opening <= place)
        {
            self.opening = None;
        }
    }

    /// The first place after what is known.
    pub(super) fn next_place(&self) -> Place {
        self.furthest
            .map_or((0, 0), |(pass, index)| (pass, index + 1))
    }
}

impl Engine {
    /// Starts a producer of the current source.
    pub(super) fn start_producer(&mut self, resume: Option<Resume>) {
        let now = monotonic_nanos();
        let start = ProducerStart {
            source: self.source.address.clone(),
            delivery: self.delivery,
            looping: self.source.looping,
            fps: self.spec.fps,
            frames: self
                .spec
                .frames
                .filter(|_| self.delivery == Delivery::Every),
            resume,
        };
        self.source.attached = false;
        self.source.was_played = false;
        self.source.opening = None;
        let id = self.next_child_id();
        let started = self.source.managed.start(
            &self.options.program,
            id,
            Command::Produce(start),
            self.to_inbox.clone(),
            now,
        );
        if let Err(problem) = started {
            self.failed(now, "source", problem);
        }
    }

    pub(super) fn next_child_id(&mut self) -> u64 {
        let id = self.next_child;
        self.next_child += 1;
        id
    }

    /// Lets the producer publish, unless it is held.
    pub(super) fn play_producer(&mut self) {
        if !self.flowing || !self.source.attached {
            return;
        }
        if !self.paused {
            self.source.was_played = true;
            self.source.managed.send(Command::Play);
        } else if self.steps > 0 {
            let frames = std::mem::take(&mut self.steps);
            self.source.managed.send(Command::Step { frames });
        }
    }

    /// Reacts to the producer.
    pub(super) fn source_event(&mut self, event: Event, received_nanos: u64) {
        match event {
            Event::Hello { protocol, .. } => {
                if let Some(problem) = wrong_protocol(protocol) {
                    self.source.managed.give_up(problem.clone(), None);
                    self.failed(received_nanos, "source", problem);
                }
            }
            Event::SourceOpened(info) => self.source_opened(info, received_nanos),
            Event::Source { state, detail } => {
                self.source.state = Some(state);
                if let Some(detail) = detail {
                    let level = if state == SourceState::Lost {
                        LogLevel::Warning
                    } else {
                        LogLevel::Info
                    };
                    self.journal
                        .log(received_nanos, level, "source", &detail, None);
                }
            }
            Event::Attached { attachment, .. } => {
                if Some(attachment) == self.rings.writer_attachment() {
                    self.source.attached = true;
                    self.source.managed.state = ChildState::Running;
                    // One that only changes rings goes on by itself; told to play at the end of its
                    // source, it would begin again.
                    if self.flowing && !self.source.was_played {
                        self.play_producer();
                    }
                    self.flow_if_ready();
                }
            }
            Event::Opening {
                source_index,
                pass,
                path,
            } => self.source.opening = Some(((pass, source_index), path)),
            Event::Frame(frame) => self.frame_published(frame, received_nanos),
            Event::NeedsSlot { bytes } => self.make_larger_ring(bytes, received_nanos),
            Event::Skipped(skipped) => self.entry_skipped(skipped, received_nanos),
            Event::Gap(gap) => {
                let row = GapRow {
                    from_nanos: self.journal.relative(gap.from_nanos),
                    to_nanos: self.journal.relative(gap.to_nanos),
                    reason: gap.reason,
                };
                self.journal.row(Row::Gap(row));
            }
            Event::Ended => {
                self.source.ended = true;
                self.source.state = Some(SourceState::Ended);
                self.next_tick = 0;
            }
            Event::Notice(notice) => {
                self.journal
                    .notice(received_nanos, LogLevel::Warning, "source", notice);
            }
            Event::Failed(problem) => self.source.managed.problem = Some(problem),
            Event::Unreported { count } => {
                let message = format!(
                    "{count} frames were published and are not listed: the session did not keep up"
                );
                self.journal.notice_rarely(
                    received_nanos,
                    LogLevel::Warning,
                    "source",
                    problem("unreported", message, None),
                );
            }
            other => tracing::warn!("a producer says what only consumers say: {other:?}"),
        }
    }

    fn source_opened(&mut self, info: SourceInfo, now: u64) {
        let frame_bytes = info.largest.pixel_bytes() as u64;
        self.source.info = Some(info);
        self.source.managed.state = ChildState::Starting {
            step: "attaching to the ring".to_owned(),
        };
        if self.source.needs_ring || !self.rings.serves(self.slots_wanted()) {
            if let Err(error) = self.open_ring_of_source(frame_bytes) {
                let problem = problem("ring_failed", error.to_string(), None);
                self.source.managed.give_up(problem.clone(), None);
                self.failed(now, "session", problem);
                self.next_tick = 0;
                return;
            }
            self.source.needs_ring = false;
            if self.flowing {
                // Another source than the first row says.
                self.write_session_row();
            }
        } else {
            self.attach_producer();
        }
    }

    fn attach_producer(&mut self) {
        self.source.attached = false;
        if let Some(attachment) = self.rings.writer_attachment() {
            self.source.managed.send(Command::Attach(attachment));
        }
    }

    pub(super) fn slots_wanted(&self) -> u32 {
        match self.spec.ring.slots {
            0 => slots_for(self.models.iter().map(Model::in_flight)),
            slots => slots,
        }
    }

    /// Makes a ring for a source whose largest frame is expected to have this size. When the limit
    /// does not allow it, the slots are as large as it does, and larger frames will be left out.
    fn open_ring_of_source(&mut self, frame_bytes: u64) -> Result<(), RingError> {
        match self.open_ring(frame_bytes) {
            Err(RingError::OverLimit { max_bytes, .. }) => {
                self.open_ring(max_bytes / SLOTS_AT_LIMIT)
            }
            other => other,
        }
    }

    /// Makes a ring for frames of this size and tells everybody.
    fn open_ring(&mut self, frame_bytes: u64) -> Result<(), RingError> {
        let wanted = self.slots_wanted();
        self.rings.open(RingWish {
            delivery: self.delivery,
            frame_bytes,
            slots: wanted,
            max_bytes: self.spec.ring.max_bytes,
        })?;
        if let Some((slots, shortage)) = self.rings.shortage() {
            let what = few_slots(slots, wanted, shortage);
            let now = monotonic_nanos();
            self.journal
                .notice_rarely(now, LogLevel::Warning, "session", what);
        }
        for model in &mut self.models {
            if model.counted {
                self.rings.count_in(model.member);
            }
            if model.managed.is_alive()
                && let Some(attachment) = self.rings.next_attachment(model.member)
            {
                model.managed.send(Command::Attach(attachment));
            }
        }
        self.attach_producer();
        Ok(())
    }

    /// A frame does not fit: the next ring, or else the frame is left out.
    fn make_larger_ring(&mut self, bytes: u64, now: u64) {
        if let Err(error) = self.open_ring(bytes) {
            let message = format!("a frame of {bytes} bytes is left out: {error}");
            self.journal
                .log(now, LogLevel::Warning, "source", &message, None);
            // The same ring again: a producer leaves out what does not fit after it has asked.
            self.attach_producer();
        }
    }

    fn frame_published(&mut self, frame: FrameEvent, received_nanos: u64) {
        if frame.seq <= self.journal.frames_written() {
            return;
        }
        // The events of the frames between are with a producer that died, or were dropped in `live`.
        self.fill_in_frames(frame.seq - 1);
        self.journal.frame(&frame);
        self.source.placed(frame.seq, &frame.position);
        self.source.rate.add(received_nanos);
        self.source.ended = false;
        self.source.stale_since = None;
        self.early_frames.remove(&frame.seq);
        self.source.newest = Some(Arc::new(frame));
    }

    /// Writes the rows of frames up to `seq` whose events never came, from what is in the ring and
    /// from the answers to them.
    pub(super) fn fill_in_frames(&mut self, seq: u64) {
        let first = self.journal.frames_written() + 1;
        if seq < first {
            return;
        }
        let in_ring = self.rings.describe();
        for missing in first..=seq {
            let from_ring = in_ring.iter().find(|(found, ..)| *found == missing);
            let event = match from_ring {
                Some((seq, description, position, published_nanos)) => Some(FrameEvent {
                    seq: *seq,
                    description: *description,
                    position: position.clone(),
                    published_nanos: *published_nanos,
                    xxh3: None,
                }),
                None => self.early_frames.get(&missing).cloned(),
            };
            if let Some(event) = event {
                self.journal.frame(&event);
                self.source.placed(missing, &event.position);
                self.source.newest = Some(Arc::new(event));
            }
        }
        self.journal.frames_known_to(seq);
        self.early_frames = self.early_frames.split_off(&(seq + 1));
    }

    pub(super) fn entry_skipped(&mut self, skipped: Skipped, now: u64) {
        // Its pass is not told; it is at or after the furthest place.
        let mut pass = self.source.furthest.map_or(0, |(pass, _)| pass);
        if self
            .source
            .furthest
            .is_some_and(|(_, index)| skipped.source_index < index)
        {
            pass += 1;
        }
        self.source.reached((pass, skipped.source_index));
        self.source.skipped += 1;
        let what = skipped
            .path
            .clone()
            .unwrap_or_else(|| format!("entry {}", skipped.source_index));
        let message = format!("{what} is left out: {}", skipped.reason);
        self.journal
            .log(now, LogLevel::Warning, "source", &message, None);
        self.journal.row(Row::Skipped(SkippedRow {
            source_index: skipped.source_index,
            path: skipped.path,
            reason: skipped.reason,
        }));
    }
}

/// What is said of a ring with fewer slots than were wanted.
fn few_slots(slots: u32, wanted: u32, shortage: Shortage) -> Problem {
    let (reason, hint) = match shortage {
        Shortage::Format => (
            "no ring has more",
            "use smaller batches or fewer workers, or ask for fewer `slots` in [ring]",
        ),
        Shortage::Limit => (
            "`max_bytes` of [ring] allows no more",
            "raise `max_bytes` of [ring], or use smaller frames",
        ),
        Shortage::Memory => (
            "/dev/shm has no room for more",
            "enlarge it (`mount -o remount,size=1G /dev/shm`, `docker run --shm-size=1g`), or use smaller frames",
        ),
    };
    let message = format!(
        "the ring has {slots} slots where the models need {wanted}, as {reason}: a shown answer may be without its frame"
    );
    problem("few_slots", message, Some(hint))
}

/// The problem of a child that speaks another protocol, if it does.
pub(super) fn wrong_protocol(protocol: u32) -> Option<Problem> {
    (protocol != PROTOCOL_VERSION).then(|| {
        problem(
            "protocol_version",
            format!("its process speaks protocol {protocol} and this program {PROTOCOL_VERSION}"),
            Some("use children of the same version as the session"),
        )
    })
}
