use super::{Frame, FrameDescription, FrameError, PixelOrder, SampleType};

/// Converts a frame to packed 8-bit RGB in `rgb` (width · height · 3 bytes; reused, not shrunk).
///
/// 16-bit samples are divided by 257, 32-bit ones hold 8-bit values and saturate at 255, floats of
/// 0..=1 are multiplied by 255; all are rounded. Alpha is dropped.
///
/// # Errors
/// The frame's description does not fit its pixels.
pub fn rgb8_into(frame: &Frame, rgb: &mut Vec<u8>) -> Result<(), FrameError> {
    frame.check()?;
    let description = &frame.description;
    let row_rgb = description.width as usize * 3;
    rgb.resize(row_rgb * description.height as usize, 0);
    let rows = frame.pixels.chunks_exact(description.stride_bytes as usize);
    for (row, out) in rows.zip(rgb.chunks_exact_mut(row_rgb)) {
        rgb8_row_into(description, row, out);
    }
    Ok(())
}

/// Converts one row of `description.row_bytes()` bytes to `description.width * 3` bytes of RGB.
///
/// # Panics
/// `row` or `rgb` is shorter than that.
pub fn rgb8_row_into(description: &FrameDescription, row: &[u8], rgb: &mut [u8]) {
    let row = &row[..description.row_bytes()];
    match description.sample {
        SampleType::U8 => convert::<1>(description.order, row, rgb, |[value]| value),
        SampleType::U16 => convert::<2>(description.order, row, rgb, |bytes| {
            ((u32::from(u16::from_ne_bytes(bytes)) + 128) / 257) as u8
        }),
        SampleType::U32 => convert::<4>(description.order, row, rgb, |bytes| {
            u32::from_ne_bytes(bytes).min(255) as u8
        }),
        // `as` saturates and turns NaN into 0.
        SampleType::F32 => convert::<4>(description.order, row, rgb, |bytes| {
            (f32::from_ne_bytes(bytes) * 255.0 + 0.5) as u8
        }),
    }
}

/// Picks the three channels out of every pixel of `N`-byte samples.
fn convert<const N: usize>(
    order: PixelOrder,
    row: &[u8],
    rgb: &mut [u8],
    sample: impl Fn([u8; N]) -> u8,
) {
    let channels = order.channels();
    if N == 1 && order == PixelOrder::Rgb {
        rgb[..row.len()].copy_from_slice(row);
        return;
    }
    let picks = match order {
        PixelOrder::Gray => [0, 0, 0],
        PixelOrder::Rgb | PixelOrder::Rgba => [0, 1, 2],
        PixelOrder::Bgr | PixelOrder::Bgra => [2, 1, 0],
    };
    let (samples, _) = row.as_chunks::<N>();
    let (out, _) = rgb.as_chunks_mut::<3>();
    for (pixel, out) in samples.chunks_exact(channels).zip(out) {
        *out = picks.map(|channel| sample(pixel[channel]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::FramePosition;

    fn frame(sample: SampleType, order: PixelOrder, stride_bytes: u32, pixels: Vec<u8>) -> Frame {
        let description = FrameDescription {
            width: 1,
            height: 2,
            sample,
            order,
            stride_bytes,
        };
        Frame {
            description,
            position: FramePosition::default(),
            pixels,
        }
    }

    #[test]
    fn every_order_gives_red_green_blue() {
        for (order, pixel) in [
            (PixelOrder::Gray, &[7][..]),
            (PixelOrder::Rgb, &[1, 2, 3]),
            (PixelOrder::Bgr, &[3, 2, 1]),
            (PixelOrder::Rgba, &[1, 2, 3, 9]),
            (PixelOrder::Bgra, &[3, 2, 1, 9]),
        ] {
            let frame = frame(SampleType::U8, order, pixel.len() as u32, pixel.repeat(2));
            let mut rgb = Vec::new();
            rgb8_into(&frame, &mut rgb).expect("a whole frame");
            let expected = if order == PixelOrder::Gray {
                [7; 6]
            } else {
                [1, 2, 3, 1, 2, 3]
            };
            assert_eq!(rgb, expected, "{order:?}");
        }
    }

    #[test]
    fn padding_between_rows_is_left_out() {
        let frame = frame(
            SampleType::U8,
            PixelOrder::Rgb,
            5,
            vec![1, 2, 3, 0, 0, 4, 5, 6, 0, 0],
        );
        let mut rgb = Vec::new();
        rgb8_into(&frame, &mut rgb).expect("a whole frame");
        assert_eq!(rgb, [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn wide_samples_are_scaled_to_8_bits() {
        let cases: [(SampleType, Vec<u8>, [u8; 2]); 3] = [
            (
                SampleType::U16,
                [65535u16, 32768].map(u16::to_ne_bytes).concat(),
                [255, 128],
            ),
            (
                SampleType::U32,
                [200u32, 70_000].map(u32::to_ne_bytes).concat(),
                [200, 255],
            ),
            (
                SampleType::F32,
                [0.5f32, f32::NAN].map(f32::to_ne_bytes).concat(),
                [128, 0],
            ),
        ];
        for (sample, pixels, expected) in cases {
            let frame = frame(sample, PixelOrder::Gray, sample.bytes() as u32, pixels);
            let mut rgb = Vec::new();
            rgb8_into(&frame, &mut rgb).expect("a whole frame");
            assert_eq!([rgb[0], rgb[3]], expected, "{sample:?}");
        }
    }

    #[test]
    fn a_frame_without_all_its_pixels_is_refused() {
        let frame = frame(SampleType::U8, PixelOrder::Rgb, 3, vec![0; 5]);
        assert_eq!(
            rgb8_into(&frame, &mut Vec::new()),
            Err(FrameError::Short {
                needed: 6,
                actual: 5
            })
        );
    }
}
