//! A producer on a real ring, with this process as its session.

use std::collections::BTreeSet;
use std::io::PipeReader;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam::channel::{self, Sender};

use super::playback::serve;
use crate::base::escape_path;
use crate::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use crate::protocol::{
    Attachment, Command, Delivery, Event, EventSender, FrameEvent, Lines, ProducerStart, Resume,
    SourceInfo, SourceState,
};
use crate::ring::{Reader, Ring, RingRequest, Take};

/// Far longer than anything takes here; reached only by a hang.
const HANG: Duration = Duration::from_secs(60);

struct Session {
    commands: Option<Sender<Command>>,
    events: Lines<PipeReader>,
    producer: Option<JoinHandle<u8>>,
}

impl Session {
    fn start(start: ProducerStart) -> Self {
        let (commands, receiver) = channel::unbounded();
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let producer = std::thread::spawn(move || {
            let (events, worker) = EventSender::start(writer).expect("a thread");
            let status = serve(&receiver, &events);
            drop(events);
            drop(worker);
            status
        });
        commands.send(Command::Produce(start)).expect("a producer");
        Self {
            commands: Some(commands),
            events: Lines::new(reader),
            producer: Some(producer),
        }
    }

    fn send(&self, command: Command) {
        let commands = self.commands.as_ref().expect("a running producer");
        commands.send(command).expect("a running producer");
    }

    /// The next event that says something of frames; state changes are passed over.
    fn event(&mut self) -> Event {
        loop {
            match self.events.next_message().expect("an event") {
                Some(Event::Source { .. } | Event::Hello { .. }) => {}
                Some(event) => return event,
                None => panic!("the producer has ended"),
            }
        }
    }

    fn opened(&mut self) -> SourceInfo {
        match self.event() {
            Event::SourceOpened(info) => info,
            other => panic!("{other:?}"),
        }
    }

    fn attach(&mut self, ring: &Ring) {
        self.send(Command::Attach(Attachment {
            ring: ring.name().to_owned(),
            generation: ring.generation(),
            member: None,
        }));
        match self.event() {
            Event::Attached { attachment, .. } => assert_eq!(attachment.ring, ring.name()),
            other => panic!("{other:?}"),
        }
    }

    fn frame(&mut self) -> FrameEvent {
        match self.event() {
            Event::Frame(frame) => frame,
            other => panic!("{other:?}"),
        }
    }

    fn await_state(&mut self, wanted: SourceState) {
        loop {
            match self.events.next_message().expect("an event") {
                Some(Event::Source { state, .. }) if state == wanted => return,
                Some(_) => {}
                None => panic!("the producer has ended"),
            }
        }
    }

    fn stop(mut self) -> u8 {
        self.send(Command::Stop);
        self.commands = None;
        self.producer
            .take()
            .expect("a producer")
            .join()
            .expect("no panic")
    }
}

fn start(source: &str) -> ProducerStart {
    ProducerStart {
        source: source.to_owned(),
        delivery: Delivery::Every,
        looping: false,
        fps: 0.0,
        frames: None,
        resume: None,
    }
}

fn ring(generation: u32, frame_bytes: u64, first_seq: u64) -> Ring {
    Ring::create(&RingRequest {
        generation,
        delivery: Delivery::Every,
        frame_bytes,
        slots: 6,
        max_bytes: 1 << 30,
        first_seq,
    })
    .expect("a ring")
}

fn empty_frame() -> Frame {
    Frame {
        description: FrameDescription::packed(1, 1, SampleType::U8, PixelOrder::Gray)
            .expect("a description"),
        position: FramePosition::default(),
        pixels: Vec::new(),
    }
}

/// Takes one frame and reports it.
fn take(reader: &mut Reader, frame: &mut Frame) -> Option<u64> {
    match reader.take(frame, HANG).expect("a ring") {
        Take::Frame { seq, .. } => {
            reader.reporter().reported(seq);
            Some(seq)
        }
        Take::Closed => None,
        Take::TimedOut => panic!("no frame came"),
    }
}

/// Grey PNG files, each of its own grey and side length.
fn pictures(folder: &Path, pictures: &[(&str, u8, u32)]) {
    for &(name, gray, side) in pictures {
        image::GrayImage::from_pixel(side, side, image::Luma([gray]))
            .save(folder.join(name))
            .expect("a picture");
    }
}

fn folder_address(folder: &Path) -> String {
    format!("folder:{}", escape_path(folder))
}

#[test]
fn frames_reach_a_reader_in_order_and_the_source_ends() {
    let mut session = Session::start(start("pattern:stamp?size=8x4&fps=0&frames=130"));
    let info = session.opened();
    assert_eq!(info.entries, Some(130));
    let ring = ring(1, info.largest.pixel_bytes() as u64, 1);
    let mut reader = Reader::attach(ring.name(), 0).expect("a reader");
    ring.expect_member(0);
    reader.join();
    session.attach(&ring);
    session.send(Command::Play);
    let reading = std::thread::spawn(move || {
        let mut frame = empty_frame();
        for k in 0..130u64 {
            assert_eq!(take(&mut reader, &mut frame), Some(k + 1));
            assert_eq!(frame.position.source_index, k);
            assert_eq!(frame.pixels, [8 + 4 * (k % 60) as u8; 8 * 4 * 3]);
        }
    });
    for seq in 1..=130 {
        let event = session.frame();
        assert_eq!((event.seq, event.position.source_index), (seq, seq - 1));
    }
    assert_eq!(session.event(), Event::Ended);
    reading.join().expect("all frames are right");
    assert_eq!(session.stop(), 0);
}

#[test]
fn the_hash_is_that_of_the_packed_pixels() {
    let mut session = Session::start(start("pattern:stamp?size=8x4&fps=0&frames=1"));
    let info = session.opened();
    let ring = ring(1, info.largest.pixel_bytes() as u64, 1);
    session.attach(&ring);
    session.send(Command::Play);
    // xxhash.xxh3_64_hexdigest(bytes([8]) * 96), Python package xxhash 3.
    assert_eq!(session.frame().xxh3.as_deref(), Some("85a9f587065e50c5"));
    assert_eq!(session.stop(), 0);
}

#[test]
fn pause_step_seek_and_loop_do_what_they_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..6).map(|k| format!("{k}.png")).collect();
    for (k, name) in names.iter().enumerate() {
        pictures(folder.path(), &[(name, 10 + k as u8, 4)]);
    }
    let mut session = Session::start(start(&folder_address(folder.path())));
    let info = session.opened();
    let ring = ring(1, info.largest.pixel_bytes() as u64, 1);
    session.attach(&ring);
    let place = |event: &FrameEvent| (event.position.source_index, event.position.pass);

    session.send(Command::Step { frames: 2 });
    assert_eq!(place(&session.frame()), (0, 0));
    assert_eq!(place(&session.frame()), (1, 0));
    session.await_state(SourceState::Paused);
    session.send(Command::Seek { source_index: 4 });
    session.send(Command::Step { frames: 1 });
    assert_eq!(place(&session.frame()), (4, 0));
    session.send(Command::Play);
    assert_eq!(place(&session.frame()), (5, 0));
    assert_eq!(session.event(), Event::Ended);
    session.send(Command::Pause);
    session.send(Command::Loop { on: true });
    session.send(Command::Step { frames: 7 });
    let places: Vec<_> = (0..7).map(|_| place(&session.frame())).collect();
    assert_eq!(
        places,
        [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (0, 2)]
    );
    assert_eq!(session.stop(), 0);
}

#[test]
fn a_pause_while_waiting_for_a_reader_gives_the_frame_later() {
    let mut session = Session::start(start("pattern:stamp?size=8x4&fps=0"));
    let info = session.opened();
    let ring = ring(1, info.largest.pixel_bytes() as u64, 1);
    let mut reader = Reader::attach(ring.name(), 0).expect("a reader");
    ring.expect_member(0);
    reader.join();
    session.attach(&ring);
    session.send(Command::Play);
    // Nothing is taken, so the producer waits after some frames.
    let first = session.frame();
    while ring.state().waits_for.is_none() {
        std::thread::yield_now();
    }
    session.send(Command::Pause);
    session.await_state(SourceState::Paused);
    session.send(Command::Play);
    let mut frame = empty_frame();
    for k in 0..20u64 {
        assert_eq!(take(&mut reader, &mut frame), Some(first.seq + k));
        assert_eq!(
            frame.position.source_index, k,
            "no frame is lost by the pause"
        );
    }
    assert_eq!(session.stop(), 0);
}

#[test]
fn a_frame_limit_ends_it_and_counts_what_was_published_before() {
    let mut session = Session::start(ProducerStart {
        frames: Some(10),
        looping: true,
        resume: Some(Resume {
            source_index: 1,
            pass: 3,
            published: 7,
            careful: 0,
        }),
        ..start("pattern:stamp?size=1x1&fps=0&frames=2")
    });
    let info = session.opened();
    let ring = ring(1, info.largest.pixel_bytes() as u64, 8);
    session.attach(&ring);
    session.send(Command::Play);
    for expected in [(8, 1, 3), (9, 0, 4), (10, 1, 4)] {
        let event = session.frame();
        assert_eq!(
            (event.seq, event.position.source_index, event.position.pass),
            expected
        );
    }
    assert_eq!(session.event(), Event::Ended);
    assert_eq!(session.stop(), 0);
}

#[test]
fn a_frame_too_large_for_its_slot_waits_for_a_larger_ring() {
    let folder = tempfile::tempdir().expect("a folder");
    pictures(
        folder.path(),
        &[("1.png", 1, 4), ("2.png", 2, 200), ("3.png", 3, 4)],
    );
    let mut session = Session::start(start(&folder_address(folder.path())));
    assert_eq!(session.opened().largest.pixel_bytes(), 200 * 200);
    let small = ring(1, 16, 1);
    session.attach(&small);
    session.send(Command::Play);
    assert_eq!(session.frame().seq, 1);
    assert_eq!(session.event(), Event::NeedsSlot { bytes: 200 * 200 });
    let large = ring(2, 200 * 200, 2);
    session.attach(&large);
    let event = session.frame();
    assert_eq!(
        (event.seq, event.position.path.as_deref()),
        (2, Some("2.png"))
    );
    assert_eq!(session.frame().seq, 3);
    assert_eq!(session.event(), Event::Ended);
    assert_eq!(session.stop(), 0);
}

#[test]
fn a_frame_too_large_for_every_ring_is_left_out_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    pictures(folder.path(), &[("1.png", 1, 200), ("2.png", 2, 4)]);
    let mut session = Session::start(start(&folder_address(folder.path())));
    session.opened();
    let small = ring(1, 16, 1);
    session.attach(&small);
    session.send(Command::Play);
    assert_eq!(session.event(), Event::NeedsSlot { bytes: 200 * 200 });
    drop(small);
    let still_small = ring(2, 20, 1);
    session.attach(&still_small);
    match session.event() {
        Event::Skipped(skipped) => {
            assert_eq!(skipped.path.as_deref(), Some("1.png"));
            assert!(skipped.reason.contains("40000"), "{}", skipped.reason);
            assert!(skipped.reason.contains("max_bytes"), "{}", skipped.reason);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(session.frame().position.path.as_deref(), Some("2.png"));
    assert_eq!(session.stop(), 0);
}

#[test]
fn a_loop_in_which_nothing_fits_has_an_end() {
    let folder = tempfile::tempdir().expect("a folder");
    pictures(folder.path(), &[("1.png", 1, 200), ("2.png", 2, 200)]);
    let mut session = Session::start(ProducerStart {
        looping: true,
        ..start(&folder_address(folder.path()))
    });
    session.opened();
    let small = ring(1, 16, 1);
    session.attach(&small);
    session.send(Command::Play);
    for _picture in 0..2 {
        assert_eq!(session.event(), Event::NeedsSlot { bytes: 200 * 200 });
        // The same ring again: the frame is left out.
        session.attach(&small);
        assert!(matches!(session.event(), Event::Skipped(_)));
    }
    match session.event() {
        Event::Notice(notice) => assert_eq!(notice.code, "nothing_to_loop"),
        other => panic!("{other:?}"),
    }
    assert_eq!(session.event(), Event::Ended);
    assert_eq!(session.stop(), 0);
}

#[test]
fn a_careful_producer_names_each_file_before_it_opens_it() {
    let folder = tempfile::tempdir().expect("a folder");
    pictures(
        folder.path(),
        &[
            ("1.png", 1, 4),
            ("2.png", 2, 4),
            ("3.png", 3, 4),
            ("4.png", 4, 4),
        ],
    );
    std::fs::write(folder.path().join("2.png"), "damaged").expect("a file");
    let mut session = Session::start(ProducerStart {
        resume: Some(Resume {
            source_index: 1,
            pass: 0,
            published: 1,
            careful: 2,
        }),
        ..start(&folder_address(folder.path()))
    });
    let info = session.opened();
    let ring = ring(1, info.largest.pixel_bytes() as u64, 2);
    session.attach(&ring);
    session.send(Command::Play);
    let opening = |source_index, path: &str| Event::Opening {
        source_index,
        pass: 0,
        path: Some(path.to_owned()),
    };
    assert_eq!(session.event(), opening(1, "2.png"));
    assert!(matches!(session.event(), Event::Skipped(skipped) if skipped.source_index == 1));
    assert_eq!(session.event(), opening(2, "3.png"));
    assert_eq!(session.frame().position.source_index, 2);
    assert_eq!(session.frame().position.source_index, 3);
    assert_eq!(session.event(), Event::Ended);
    assert_eq!(session.stop(), 0);
}

#[test]
fn a_looping_folder_gives_equal_frames_and_notices_a_changed_file() {
    let folder = tempfile::tempdir().expect("a folder");
    pictures(
        folder.path(),
        &[("1.png", 1, 4), ("2.png", 2, 5), ("3.png", 3, 6)],
    );
    let mut session = Session::start(ProducerStart {
        looping: true,
        ..start(&folder_address(folder.path()))
    });
    let info = session.opened();
    let ring = ring(1, info.largest.pixel_bytes() as u64, 1);
    session.attach(&ring);
    let hashes = |session: &mut Session| -> Vec<String> {
        session.send(Command::Step { frames: 3 });
        (0..3).filter_map(|_| session.frame().xxh3).collect()
    };
    let first = hashes(&mut session);
    let second = hashes(&mut session);
    assert_eq!(first, second);
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 3);
    session.await_state(SourceState::Paused);
    pictures(folder.path(), &[("2.png", 77, 5)]);
    let third = hashes(&mut session);
    assert_eq!((&third[0], &third[2]), (&first[0], &first[2]));
    assert_ne!(third[1], first[1]);
    assert_eq!(session.stop(), 0);
}

#[test]
fn frames_come_at_the_asked_rate_on_average() {
    let mut session = Session::start(ProducerStart {
        fps: 200.0,
        frames: Some(21),
        ..start("pattern:stamp?size=1x1")
    });
    let info = session.opened();
    let ring = ring(1, info.largest.pixel_bytes() as u64, 1);
    session.attach(&ring);
    session.send(Command::Play);
    let times: Vec<u64> = (0..21).map(|_| session.frame().published_nanos).collect();
    // 20 periods of 5 ms, less what a late first frame takes off.
    let took = Duration::from_nanos(times[20] - times[0]);
    assert!(took >= Duration::from_millis(90), "{took:?}");
    assert_eq!(session.stop(), 0);
}

#[test]
fn a_source_that_cannot_be_opened_is_said_with_what_to_do() {
    let mut session = Session::start(start("folder:/nowhere/at/all"));
    match session.event() {
        Event::Failed(problem) => {
            assert_eq!(problem.code, "source_not_found");
            assert!(
                problem.message.contains("/nowhere/at/all"),
                "{}",
                problem.message
            );
            assert!(problem.hint.is_some());
        }
        other => panic!("{other:?}"),
    }
    let status = session.producer.take().expect("a producer").join();
    assert_eq!(status.expect("no panic"), 3);
}
