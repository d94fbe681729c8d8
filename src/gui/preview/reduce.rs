use egui::ColorImage;
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

use crate::frame::{Frame, rgb8_into};

/// Turns frames into pictures that are not larger than the panel that shows them; buffers are
/// reused.
#[derive(Default)]
pub(super) struct Reducer {
    resizer: Resizer,
    rgb: Vec<u8>,
    reduced: Vec<u8>,
}

impl Reducer {
    /// The frame as 8-bit RGB, reduced to fit `most` pixels with its aspect ratio kept; never
    /// enlarged.
    ///
    /// # Errors
    /// The frame's description does not fit its pixels.
    pub(super) fn reduce(&mut self, frame: &Frame, most: [u32; 2]) -> Result<ColorImage, String> {
        rgb8_into(frame, &mut self.rgb).map_err(|error| error.to_string())?;
        let full = [frame.description.width, frame.description.height];
        let size = fitting(full, most);
        let pixels = if size == full {
            &self.rgb
        } else {
            self.resize(full, size)?;
            &self.reduced
        };
        Ok(ColorImage::from_rgb(size.map(|side| side as usize), pixels))
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
fn fitting(full: [u32; 2], most: [u32; 2]) -> [u32; 2] {
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
    use crate::frame::{FrameDescription, FramePosition, PixelOrder, SampleType};

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
        let image = Reducer::default()
            .reduce(&frame, [16, 16])
            .expect("a whole frame");
        assert_eq!(image.size, [16, 8]);
        assert_eq!(image.pixels[0], egui::Color32::RED);
        assert_eq!(image.pixels[15], egui::Color32::BLUE);
    }
}
