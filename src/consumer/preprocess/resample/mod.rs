//! Resizing of 8-bit pixels, row by row, equal to the library that each filter is named after.

mod antialiased;
mod linear;
mod nearest;

use crate::protocol::Filter;

use super::PreprocessError;
use super::pixels::Pixels;

use antialiased::Antialiased;
use linear::Linear;
use nearest::Nearest;

/// Resizes with one filter; keeps its buffers and tables from frame to frame.
#[derive(Debug)]
pub(super) struct Resampler(Kind);

#[derive(Debug)]
enum Kind {
    Antialiased(Antialiased),
    Linear(Linear),
    Nearest(Nearest),
}

impl Resampler {
    pub(super) fn new(filter: Filter) -> Self {
        Self(match filter {
            Filter::PilBilinear => Kind::Antialiased(Antialiased::bilinear()),
            Filter::PilBicubic => Kind::Antialiased(Antialiased::bicubic()),
            Filter::CvLinear => Kind::Linear(Linear::default()),
            Filter::Nearest => Kind::Nearest(Nearest::default()),
        })
    }

    /// Resizes `pixels` to `width` × `height` and gives each row to `emit`, from the top.
    ///
    /// # Errors
    /// [`PreprocessError::Resize`].
    pub(super) fn run(
        &mut self,
        pixels: &Pixels<'_>,
        width: usize,
        height: usize,
        mut emit: impl FnMut(usize, &[u8]),
    ) -> Result<(), PreprocessError> {
        if (pixels.width(), pixels.height()) == (width, height) {
            (0..height).for_each(|y| emit(y, pixels.row(y)));
            return Ok(());
        }
        match &mut self.0 {
            Kind::Antialiased(resampler) => resampler.run(pixels, width, height, emit)?,
            Kind::Linear(resampler) => resampler.run(pixels, width, height, emit),
            Kind::Nearest(resampler) => resampler.run(pixels, width, height, emit),
        }
        Ok(())
    }
}
