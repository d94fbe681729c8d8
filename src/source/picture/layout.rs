use image::ColorType;

use super::{PictureError, PictureFormat};
use crate::frame::{PixelOrder, SampleType};

/// How decoded samples become the samples of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) sample: SampleType,
    pub(super) order: PixelOrder,
    /// Decoded as grey and alpha, which frames do not have: grey is repeated to RGBA.
    gray_alpha: bool,
}

impl Layout {
    pub(super) const fn direct(sample: SampleType, order: PixelOrder) -> Self {
        Self {
            sample,
            order,
            gray_alpha: false,
        }
    }

    /// The layout of frames whose pictures are decoded as `color`.
    ///
    /// # Errors
    /// A type that no known decoder gives.
    pub(super) fn of(color: ColorType, format: PictureFormat) -> Result<Self, PictureError> {
        let gray_alpha = |sample| Self {
            gray_alpha: true,
            ..Self::direct(sample, PixelOrder::Rgba)
        };
        Ok(match color {
            ColorType::L8 => Self::direct(SampleType::U8, PixelOrder::Gray),
            ColorType::La8 => gray_alpha(SampleType::U8),
            ColorType::Rgb8 => Self::direct(SampleType::U8, PixelOrder::Rgb),
            ColorType::Rgba8 => Self::direct(SampleType::U8, PixelOrder::Rgba),
            ColorType::L16 => Self::direct(SampleType::U16, PixelOrder::Gray),
            ColorType::La16 => gray_alpha(SampleType::U16),
            ColorType::Rgb16 => Self::direct(SampleType::U16, PixelOrder::Rgb),
            ColorType::Rgba16 => Self::direct(SampleType::U16, PixelOrder::Rgba),
            ColorType::Rgb32F => Self::direct(SampleType::F32, PixelOrder::Rgb),
            ColorType::Rgba32F => Self::direct(SampleType::F32, PixelOrder::Rgba),
            other => {
                return Err(PictureError::Variant {
                    format,
                    detail: format!("its pixels are {other:?}"),
                });
            }
        })
    }

    /// Size of a pixel of the frame.
    pub(super) const fn pixel_bytes(self) -> usize {
        self.sample.bytes() * self.order.channels()
    }

    /// Whether [`Self::expand`] is needed.
    pub(super) const fn expands(self) -> bool {
        self.gray_alpha
    }

    /// Repeats the grey of grey-and-alpha samples for red, green and blue.
    pub(super) fn expand(self, decoded: &[u8], pixels: &mut Vec<u8>) {
        let bytes = self.sample.bytes();
        pixels.clear();
        pixels.reserve(decoded.len() * 2);
        for pixel in decoded.chunks_exact(2 * bytes) {
            let gray = &pixel[..bytes];
            for part in [gray, gray, gray, &pixel[bytes..]] {
                pixels.extend_from_slice(part);
            }
        }
    }

    /// Clamps floats to 0..=1, what a frame's floats are; high dynamic range is cut, not mapped.
    /// What is not a number becomes 0.
    pub(super) fn tame(self, pixels: &mut [u8]) {
        if self.sample != SampleType::F32 {
            return;
        }
        let (samples, _) = pixels.as_chunks_mut::<4>();
        for sample in samples {
            let value = f32::from_ne_bytes(*sample);
            // What is not a number is not positive.
            let tamed = if value > 0.0 { value.min(1.0) } else { 0.0 };
            *sample = tamed.to_ne_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_and_alpha_become_rgba() {
        let layout = Layout::of(ColorType::La16, PictureFormat(image::ImageFormat::Png))
            .expect("a known type");
        let mut pixels = Vec::new();
        layout.expand(&[1, 2, 3, 4, 5, 6, 7, 8], &mut pixels);
        assert_eq!(pixels, [1, 2, 1, 2, 1, 2, 3, 4, 5, 6, 5, 6, 5, 6, 7, 8]);
        assert_eq!(layout.pixel_bytes(), 8);
    }

    #[test]
    fn floats_are_cut_to_the_range_of_a_frame() {
        let layout = Layout::direct(SampleType::F32, PixelOrder::Rgb);
        let mut pixels = [-1.0f32, 0.5, 1000.0, f32::NAN, f32::INFINITY, 1.0]
            .map(f32::to_ne_bytes)
            .concat();
        layout.tame(&mut pixels);
        assert_eq!(
            pixels,
            [0.0f32, 0.5, 1.0, 0.0, 1.0, 1.0]
                .map(f32::to_ne_bytes)
                .concat()
        );
    }
}
