use crate::frame::Frame;
use crate::protocol::Preprocess;

use super::normalise::{AnyNormaliser, Normaliser};
use super::pixels::{Converter, Pixels};
use super::resample::Resampler;
use super::{InputTensor, Placement, PreprocessError, TensorSlice};

/// Writes frames into input tensors; keeps its buffers and tables from frame to frame.
#[derive(Debug)]
pub struct Preprocessor {
    preprocess: Preprocess,
    input: InputTensor,
    normaliser: AnyNormaliser,
    converter: Converter,
    resampler: Resampler,
}

impl Preprocessor {
    /// A preprocessor for one input; `preprocess` is what [`resolve`](super::resolve) gave for it.
    pub fn new(preprocess: &Preprocess, input: &InputTensor) -> Self {
        Self {
            preprocess: preprocess.clone(),
            input: *input,
            normaliser: AnyNormaliser::new(preprocess, input),
            converter: Converter::default(),
            resampler: Resampler::new(preprocess.filter),
        }
    }

    /// Height and width of the input for a frame of this size; it varies only where the model
    /// leaves its size open and nobody has set one.
    pub fn output_size(&self, frame_width: u32, frame_height: u32) -> (u32, u32) {
        let placement = Placement::new(&self.preprocess, frame_width.max(1), frame_height.max(1));
        let [height, width] = placement.input_size;
        (height, width)
    }

    /// Writes `frame` into `out`, the place of one image: as many values as channels · height ·
    /// width of [`Self::output_size`]. All of it is written, padding included.
    ///
    /// # Errors
    /// The frame's description does not fit its pixels, or `out` is of another type or length.
    pub fn run(
        &mut self,
        frame: &Frame,
        out: &mut TensorSlice<'_>,
    ) -> Result<Placement, PreprocessError> {
        frame.check()?;
        let description = &frame.description;
        let placement = Placement::new(&self.preprocess, description.width, description.height);
        let pixels = self
            .converter
            .view(frame, placement.crop, self.input.channels);
        let job = Job {
            pixels,
            placement,
            pad: self.preprocess.pad,
            resampler: &mut self.resampler,
        };
        let [height, width] = placement.input_size;
        let needed = self.input.image_len(height, width);
        match (&self.normaliser, out) {
            (AnyNormaliser::F32(normaliser), TensorSlice::F32(out)) => {
                job.run(normaliser, checked(out, needed)?)?;
            }
            (AnyNormaliser::F16(normaliser), TensorSlice::F16(out)) => {
                job.run(normaliser, checked(out, needed)?)?;
            }
            (AnyNormaliser::U8(normaliser), TensorSlice::U8(out)) => {
                job.run(normaliser, checked(out, needed)?)?;
            }
            (AnyNormaliser::I32(normaliser), TensorSlice::I32(out)) => {
                job.run(normaliser, checked(out, needed)?)?;
            }
            (_, out) => {
                return Err(PreprocessError::WrongType {
                    expected: self.input.dtype,
                    actual: out.dtype(),
                });
            }
        }
        Ok(placement)
    }
}

/// One frame on its way into a tensor of whatever type.
struct Job<'a> {
    pixels: Pixels<'a>,
    placement: Placement,
    pad: u8,
    resampler: &'a mut Resampler,
}

impl Job<'_> {
    fn run<T: Copy>(
        self,
        normaliser: &Normaliser<T>,
        out: &mut [T],
    ) -> Result<(), PreprocessError> {
        let Placement {
            target, input_size, ..
        } = self.placement;
        let mut image = normaliser.image(out, input_size, target, self.pixels.order());
        image.pad(self.pad);
        let [width, height] = [target.width, target.height].map(|side| side as usize);
        self.resampler.run(&self.pixels, width, height, |y, row| {
            image.write_row(y, row)
        })
    }
}

fn checked<T>(out: &mut [T], needed: usize) -> Result<&mut [T], PreprocessError> {
    if out.len() == needed {
        Ok(out)
    } else {
        Err(PreprocessError::WrongLength {
            needed,
            actual: out.len(),
        })
    }
}
