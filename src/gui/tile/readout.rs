//! The values of the pixel under the pointer: the frame's own, and what a model is fed for them.

use crate::frame::{Frame, PixelOrder, SampleType, rgb8_row_into};
use crate::gui::text::text;
use crate::protocol::Preprocess;

/// The pixel of a frame, as text: `x 12  y 34   RGB 10 20 30`. `of_jpeg` says that the frame is a
/// kept picture, not the frame itself.
pub(super) fn own_text(frame: &Frame, pixel: [u32; 2], shown: [u32; 2], of_jpeg: bool) -> String {
    let [x, y] = shown;
    let Some(values) = own_values(frame, pixel) else {
        return format!("x {x}  y {y}");
    };
    let order = match frame.description.order {
        PixelOrder::Gray => "gray",
        PixelOrder::Rgb => "RGB",
        PixelOrder::Bgr => "BGR",
        PixelOrder::Rgba => "RGBA",
        PixelOrder::Bgra => "BGRA",
    };
    let note = if of_jpeg {
        format!("  ({})", text().picture.of_jpeg)
    } else {
        String::new()
    };
    format!("x {x}  y {y}   {order} {}{note}", values.join(" "))
}

/// What the preprocessing makes of the pixel, as text: `fed RGB -0.21 0.10 0.43 (before resizing)`.
/// Scaling and normalising are affine for each sample, so this is exact for a frame of the input's
/// size; where frames are resized the model gets mixtures of such values.
pub(super) fn fed_text(frame: &Frame, pixel: [u32; 2], preprocess: &Preprocess) -> Option<String> {
    let fed = fed_values(rgb(frame, pixel)?, preprocess)?;
    let values: Vec<String> = fed.iter().map(|value| format!("{value:.3}")).collect();
    Some((text().picture.fed)(&preprocess.order, &values.join(" ")))
}

/// x' = (x · scale − mean) / std, for each channel in the order in which the model takes them.
/// `None` for gray, which is mixed from the three.
fn fed_values(rgb: [u8; 3], preprocess: &Preprocess) -> Option<[f64; 3]> {
    let [red, green, blue] = rgb;
    let samples = match preprocess.order.as_str() {
        "rgb" => [red, green, blue],
        "bgr" => [blue, green, red],
        _ => return None,
    };
    Some(std::array::from_fn(|channel| {
        let value = f64::from(samples[channel]) * preprocess.scale - preprocess.mean[channel];
        value / preprocess.std[channel]
    }))
}

/// The bytes of a pixel's samples; `None` outside the frame.
fn pixel_bytes(frame: &Frame, [x, y]: [u32; 2]) -> Option<&[u8]> {
    let description = &frame.description;
    if x >= description.width || y >= description.height {
        return None;
    }
    let size = description.sample.bytes() * description.order.channels();
    let start = y as usize * description.stride_bytes as usize + x as usize * size;
    frame.pixels.get(start..start + size)
}

fn own_values(frame: &Frame, pixel: [u32; 2]) -> Option<Vec<String>> {
    let bytes = pixel_bytes(frame, pixel)?;
    let sample = frame.description.sample;
    let texts = bytes
        .chunks_exact(sample.bytes())
        .map(|bytes| match (sample, bytes) {
            (SampleType::U16, &[a, b]) => u16::from_ne_bytes([a, b]).to_string(),
            (SampleType::U32, &[a, b, c, d]) => u32::from_ne_bytes([a, b, c, d]).to_string(),
            (SampleType::F32, &[a, b, c, d]) => format!("{:.4}", f32::from_ne_bytes([a, b, c, d])),
            _ => bytes[0].to_string(),
        });
    Some(texts.collect())
}

/// The pixel as the models get it: 8-bit red, green, blue.
fn rgb(frame: &Frame, pixel: [u32; 2]) -> Option<[u8; 3]> {
    let bytes = pixel_bytes(frame, pixel)?;
    let mut one = frame.description;
    one.width = 1;
    let mut rgb = [0; 3];
    rgb8_row_into(&one, bytes, &mut rgb);
    Some(rgb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FrameDescription, FramePosition};
    use crate::protocol::{Filter, Resize};

    fn frame(sample: SampleType, order: PixelOrder, stride_bytes: u32, pixels: Vec<u8>) -> Frame {
        Frame {
            description: FrameDescription {
                width: 2,
                height: 2,
                sample,
                order,
                stride_bytes,
            },
            position: FramePosition::default(),
            pixels,
        }
    }

    fn preprocess(order: &str) -> Preprocess {
        Preprocess {
            resize: Resize::Stretch,
            filter: Filter::CvLinear,
            size: None,
            crop_pct: 1.0,
            order: order.to_owned(),
            scale: 1.0 / 255.0,
            mean: [0.485, 0.456, 0.406],
            std: [0.229, 0.224, 0.225],
            pad: 0,
        }
    }

    #[test]
    fn a_pixel_is_read_in_the_frames_own_type_and_order() {
        // Rows of two pixels and two bytes of padding.
        let bgr = frame(
            SampleType::U8,
            PixelOrder::Bgr,
            8,
            vec![1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0],
        );
        assert_eq!(
            own_text(&bgr, [1, 1], [1, 1], false),
            "x 1  y 1   BGR 10 11 12"
        );
        assert_eq!(own_text(&bgr, [2, 0], [2, 0], false), "x 2  y 0");
        let deep: Vec<u8> = [300_u16, 65_535, 0, 7].map(u16::to_ne_bytes).concat();
        let deep = frame(SampleType::U16, PixelOrder::Gray, 4, deep);
        assert_eq!(
            own_text(&deep, [1, 0], [1, 0], false),
            "x 1  y 0   gray 65535"
        );
        let float: Vec<u8> = [0.5_f32, 1.0, 0.0, 0.25].map(f32::to_ne_bytes).concat();
        let float = frame(SampleType::F32, PixelOrder::Gray, 8, float);
        assert_eq!(
            own_text(&float, [1, 1], [9, 9], true),
            "x 9  y 9   gray 0.2500  (of the kept JPEG)"
        );
    }

    #[test]
    fn what_is_fed_is_scaled_and_normalised_in_the_models_order() {
        let frame = frame(
            SampleType::U8,
            PixelOrder::Bgr,
            6,
            vec![0, 128, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        );
        // (255/255 − 0.485)/0.229, (128/255 − 0.456)/0.224, (0 − 0.406)/0.225, by hand.
        assert_eq!(
            fed_text(&frame, [0, 0], &preprocess("rgb")).as_deref(),
            Some("fed rgb 2.249 0.205 -1.804 (before resizing)")
        );
        // Blue first: (0 − 0.485)/0.229, …, (1 − 0.406)/0.225.
        assert_eq!(
            fed_text(&frame, [0, 0], &preprocess("bgr")).as_deref(),
            Some("fed bgr -2.118 0.205 2.640 (before resizing)")
        );
        assert_eq!(fed_text(&frame, [0, 0], &preprocess("gray")), None);
    }
}
