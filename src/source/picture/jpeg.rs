//! The segments of a JPEG file, as far as they are needed to know its size without decoding it and
//! to tell a whole picture from a cut-off one: decoders show the missing part of the latter as grey.
//!
//! Source: ITU-T T.81, annex B.

/// A file's frame header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) width: u16,
    pub(super) height: u16,
    /// 1 is grey, 3 colour, 4 CMYK.
    pub(super) components: u8,
}

/// What the segments of a file say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// The first frame header.
    pub(super) frame: Option<FrameHeader>,
    /// Whether picture data begin.
    pub(super) has_scan: bool,
    /// Whether the end-of-image marker of this picture was found.
    pub(super) is_complete: bool,
}

const START_OF_IMAGE: u8 = 0xd8;
const END_OF_IMAGE: u8 = 0xd9;
const START_OF_SCAN: u8 = 0xda;

/// Reads the segments of `bytes`, the beginning of a file or all of it. Coded data and fill bytes
/// between segments are passed over; what follows the end of the picture is not looked at.
pub(super) fn outline(bytes: &[u8]) -> Outline {
    let mut outline = Outline::default();
    let mut rest = bytes;
    while let Some((marker, after)) = next_marker(rest) {
        rest = after;
        match marker {
            END_OF_IMAGE => {
                outline.is_complete = true;
                break;
            }
            // Markers that stand alone: restarts, start of image, TEM.
            0xd0..=0xd7 | START_OF_IMAGE | 0x01 => {}
            _ => {
                let Some((segment, after)) = split_segment(rest) else {
                    break;
                };
                rest = after;
                match marker {
                    START_OF_SCAN => outline.has_scan = true,
                    // Frame headers; C4, C8 and CC of their range are other segments.
                    0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                        outline.frame = outline.frame.or_else(|| frame_header(segment));
                    }
                    _ => {}
                }
            }
        }
    }
    outline
}

/// The next marker, and what follows it. A marker is 0xFF and a byte that is neither 0 (a stuffed
/// 0xFF of coded data) nor 0xFF (fill).
fn next_marker(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let mut rest = bytes;
    loop {
        let start = rest.iter().position(|&byte| byte == 0xff)?;
        rest = &rest[start + 1..];
        match rest.first()? {
            0xff => {}
            0 => rest = &rest[1..],
            &marker => return Some((marker, &rest[1..])),
        }
    }
}

/// A segment's content after its two bytes of length, and what follows it.
fn split_segment(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, _) = bytes.split_first_chunk::<2>()?;
    let length = usize::from(u16::from_be_bytes(*length));
    (length >= 2 && length <= bytes.len()).then(|| (&bytes[2..length], &bytes[length..]))
}

fn frame_header(segment: &[u8]) -> Option<FrameHeader> {
    match *segment {
        [_precision, h1, h0, w1, w0, components, ..] => Some(FrameHeader {
            width: u16::from_be_bytes([w1, w0]),
            height: u16::from_be_bytes([h1, h0]),
            components,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SOI, an APP1 that holds a whole small JPEG (a thumbnail), a frame header of 3x2 grey pixels,
    /// a scan with stuffed bytes and a restart, EOI.
    fn file() -> Vec<u8> {
        let mut bytes = b"\xff\xd8\xff\xe1\x00\x06\xff\xd8\xff\xd9".to_vec();
        bytes.extend(b"\xff\xff\xc0\x00\x0b\x08\x00\x02\x00\x03\x01\x01\x11\x00");
        bytes.extend(b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00");
        bytes.extend(b"\x12\xff\x00\x34\xff\xd0\x56");
        bytes.extend(b"\xff\xd9trailing");
        bytes
    }

    #[test]
    fn a_whole_file_is_complete() {
        assert_eq!(
            outline(&file()),
            Outline {
                frame: Some(FrameHeader {
                    width: 3,
                    height: 2,
                    components: 1
                }),
                has_scan: true,
                is_complete: true,
            }
        );
    }

    #[test]
    fn no_cut_before_its_end_looks_complete() {
        let file = file();
        let end = file.len() - b"trailing".len();
        for length in 0..end {
            assert!(!outline(&file[..length]).is_complete, "cut at {length}");
        }
    }
}
