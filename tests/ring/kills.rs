//! `kill -9` and stopped processes.

use std::time::Duration;

use nix::sys::signal::Signal;
use ringside::protocol::Delivery;
use ringside::ring::{Ring, RingError, SlotUse, Writer};

use crate::children::{ChildProcess, rounds, wait_until};
use crate::frames::ring;

const SIZES: [(u32, u32); 2] = [(1920, 1080), (3840, 2160)];

fn start_writer(ring: &Ring, (width, height): (u32, u32)) -> ChildProcess {
    let (width, height) = (width.to_string(), height.to_string());
    ChildProcess::start(&["write", ring.name(), &width, &height, "0", "0"])
}

/// A different moment of the copy in each round, without chance.
fn some_time(round: u32) -> Duration {
    Duration::from_micros(u64::from(round * 7919 % 9000))
}

fn taken(ring: &Ring, member: u32) -> u64 {
    ring.member(member).taken_count
}

#[test]
fn a_writer_killed_in_mid_write_shows_no_torn_frame_and_its_successor_goes_on() {
    for size in SIZES {
        let ring = ring(Delivery::Live, size.0, size.1, 8);
        let mut readers =
            ["0", "1"].map(|member| ChildProcess::start(&["read", ring.name(), member, "0", "0"]));
        let mut in_mid_write = 0;
        for round in 0..rounds(12, 200) {
            let before = ring.state().head;
            let mut writer = start_writer(&ring, size);
            wait_until("frames are published", || ring.state().head > before + 3);
            std::thread::sleep(some_time(round));
            writer.kill();
            let state = ring.state();
            assert!(!state.writer_alive);
            assert!(state.slots.iter().all(|slot| slot.used != SlotUse::Writing));
            in_mid_write +=
                u32::from(state.slots.iter().any(|slot| slot.seq == 0) && state.head > 8);
            // The readers take what is there, and go on with the next writer's frames.
            for member in [0, 1] {
                wait_until("the newest frame is taken", || {
                    ring.member(member).taken_seq == ring.state().head
                });
            }
        }
        println!("{size:?}: {in_mid_write} kills left a slot half written");
        assert!(
            readers.iter_mut().all(ChildProcess::is_running),
            "a frame was torn"
        );
        assert_idle(&readers);
        ring.close();
        for reader in readers {
            let seqs = frames_of(&reader.finish());
            assert!(seqs.is_sorted_by(|a, b| a < b), "a frame was shown twice");
        }
    }
}

#[test]
fn a_reader_killed_in_mid_copy_holds_up_nobody() {
    for size in SIZES {
        let ring = ring(Delivery::Live, size.0, size.1, 8);
        let mut other = ChildProcess::start(&["read", ring.name(), "0", "0", "0"]);
        let writer = start_writer(&ring, size);
        for round in 0..rounds(12, 200) {
            let before = taken(&ring, 1);
            let mut victim = ChildProcess::start(&["read", ring.name(), "1", "0", "0"]);
            wait_until("it takes frames", || taken(&ring, 1) > before + 2);
            std::thread::sleep(some_time(round));
            victim.kill();
            assert!(!ring.member(1).alive);
            let (head, others) = (ring.state().head, taken(&ring, 0));
            wait_until("the others go on", || {
                ring.state().head > head + 10 && taken(&ring, 0) > others + 2
            });
        }
        drop(writer);
        assert!(other.is_running(), "a frame was torn");
        ring.close();
        other.finish();
    }
}

#[test]
fn a_stopped_writer_keeps_its_successor_out_until_it_is_killed() {
    let ring = ring(Delivery::Live, 1920, 1080, 5);
    let mut writer = start_writer(&ring, (1920, 1080));
    wait_until("frames are published", || ring.state().head > 5);
    writer.signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_millis(20));
    let head = ring.state().head;
    let refused = Writer::attach(ring.name()).unwrap_err();
    assert!(matches!(refused, RingError::WriterBusy { .. }), "{refused}");
    // Continued, it goes on as if nothing had been.
    writer.signal(Signal::SIGCONT);
    wait_until("it goes on", || ring.state().head > head + 5);
    writer.signal(Signal::SIGSTOP);
    writer.kill();
    let state = ring.state();
    let successor = Writer::attach(ring.name()).unwrap();
    // A frame that was complete and not yet shown is shown now.
    assert!((state.head..=state.head + 1).contains(&successor.head()));
    assert_eq!(ring.state().head, successor.head());
}

#[test]
fn processes_that_wait_for_frames_use_no_processor() {
    let ring = ring(Delivery::Every, 64, 64, 8);
    ring.expect_member(0);
    ring.expect_member(1);
    let mut reader = ChildProcess::start(&["read", ring.name(), "0", "0", "0"]);
    assert_eq!(reader.line().as_deref(), Some("joined 0"));
    // Member 1 never comes, so the writer waits for it after two frames.
    let writer = ChildProcess::start(&["write", ring.name(), "64", "64", "0", "0"]);
    wait_until("the writer waits", || ring.state().waits_for == Some(1));
    wait_until("the reader waits", || taken(&ring, 0) == 2);
    assert_idle(&[reader, writer]);
}

/// Fails if a process uses more than a tenth of a processor.
fn assert_idle(processes: &[ChildProcess]) {
    let ticks = || -> Vec<u64> {
        processes
            .iter()
            .map(ChildProcess::processor_ticks)
            .collect()
    };
    let before = ticks();
    std::thread::sleep(Duration::from_secs(1));
    for (before, after) in before.into_iter().zip(ticks()) {
        assert!(after - before <= 10, "{} ticks in a second", after - before);
    }
}

/// The sequences among the lines of a reader.
fn frames_of(lines: &[String]) -> Vec<u64> {
    lines.iter().filter_map(|line| line.parse().ok()).collect()
}
