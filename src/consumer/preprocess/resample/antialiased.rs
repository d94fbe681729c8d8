use fast_image_resize::images::{CroppedImage, Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

use crate::consumer::preprocess::PreprocessError;
use crate::consumer::preprocess::pixels::Pixels;

/// Pillow's bilinear and bicubic, whose kernels grow with the reduction.
///
/// Both round to 8 bits between the passes, so the order of the passes shows in the result: Pillow
/// resizes across first, the library down first, and is therefore asked for one pass at a time.
#[derive(Debug)]
pub(super) struct Antialiased {
    resizer: Resizer,
    options: ResizeOptions,
    /// The pixels, packed, where the library cannot read them in place.
    packed: Vec<u8>,
    /// After the pass across.
    across: Vec<u8>,
    /// After both passes.
    resized: Vec<u8>,
}

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

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
            packed: Vec::new(),
            across: Vec::new(),
            resized: Vec::new(),
        }
    }

    pub(super) fn run(
        &mut self,
        pixels: &Pixels<'_>,
        width: usize,
        height: usize,
        mut emit: impl FnMut(usize, &[u8]),
    ) -> Result<(), PreprocessError> {
        self.resize(pixels, width, height)
            .map_err(PreprocessError::Resize)?;
        let row_bytes = width * pixels.order().channels();
        for (y, row) in self.resized.chunks_exact(row_bytes).enumerate() {
            emit(y, row);
        }
        Ok(())
    }

    /// Fills `resized`.
    fn resize(
        &mut self,
        pixels: &Pixels<'_>,
        width: usize,
        height: usize,
    ) -> Result<(), BoxedError> {
        let channels = pixels.order().channels();
        let pixel_type = match channels {
            1 => PixelType::U8,
            _ => PixelType::U8x3,
        };
        let whole = pixels.in_whole_pixels(&mut self.packed);
        let rect = whole.rect;
        let source_rows = rect.top + rect.height;
        let row_pixels = u32::try_from(whole.row_pixels)?;
        let source = ImageRef::new(row_pixels, source_rows, whole.data, pixel_type)?;
        // The rectangle's own edges are the picture's: nothing around it is mixed in.
        let source = CroppedImage::new(&source, rect.left, rect.top, rect.width, rect.height)?;
        self.resized.resize(width * height * channels, 0);
        let size = (u32::try_from(width)?, u32::try_from(height)?);
        let mut resized = Image::from_slice_u8(size.0, size.1, &mut self.resized, pixel_type)?;
        if size.0 == rect.width || size.1 == rect.height {
            self.resizer.resize(&source, &mut resized, &self.options)?;
            return Ok(());
        }
        self.across.resize(width * pixels.height() * channels, 0);
        let mut across = Image::from_slice_u8(size.0, rect.height, &mut self.across, pixel_type)?;
        self.resizer.resize(&source, &mut across, &self.options)?;
        self.resizer.resize(&across, &mut resized, &self.options)?;
        Ok(())
    }
}
