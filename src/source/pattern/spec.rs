use crate::frame::{PixelOrder, SampleType};
use crate::source::SourceError;
use crate::source::address::{AddressOption, pairs};

/// Options of `pattern:`.
const OPTIONS: &[&str] = &["size", "fps", "frames", "dtype", "order"];

/// Longest side of a pattern.
const MAX_SIDE: u32 = 16_384;

/// Which picture is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternKind {
    /// Colour bars that move, above a grey ramp that moves the other way, and a white square.
    Bars,
    /// Frame k is solid grey 8 + 4·(k mod 60), so that a frame can be recognised from any pixel.
    Stamp,
}

/// What a pattern is like.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternSpec {
    /// Which picture.
    pub kind: PatternKind,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Frames per second; 0: as fast as they are taken.
    pub fps: f64,
    /// Frames of one pass; `None`: without end.
    pub frames: Option<u64>,
    /// Type of the samples.
    pub sample: SampleType,
    /// Order of the channels.
    pub order: PixelOrder,
}

impl PatternSpec {
    /// Parses what follows `pattern:`, as `bars?size=1280x720&fps=30&frames=100&dtype=u8&order=rgb`.
    /// Without options: 640x480 pixels, 30 frames per second, without end, u8, rgb.
    ///
    /// # Errors
    /// The pattern or one of its options is not known.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let (name, query) = text.split_once('?').unwrap_or((text, ""));
        let kind = match name {
            "bars" | "" => PatternKind::Bars,
            "stamp" => PatternKind::Stamp,
            _ => {
                return Err(SourceError::UnknownPattern {
                    name: name.to_owned(),
                });
            }
        };
        let mut spec = Self {
            kind,
            width: 640,
            height: 480,
            fps: 30.0,
            frames: None,
            sample: SampleType::U8,
            order: PixelOrder::Rgb,
        };
        for (name, value) in pairs(query) {
            spec.set(AddressOption {
                scheme: "pattern",
                name,
                value,
            })?;
        }
        Ok(spec)
    }

    fn set(&mut self, option: AddressOption<'_>) -> Result<(), SourceError> {
        match option.name {
            "size" => {
                let side = |text: &str| {
                    let side: u32 = text.parse().ok()?;
                    (1..=MAX_SIDE).contains(&side).then_some(side)
                };
                (self.width, self.height) = option
                    .value
                    .split_once('x')
                    .and_then(|(width, height)| Some((side(width)?, side(height)?)))
                    .ok_or_else(|| option.wrong("WIDTHxHEIGHT, each 1 to 16384"))?;
            }
            "fps" => {
                self.fps = option.number("0 (as fast as taken) to 10000", |fps| {
                    (0.0..=10_000.0).contains(fps)
                })?;
            }
            "frames" => {
                let frames =
                    option.number("a number of frames, at least 1", |&frames| frames > 0)?;
                self.frames = Some(frames);
            }
            "dtype" => {
                self.sample = match option.value {
                    "u8" => SampleType::U8,
                    "u16" => SampleType::U16,
                    "u32" => SampleType::U32,
                    "f32" => SampleType::F32,
                    _ => return Err(option.wrong("u8, u16, u32 or f32")),
                }
            }
            "order" => {
                self.order = match option.value {
                    "gray" | "grey" => PixelOrder::Gray,
                    "rgb" => PixelOrder::Rgb,
                    "bgr" => PixelOrder::Bgr,
                    "rgba" => PixelOrder::Rgba,
                    "bgra" => PixelOrder::Bgra,
                    _ => return Err(option.wrong("gray, rgb, bgr, rgba or bgra")),
                }
            }
            _ => return Err(option.unknown(OPTIONS)),
        }
        Ok(())
    }

    /// The address of this pattern, with all its options.
    pub(super) fn uri(&self) -> String {
        let name = match self.kind {
            PatternKind::Bars => "bars",
            PatternKind::Stamp => "stamp",
        };
        let dtype = format!("{:?}", self.sample).to_lowercase();
        let order = format!("{:?}", self.order).to_lowercase();
        let frames = self
            .frames
            .map_or_else(String::new, |frames| format!("&frames={frames}"));
        format!(
            "pattern:{name}?size={}x{}&fps={}{frames}&dtype={dtype}&order={order}",
            self.width, self.height, self.fps
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_wrong_ones_named() {
        let spec =
            PatternSpec::parse("bars?size=1280x720&fps=59.94&frames=100&dtype=f32&order=bgra")
                .expect("a spec");
        assert_eq!((spec.width, spec.height, spec.fps), (1280, 720, 59.94));
        assert_eq!(
            spec.uri(),
            "pattern:bars?size=1280x720&fps=59.94&frames=100&dtype=f32&order=bgra"
        );
        for wrong in [
            "bars?size=0x5",
            "bars?size=99999x5",
            "bars?size=5",
            "bars?fps=-1",
            "bars?fps=NaN",
            "bars?frames=0",
            "bars?dtype=i8",
            "bars?order=yuv",
            "bars?colour=red",
            "plasma",
        ] {
            PatternSpec::parse(wrong).expect_err(wrong);
        }
    }
}
