use crate::frame::{Frame, FrameDescription, PixelOrder, SampleType, rgb8_row_into};

use super::Rect;
use super::normalise::SourceOrder;

/// A rectangle of 8-bit pixels inside a larger buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pixels<'a> {
    /// Whole rows of `stride` bytes; the last one may be shorter.
    data: &'a [u8],
    stride: usize,
    rect: Rect,
    order: SourceOrder,
}

impl<'a> Pixels<'a> {
    pub(super) const fn width(&self) -> usize {
        self.rect.width as usize
    }

    pub(super) const fn height(&self) -> usize {
        self.rect.height as usize
    }

    pub(super) const fn order(&self) -> SourceOrder {
        self.order
    }

    /// Row `y` of the rectangle.
    pub(super) fn row(&self, y: usize) -> &'a [u8] {
        let channels = self.order.channels();
        let start = (self.rect.top as usize + y) * self.stride + self.rect.left as usize * channels;
        &self.data[start..][..self.rect.width as usize * channels]
    }

    /// The buffer as whole pixels; copied to `packed` where rows are not a whole number of pixels
    /// apart.
    pub(super) fn in_whole_pixels<'b>(&self, packed: &'b mut Vec<u8>) -> WholePixels<'b>
    where
        'a: 'b,
    {
        let channels = self.order.channels();
        if self.stride.is_multiple_of(channels) {
            return WholePixels {
                data: self.data,
                row_pixels: self.stride / channels,
                rect: self.rect,
            };
        }
        packed.clear();
        for y in 0..self.height() {
            packed.extend_from_slice(self.row(y));
        }
        WholePixels {
            data: packed,
            row_pixels: self.width(),
            rect: Rect {
                left: 0,
                top: 0,
                ..self.rect
            },
        }
    }
}

/// A rectangle in a buffer whose rows are a whole number of pixels apart.
#[derive(Debug)]
pub(super) struct WholePixels<'a> {
    pub(super) data: &'a [u8],
    /// Pixels from the start of a row to the start of the next one.
    pub(super) row_pixels: usize,
    pub(super) rect: Rect,
}

/// Buffers for frames that are not 8-bit RGB, BGR or grey; reused from frame to frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Converter {
    converted: Vec<u8>,
    row: Vec<u8>,
}

impl Converter {
    /// The part `crop` of a frame as 8-bit pixels: in place where they are, else converted.
    ///
    /// `channels` are the model's: with 1, colours become luma before anything else.
    pub(super) fn view<'a>(
        &'a mut self,
        frame: &'a Frame,
        crop: Rect,
        channels: u32,
    ) -> Pixels<'a> {
        let description = &frame.description;
        let in_place = match (description.sample, description.order) {
            (SampleType::U8, PixelOrder::Gray) => Some(SourceOrder::Gray),
            (SampleType::U8, PixelOrder::Rgb) if channels != 1 => Some(SourceOrder::Rgb),
            (SampleType::U8, PixelOrder::Bgr) if channels != 1 => Some(SourceOrder::Bgr),
            _ => None,
        };
        if let Some(order) = in_place {
            return Pixels {
                data: &frame.pixels,
                stride: description.stride_bytes as usize,
                rect: crop,
                order,
            };
        }
        let order = if channels == 1 {
            self.luma(frame, description, crop);
            SourceOrder::Gray
        } else {
            self.rgb(frame, description, crop);
            SourceOrder::Rgb
        };
        Pixels {
            data: &self.converted,
            stride: description.width as usize * order.channels(),
            rect: Rect { top: 0, ..crop },
            order,
        }
    }

    /// Converts the rows of `crop`, whole.
    fn rgb(&mut self, frame: &Frame, description: &FrameDescription, crop: Rect) {
        let width = description.width as usize;
        self.converted.resize(width * 3 * crop.height as usize, 0);
        let outs = self.converted.chunks_exact_mut(width * 3);
        for (row, out) in rows(frame, description, crop).zip(outs) {
            rgb8_row_into(description, row, out);
        }
    }

    /// Converts the rows of `crop`, whole.
    fn luma(&mut self, frame: &Frame, description: &FrameDescription, crop: Rect) {
        let width = description.width as usize;
        self.converted.resize(width * crop.height as usize, 0);
        self.row.resize(width * 3, 0);
        let outs = self.converted.chunks_exact_mut(width);
        for (row, out) in rows(frame, description, crop).zip(outs) {
            rgb8_row_into(description, row, &mut self.row);
            for (out, &rgb) in out.iter_mut().zip(self.row.as_chunks::<3>().0) {
                *out = luma(rgb);
            }
        }
    }
}

/// The rows of `crop`, whole.
fn rows<'a>(
    frame: &'a Frame,
    description: &FrameDescription,
    crop: Rect,
) -> impl Iterator<Item = &'a [u8]> {
    let rows = frame.pixels.chunks_exact(description.stride_bytes as usize);
    rows.skip(crop.top as usize).take(crop.height as usize)
}

/// ITU-R 601 luma in 16-bit fixed point, as Pillow's mode `L`.
fn luma([red, green, blue]: [u8; 3]) -> u8 {
    let weighted = u32::from(red) * 19_595 + u32::from(green) * 38_470 + u32::from(blue) * 7_471;
    ((weighted + 0x8000) >> 16) as u8
}
