use egui::ColorImage;
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

use crate::frame::{Frame, FrameDescription, rgb8_row_into};

/// Turns frames, or parts of them, into pictures of at most a given size; buffers are reused.
#[derive(Default)]
pub(in crate::gui) struct Reducer {
    resizer: Resizer,
    rgb: Vec<u8>,
    reduced: Vec<u8>,
}

impl Reducer {
    /// The part `crop` (x, y, width, height) of a frame, reduced to `size`.
    ///
    /// # Errors
    /// As [`Self::rgb`].
    pub(super) fn image(
        &mut self,
        frame: &Frame,
        crop: [u32; 4],
        size: [u32; 2],
    ) -> Result<ColorImage, String> {
        let pixels = self.rgb(frame, crop, size)?;
        Ok(ColorImage::from_rgb(size.map(|side| side as usize), pixels))
    }

    /// The same as packed 8-bit RGB.
    ///
    /// # Errors
    /// The frame's description does not fit its pixels, or the part is not within it.
    pub(in crate::gui) fn rgb(
        &mut self,
        frame: &Frame,
        crop: [u32; 4],
        size: [u32; 2],
    ) -> Result<&[u8], String> {
        frame.check().map_err(|error| error.to_string())?;
        let [x, y, width, height] = crop;
        let whole = frame.description;
        let inside = x.checked_add(width).is_some_and(|end| end <= whole.width)
            && y.checked_add(height).is_some_and(|end| end <= whole.height);
        if !inside || width == 0 || height == 0 {
            return Err(format!(
                "no part {crop:?} in a frame of {} x {}",
                whole.width, whole.height
            ));
        }
        let part = FrameDescription {
            width,
            height,
            ..whole
        };
        let skipped = x as usize * whole.sample.bytes() * whole.order.channels();
        let row_rgb = width as usize * 3;
        self.rgb.resize(row_rgb * height as usize, 0);
        let rows = frame.pixels.chunks_exact(whole.stride_bytes as usize);
        let rows = rows.skip(y as usize);
        for (row, out) in rows.zip(self.rgb.chunks_exact_mut(row_rgb)) {
            rgb8_row_into(&part, &row[skipped..], out);
        }
        if size == [width, height] {
            return Ok(&self.rgb);
        }
        self.resize([width, height], size)?;
        Ok(&self.reduced)
    }

    fn resize(&mut self, from: [u32; 2], to: [u32; 2]) -> Result<(), String> {
        let source = ImageRef::new(from[0], from[1], &self.rgb, PixelType::U8x3)
            .map_err(|error| error.to_string())?;
        self.reduced.resize(to[0] as usize * to[1] as usize * 3, 0);
        let mut target = Image::from_slice_u8(to[0], to[1], &mut self.reduced, PixelType::U8x3)
            .map_err(|error| error.to_string())?;
        // Antialiased, so that a reduced 4K frame does not shimmer.
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
        self.resizer
            .resize(&source, &mut target, &options)
            .map_err(|error| error.to_string())
    }
}

/// The largest size within `most` that has the aspect ratio of `full`, at least one pixel each way
/// and not larger than `full`.
pub(in crate::gui) fn fitting(full: [u32; 2], most: [u32; 2]) -> [u32; 2] {
    let scale = full
        .into_iter()
        .zip(most)
        .map(|(full, most)| f64::from(most.max(1)) / f64::from(full))
        .fold(1.0, f64::min);
    full.map(|side| ((f64::from(side) * scale).round() as u32).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FramePosition, PixelOrder, SampleType};

    #[test]
    fn a_picture_fits_its_panel_and_is_never_enlarged() {
        assert_eq!(fitting([1920, 1080], [640, 640]), [640, 360]);
        assert_eq!(fitting([100, 50], [640, 640]), [100, 50]);
        assert_eq!(fitting([20_000, 50], [400, 300]), [400, 1]);
        assert_eq!(fitting([1, 1], [0, 0]), [1, 1]);
    }

    #[test]
    fn a_reduced_frame_keeps_its_colours_where_they_are() {
        // Left half red, right half blue, in BGR.
        let description = FrameDescription::packed(64, 32, SampleType::U8, PixelOrder::Bgr)
            .expect("a description");
        let row: Vec<u8> = [[0, 0, 255].repeat(32), [255, 0, 0].repeat(32)].concat();
        let frame = Frame {
            description,
            position: FramePosition::default(),
            pixels: row.repeat(32),
        };
        let mut reducer = Reducer::default();
        let size = fitting([64, 32], [16, 16]);
        let image = reducer
            .image(&frame, [0, 0, 64, 32], size)
            .expect("a whole frame");
        assert_eq!(image.size, [16, 8]);
        assert_eq!(image.pixels[0], egui::Color32::RED);
        assert_eq!(image.pixels[15], egui::Color32::BLUE);
        let part = reducer
            .image(&frame, [31, 5, 2, 1], [2, 1])
            .expect("a part");
        assert_eq!(part.pixels, [egui::Color32::RED, egui::Color32::BLUE]);
        reducer
            .image(&frame, [60, 0, 5, 1], [5, 1])
            .expect_err("beyond the frame");
    }
}
