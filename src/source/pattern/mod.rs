//! Made pictures.

mod spec;

use xxhash_rust::xxh3::xxh3_64;

pub use spec::{PatternKind, PatternSpec};

use super::{Cursor, FrameSource, SourceError, Step, Upcoming};
use crate::base::monotonic_nanos;
use crate::frame::{
    CapturedFrom, Frame, FrameDescription, FramePosition, Orientation, PixelOrder, SampleType,
};
use crate::protocol::{Problem, SourceInfo};

/// Stamped frames repeat after this many.
const STAMPS: u64 = 60;

/// Makes pictures: each is copied together from rows made once, at the speed of memory.
#[derive(Debug)]
pub struct PatternSource {
    spec: PatternSpec,
    info: SourceInfo,
    cursor: Cursor,
    looping: bool,
    frame: Frame,
    has_frame: bool,
    xxh3: u64,
    /// Two periods of each row, from which a row at any offset is one slice.
    bars: Vec<u8>,
    ramp: Vec<u8>,
    white: Vec<u8>,
}

impl PatternSource {
    /// A source of that pattern.
    ///
    /// # Errors
    /// The size has no pixel.
    pub fn new(spec: PatternSpec) -> Result<Self, SourceError> {
        let description =
            FrameDescription::packed(spec.width, spec.height, spec.sample, spec.order).map_err(
                |error| SourceError::OptionValue {
                    scheme: "pattern",
                    option: "size".to_owned(),
                    value: format!("{}x{} ({error})", spec.width, spec.height),
                    expected: "WIDTHxHEIGHT, each 1 to 16384",
                },
            )?;
        let width = spec.width;
        let row = |color: &dyn Fn(u32) -> [u8; 3]| {
            let mut row = Vec::with_capacity(description.row_bytes() * 2);
            for x in (0..width).chain(0..width) {
                push_pixel(&mut row, color(x), spec.sample, spec.order);
            }
            row
        };
        Ok(Self {
            info: SourceInfo {
                uri: spec.uri(),
                entries: spec.frames,
                largest: description,
                live: false,
                fps: (spec.fps > 0.0).then_some(spec.fps),
            },
            cursor: Cursor::default(),
            looping: false,
            frame: Frame {
                description,
                position: FramePosition::default(),
                pixels: vec![0; description.pixel_bytes()],
            },
            has_frame: false,
            xxh3: 0,
            bars: row(&|x| BARS[(u64::from(x) * BARS.len() as u64 / u64::from(width)) as usize]),
            ramp: row(&|x| [(u64::from(x) * 256 / u64::from(width)) as u8; 3]),
            white: row(&|_| [255; 3]),
            spec,
        })
    }

    fn draw_bars(&mut self, index: u64) {
        let width = u64::from(self.spec.width);
        let height = self.spec.height as usize;
        let row_bytes = self.frame.description.row_bytes();
        let pixel_bytes = row_bytes / self.spec.width as usize;
        // Eight seconds of 30 frames for a width of 960: fast enough to see a dropped frame.
        let shift = index.wrapping_mul(4) % width;
        let bars = &self.bars[shift as usize * pixel_bytes..][..row_bytes];
        let back = (width - shift) % width;
        let ramp = &self.ramp[back as usize * pixel_bytes..][..row_bytes];

        let side = (height.min(self.spec.width as usize) / 6).max(1);
        let left = bounce(index.wrapping_mul(5), self.spec.width as usize - side);
        let top = bounce(index.wrapping_mul(3), height - side);
        let white = &self.white[..side * pixel_bytes];
        let ramp_from = height - height / 4;
        for (y, row) in self.frame.pixels.chunks_exact_mut(row_bytes).enumerate() {
            row.copy_from_slice(if y < ramp_from { bars } else { ramp });
            if (top..top + side).contains(&y) {
                row[left * pixel_bytes..][..white.len()].copy_from_slice(white);
            }
        }
    }

    fn draw_stamp(&mut self, index: u64) {
        let gray = stamp(index);
        if self.spec.sample == SampleType::U8 && self.spec.order.channels() < 4 {
            self.frame.pixels.fill(gray);
            return;
        }
        let mut pixel = Vec::new();
        push_pixel(&mut pixel, [gray; 3], self.spec.sample, self.spec.order);
        let row_bytes = self.frame.description.row_bytes();
        let (first, others) = self.frame.pixels.split_at_mut(row_bytes);
        for target in first.chunks_exact_mut(pixel.len()) {
            target.copy_from_slice(&pixel);
        }
        for row in others.chunks_exact_mut(row_bytes) {
            row.copy_from_slice(first);
        }
    }
}

/// White, yellow, cyan, green, magenta, red, blue, black at 75 % (SMPTE EG 1 without its lower
/// part, and with black).
const BARS: [[u8; 3]; 8] = [
    [191, 191, 191],
    [191, 191, 0],
    [0, 191, 191],
    [0, 191, 0],
    [191, 0, 191],
    [191, 0, 0],
    [0, 0, 191],
    [0, 0, 0],
];

/// Grey of stamped frame `index`.
fn stamp(index: u64) -> u8 {
    // At most 8 + 4 · 59 = 244.
    8 + 4 * (index % STAMPS) as u8
}

/// A position that runs from 0 to `room` and back.
fn bounce(distance: u64, room: usize) -> usize {
    let period = 2 * room.max(1) as u64;
    let place = (distance % period) as usize;
    place.min((2 * room).saturating_sub(place))
}

/// Appends a colour as a pixel of that type and order. Grey is the luma of Rec. 601.
fn push_pixel(
    row: &mut Vec<u8>,
    [red, green, blue]: [u8; 3],
    sample: SampleType,
    order: PixelOrder,
) {
    let luma = || {
        let [red, green, blue] = [red, green, blue].map(u32::from);
        ((299 * red + 587 * green + 114 * blue + 500) / 1000) as u8
    };
    let (channels, count) = match order {
        PixelOrder::Gray => ([luma(), 0, 0, 0], 1),
        PixelOrder::Rgb => ([red, green, blue, 0], 3),
        PixelOrder::Bgr => ([blue, green, red, 0], 3),
        PixelOrder::Rgba => ([red, green, blue, 255], 4),
        PixelOrder::Bgra => ([blue, green, red, 255], 4),
    };
    for &value in &channels[..count] {
        match sample {
            SampleType::U8 => row.push(value),
            SampleType::U16 => row.extend((u16::from(value) * 257).to_ne_bytes()),
            SampleType::U32 => row.extend(u32::from(value).to_ne_bytes()),
            SampleType::F32 => row.extend((f32::from(value) / 255.0).to_ne_bytes()),
        }
    }
}

impl FrameSource for PatternSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn notices(&self) -> &[Problem] {
        &[]
    }

    fn step(&mut self) -> Result<Step, SourceError> {
        let Some(Upcoming { cursor, .. }) = self.upcoming() else {
            self.has_frame = false;
            return Ok(Step::End);
        };
        let captured_nanos = monotonic_nanos();
        match self.spec.kind {
            PatternKind::Bars => self.draw_bars(cursor.source_index),
            PatternKind::Stamp => self.draw_stamp(cursor.source_index),
        }
        self.frame.position = FramePosition {
            source_index: cursor.source_index,
            pass: cursor.pass,
            path: None,
            media_seconds: None,
            captured_nanos,
            captured_from: CapturedFrom::File,
            stored: [self.spec.width, self.spec.height],
            orientation: Orientation::Upright,
        };
        self.xxh3 = xxh3_64(&self.frame.pixels);
        self.has_frame = true;
        self.cursor = Cursor {
            source_index: cursor.source_index + 1,
            pass: cursor.pass,
        };
        Ok(Step::Frame)
    }

    fn frame(&self) -> Option<&Frame> {
        self.has_frame.then_some(&self.frame)
    }

    fn xxh3(&self) -> u64 {
        if self.has_frame { self.xxh3 } else { 0 }
    }

    fn upcoming(&self) -> Option<Upcoming> {
        let at_end = self
            .spec
            .frames
            .is_some_and(|frames| self.cursor.source_index >= frames);
        let cursor = match (at_end, self.looping) {
            (false, _) => self.cursor,
            (true, true) => Cursor {
                source_index: 0,
                pass: self.cursor.pass.saturating_add(1),
            },
            (true, false) => return None,
        };
        Some(Upcoming { cursor, path: None })
    }

    fn seek(&mut self, cursor: Cursor) {
        self.cursor = cursor;
        self.has_frame = false;
    }

    fn set_looping(&mut self, looping: bool) {
        self.looping = looping;
    }

    fn set_read_ahead(&mut self, _on: bool) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::rgb8_into;

    fn source(address: &str) -> PatternSource {
        PatternSource::new(PatternSpec::parse(address).expect("a spec")).expect("a source")
    }

    fn next_rgb(source: &mut PatternSource) -> Vec<u8> {
        assert_eq!(source.step().expect("a step"), Step::Frame);
        let mut rgb = Vec::new();
        rgb8_into(source.frame().expect("a frame"), &mut rgb).expect("a whole frame");
        rgb
    }

    #[test]
    fn every_type_and_order_shows_the_same_stamp() {
        for dtype in ["u8", "u16", "u32", "f32"] {
            for order in ["gray", "rgb", "bgr", "rgba", "bgra"] {
                let mut source = source(&format!(
                    "stamp?size=7x3&dtype={dtype}&order={order}&frames=62"
                ));
                for k in 0..62u64 {
                    let expected = 8 + 4 * (k % 60) as u8;
                    assert_eq!(
                        next_rgb(&mut source),
                        [expected; 7 * 3 * 3],
                        "{dtype} {order} {k}"
                    );
                    let frame = source.frame().expect("a frame");
                    assert_eq!(frame.position.source_index, k);
                    frame.check().expect("a whole frame");
                }
                assert_eq!(source.step().expect("a step"), Step::End);
            }
        }
    }

    #[test]
    fn bars_move_and_are_the_same_in_every_type_and_order() {
        let mut reference = source("bars?size=64x48");
        let (first, second) = (next_rgb(&mut reference), next_rgb(&mut reference));
        assert_ne!(first, second);
        // The square stands at the top left in the first frame; a bar is seen right of it.
        assert_eq!(first[..3], [255, 255, 255]);
        assert_eq!(first[63 * 3..][..3], [0, 0, 0]);
        for dtype in ["u16", "u32", "f32"] {
            for order in ["rgb", "bgr", "rgba", "bgra"] {
                let mut source = source(&format!("bars?size=64x48&dtype={dtype}&order={order}"));
                assert_eq!(next_rgb(&mut source), first, "{dtype} {order}");
                assert_eq!(next_rgb(&mut source), second, "{dtype} {order}");
            }
        }
    }

    #[test]
    fn one_pixel_and_odd_sizes_are_drawn_for_a_long_time() {
        for size in ["1x1", "1x9", "9x1", "5x7"] {
            let mut source = source(&format!("bars?size={size}"));
            source.seek(Cursor {
                source_index: u64::MAX - 200,
                pass: 0,
            });
            for _ in 0..200 {
                next_rgb(&mut source);
            }
        }
    }

    #[test]
    fn it_begins_again_when_it_loops() {
        let mut source = source("stamp?size=1x1&frames=2");
        source.set_looping(true);
        let places: Vec<(u64, u32)> = (0..5)
            .map(|_| {
                next_rgb(&mut source);
                let position = &source.frame().expect("a frame").position;
                (position.source_index, position.pass)
            })
            .collect();
        assert_eq!(places, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]);
    }
}
