//! Whole tensors: values, channel order, layout and type.

use half::f16;
use ringside::consumer::preprocess::{
    Hints, InputTensor, InputType, Layout, PreprocessError, Preprocessor, TensorSlice, resolve,
};
use ringside::frame::{Frame, PixelOrder};
use ringside::protocol::{Filter, Preprocess, PreprocessSpec, Resize};

use crate::fixtures::{Fixtures, file, frame, picture, unscaled};

fn input(layout: Layout, dtype: InputType, size: u32) -> InputTensor {
    InputTensor {
        layout,
        dtype,
        channels: 3,
        height: Some(size),
        width: Some(size),
    }
}

fn f32_values(preprocess: &Preprocess, input: &InputTensor, frame: &Frame) -> Vec<f32> {
    let [height, width] = preprocess.size.unwrap();
    let mut out = vec![f32::NAN; input.image_len(height, width)];
    Preprocessor::new(preprocess, input)
        .run(frame, &mut TensorSlice::F32(&mut out))
        .unwrap();
    out
}

/// The float16 values of an .npy file of version 1.
fn npy_f16(path: &str) -> Vec<f32> {
    let bytes = std::fs::read(file(path)).unwrap();
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(String::from_utf8_lossy(&bytes[10..10 + header]).contains("'<f2'"));
    let values = bytes[10 + header..].as_chunks::<2>().0;
    values
        .iter()
        .map(|value| f16::from_le_bytes(*value).to_f32())
        .collect()
}

#[test]
fn the_classifier_tensors_equal_numpys() {
    let preprocess = Preprocess {
        resize: Resize::ShortestCrop,
        filter: Filter::PilBicubic,
        size: Some([224, 224]),
        mean: [127.0; 3],
        std: [128.0; 3],
        ..unscaled()
    };
    for (photo, tensor) in [
        ("tests/data/preprocess/cat.png", "cat"),
        ("assets/samples/camera.png", "camera"),
    ] {
        let expected = npy_f16(&format!("tests/data/preprocess/{tensor}_lite0_f16.npy"));
        let input = input(Layout::Nchw, InputType::F32, 224);
        let actual = f32_values(&preprocess, &input, &picture(photo));
        assert_eq!(actual.len(), expected.len());
        let differences = actual
            .iter()
            .zip(&expected)
            .map(|(a, b)| (a - b).abs() * 128.0);
        let mean = differences.clone().sum::<f32>() / actual.len() as f32;
        let max = differences.fold(0.0, f32::max);
        println!("{tensor}: at most {max} levels, mean {mean}");
        assert!(max <= 2.0 && mean < 0.15, "{tensor}: {max} {mean}");
    }
}

/// Mean of a plane of an NCHW tensor.
fn plane_mean(values: &[f32], channel: usize) -> f32 {
    let plane = values.len() / 3;
    values[channel * plane..][..plane].iter().sum::<f32>() / plane as f32
}

fn resolved(input: &InputTensor, spec: &PreprocessSpec) -> Preprocess {
    let hints = Hints {
        metadata: &Default::default(),
        sidecar: None,
        spec,
        task: "classify",
    };
    resolve(input, &hints).unwrap().preprocess
}

fn with_preset(name: &str) -> PreprocessSpec {
    PreprocessSpec {
        preset: Some(name.to_owned()),
        ..PreprocessSpec::default()
    }
}

#[test]
fn stripes_are_grey_when_antialiased_and_aliased_when_not() {
    let stripes = picture("tests/data/cases/stripes512.png");
    let input = input(Layout::Nchw, InputType::F32, 8);
    for (filter, level) in [
        (Filter::PilBilinear, 64.0),
        (Filter::PilBicubic, 64.0),
        (Filter::CvLinear, 128.0),
    ] {
        let spec = PreprocessSpec {
            filter: Some(filter),
            ..with_preset("raw")
        };
        for value in f32_values(&resolved(&input, &spec), &input, &stripes) {
            assert!(
                (value * 255.0 - level).abs() <= 1.0,
                "{filter:?}: {}",
                value * 255.0
            );
        }
    }
}

#[test]
fn red_green_and_blue_reach_their_planes_and_bgr_flips_only_the_tensor() {
    let input = input(Layout::Nchw, InputType::F32, 32);
    let bgr = PreprocessSpec {
        order: Some("bgr".to_owned()),
        ..with_preset("raw")
    };
    for (plane, name) in ["red", "green", "blue"].iter().enumerate() {
        let colour = picture(&format!("tests/data/cases/{name}.png"));
        let before = colour.clone();
        for (spec, plane) in [(&with_preset("raw"), plane), (&bgr, 2 - plane)] {
            let values = f32_values(&resolved(&input, spec), &input, &colour);
            let means = [0, 1, 2].map(|channel| plane_mean(&values, channel));
            let expected = [0, 1, 2].map(|channel| f32::from(u8::from(channel == plane)));
            assert_eq!(means, expected, "{name}");
        }
        assert_eq!(colour, before, "the frame itself stays as it is");
    }
}

#[test]
fn grey_200_is_scaled_once_and_only_where_asked() {
    let grey = picture("tests/data/cases/grey200.png");
    let input_u8 = input(Layout::Nchw, InputType::U8, 32);
    for spec in [
        PreprocessSpec::default(),
        with_preset("raw"),
        with_preset("imagenet"),
    ] {
        let mut out = vec![0; input_u8.image_len(32, 32)];
        Preprocessor::new(&resolved(&input_u8, &spec), &input_u8)
            .run(&grey, &mut TensorSlice::U8(&mut out))
            .unwrap();
        assert!(out.iter().all(|value| *value == 200));
    }
    let input = input(Layout::Nchw, InputType::F32, 32);
    for (spec, expected) in [
        (with_preset("raw"), [0.784; 3]),
        (with_preset("imagenet"), [1.307, 1.466, 1.681]),
    ] {
        let values = f32_values(&resolved(&input, &spec), &input, &grey);
        for (channel, expected) in expected.into_iter().enumerate() {
            let mean = plane_mean(&values, channel);
            assert!(
                (mean - expected).abs() < 0.005,
                "{spec:?}: {mean} for {expected}"
            );
        }
    }
}

#[test]
fn every_level_is_normalised_as_numpy_does_it() {
    let fixtures = Fixtures::load();
    let levels: Vec<u8> = (0..=255).flat_map(|level| [level; 3]).collect();
    let levels = frame(256, 1, PixelOrder::Rgb, levels);
    let open = InputTensor {
        height: Some(1),
        width: Some(256),
        ..input(Layout::Nchw, InputType::F32, 1)
    };
    let preprocess = Preprocess {
        resize: Resize::Stretch,
        ..resolved(&open, &with_preset("imagenet"))
    };
    let expected = fixtures.imagenet_levels.concat();
    let actual = f32_values(&preprocess, &open, &levels);
    let mut halves = vec![f16::NAN; expected.len()];
    let half_input = InputTensor {
        dtype: InputType::F16,
        ..open
    };
    Preprocessor::new(&preprocess, &half_input)
        .run(&levels, &mut TensorSlice::F16(&mut halves))
        .unwrap();
    assert_eq!(actual.len(), expected.len());
    for ((actual, half), expected) in actual.iter().zip(&halves).zip(&expected) {
        assert!((actual - expected).abs() < 1e-6, "{actual} for {expected}");
        // Half a unit in the last place of values below 4.
        assert!(
            (half.to_f32() - expected).abs() <= 0.001,
            "{half} for {expected}"
        );
    }
}

#[test]
fn nhwc_holds_the_same_values_as_nchw() {
    let cat = picture("tests/data/preprocess/cat.png");
    let preprocess = Preprocess {
        resize: Resize::Letterbox,
        filter: Filter::CvLinear,
        size: Some([37, 37]),
        mean: [1.0, 2.0, 3.0],
        std: [4.0, 5.0, 6.0],
        ..unscaled()
    };
    let planar = f32_values(&preprocess, &input(Layout::Nchw, InputType::F32, 37), &cat);
    let packed = f32_values(&preprocess, &input(Layout::Nhwc, InputType::F32, 37), &cat);
    let plane = 37 * 37;
    for (index, pixel) in packed.chunks_exact(3).enumerate() {
        let values = [0, 1, 2].map(|channel| planar[channel * plane + index]);
        assert_eq!(pixel, values);
    }
}

#[test]
fn whole_number_tensors_hold_levels() {
    let cat = picture("tests/data/preprocess/cat.png");
    let preprocess = Preprocess {
        filter: Filter::CvLinear,
        size: Some([24, 24]),
        ..unscaled()
    };
    let floats = f32_values(&preprocess, &input(Layout::Nhwc, InputType::F32, 24), &cat);
    let mut integers = vec![-1; floats.len()];
    Preprocessor::new(&preprocess, &input(Layout::Nhwc, InputType::I32, 24))
        .run(&cat, &mut TensorSlice::I32(&mut integers))
        .unwrap();
    let integers: Vec<f32> = integers.into_iter().map(|value| value as f32).collect();
    assert_eq!(integers, floats);
}

#[test]
fn a_tensor_of_another_type_or_length_is_refused() {
    let cat = picture("tests/data/preprocess/cat.png");
    let input = input(Layout::Nchw, InputType::F32, 8);
    let preprocess = resolved(&input, &with_preset("raw"));
    let mut preprocessor = Preprocessor::new(&preprocess, &input);
    let bytes = preprocessor.run(&cat, &mut TensorSlice::U8(&mut [0; 192]));
    assert!(matches!(
        bytes,
        Err(PreprocessError::WrongType {
            expected: InputType::F32,
            actual: InputType::U8
        })
    ));
    let short = preprocessor.run(&cat, &mut TensorSlice::F32(&mut [0.0; 191]));
    assert!(matches!(
        short,
        Err(PreprocessError::WrongLength {
            needed: 192,
            actual: 191
        })
    ));
}
