//! Frames that can be told from one another and from torn ones.

use ringside::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use ringside::protocol::Delivery;
use ringside::ring::{Ring, RingRequest};

/// A frame to copy into.
pub(crate) fn empty() -> Frame {
    Frame {
        description: FrameDescription::packed(1, 1, SampleType::U8, PixelOrder::Gray).unwrap(),
        position: FramePosition::default(),
        pixels: Vec::new(),
    }
}

/// An RGB frame whose every byte is made of `stamp`, which is its position, too.
pub(crate) fn stamped(width: u32, height: u32, stamp: u64) -> Frame {
    let description =
        FrameDescription::packed(width, height, SampleType::U8, PixelOrder::Rgb).unwrap();
    let mut frame = Frame {
        description,
        position: FramePosition {
            path: Some(format!("frame{stamp}.png")),
            ..FramePosition::default()
        },
        pixels: vec![0; description.pixel_bytes()],
    };
    stamp_again(&mut frame, stamp);
    frame
}

/// Gives `frame` another stamp.
pub(crate) fn stamp_again(frame: &mut Frame, stamp: u64) {
    frame.position.source_index = stamp;
    frame.pixels.fill(grey(stamp));
}

/// Whether all of `frame` comes from one frame.
pub(crate) fn is_whole(frame: &Frame) -> bool {
    // Compared in blocks, which is quick in a build for tests, too.
    let block = [grey(frame.position.source_index); 4096];
    frame.pixels.len() == frame.description.pixel_bytes()
        && frame
            .pixels
            .chunks(block.len())
            .all(|pixels| pixels == &block[..pixels.len()])
}

/// Neighbouring stamps are far apart.
fn grey(stamp: u64) -> u8 {
    (stamp % 251) as u8
}

/// A ring of `slots` slots for RGB frames.
pub(crate) fn ring(delivery: Delivery, width: u32, height: u32, slots: u32) -> Ring {
    ring_after(1, delivery, width, height, slots)
}

/// As [`ring`], whose first frame has sequence `first_seq`.
pub(crate) fn ring_after(
    first_seq: u64,
    delivery: Delivery,
    width: u32,
    height: u32,
    slots: u32,
) -> Ring {
    Ring::create(&RingRequest {
        generation: 1,
        delivery,
        frame_bytes: u64::from(width) * u64::from(height) * 3,
        slots,
        max_bytes: 1_000_000_000,
        first_seq,
    })
    .unwrap()
}
