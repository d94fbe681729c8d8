use half::f16;

use crate::protocol::Preprocess;

use super::{InputTensor, InputType, Layout, Rect};

/// Writes rows of 8-bit pixels into one image of a tensor: channel order, layout, scale, mean,
/// standard deviation and type in one step.
///
/// A sample has only 256 values, so each channel's results are computed once, in double precision.
#[derive(Debug, Clone)]
pub(super) struct Normaliser<T> {
    /// For each channel of the tensor, the result of each sample; the last two are unused where
    /// the tensor has one channel.
    levels: Box<[[T; 256]; 3]>,
    layout: Layout,
    channels: usize,
    /// Blue first in the tensor.
    bgr: bool,
}

/// A [`Normaliser`] of the input's type.
#[derive(Debug, Clone)]
pub(super) enum AnyNormaliser {
    F32(Normaliser<f32>),
    F16(Normaliser<f16>),
    U8(Normaliser<u8>),
    I32(Normaliser<i32>),
}

impl AnyNormaliser {
    pub(super) fn new(preprocess: &Preprocess, input: &InputTensor) -> Self {
        match input.dtype {
            InputType::F32 => Self::F32(Normaliser::new(preprocess, input, |value| value as f32)),
            InputType::F16 => Self::F16(Normaliser::new(preprocess, input, f16::from_f64)),
            // `as` saturates.
            InputType::U8 => Self::U8(Normaliser::new(preprocess, input, |value| {
                value.round() as u8
            })),
            InputType::I32 => Self::I32(Normaliser::new(preprocess, input, |value| {
                value.round() as i32
            })),
        }
    }
}

impl<T: Copy> Normaliser<T> {
    fn new(preprocess: &Preprocess, input: &InputTensor, convert: impl Fn(f64) -> T) -> Self {
        let levels = [0, 1, 2].map(|channel| {
            let (mean, std) = (preprocess.mean[channel], preprocess.std[channel]);
            std::array::from_fn(|sample| convert((sample as f64 * preprocess.scale - mean) / std))
        });
        Self {
            levels: Box::new(levels),
            layout: input.layout,
            channels: if input.channels == 1 { 1 } else { 3 },
            bgr: preprocess.order == "bgr",
        }
    }

    /// The image `out` of `size` (height, width), ready for the rows of `target`.
    pub(super) fn image<'a>(
        &'a self,
        out: &'a mut [T],
        size: [u32; 2],
        target: Rect,
        source: SourceOrder,
    ) -> Image<'a, T> {
        let width = size[1] as usize;
        let pick = match source {
            SourceOrder::Gray => [0, 0, 0],
            SourceOrder::Rgb if self.bgr => [2, 1, 0],
            SourceOrder::Bgr if !self.bgr => [2, 1, 0],
            SourceOrder::Rgb | SourceOrder::Bgr => [0, 1, 2],
        };
        Image {
            normaliser: self,
            out,
            width,
            height: size[0] as usize,
            target,
            pick,
            source_channels: source.channels(),
        }
    }
}

/// Order of the channels of resized pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceOrder {
    Gray,
    Rgb,
    Bgr,
}

impl SourceOrder {
    pub(super) const fn channels(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::Rgb | Self::Bgr => 3,
        }
    }
}

/// One image of a tensor while it is being written.
#[derive(Debug)]
pub(super) struct Image<'a, T> {
    normaliser: &'a Normaliser<T>,
    out: &'a mut [T],
    width: usize,
    height: usize,
    target: Rect,
    /// For each channel of the tensor, the channel of the pixels.
    pick: [usize; 3],
    source_channels: usize,
}

impl<T: Copy> Image<'_, T> {
    /// Writes the padding around the target.
    pub(super) fn pad(&mut self, sample: u8) {
        let Rect {
            left,
            top,
            width,
            height,
        } = self.target;
        let [left, top] = [left as usize, top as usize];
        let [right, bottom] = [left + width as usize, top + height as usize];
        if [left, top, right, bottom] == [0, 0, self.width, self.height] {
            return;
        }
        let levels = &self.normaliser.levels;
        let padding = [0, 1, 2].map(|channel| levels[channel][usize::from(sample)]);
        let channels = self.normaliser.channels;
        match self.normaliser.layout {
            Layout::Nchw => {
                let planes = self.out.chunks_exact_mut(self.width * self.height);
                for (plane, value) in planes.zip(padding) {
                    pad_plane(plane, self.width, [left, top, right, bottom], |values| {
                        values.fill(value);
                    });
                }
            }
            Layout::Nhwc => {
                let edges = [left * channels, top, right * channels, bottom];
                pad_plane(self.out, self.width * channels, edges, |values| {
                    for pixel in values.chunks_exact_mut(channels) {
                        pixel.copy_from_slice(&padding[..channels]);
                    }
                });
            }
        }
    }

    /// Writes row `y` of the target from its pixels.
    pub(super) fn write_row(&mut self, y: usize, pixels: &[u8]) {
        if self.source_channels == 1 {
            self.write_pixels(y, pixels.as_chunks::<1>().0);
        } else {
            self.write_pixels(y, pixels.as_chunks::<3>().0);
        }
    }

    fn write_pixels<const N: usize>(&mut self, y: usize, pixels: &[[u8; N]]) {
        let channels = self.normaliser.channels;
        let width = self.target.width as usize;
        let start = (self.target.top as usize + y) * self.width + self.target.left as usize;
        let levels = self.normaliser.levels.iter().zip(self.pick).take(channels);
        match self.normaliser.layout {
            Layout::Nchw => {
                let planes = self.out.chunks_exact_mut(self.width * self.height);
                for (plane, (levels, pick)) in planes.zip(levels) {
                    for (out, pixel) in plane[start..][..width].iter_mut().zip(pixels) {
                        *out = levels[usize::from(pixel[pick])];
                    }
                }
            }
            Layout::Nhwc => {
                let row = &mut self.out[start * channels..][..width * channels];
                for (channel, (levels, pick)) in levels.enumerate() {
                    for (out, pixel) in row.chunks_exact_mut(channels).zip(pixels) {
                        out[channel] = levels[usize::from(pixel[pick])];
                    }
                }
            }
        }
    }
}

/// Fills what lies outside of `[left, top, right, bottom]` in a plane of rows of `width` values.
fn pad_plane<T>(
    plane: &mut [T],
    width: usize,
    [left, top, right, bottom]: [usize; 4],
    fill: impl Fn(&mut [T]),
) {
    let (above, rest) = plane.split_at_mut(top * width);
    let (beside, below) = rest.split_at_mut((bottom - top) * width);
    fill(above);
    fill(below);
    if left > 0 || right < width {
        for row in beside.chunks_exact_mut(width) {
            fill(&mut row[..left]);
            fill(&mut row[right..]);
        }
    }
}
