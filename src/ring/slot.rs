use crate::frame::{
    CapturedFrom, Frame, FrameDescription, FramePosition, Orientation, PixelOrder, SampleType,
};

use super::layout::{PATH_CAPACITY, SLOT_HEADER_BYTES};

/// Written in place of the front of a path that is too long for a slot.
const CUT: &str = "…/";
/// Bytes before the path.
pub(super) const FIXED_BYTES: usize = SLOT_HEADER_BYTES - PATH_CAPACITY;

/// A frame's description as it lies in its slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SlotHeader {
    pub(super) seq: u64,
    pub(super) published_nanos: u64,
    pub(super) description: FrameDescription,
    pub(super) position: FramePosition,
}

/// Puts a frame's description, but for its time of publishing, into `bytes`.
///
/// A path of more than [`PATH_CAPACITY`] bytes loses whole leading parts (the file's name says
/// most), which `…/` then stands for.
pub(super) fn encode(seq: u64, frame: &Frame, bytes: &mut Vec<u8>) {
    let FrameDescription {
        width,
        height,
        sample,
        order,
        stride_bytes,
    } = frame.description;
    let position = &frame.position;
    let (path, cut) = position.path.as_deref().map_or(("", false), fit);
    let mark = if cut { CUT } else { "" };
    let path_bytes = match position.path {
        Some(_) => (mark.len() + path.len()) as u64 + 1,
        None => 0,
    };
    bytes.clear();
    for word in [
        seq,
        0,
        position.captured_nanos,
        position.source_index,
        position.media_seconds.map_or(NO_SECONDS, f64::to_bits),
        u64::from(width) << 32 | u64::from(height),
        u64::from(position.stored[0]) << 32 | u64::from(position.stored[1]),
        u64::from(stride_bytes) << 32 | u64::from(position.pass),
        u64::from_le_bytes([
            sample as u8,
            order as u8,
            position.captured_from as u8,
            position.orientation as u8,
            0,
            0,
            0,
            0,
        ]),
        path_bytes,
    ] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.resize(FIXED_BYTES, 0);
    bytes.extend_from_slice(mark.as_bytes());
    bytes.extend_from_slice(path.as_bytes());
}

/// Offset in a slot of its time of publishing, which is only known after the pixels are there.
pub(super) const PUBLISHED_NANOS: usize = size_of::<u64>();

/// Stands for "no media time": a NaN that no clock gives.
const NO_SECONDS: u64 = u64::MAX;

/// Bytes of a slot that hold the description, path included, told by their first [`FIXED_BYTES`].
pub(super) fn encoded_bytes(fixed: &[u8]) -> usize {
    let (words, _) = fixed.as_chunks::<8>();
    let path_bytes = u64::from_le_bytes(words[9]).saturating_sub(1);
    // A length that makes no sense is found by `decode`.
    FIXED_BYTES
        + usize::try_from(path_bytes)
            .unwrap_or(usize::MAX)
            .min(PATH_CAPACITY)
}

/// Reads a description; `Err` names the first value that makes no sense.
///
/// The pixels are known to fit `slot_bytes` afterwards.
pub(super) fn decode(bytes: &[u8], slot_bytes: u64) -> Result<SlotHeader, &'static str> {
    let (words, _) = bytes.as_chunks::<8>();
    let word = |index: usize| u64::from_le_bytes(words[index]);
    let high = |word: u64| (word >> 32) as u32;
    let low = |word: u64| word as u32;
    let codes = word(8).to_le_bytes();
    let description = FrameDescription {
        width: high(word(5)),
        height: low(word(5)),
        sample: SampleType::from_code(codes[0]).ok_or("sample type")?,
        order: PixelOrder::from_code(codes[1]).ok_or("pixel order")?,
        stride_bytes: high(word(7)),
    };
    if description.check().is_err()
        || u64::from(description.stride_bytes) * u64::from(description.height) > slot_bytes
    {
        return Err("frame size");
    }
    let path = match word(9) {
        0 => None,
        length => {
            let path = usize::try_from(length - 1)
                .ok()
                .and_then(|length| bytes.get(FIXED_BYTES..FIXED_BYTES.checked_add(length)?))
                .ok_or("path length")?;
            Some(std::str::from_utf8(path).ok().ok_or("path")?.to_owned())
        }
    };
    Ok(SlotHeader {
        seq: word(0),
        published_nanos: word(1),
        description,
        position: FramePosition {
            source_index: word(3),
            pass: low(word(7)),
            path,
            media_seconds: Some(word(4))
                .filter(|&bits| bits != NO_SECONDS)
                .map(f64::from_bits),
            captured_nanos: word(2),
            captured_from: CapturedFrom::from_code(codes[2])
                .ok_or("meaning of the captured time")?,
            stored: [high(word(6)), low(word(6))],
            orientation: Orientation::from_code(codes[3]).ok_or("orientation")?,
        },
    })
}

/// The end of `path` that fits a slot, and whether something was cut.
fn fit(path: &str) -> (&str, bool) {
    if path.len() <= PATH_CAPACITY {
        return (path, false);
    }
    let from = path.ceil_char_boundary(path.len() - (PATH_CAPACITY - CUT.len()));
    let end = &path[from..];
    // From the start of a part, if one begins there: never in the middle of an escaped byte.
    let end = end.split_once('/').map_or(end, |(_, rest)| rest);
    (end, true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(path: Option<String>) -> Frame {
        Frame {
            description: FrameDescription {
                width: 3,
                height: 2,
                sample: SampleType::U16,
                order: PixelOrder::Bgr,
                stride_bytes: 20,
            },
            position: FramePosition {
                source_index: 11,
                pass: 2,
                path,
                media_seconds: Some(1.25),
                captured_nanos: 77,
                captured_from: CapturedFrom::Driver,
                stored: [2, 3],
                orientation: Orientation::Rotate90,
            },
            pixels: vec![0; 40],
        }
    }

    #[test]
    fn a_description_comes_back_whole() {
        let mut bytes = Vec::new();
        for path in [None, Some(String::new()), Some("cats/猫%FF.png".to_owned())] {
            let mut frame = frame(path);
            encode(5, &frame, &mut bytes);
            let header = decode(&bytes, 40).expect("it is whole");
            assert_eq!(header.seq, 5);
            assert_eq!(header.description, frame.description);
            assert_eq!(header.position, frame.position);
            frame.position.media_seconds = None;
            encode(5, &frame, &mut bytes);
            let header = decode(&bytes, 40).expect("it is whole");
            assert_eq!(header.position.media_seconds, None);
        }
    }

    #[test]
    fn a_path_that_is_too_long_keeps_its_end() {
        let path = format!("{}/é/name.png", "d%FF".repeat(PATH_CAPACITY));
        let mut bytes = Vec::new();
        encode(5, &frame(Some(path)), &mut bytes);
        assert!(bytes.len() <= SLOT_HEADER_BYTES);
        let header = decode(&bytes, 40).expect("it is whole");
        assert_eq!(header.position.path.as_deref(), Some("…/é/name.png"));
    }

    #[test]
    fn pixels_that_do_not_fit_the_slot_are_refused() {
        let mut bytes = Vec::new();
        encode(5, &frame(None), &mut bytes);
        assert_eq!(decode(&bytes, 39), Err("frame size"));
    }

    proptest! {
        #[test]
        fn damage_is_an_error_or_a_frame_that_fits(
            damage in proptest::collection::vec(
                (prop_oneof![0..80_usize, 0..SLOT_HEADER_BYTES], any::<u8>()),
                1..20,
            ),
            path in ".{0,40}",
        ) {
            let mut bytes = Vec::new();
            encode(5, &frame(Some(path)), &mut bytes);
            bytes.resize(SLOT_HEADER_BYTES, 0);
            for (place, value) in damage {
                bytes[place] = value;
            }
            if let Ok(header) = decode(&bytes, 40) {
                prop_assert!(header.description.check().is_ok());
                prop_assert!(header.description.pixel_bytes() <= 40);
            }
        }
    }
}
