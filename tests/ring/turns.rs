//! Turns on a device.

use std::time::Duration;

use ringside::base::monotonic_nanos;
use ringside::protocol::Delivery;
use ringside::ring::Reader;

use crate::children::{ChildProcess, HANG, tell};
use crate::frames::ring;

/// `RING MEMBER TURNS MILLIS`: takes turns on the CPU and tells when each began and ended.
pub(crate) fn take_turns(words: &[&str]) {
    let [name, member, turns, millis] = words else {
        panic!("four words, not {words:?}");
    };
    let reader = Reader::attach(name, member.parse().unwrap()).unwrap();
    let mut turn = reader.turns(0).unwrap();
    let length = Duration::from_millis(millis.parse().unwrap());
    for _ in 0..turns.parse().unwrap() {
        let guard = turn.acquire().unwrap();
        let start = monotonic_nanos();
        tell("in");
        std::thread::sleep(length);
        let end = monotonic_nanos();
        drop(guard);
        tell(format!("{start} {end}"));
    }
}

#[test]
fn turns_of_several_processes_do_not_overlap() {
    let ring = ring(Delivery::Every, 8, 8, 4);
    let children = ["0", "1", "2"]
        .map(|member| ChildProcess::start(&["turns", ring.name(), member, "20", "1"]));
    let mut times = Vec::new();
    for child in children {
        for line in child.finish() {
            if let Some((start, end)) = line.split_once(' ') {
                times.push((start.parse::<u64>().unwrap(), end.parse::<u64>().unwrap()));
            }
        }
    }
    assert_eq!(times.len(), 60);
    times.sort_unstable();
    assert!(times.is_sorted_by(|first, second| first.1 <= second.0));
}

#[test]
fn a_turn_ends_with_its_process() {
    let ring = ring(Delivery::Every, 8, 8, 4);
    let long = HANG.as_millis().to_string();
    let mut killed = ChildProcess::start(&["turns", ring.name(), "0", "1", &long]);
    assert_eq!(killed.line().as_deref(), Some("in"));
    let mut next = ChildProcess::start(&["turns", ring.name(), "1", "1", "0"]);
    // Another device is free.
    let reader = Reader::attach(ring.name(), 2).unwrap();
    drop(reader.turns(1).unwrap().acquire().unwrap());
    killed.kill();
    assert_eq!(next.line().as_deref(), Some("in"));
    next.finish();
}
