//! Models answered by the consumer's own engine, against what Pillow, NumPy and ONNX Runtime in
//! Python say (tests/data/expected, tests/data/synthetic/expected.json, made by other scripts).
//!
//! Without ONNX Runtime (`ORT_DYLIB_PATH`, or what `ringside runtime list` finds) every test here says
//! so and passes.

mod classes;
mod devices;
mod faults;
mod inputs;
mod scores;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use image::{DynamicImage, Rgb, RgbImage};
use ringside::consumer::{Failure, Library, Model, Runner};
use ringside::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use ringside::prediction::Output;
use ringside::protocol::{
    DeviceChoice, ExecutedKernels, Filter, ModelSpec, Origin, PreprocessSpec, Resize,
};
use serde_json::Value;

fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    LIBRARY
        .get_or_init(|| match Library::load(None) {
            Ok(library) => Some(library),
            Err(error) => {
                eprintln!("skipped: {error}");
                None
            }
        })
        .as_ref()
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn spec(model: &str) -> ModelSpec {
    ModelSpec {
        path: root(model),
        name: "m".to_owned(),
        device: DeviceChoice::Cpu,
        threads: 1,
        ..ModelSpec::default()
    }
}

/// The model's own numbers, of a picture that is stretched and divided by 255.
fn scores(model: &str) -> ModelSpec {
    ModelSpec {
        layout: "scores".to_owned(),
        top: u32::MAX,
        preprocess: PreprocessSpec {
            preset: Some("raw".to_owned()),
            ..PreprocessSpec::default()
        },
        ..spec(model)
    }
}

fn load(spec: &ModelSpec, library: &Library) -> Result<Runner, Failure> {
    Ok(Runner::new(Model::load(spec, 1, library)?, spec))
}

fn frame(image: DynamicImage) -> Frame {
    let image = image.into_rgb8();
    let (width, height) = image.dimensions();
    Frame {
        description: FrameDescription::packed(width, height, SampleType::U8, PixelOrder::Rgb)
            .expect("a picture has pixels"),
        position: FramePosition::default(),
        pixels: image.into_raw(),
    }
}

fn photograph(path: &str) -> Frame {
    frame(image::open(root(path)).expect(path))
}

fn solid(width: u32, height: u32, colour: [u8; 3]) -> Frame {
    frame(RgbImage::from_pixel(width, height, Rgb(colour)).into())
}

fn answer(runner: &mut Runner, frame: Frame) -> Output {
    runner.predict(frame).expect("no turn is waited for").0
}

/// Scores by class index.
fn by_class(output: &Output) -> Vec<f64> {
    let Output::Classes { classes, .. } = output else {
        panic!("not classes: {output:?}");
    };
    let mut scores = vec![f64::NAN; classes.len()];
    for class in classes {
        scores[class.id as usize] = f64::from(class.score);
    }
    scores
}

#[track_caller]
fn assert_near(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "{actual:?}");
    for (a, e) in actual.iter().zip(expected) {
        assert!((a - e).abs() <= tolerance, "{actual:?} is not {expected:?}");
    }
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(root(path)).expect(path)).expect(path)
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|n| n.as_f64().expect("a number")).collect()
}
