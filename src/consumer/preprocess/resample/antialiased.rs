use fast_image_resize::images::{CroppedImage, Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

use crate::consumer::preprocess::PreprocessError;
use crate::consumer::preprocess::pixels::Pixels;

/// Pillow's bilinear and bicubic, whose kernels grow with the reduction.
#[derive(Debug)]
pub(super) struct Antialiased {
    resizer: Resizer,
    options: ResizeOptions,
    resized: Vec<u8>,
    packed: Vec<u8>,
}

impl Antialiased {
    pub(super) fn bilinear() -> Self {
        Self::new(FilterType::Bilinear)
    }

    pub(super) fn bicubic() -> Self {
        // Of the cubic filters, the one with a = -1/2, as Pillow's.
        Self::new(FilterType::CatmullRom)
    }

    fn new(filter: FilterType) -> Self {
        Self {
            resizer: Resizer::new(),
            options: ResizeOptions::new().resize_alg(ResizeAlg::Convolution(filter)),
            resized: Vec::new(),
            packed: Vec::new(),
        }
    }

    pub(super) fn run(
        &mut self,
        pixels: &Pixels<'_>,
        width: usize,
        height: usize,
        mut emit: impl FnMut(usize, &[u8]),
    ) -> Result<(), PreprocessError> {
        let channels = pixels.order().channels();
        self.resized.resize(width * height * channels, 0);
        resize(
            &mut self.resizer,
            &self.options,
            pixels,
            &mut self.packed,
            (&mut self.resized, width, height),
        )
        .map_err(PreprocessError::Resize)?;
        for (y, row) in self.resized.chunks_exact(width * channels).enumerate() {
            emit(y, row);
        }
        Ok(())
    }
}

fn resize(
    resizer: &mut Resizer,
    options: &ResizeOptions,
    pixels: &Pixels<'_>,
    packed: &mut Vec<u8>,
    (resized, width, height): (&mut [u8], usize, usize),
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let pixel_type = match pixels.order().channels() {
        1 => PixelType::U8,
        _ => PixelType::U8x3,
    };
    let whole = pixels.in_whole_pixels(packed);
    let (row_pixels, rect) = (u32::try_from(whole.row_pixels)?, whole.rect);
    let source = ImageRef::new(row_pixels, rect.top + rect.height, whole.data, pixel_type)?;
    // The rectangle's own edges are the picture's: nothing around it is mixed in.
    let source = CroppedImage::new(&source, rect.left, rect.top, rect.width, rect.height)?;
    let (width, height) = (u32::try_from(width)?, u32::try_from(height)?);
    let mut target = Image::from_slice_u8(width, height, resized, pixel_type)?;
    resizer.resize(&source, &mut target, options)?;
    Ok(())
}
