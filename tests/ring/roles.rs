//! What the tests run in other processes.

use std::time::Duration;

use ringside::protocol::Delivery;
use ringside::ring::{Reader, Take, Writer};

use crate::children::{HANG, Role, tell};
use crate::frames::{empty, is_whole, ring, stamp_again, stamped};

/// All of them by name.
pub(crate) const ROLES: &[(&str, Role)] = &[
    ("write", write),
    ("read", read),
    ("hold", hold),
    ("session", session),
    ("space", crate::space::use_space),
    ("turns", crate::turns::take_turns),
    ("question-writer", crate::question::write),
    ("question-reader", crate::question::read),
];

/// `RING WIDTH HEIGHT FRAMES PAUSE_MICROS`: publishes stamped frames; 0 frames: without end.
fn write(words: &[&str]) {
    let [name, width, height, frames, pause] = words else {
        panic!("five words, not {words:?}");
    };
    let mut writer = Writer::attach(name).unwrap();
    let pause = Duration::from_micros(pause.parse().unwrap());
    let (width, height) = (width.parse().unwrap(), height.parse().unwrap());
    let frames: u64 = frames.parse().unwrap();
    let last = match frames {
        0 => u64::MAX,
        frames => writer.head() + frames,
    };
    // Stamped before: then most of the time goes into the copy to the ring.
    let mut pictures: Vec<_> = (0..4).map(|stamp| stamped(width, height, stamp)).collect();
    tell("attached");
    while writer.head() < last {
        let next = writer.head() + 1;
        let picture = &mut pictures[(next % 4) as usize];
        if frames != 0 {
            stamp_again(picture, next);
        }
        writer.publish(picture, &mut || false).unwrap();
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
    }
    tell(format!("published {}", writer.head()));
}

/// `RING MEMBER START_MILLIS PAUSE_MICROS`: takes frames until the ring is closed, and checks them.
fn read(words: &[&str]) {
    let [name, member, start, pause] = words else {
        panic!("four words, not {words:?}");
    };
    std::thread::sleep(Duration::from_millis(start.parse().unwrap()));
    let mut reader = Reader::attach(name, member.parse().unwrap()).unwrap();
    reader.join();
    tell(format!("joined {}", reader.joined_at()));
    let pause = Duration::from_micros(pause.parse().unwrap());
    let reporter = reader.reporter();
    let mut frame = empty();
    loop {
        match reader.take(&mut frame, HANG).unwrap() {
            Take::Frame { seq, .. } => {
                assert!(is_whole(&frame), "frame {seq} is torn");
                std::thread::sleep(pause);
                tell(seq);
                reporter.reported(seq);
            }
            Take::Closed => return,
            Take::TimedOut => panic!("no frame within {HANG:?}"),
        }
    }
}

/// `RING MEMBER FRAMES`: takes that many frames, reports all but the last, and sleeps.
fn hold(words: &[&str]) {
    let [name, member, frames] = words else {
        panic!("three words, not {words:?}");
    };
    let mut reader = Reader::attach(name, member.parse().unwrap()).unwrap();
    reader.join();
    let mut frame = empty();
    let frames: u32 = frames.parse().unwrap();
    for count in 1..=frames {
        let Take::Frame { seq, .. } = reader.take(&mut frame, HANG).unwrap() else {
            panic!("no frame");
        };
        if count < frames {
            reader.reporter().reported(seq);
        }
        tell(seq);
    }
    std::thread::sleep(HANG);
}

/// Owns a ring, and sleeps.
fn session(_: &[&str]) {
    let ring = ring(Delivery::Live, 64, 64, 4);
    tell(ring.name());
    std::thread::sleep(HANG);
}
