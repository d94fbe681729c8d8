//! Other sessions and other programs.

use std::fs::File;
use std::process::Command;
use std::time::{Duration, SystemTime};

use ringside::protocol::Delivery;
use ringside::ring::{
    Preview, Reader, RingError, SegmentState, Take, Writer, list, save_snapshot, sweep,
};

use crate::children::{ChildProcess, HANG, wait_until};
use crate::frames::{empty, ring, stamped};
use crate::opening::file_of;

fn state_of(name: &str) -> Option<SegmentState> {
    let segments = list().unwrap();
    segments
        .iter()
        .find(|segment| segment.name == name)
        .map(|segment| segment.state)
}

#[test]
fn sweeping_removes_what_a_dead_session_left_and_never_a_living_one() {
    let ours = ring(Delivery::Live, 64, 64, 4);
    let mut dead = ChildProcess::start(&["session"]);
    let mut alive = ChildProcess::start(&["session"]);
    let [dead_name, alive_name] = [&mut dead, &mut alive].map(|session| session.line().unwrap());
    let segments = list().unwrap();
    let described = segments
        .iter()
        .find(|segment| segment.name == dead_name)
        .unwrap();
    assert_eq!(described.owner_pid, Some(dead.pid()));
    assert_eq!(
        described.bytes,
        std::fs::metadata(file_of(&dead_name)).unwrap().len()
    );
    assert!(described.owner_alive);
    dead.kill();
    // A stopped session is alive.
    alive.signal(nix::sys::signal::Signal::SIGSTOP);
    assert_eq!(state_of(&dead_name), Some(SegmentState::Abandoned));
    assert_eq!(state_of(&alive_name), Some(SegmentState::Live));
    // Another test may sweep at the same time.
    let swept = sweep().unwrap();
    assert!(!swept.contains(&alive_name) && !swept.iter().any(|name| name == ours.name()));
    wait_until("it is gone", || state_of(&dead_name).is_none());
    assert!(Preview::attach(&alive_name).is_ok());
    assert!(ours.is_linked());
    alive.kill();
    sweep().unwrap();
    wait_until("it is gone", || state_of(&alive_name).is_none());
}

#[test]
fn a_segment_that_is_being_made_is_swept_only_when_it_is_old() {
    let path = format!("/dev/shm/ringside-test-young-{}", std::process::id());
    let file = File::create(&path).unwrap();
    file.set_len(4096).unwrap();
    let name = path.trim_start_matches("/dev/shm").to_owned();
    assert_eq!(state_of(&name), Some(SegmentState::Initialising));
    assert!(!sweep().unwrap().contains(&name));
    assert!(std::fs::exists(&path).unwrap());
    // Its age is that of its last change, which cannot be set back: `touch` must not help.
    file.set_modified(SystemTime::now() - Duration::from_secs(3600))
        .unwrap();
    assert_eq!(state_of(&name), Some(SegmentState::Initialising));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn two_sessions_do_not_disturb_each_other() {
    let rings = [1, 2].map(|_| ring(Delivery::Every, 64, 64, 6));
    let readers = rings.each_ref().map(|ring| {
        ring.expect_member(0);
        ChildProcess::start(&["read", ring.name(), "0", "0", "0"])
    });
    let writers = rings
        .each_ref()
        .map(|ring| ChildProcess::start(&["write", ring.name(), "64", "64", "100", "0"]));
    for mut writer in writers {
        assert_eq!(writer.line().as_deref(), Some("attached"));
        assert_eq!(writer.line().as_deref(), Some("published 100"));
    }
    for (ring, reader) in rings.iter().zip(readers) {
        ring.close();
        let seqs: Vec<u64> = reader
            .finish()
            .iter()
            .filter_map(|line| line.parse().ok())
            .collect();
        assert_eq!(seqs, (1..=100).collect::<Vec<_>>());
    }
}

#[test]
fn a_foreign_program_that_opens_closes_and_unlinks_the_segment_does_no_harm() {
    let ring = ring(Delivery::Every, 64, 64, 5);
    let mut writer = Writer::attach(ring.name()).unwrap();
    let mut reader = Reader::attach(ring.name(), 0).unwrap();
    reader.join();
    // Up to Python 3.12 its resource tracker unlinks what the program has only opened.
    let program = "import sys; from multiprocessing.shared_memory import SharedMemory as S; \
                   s = S(name=sys.argv[1]); assert s.buf[0] == 1; s.close()";
    let python = Command::new("python3")
        .args(["-c", program, ring.name().trim_start_matches('/')])
        .stderr(std::process::Stdio::null())
        .status();
    match python {
        Ok(status) => assert!(status.success(), "{status}"),
        Err(error) => println!("without Python: {error}"),
    }
    println!("still linked after Python: {}", ring.is_linked());
    if ring.is_linked() {
        std::fs::remove_file(file_of(ring.name())).unwrap();
    }
    assert!(!ring.is_linked());
    // Who is attached goes on, previews can still be made; who comes late is told.
    let original = stamped(64, 64, 1);
    writer.publish(&original, &mut || false).unwrap();
    let mut frame = empty();
    assert!(matches!(
        reader.take(&mut frame, HANG).unwrap(),
        Take::Frame { seq: 1, .. }
    ));
    assert_eq!(frame, original);
    assert!(ring.member(0).alive);
    assert_eq!(
        ring.preview().unwrap().copy(None, &mut frame).unwrap(),
        Some(1)
    );
    drop(reader.turns(0).unwrap().acquire().unwrap());
    assert!(matches!(
        Reader::attach(ring.name(), 1),
        Err(RingError::Absent { .. })
    ));
}

#[test]
fn nothing_is_left_when_a_session_ends() {
    let ring = ring(Delivery::Live, 64, 64, 4);
    let path = file_of(ring.name());
    let mut preview = ring.preview().unwrap();
    assert!(std::fs::exists(&path).unwrap());
    drop(ring);
    assert!(!std::fs::exists(&path).unwrap());
    // A preview that outlives the ring sees an empty one, not a crash.
    assert_eq!(preview.copy(None, &mut empty()).unwrap(), None);
}

#[test]
fn a_snapshot_of_a_frame_is_a_png_of_its_pixels() {
    let ring = ring(Delivery::Live, 8, 6, 4);
    let mut writer = Writer::attach(ring.name()).unwrap();
    for stamp in 1..=2 {
        writer
            .publish(&stamped(8, 6, stamp), &mut || false)
            .unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frame.png");
    for (asked, seq, grey) in [(None, 2, 2), (Some(1), 1, 1)] {
        assert_eq!(save_snapshot(ring.name(), asked, &path).unwrap().0, seq);
        let picture = image::open(&path).unwrap().into_rgb8();
        assert_eq!(picture.dimensions(), (8, 6));
        assert!(picture.pixels().all(|pixel| pixel.0 == [grey; 3]));
    }
    let jpeg = folder.path().join("frame.jpg");
    save_snapshot(ring.name(), None, &jpeg).unwrap();
    assert_eq!(std::fs::read(&jpeg).unwrap()[..2], [0xff, 0xd8]);
    for unknown in ["frame.txt", "frame"] {
        let path = folder.path().join(unknown);
        let error = save_snapshot(ring.name(), None, &path).unwrap_err();
        assert!(error.to_string().contains("no picture format"), "{error}");
        assert!(!path.exists());
    }
    let missing = save_snapshot(ring.name(), Some(77), &path).unwrap_err();
    assert!(missing.to_string().contains("no frame 77"), "{missing}");
}
