//! Frames of any size, and the way back from the input to the frame.

use proptest::prelude::*;
use ringside::consumer::preprocess::{
    InputTensor, InputType, Layout, Placement, PreprocessError, Preprocessor, Rect, TensorSlice,
};
use ringside::frame::{Frame, FrameError, PixelOrder};
use ringside::protocol::{Filter, Preprocess, Resize};

use crate::fixtures::{frame, picture, unscaled};

const RESIZES: [Resize; 4] = [
    Resize::Stretch,
    Resize::Letterbox,
    Resize::LetterboxTopleft,
    Resize::ShortestCrop,
];
const FILTERS: [Filter; 4] = [
    Filter::PilBilinear,
    Filter::PilBicubic,
    Filter::CvLinear,
    Filter::Nearest,
];

fn flat(width: u32, height: u32) -> Frame {
    let pixels = vec![90; width as usize * height as usize];
    frame(width, height, PixelOrder::Gray, pixels)
}

fn run(preprocess: &Preprocess, frame: &Frame) -> (Vec<u8>, Placement) {
    let input = InputTensor {
        layout: Layout::Nchw,
        dtype: InputType::U8,
        channels: 1,
        height: None,
        width: None,
    };
    let mut preprocessor = Preprocessor::new(preprocess, &input);
    let (height, width) =
        preprocessor.output_size(frame.description.width, frame.description.height);
    let mut out = vec![0; input.image_len(height, width)];
    let placement = preprocessor
        .run(frame, &mut TensorSlice::U8(&mut out))
        .unwrap();
    assert_eq!(placement.input_size, [height, width]);
    (out, placement)
}

/// Edges of a rectangle: left, top, right, bottom.
fn edges(rect: Rect) -> [f64; 4] {
    [
        rect.left,
        rect.top,
        rect.left + rect.width,
        rect.top + rect.height,
    ]
    .map(f64::from)
}

proptest! {
    #[test]
    fn a_flat_frame_of_any_size_stays_flat_and_its_corners_map_back_exactly(
        width in 1u32..1500,
        height in 1u32..1500,
        input_height in 1u32..200,
        input_width in 1u32..200,
        resize in prop::sample::select(&RESIZES[..]),
        filter in prop::sample::select(&FILTERS[..]),
        crop_pct in 0.01f64..=1.0,
    ) {
        let preprocess = Preprocess {
            resize,
            filter,
            size: Some([input_height, input_width]),
            crop_pct,
            ..unscaled()
        };
        let frame = flat(width, height);
        let (out, placement) = run(&preprocess, &frame);
        let [left, top, right, bottom] = edges(placement.target);
        prop_assert!(right <= f64::from(input_width) && bottom <= f64::from(input_height));
        let inside = |x: usize, y: usize| {
            let (x, y) = (x as f64, y as f64);
            (left..right).contains(&x) && (top..bottom).contains(&y)
        };
        for (y, row) in out.chunks_exact(input_width as usize).enumerate() {
            for (x, value) in row.iter().enumerate() {
                prop_assert_eq!(*value, if inside(x, y) { 90 } else { 114 }, "at {}, {}", x, y);
            }
        }
        let [frame_left, frame_top, frame_right, frame_bottom] = edges(placement.crop);
        prop_assert!(frame_right <= f64::from(width) && frame_bottom <= f64::from(height));
        prop_assert_eq!(placement.to_frame(left, top), [frame_left, frame_top]);
        prop_assert_eq!(placement.to_frame(right, bottom), [frame_right, frame_bottom]);
        prop_assert_eq!(placement.to_input(frame_left, frame_top), [left, top]);
        prop_assert_eq!(placement.to_input(frame_right, frame_bottom), [right, bottom]);
        if resize != Resize::ShortestCrop {
            prop_assert_eq!(edges(placement.crop), [0.0, 0.0, width.into(), height.into()]);
        }
    }
}

#[test]
fn the_thinnest_frames_are_prepared_in_every_way() {
    for path in ["1x1", "1x5000", "5000x1"] {
        let thin = picture(&format!("tests/data/edge/{path}.png"));
        for resize in RESIZES {
            for filter in FILTERS {
                let preprocess = Preprocess {
                    resize,
                    filter,
                    size: Some([640, 640]),
                    ..unscaled()
                };
                let (_, placement) = run(&preprocess, &thin);
                assert!(
                    placement.target.width >= 1 && placement.target.height >= 1,
                    "{path}"
                );
            }
        }
    }
}

#[test]
fn an_open_input_takes_the_frames_own_size() {
    let frame = flat(80, 48);
    for (resize, size) in [
        (Resize::Stretch, [48, 80]),
        (Resize::Letterbox, [48, 80]),
        (Resize::LetterboxTopleft, [48, 80]),
        (Resize::ShortestCrop, [42, 42]),
    ] {
        let preprocess = Preprocess {
            resize,
            ..unscaled()
        };
        let (out, placement) = run(&preprocess, &frame);
        assert_eq!(placement.input_size, size, "{resize:?}");
        assert!(out.iter().all(|value| *value == 90), "{resize:?}");
    }
}

#[test]
fn a_frame_without_all_its_pixels_is_refused() {
    let mut short = flat(8, 8);
    short.pixels.pop();
    let input = InputTensor {
        layout: Layout::Nchw,
        dtype: InputType::U8,
        channels: 1,
        height: None,
        width: None,
    };
    let refused = Preprocessor::new(&unscaled(), &input)
        .run(&short, &mut TensorSlice::U8(&mut [0; 64]))
        .unwrap_err();
    assert!(matches!(
        refused,
        PreprocessError::Frame(FrameError::Short {
            needed: 64,
            actual: 63
        })
    ));
}
