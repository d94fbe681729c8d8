//! The question that Ringside grew out of: an image array of 32-bit integers, written to shared
//! memory by one process, is read by a freshly started one, which sees zeros when arrays are
//! inherited and guesses shape and type. Here both come from the ring.

use ringside::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use ringside::protocol::Delivery;
use ringside::ring::{Reader, Ring, RingRequest, Take, Writer};

use crate::children::{ChildProcess, HANG, tell};
use crate::frames::empty;

const WIDTH: u32 = 123;
const HEIGHT: u32 = 45;

/// Element `index` of the image: no two neighbours alike, none zero.
fn element(index: u32) -> u32 {
    index.wrapping_mul(2_654_435_761) | 1
}

/// `RING`: publishes the image.
pub(crate) fn write(words: &[&str]) {
    let description =
        FrameDescription::packed(WIDTH, HEIGHT, SampleType::U32, PixelOrder::Rgb).unwrap();
    let frame = Frame {
        description,
        position: FramePosition::default(),
        pixels: (0..WIDTH * HEIGHT * 3)
            .flat_map(|index| element(index).to_ne_bytes())
            .collect(),
    };
    let mut writer = Writer::attach(words[0]).unwrap();
    writer.publish(&frame, &mut || false).unwrap();
    tell("published");
    std::thread::sleep(HANG);
}

/// `RING FILE`: saves the image's elements and tells its shape and type.
pub(crate) fn read(words: &[&str]) {
    let mut reader = Reader::attach(words[0], 0).unwrap();
    let mut frame = empty();
    let take = reader.take(&mut frame, HANG).unwrap();
    assert!(matches!(take, Take::Frame { seq: 1, .. }));
    std::fs::write(words[1], &frame.pixels).unwrap();
    let FrameDescription {
        width,
        height,
        sample,
        order,
        ..
    } = frame.description;
    tell(format!("{height} {width} {} {sample:?}", order.channels()));
}

#[test]
fn an_array_of_u32_written_by_one_process_is_read_whole_by_a_fresh_one() {
    let ring = Ring::create(&RingRequest {
        generation: 1,
        delivery: Delivery::Every,
        frame_bytes: u64::from(WIDTH * HEIGHT) * 12,
        slots: 5,
        max_bytes: 100_000_000,
        first_seq: 1,
    })
    .unwrap();
    ring.expect_member(0);
    let mut writer = ChildProcess::start(&["question-writer", ring.name()]);
    assert_eq!(writer.line().as_deref(), Some("published"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("elements");
    // The reader is started after the frame was written: it shares nothing with the writer.
    let reader = ChildProcess::start(&["question-reader", ring.name(), file.to_str().unwrap()]);
    assert_eq!(reader.finish(), ["45 123 3 U32"]);
    let bytes = std::fs::read(file).unwrap();
    let elements: Vec<u32> = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&bytes| u32::from_ne_bytes(bytes))
        .collect();
    assert_eq!(elements.len(), (WIDTH * HEIGHT * 3) as usize);
    assert!(
        (0..)
            .zip(elements)
            .all(|(index, value)| value == element(index))
    );
}
