//! One ring after another.

use ringside::protocol::Delivery;
use ringside::ring::{PublishError, Reader, RingError, Take, Writer};

use crate::children::ChildProcess;
use crate::frames::{empty, ring, ring_after, stamped};

#[test]
fn a_frame_too_large_for_its_slot_goes_into_a_larger_ring_and_nothing_is_lost() {
    let small = ring(Delivery::Every, 64, 64, 6);
    small.expect_member(0);
    let reader = ChildProcess::start(&["read", small.name(), "0", "0", "0"]);
    let mut writer = ChildProcess::start(&["write", small.name(), "64", "64", "20", "0"]);
    assert_eq!(writer.line().as_deref(), Some("attached"));
    assert_eq!(writer.line().as_deref(), Some("published 20"));
    drop(writer);
    let large_frame = stamped(65, 64, 21);
    let refused = Writer::attach(small.name())
        .unwrap()
        .publish(&large_frame, &mut || false);
    assert!(matches!(
        refused,
        Err(PublishError::TooLarge {
            needed: 12_480,
            slot_bytes: 12_288
        })
    ));
    let large = ring_after(small.state().head + 1, Delivery::Every, 65, 64, 6);
    large.expect_member(0);
    let mut writer = Writer::attach(large.name()).unwrap();
    let published = writer.publish(&large_frame, &mut || false).unwrap();
    assert_eq!(published.seq, 21);
    // The reader drains the first ring, then goes on in the second.
    small.close();
    let mut lines = reader.finish();
    lines.retain(|line| line.parse::<u64>().is_ok());
    assert_eq!(lines.len(), 20);
    let mut reader = Reader::attach(large.name(), 0).unwrap();
    let mut frame = empty();
    large.close();
    let take = reader.take(&mut frame, crate::children::HANG).unwrap();
    assert!(matches!(take, Take::Frame { seq: 21, .. }));
    assert_eq!(frame, large_frame);
    let end = reader.take(&mut frame, crate::children::HANG).unwrap();
    assert_eq!(end, Take::Closed);
}

#[test]
fn a_closed_ring_takes_no_frame() {
    let ring = ring(Delivery::Live, 64, 64, 4);
    let mut writer = Writer::attach(ring.name()).unwrap();
    ring.close();
    let refused = writer.publish(&stamped(64, 64, 1), &mut || false);
    assert!(matches!(
        refused,
        Err(PublishError::Ring(RingError::Closed { .. }))
    ));
    assert_eq!(ring.state().head, 0);
}

#[test]
fn frames_of_one_stream_may_differ_in_size() {
    let ring = ring(Delivery::Every, 100, 100, 5);
    let mut writer = Writer::attach(ring.name()).unwrap();
    let mut reader = Reader::attach(ring.name(), 0).unwrap();
    reader.join();
    let mut frame = empty();
    for (seq, (width, height)) in (1..).zip([(100, 100), (3, 7), (99, 100), (1, 1)]) {
        let original = stamped(width, height, seq);
        writer.publish(&original, &mut || false).unwrap();
        reader.take(&mut frame, crate::children::HANG).unwrap();
        assert_eq!(frame, original);
    }
}
