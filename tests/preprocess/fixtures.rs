//! Reading of the fixtures, and frames made of pictures.

use std::path::{Path, PathBuf};

use ringside::consumer::preprocess::{InputTensor, InputType, Layout};
use ringside::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use ringside::protocol::{Filter, Preprocess, Resize};
use serde::Deserialize;

/// A file of the repository.
pub(crate) fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// What other libraries made of a picture.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) input: String,
    /// Rows of the input that were used, from the top.
    pub(crate) rows: Option<u32>,
    pub(crate) size: [u32; 2],
    pub(crate) resize: Resize,
    pub(crate) filter: Filter,
    pub(crate) crop_pct: f64,
    pub(crate) gray: bool,
    pub(crate) crop: [u32; 4],
    pub(crate) target: [u32; 4],
    offset: usize,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Fixtures {
    pub(crate) pad: u8,
    pub(crate) cases: Vec<Case>,
    pub(crate) imagenet_levels: Vec<Vec<f32>>,
    #[serde(skip)]
    expected: Vec<u8>,
}

impl Fixtures {
    pub(crate) fn load() -> Self {
        let folder = file("tests/data/preprocess");
        let text = std::fs::read_to_string(folder.join("cases.json")).unwrap();
        let mut fixtures: Self = serde_json::from_str(&text).unwrap();
        fixtures.expected = std::fs::read(folder.join("expected.bin")).unwrap();
        fixtures
    }

    /// The 8-bit pixels of a case, rows of pixels.
    pub(crate) fn expected(&self, case: &Case) -> &[u8] {
        let len = case.input_tensor().image_len(case.size[0], case.size[1]);
        &self.expected[case.offset..][..len]
    }
}

impl Case {
    pub(crate) fn input_tensor(&self) -> InputTensor {
        InputTensor {
            layout: Layout::Nhwc,
            dtype: InputType::U8,
            channels: if self.gray { 1 } else { 3 },
            height: Some(self.size[0]),
            width: Some(self.size[1]),
        }
    }

    /// Its preprocessing, with values left as they are.
    pub(crate) fn preprocess(&self, pad: u8) -> Preprocess {
        Preprocess {
            resize: self.resize,
            filter: self.filter,
            size: Some(self.size),
            crop_pct: self.crop_pct,
            order: if self.gray { "gray" } else { "rgb" }.to_owned(),
            pad,
            ..unscaled()
        }
    }

    pub(crate) fn frame(&self) -> Frame {
        let mut frame = picture(&format!("tests/data/preprocess/{}.png", self.input));
        frame.description.height = self.rows.unwrap_or(frame.description.height);
        frame
    }
}

/// Stretch to the frame's own size, RGB, values as they are.
pub(crate) fn unscaled() -> Preprocess {
    Preprocess {
        resize: Resize::Stretch,
        filter: Filter::PilBilinear,
        size: None,
        crop_pct: 0.875,
        order: "rgb".to_owned(),
        scale: 1.0,
        mean: [0.0; 3],
        std: [1.0; 3],
        pad: 114,
    }
}

/// A lossless picture as an RGB frame.
pub(crate) fn picture(path: &str) -> Frame {
    let image = image::open(file(path)).unwrap().into_rgb8();
    let (width, height) = image.dimensions();
    frame(width, height, PixelOrder::Rgb, image.into_raw())
}

/// A frame of packed 8-bit pixels.
pub(crate) fn frame(width: u32, height: u32, order: PixelOrder, pixels: Vec<u8>) -> Frame {
    Frame {
        description: FrameDescription::packed(width, height, SampleType::U8, order).unwrap(),
        position: FramePosition::default(),
        pixels,
    }
}

/// Largest and mean difference of two pictures, in levels.
pub(crate) fn difference(actual: &[u8], expected: &[u8]) -> (u8, f64) {
    assert_eq!(actual.len(), expected.len());
    let differences = actual.iter().zip(expected).map(|(a, b)| a.abs_diff(*b));
    let sum: u64 = differences.clone().map(u64::from).sum();
    let mean = sum as f64 / actual.len() as f64;
    (differences.max().unwrap_or(0), mean)
}
