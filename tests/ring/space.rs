//! A small `/dev/shm`, in a mount namespace of its own (needs root).

use std::fs::File;
use std::io::Write;

use ringside::protocol::Delivery;
use ringside::ring::{Reader, Ring, RingError, RingRequest, Take, Writer};

use crate::children::{ChildProcess, HANG, prefixed, tell};
use crate::frames::{empty, is_whole, stamped};

/// `WIDTH HEIGHT SLOTS`: makes a ring, fills `/dev/shm`, and uses every byte of the ring.
pub(crate) fn use_space(words: &[&str]) {
    let [width, height, slots] = words else {
        panic!("three words, not {words:?}");
    };
    let (width, height) = (
        width.parse::<u32>().unwrap(),
        height.parse::<u32>().unwrap(),
    );
    let ring = match Ring::create(&RingRequest {
        generation: 1,
        delivery: Delivery::Every,
        frame_bytes: u64::from(width) * u64::from(height) * 3,
        slots: slots.parse().unwrap(),
        max_bytes: 2_000_000_000,
        first_seq: 1,
    }) {
        Ok(ring) => ring,
        Err(error) => {
            assert!(std::fs::read_dir("/dev/shm").unwrap().next().is_none());
            if let RingError::NoMemory { needed, free } = &error {
                tell(format!("{needed} {free}"));
            }
            tell(error);
            return;
        }
    };
    tell(format!("{} slots, pins {}", ring.slots(), ring.pins()));
    let mut rest = File::create("/dev/shm/rest").unwrap();
    while rest.write_all(&[1; 4096]).is_ok() {}
    let mut writer = Writer::attach(ring.name()).unwrap();
    let mut reader = Reader::attach(ring.name(), 0).unwrap();
    reader.join();
    let mut frame = empty();
    for stamp in 1..=3 * u64::from(ring.slots()) {
        let original = stamped(width, height, stamp);
        writer.publish(&original, &mut || false).unwrap();
        let take = reader.take(&mut frame, HANG).unwrap();
        assert!(matches!(take, Take::Frame { seq, .. } if seq == stamp));
        assert!(is_whole(&frame));
        reader.reporter().reported(stamp);
    }
    tell("used");
}

/// What [`use_space`] tells with a `/dev/shm` of `size`; `None` where none can be made.
fn with_shm(size: &str, role: &[&str]) -> Option<Vec<String>> {
    let script = format!("mount -t tmpfs -o size={size} tmpfs /dev/shm && exec \"$0\" \"$@\"");
    let possible = std::process::Command::new("unshare")
        .args(["-m", "sh", "-c", &script, "true"])
        .status()
        .is_ok_and(|status| status.success());
    if !possible {
        println!("skipped: mounting another /dev/shm needs `unshare` and root");
        return None;
    }
    let mut words = vec!["space"];
    words.extend(role);
    let command = prefixed(&["unshare", "-m", "sh", "-c", &script], &words);
    Some(ChildProcess::spawn(command).finish())
}

#[test]
fn a_small_dev_shm_gives_fewer_slots_and_no_pins() {
    // 1080p: 6,220,800 bytes of pixels, 1519 pages, and 2 pages of description: 10 in 64 MiB.
    if let Some(lines) = with_shm("64m", &["1920", "1080", "16"]) {
        assert_eq!(lines, ["10 slots, pins false", "used"]);
    }
    if let Some(lines) = with_shm("64m", &["1920", "1080", "8"]) {
        assert_eq!(lines, ["8 slots, pins true", "used"]);
    }
    if let Some(lines) = with_shm("1m", &["320", "240", "8"]) {
        assert_eq!(lines, ["4 slots, pins false", "used"]);
    }
}

#[test]
fn a_dev_shm_too_small_for_three_slots_is_an_error_with_sizes_and_a_remedy() {
    for (size, bytes, width, height) in [("64m", 64 << 20, 3840, 2160), ("1m", 1 << 20, 640, 480)] {
        let (width_text, height_text) = (width.to_string(), height.to_string());
        let Some(lines) = with_shm(size, &[&width_text, &height_text, "8"]) else {
            return;
        };
        let numbers: Vec<u64> = lines[0]
            .split(' ')
            .map(|word| word.parse().unwrap())
            .collect();
        let pixels: u64 = 3 * width * height * 3;
        assert!(
            (pixels..pixels + (1 << 20)).contains(&numbers[0]),
            "{lines:?}"
        );
        assert_eq!(numbers[1], bytes);
        for part in [
            &numbers[0].to_string(),
            &numbers[1].to_string(),
            "remount,size",
            "ring clean",
        ] {
            assert!(lines[1].contains(part), "{lines:?}");
        }
    }
}

#[test]
fn the_limit_of_a_session_is_kept() {
    let request = RingRequest {
        generation: 1,
        delivery: Delivery::Live,
        frame_bytes: 1_000_000,
        slots: 8,
        max_bytes: 5_500_000,
        first_seq: 1,
    };
    let ring = Ring::create(&request).unwrap();
    assert_eq!((ring.slots(), ring.pins()), (5, false));
    assert!(ring.bytes() <= request.max_bytes);
    let refused = Ring::create(&RingRequest {
        max_bytes: 3_000_000,
        ..request.clone()
    });
    assert!(matches!(
        refused,
        Err(RingError::OverLimit {
            needed: 3_000_001..3_100_000,
            max_bytes: 3_000_000
        })
    ));
    let absurd = Ring::create(&RingRequest {
        frame_bytes: u64::MAX,
        ..request
    });
    assert!(matches!(absurd, Err(RingError::OverLimit { .. })));
}
