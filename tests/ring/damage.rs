//! Damaged segments: an error, never a crash and never an access out of bounds.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use proptest::prelude::*;
use ringside::protocol::Delivery;
use ringside::ring::{Preview, Reader, Ring, Writer};

use crate::frames::{empty, ring, stamped};
use crate::opening::{error_of, file_of};

/// The header: a version word, the fields, and their checksum, 8 bytes each.
const HEADER_BYTES: u64 = 10 * 8;

/// A small ring with frames in it, and its file.
fn used_ring() -> (Ring, File) {
    let ring = ring(Delivery::Every, 8, 8, 3);
    let mut writer = Writer::attach(ring.name()).unwrap();
    for stamp in 1..=5 {
        writer
            .publish(&stamped(8, 8, stamp), &mut || false)
            .unwrap();
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(file_of(ring.name()))
        .unwrap();
    (ring, file)
}

#[test]
fn every_changed_bit_of_the_header_is_an_error() {
    let (ring, file) = used_ring();
    for offset in 0..HEADER_BYTES {
        let mut byte = [0];
        file.read_exact_at(&mut byte, offset).unwrap();
        for bit in 0..8 {
            file.write_all_at(&[byte[0] ^ 1 << bit], offset).unwrap();
            error_of(ring.name());
        }
        file.write_all_at(&byte, offset).unwrap();
    }
    assert!(Preview::attach(ring.name()).is_ok(), "it is whole again");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::children::rounds(200, 20_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_the_header_says_it_is_an_error(words in proptest::array::uniform10(prop_oneof![
        any::<u64>(),
        0_u64..5000,
        Just(0x5249_4e47_0000_0001),
    ])) {
        let (ring, file) = used_ring();
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        file.write_all_at(&bytes, 0).unwrap();
        error_of(ring.name());
    }

    #[test]
    fn damage_behind_the_header_is_an_error_or_harmless(damage in proptest::collection::vec(
        (0..SEGMENT / 8, prop_oneof![any::<u64>(), 0_u64..300, Just(u64::MAX)]),
        1..30,
    )) {
        let (ring, file) = used_ring();
        prop_assert_eq!(ring.bytes(), SEGMENT);
        for (word, value) in damage {
            let offset = (word * 8).max(HEADER_BYTES);
            file.write_all_at(&value.to_le_bytes(), offset).unwrap();
        }
        use_all(&ring);
    }

    #[test]
    fn damage_of_the_control_words_is_an_error_or_harmless(damage in proptest::collection::vec(
        (4096 / 8..CONTROL / 8, prop_oneof![any::<u64>(), 0_u64..300, Just(u64::MAX)]),
        1..30,
    )) {
        let (ring, file) = used_ring();
        for (word, value) in damage {
            file.write_all_at(&value.to_le_bytes(), word * 8).unwrap();
        }
        use_all(&ring);
    }
}

/// Bytes of the segment of [`used_ring`].
const SEGMENT: u64 = CONTROL + 3 * (8192 + 4096);
/// Bytes before the slots: header, control words, readers, sequences.
const CONTROL: u64 = 28_672;

/// Does everything that can be done with a ring; errors are expected, a panic is not.
fn use_all(ring: &Ring) {
    let mut frame = empty();
    for member in 0..3 {
        ring.member(member);
    }
    ring.state();
    ring.expect_member(1);
    if let Ok(mut preview) = Preview::attach(ring.name()) {
        let described = preview.describe();
        for seq in [None, Some(0), Some(4), Some(u64::MAX)] {
            ignore(preview.copy(seq, &mut frame));
        }
        ignore(described);
    }
    let mut reader = Reader::attach(ring.name(), 0).unwrap();
    for joined in [false, true] {
        if joined {
            reader.join();
        }
        if reader.take(&mut frame, Duration::from_millis(1)).is_ok() {
            assert!(frame.pixels.len() <= ring.slot_bytes() as usize);
        }
    }
    ring.remove_member(1);
    let mut patience = 3;
    if let Ok(mut writer) = Writer::attach(ring.name()) {
        ignore(writer.publish(&stamped(8, 8, 9), &mut || {
            patience -= 1;
            patience == 0
        }));
    }
    reader.reporter().reported(5);
    reader.leave();
    ring.close();
}

fn ignore<T, E>(result: Result<T, E>) {
    drop(result);
}
