//! Who gets which frames, and who waits for whom.

use std::time::Duration;

use nix::sys::signal::Signal;
use ringside::protocol::Delivery;
use ringside::ring::{PublishError, Reader, Ring, SlotUse, Take, Writer};

use crate::children::{ChildProcess, HANG, wait_until};
use crate::frames::{empty, is_whole, ring, stamped};

fn publish(writer: &mut Writer, frames: std::ops::RangeInclusive<u64>) {
    for stamp in frames {
        let published = writer
            .publish(&stamped(64, 64, stamp), &mut || false)
            .unwrap();
        assert_eq!(published.seq, stamp);
    }
}

fn take(reader: &mut Reader) -> u64 {
    let mut frame = empty();
    match reader.take(&mut frame, HANG).unwrap() {
        Take::Frame { seq, .. } => {
            assert!(is_whole(&frame));
            assert_eq!(frame.position.source_index, seq);
            seq
        }
        other => panic!("{other:?} instead of a frame"),
    }
}

fn seqs(lines: Vec<String>) -> Vec<u64> {
    lines.iter().filter_map(|line| line.parse().ok()).collect()
}

#[test]
fn in_every_all_readers_see_the_same_whole_sequence_at_whatever_speed() {
    let ring = ring(Delivery::Every, 320, 240, 3 * 2 + 3);
    for member in 0..3 {
        ring.expect_member(member);
    }
    let readers =
        [("0", "0", "0"), ("1", "0", "2000"), ("2", "300", "500")].map(|(member, start, pause)| {
            ChildProcess::start(&["read", ring.name(), member, start, pause])
        });
    let mut writer = ChildProcess::start(&["write", ring.name(), "320", "240", "200", "0"]);
    assert_eq!(writer.line().as_deref(), Some("attached"));
    assert_eq!(writer.line().as_deref(), Some("published 200"));
    ring.close();
    for reader in readers {
        assert_eq!(seqs(reader.finish()), (1..=200).collect::<Vec<_>>());
    }
}

#[test]
fn a_consumer_killed_with_a_frame_goes_on_after_it() {
    let ring = ring(Delivery::Every, 64, 64, 5);
    ring.expect_member(3);
    let mut victim = ChildProcess::start(&["hold", ring.name(), "3", "4"]);
    let mut writer = ChildProcess::start(&["write", ring.name(), "64", "64", "9", "0"]);
    while victim.line().as_deref() != Some("4") {}
    victim.kill();
    let state = ring.member(3);
    assert!(!state.alive && state.expected);
    assert_eq!((state.held.as_slice(), state.taken_seq), (&[4][..], 4));
    // It still counts: the writer waits, and no frame is lost.
    wait_until("the writer waits for it", || {
        let state = ring.state();
        state.head == 6 && state.waits_for == Some(3) && state.waits_nanos > 50_000_000
    });
    assert_eq!(ring.state().head, 6);
    let successor = ChildProcess::start(&["read", ring.name(), "3", "0", "0"]);
    assert_eq!(writer.line().as_deref(), Some("attached"));
    assert_eq!(writer.line().as_deref(), Some("published 9"));
    ring.close();
    assert_eq!(seqs(successor.finish()), [5, 6, 7, 8, 9]);
    assert!(ring.member(3).held.is_empty());
    assert_eq!(ring.member(3).taken_count, 9);
}

#[test]
fn in_every_a_stopped_reader_is_named_and_holds_the_others_up_until_it_is_removed() {
    let ring = ring(Delivery::Every, 64, 64, 8);
    ring.expect_member(0);
    ring.expect_member(5);
    let other = ChildProcess::start(&["read", ring.name(), "0", "0", "0"]);
    let stopped = ChildProcess::start(&["read", ring.name(), "5", "0", "0"]);
    let _writer = ChildProcess::start(&["write", ring.name(), "64", "64", "0", "0"]);
    wait_until("frames flow", || ring.member(5).taken_count > 5);
    stopped.signal(Signal::SIGSTOP);
    wait_until("the writer waits for it", || {
        let state = ring.state();
        state.waits_for == Some(5) && state.waits_nanos > 50_000_000
    });
    assert!(ring.member(5).alive);
    let head = ring.state().head;
    assert_eq!(ring.member(5).taken_seq + 2, head);
    ring.remove_member(5);
    wait_until("frames flow again", || ring.member(0).taken_seq > head + 5);
    assert_eq!(ring.member(0).taken_count, ring.member(0).taken_seq);
    drop((other, stopped));
}

#[test]
fn a_late_joiner_starts_at_the_head_and_is_marked() {
    let ring = ring(Delivery::Every, 64, 64, 8);
    let mut writer = Writer::attach(ring.name()).unwrap();
    publish(&mut writer, 1..=7);
    let mut late = Reader::attach(ring.name(), 0).unwrap();
    late.join();
    assert_eq!(late.joined_at(), 7);
    publish(&mut writer, 8..=9);
    assert_eq!([take(&mut late), take(&mut late)], [8, 9]);
    // Paused, it is not waited for; back again, it starts at the head.
    late.leave();
    publish(&mut writer, 10..=20);
    late.join();
    publish(&mut writer, 21..=21);
    assert_eq!(take(&mut late), 21);
    let state = ring.member(0);
    assert_eq!(
        (state.joined_at, state.taken_count, state.published),
        (20, 3, 3)
    );
}

#[test]
fn waiting_for_a_reader_ends_when_it_is_cancelled() {
    let ring = ring(Delivery::Every, 64, 64, 4);
    ring.expect_member(0);
    let mut writer = Writer::attach(ring.name()).unwrap();
    publish(&mut writer, 1..=2);
    let mut asked = 0;
    let cancelled = writer.publish(&stamped(64, 64, 3), &mut || {
        asked += 1;
        asked == 4
    });
    assert!(matches!(cancelled, Err(PublishError::Cancelled)));
    assert_eq!(ring.state().head, 2);
}

#[test]
fn in_live_a_stopped_and_a_slow_reader_cost_the_others_nothing_and_what_they_miss_is_counted() {
    let ring = ring(Delivery::Live, 640, 480, 3 * 2 + 2);
    let readers = [("0", "0"), ("1", "30000"), ("2", "0")]
        .map(|(member, pause)| ChildProcess::start(&["read", ring.name(), member, "0", pause]));
    wait_until("all have joined", || {
        (0..3).all(|member| ring.member(member).expected)
    });
    let mut writer = ChildProcess::start(&["write", ring.name(), "640", "480", "400", "1000"]);
    wait_until("frames flow", || ring.member(2).taken_count > 10);
    readers[2].signal(Signal::SIGSTOP);
    assert_eq!(writer.line().as_deref(), Some("attached"));
    // The writer ends although nobody has let it: it waited for nobody.
    assert_eq!(writer.line().as_deref(), Some("published 400"));
    assert_eq!(ring.state().waits_for, None);
    wait_until("the others have the newest frame", || {
        (0..2).all(|member| ring.member(member).taken_seq == 400)
    });
    let stopped_at = ring.member(2).taken_seq;
    assert!(stopped_at < 400);
    readers[2].signal(Signal::SIGCONT);
    wait_until("it has the newest frame", || {
        ring.member(2).taken_seq == 400
    });
    let counts = [0, 1, 2].map(|member| ring.member(member));
    ring.close();
    for (reader, state) in readers.into_iter().zip(counts) {
        let seqs = seqs(reader.finish());
        assert_eq!(state.published, 400);
        assert_eq!(state.taken_count, seqs.len() as u64);
        let missed: u64 = seqs
            .iter()
            .scan(0, |last, &seq| {
                let gap = seq - *last - 1;
                *last = seq;
                Some(gap)
            })
            .sum();
        assert_eq!(state.published - state.taken_count, missed);
        println!("took {} of 400", seqs.len());
    }
}

#[test]
fn in_live_a_reader_that_comes_back_gets_the_newest_frame_and_no_backlog() {
    let ring = ring(Delivery::Live, 64, 64, 6);
    let mut writer = Writer::attach(ring.name()).unwrap();
    let mut reader = Reader::attach(ring.name(), 0).unwrap();
    reader.join();
    publish(&mut writer, 1..=50);
    assert_eq!(take(&mut reader), 50);
    let none = reader.take(&mut empty(), Duration::from_millis(1)).unwrap();
    assert_eq!(none, Take::TimedOut);
}

#[test]
fn the_frame_of_a_shown_prediction_can_be_previewed_until_the_next_one() {
    let ring = ring(Delivery::Live, 64, 64, 5);
    assert!(ring.pins());
    let mut writer = Writer::attach(ring.name()).unwrap();
    let mut reader = Reader::attach(ring.name(), 0).unwrap();
    let mut preview = ring.preview().unwrap();
    reader.join();
    let mut see = |seq: u64| preview.copy(Some(seq), &mut empty()).unwrap().is_some();
    publish(&mut writer, 1..=1);
    assert_eq!(take(&mut reader), 1);
    publish(&mut writer, 2..=60);
    assert!(see(1), "it is being worked on");
    reader.reporter().reported(1);
    publish(&mut writer, 61..=90);
    assert!(see(1), "it is shown");
    assert_eq!(take(&mut reader), 90);
    publish(&mut writer, 91..=99);
    assert!(
        see(1) && see(90),
        "the first is shown and the second worked on"
    );
    reader.reporter().reported(90);
    publish(&mut writer, 100..=130);
    assert!(see(90), "it is shown");
    let pinned: Vec<u64> = ring
        .state()
        .slots
        .iter()
        .filter(|slot| slot.used == SlotUse::Pinned)
        .map(|slot| slot.seq)
        .collect();
    assert_eq!(pinned, [90], "the first may be written over");
    reader.reporter().give_up(90);
    assert!(ring.member(0).held.is_empty());
}

#[test]
fn a_preview_sees_the_newest_frame_and_what_else_is_there() {
    let ring: Ring = ring(Delivery::Live, 64, 64, 4);
    let mut preview = ring.preview().unwrap();
    let mut frame = empty();
    assert_eq!(preview.copy(None, &mut frame).unwrap(), None);
    let mut writer = Writer::attach(ring.name()).unwrap();
    let original = stamped(64, 64, 1);
    let published = writer.publish(&original, &mut || false).unwrap();
    assert_eq!(preview.copy(None, &mut frame).unwrap(), Some(1));
    assert_eq!(frame, original);
    assert_eq!(
        preview.describe().unwrap(),
        [(
            1,
            original.description,
            original.position,
            published.published_nanos
        )]
    );
}
