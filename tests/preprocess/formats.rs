//! The same picture in other pixel formats gives the same tensor.

use ringside::consumer::preprocess::{InputTensor, InputType, Layout, Preprocessor, TensorSlice};
use ringside::frame::{Frame, FrameDescription, PixelOrder, SampleType};
use ringside::protocol::{Filter, Preprocess, Resize};

use crate::fixtures::{picture, unscaled};

const FILTERS: [Filter; 4] = [
    Filter::PilBilinear,
    Filter::PilBicubic,
    Filter::CvLinear,
    Filter::Nearest,
];

/// `frame` in another format; rows are followed by `padding` bytes of 0xAA.
fn converted(frame: &Frame, sample: SampleType, order: PixelOrder, padding: usize) -> Frame {
    let picks: &[usize] = match order {
        PixelOrder::Gray => &[0],
        PixelOrder::Rgb => &[0, 1, 2],
        PixelOrder::Bgr => &[2, 1, 0],
        PixelOrder::Rgba => &[0, 1, 2, 3],
        PixelOrder::Bgra => &[2, 1, 0, 3],
    };
    let mut pixels = Vec::new();
    for row in frame
        .pixels
        .chunks_exact(frame.description.width as usize * 3)
    {
        for pixel in row.chunks_exact(3) {
            for &pick in picks {
                // Alpha is to be ignored.
                let level = *pixel.get(pick).unwrap_or(&77);
                match sample {
                    SampleType::U8 => pixels.push(level),
                    SampleType::U16 => pixels.extend((u16::from(level) * 257).to_ne_bytes()),
                    SampleType::U32 => pixels.extend(u32::from(level).to_ne_bytes()),
                    SampleType::F32 => pixels.extend((f32::from(level) / 255.0).to_ne_bytes()),
                }
            }
        }
        pixels.extend(std::iter::repeat_n(0xAA, padding));
    }
    let (width, height) = (frame.description.width, frame.description.height);
    let mut description = FrameDescription::packed(width, height, sample, order).unwrap();
    description.stride_bytes += u32::try_from(padding).unwrap();
    Frame {
        description,
        position: frame.position.clone(),
        pixels,
    }
}

fn run(preprocess: &Preprocess, channels: u32, frame: &Frame) -> Vec<u8> {
    let input = InputTensor {
        layout: Layout::Nchw,
        dtype: InputType::U8,
        channels,
        height: None,
        width: None,
    };
    let mut preprocessor = Preprocessor::new(preprocess, &input);
    let (height, width) =
        preprocessor.output_size(frame.description.width, frame.description.height);
    let mut out = vec![0; input.image_len(height, width)];
    preprocessor
        .run(frame, &mut TensorSlice::U8(&mut out))
        .unwrap();
    out
}

#[test]
fn every_sample_type_order_and_stride_gives_the_same_tensor() {
    let cat = picture("tests/data/preprocess/coffee_part.png");
    for filter in FILTERS {
        for order in ["rgb", "bgr"] {
            let preprocess = Preprocess {
                resize: Resize::ShortestCrop,
                filter,
                size: Some([30, 30]),
                order: order.to_owned(),
                ..unscaled()
            };
            let expected = run(&preprocess, 3, &cat);
            for sample in [
                SampleType::U8,
                SampleType::U16,
                SampleType::U32,
                SampleType::F32,
            ] {
                for order in [
                    PixelOrder::Rgb,
                    PixelOrder::Bgr,
                    PixelOrder::Rgba,
                    PixelOrder::Bgra,
                ] {
                    for padding in [0, 3, 5] {
                        let frame = converted(&cat, sample, order, padding);
                        let actual = run(&preprocess, 3, &frame);
                        assert_eq!(
                            actual, expected,
                            "{filter:?} {sample:?} {order:?} {padding}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn grey_frames_fill_all_three_channels() {
    let noise = picture("tests/data/preprocess/noise.png");
    for filter in FILTERS {
        let preprocess = Preprocess {
            filter,
            size: Some([20, 21]),
            ..unscaled()
        };
        let colours = run(&preprocess, 3, &noise);
        // The red channel alone, as a grey picture, fills all planes with the red plane.
        for (sample, padding) in [
            (SampleType::U8, 0),
            (SampleType::U8, 1),
            (SampleType::U16, 0),
        ] {
            let grey = converted(&noise, sample, PixelOrder::Gray, padding);
            let actual = run(&preprocess, 3, &grey);
            assert_eq!(actual, colours[..420].repeat(3), "{filter:?} {sample:?}");
        }
    }
}

#[test]
fn grey_models_take_luma_of_every_format() {
    let noise = picture("tests/data/preprocess/noise.png");
    let preprocess = Preprocess {
        order: "gray".to_owned(),
        ..unscaled()
    };
    // ITU-R 601, in exact arithmetic; 16-bit fixed point may round a tie the other way.
    let expected: Vec<f64> = noise
        .pixels
        .chunks_exact(3)
        .map(|rgb| {
            0.299 * f64::from(rgb[0]) + 0.587 * f64::from(rgb[1]) + 0.114 * f64::from(rgb[2])
        })
        .collect();
    for (sample, order) in [
        (SampleType::U8, PixelOrder::Rgb),
        (SampleType::U8, PixelOrder::Bgra),
        (SampleType::U16, PixelOrder::Bgr),
    ] {
        let actual = run(&preprocess, 1, &converted(&noise, sample, order, 2));
        assert_eq!(actual.len(), expected.len());
        for (actual, expected) in actual.iter().zip(&expected) {
            assert!(
                (f64::from(*actual) - expected).abs() < 0.51,
                "{actual} {expected}"
            );
        }
    }
}

#[test]
fn one_preprocessor_serves_frames_of_changing_size_and_format() {
    let pictures = [
        "noise",
        "cat",
        "tiny",
        "coffee_part",
        "dot",
        "row",
        "column",
    ];
    for filter in FILTERS {
        let preprocess = Preprocess {
            resize: Resize::Letterbox,
            filter,
            size: Some([33, 31]),
            ..unscaled()
        };
        let input = InputTensor {
            layout: Layout::Nchw,
            dtype: InputType::U8,
            channels: 3,
            height: Some(33),
            width: Some(31),
        };
        let mut reused = Preprocessor::new(&preprocess, &input);
        let mut out = vec![0; input.image_len(33, 31)];
        for name in pictures.iter().chain(pictures.iter().rev()) {
            let frame = picture(&format!("tests/data/preprocess/{name}.png"));
            for (order, padding) in [
                (PixelOrder::Rgb, 0),
                (PixelOrder::Bgra, 1),
                (PixelOrder::Bgr, 1),
            ] {
                let frame = converted(&frame, SampleType::U8, order, padding);
                out.fill(0x55);
                reused.run(&frame, &mut TensorSlice::U8(&mut out)).unwrap();
                assert_eq!(
                    out,
                    run(&preprocess, 3, &frame),
                    "{filter:?} {name} {order:?}"
                );
            }
        }
    }
}
