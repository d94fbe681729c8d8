//! Why a ring does not open, told apart.

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;

use ringside::protocol::Delivery;
use ringside::ring::{MAX_MEMBERS, Preview, Reader, Ring, RingError, Writer};

use crate::frames::ring;

/// The file of a segment.
pub(crate) fn file_of(name: &str) -> PathBuf {
    PathBuf::from("/dev/shm").join(name.trim_start_matches('/'))
}

/// What opening the ring says, which is the same for all kinds of handles.
pub(crate) fn error_of(name: &str) -> RingError {
    let errors = [
        Preview::attach(name).unwrap_err(),
        Writer::attach(name).unwrap_err(),
        Reader::attach(name, 0).unwrap_err(),
    ];
    let texts = errors.each_ref().map(ToString::to_string);
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    let [error, ..] = errors;
    error
}

/// Overwrites bytes of the segment.
fn overwrite(ring: &Ring, offset: u64, bytes: &[u8]) {
    let file = OpenOptions::new()
        .write(true)
        .open(file_of(ring.name()))
        .unwrap();
    file.write_all_at(bytes, offset).unwrap();
}

#[test]
fn an_absent_ring_and_a_name_of_something_else_are_told_apart() {
    assert!(matches!(
        error_of("/ringside-nowhere"),
        RingError::Absent { .. }
    ));
    for name in [
        "",
        "ringside-x",
        "/other",
        "/ringside-/../x",
        "/ringside-\0",
    ] {
        assert!(
            matches!(error_of(name), RingError::BadName { .. }),
            "{name:?}"
        );
    }
    let mut ring = Some(ring(Delivery::Live, 8, 8, 3));
    let name = ring.as_ref().unwrap().name().to_owned();
    assert!(Preview::attach(&name).is_ok());
    drop(ring.take());
    assert!(matches!(error_of(&name), RingError::Absent { .. }));
}

#[test]
fn a_ring_that_is_not_initialised_yet_is_told_so() {
    let folder = PathBuf::from("/dev/shm");
    let file = tempfile::Builder::new()
        .prefix("ringside-test-")
        .tempfile_in(folder)
        .unwrap();
    let name = format!("/{}", file.path().file_name().unwrap().to_str().unwrap());
    for bytes in [0, 4096, 1 << 20] {
        file.as_file().set_len(bytes).unwrap();
        let error = error_of(&name);
        assert!(matches!(error, RingError::NotInitialised { .. }), "{error}");
    }
    file.as_file().set_len(7).unwrap();
    assert!(matches!(
        error_of(&name),
        RingError::WrongSize { actual: 7, .. }
    ));
}

#[test]
fn a_ring_of_another_version_or_size_is_told_so() {
    let ring = ring(Delivery::Live, 8, 8, 3);
    // The version is the lower half of the first word.
    overwrite(&ring, 0, &99_u32.to_le_bytes());
    assert!(matches!(
        error_of(ring.name()),
        RingError::WrongVersion {
            found: 99,
            expected: 1,
            ..
        }
    ));
    overwrite(&ring, 0, &1_u32.to_le_bytes());
    assert!(Preview::attach(ring.name()).is_ok());
    let file = OpenOptions::new()
        .write(true)
        .open(file_of(ring.name()))
        .unwrap();
    file.set_len(ring.bytes() + 4096).unwrap();
    assert!(matches!(
        error_of(ring.name()),
        RingError::WrongSize { actual, expected, .. }
            if expected == ring.bytes() && actual == expected + 4096
    ));
}

#[test]
fn a_segment_is_for_its_user_alone() {
    let ring = ring(Delivery::Live, 8, 8, 3);
    let metadata = std::fs::metadata(file_of(ring.name())).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_member_is_one_process_and_has_a_place_in_the_table() {
    let ring = ring(Delivery::Live, 8, 8, 3);
    let _reader = Reader::attach(ring.name(), 2).unwrap();
    assert!(ring.member(2).alive);
    assert!(matches!(
        Reader::attach(ring.name(), 2),
        Err(RingError::MemberBusy { member: 2, .. })
    ));
    assert!(matches!(
        Reader::attach(ring.name(), MAX_MEMBERS),
        Err(RingError::NoSuchMember { .. })
    ));
}

#[test]
fn readers_and_writers_end_with_the_session() {
    let mut session = crate::children::ChildProcess::start(&["session"]);
    let name = session.line().unwrap();
    let mut reader = Reader::attach(&name, 0).unwrap();
    session.kill();
    assert!(matches!(
        reader.take(&mut crate::frames::empty(), crate::children::HANG),
        Err(RingError::OwnerGone { .. })
    ));
    assert!(matches!(
        Writer::attach(&name),
        Err(RingError::OwnerGone { .. })
    ));
    // What is left can still be looked at.
    assert!(Preview::attach(&name).is_ok());
    std::fs::remove_file(file_of(&name)).unwrap();
}
