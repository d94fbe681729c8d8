//! Models answered by the consumer's own engine, against what Pillow, NumPy and ONNX Runtime in
//! Python say (tests/data/expected, tests/data/synthetic/expected.json, made by other scripts).
//!
//! Without ONNX Runtime (`ORT_DYLIB_PATH`, or what `ringside runtime list` finds) every test here says
//! so and passes.

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

/// Compares all top-5 probabilities of a photograph; returns the largest difference.
fn compare_top_5(runner: &mut Runner, model: &str, name: &str, file: &str, tolerance: f64) -> f64 {
    let expected = json("tests/data/expected/expected_classify.json");
    let scores = by_class(&answer(runner, photograph(file)));
    let top = &expected["models"][model]["photos"][name]["crop_padding_bicubic"];
    let mut largest: f64 = 0.0;
    for class in top.as_array().expect("a list") {
        let index = class["class_id"].as_u64().expect("an index") as usize;
        let probability = class["prob"].as_f64().expect("a number");
        let difference = (scores[index] - probability).abs();
        assert!(
            difference <= tolerance,
            "{name}: class {index} is {} instead of {probability}",
            scores[index]
        );
        largest = largest.max(difference);
    }
    largest
}

#[test]
fn photographs_are_classified_as_pillow_and_onnx_runtime_in_python_do() {
    let Some(library) = library() else { return };
    let spec = ModelSpec {
        top: u32::MAX,
        ..spec("models/efficientnet_lite0.onnx")
    };
    let mut runner = load(&spec, library).expect("a model");
    let photographs = std::fs::read_dir(root("assets/samples")).expect("photographs");
    let mut compared = 0;
    for entry in photographs.flatten() {
        let name = entry.file_name().into_string().expect("a name");
        if !(name.ends_with(".jpg") || name.ends_with(".png")) {
            continue;
        }
        let file = format!("assets/samples/{name}");
        let largest = compare_top_5(&mut runner, "efficientnet_lite0", &name, &file, 0.015);
        println!("{name}: largest difference {largest:.5}");
        compared += 1;
    }
    assert_eq!(compared, 13);
    for name in ["cat", "coffee", "rocket"] {
        let file = format!("tests/data/lossless/{name}.png");
        let photo = format!("{name}.jpg");
        let largest = compare_top_5(&mut runner, "efficientnet_lite0", &photo, &file, 0.005);
        println!("{name}, lossless: largest difference {largest:.5}");
    }
    compare_top_5(
        &mut runner,
        "efficientnet_lite0",
        "camera.png",
        "assets/samples/camera.png",
        0.005,
    );
}

#[test]
fn the_card_says_what_is_in_force_and_what_ran() {
    let Some(library) = library() else { return };
    let spec = spec("models/efficientnet_lite0.onnx");
    let runner = load(&spec, library).expect("a model");
    let card = runner.card();
    // sha256sum of the file, from models/README or the shell.
    assert_eq!(card.sha256.len(), 64);
    assert_eq!(card.bytes, 18_570_464);
    assert_eq!(
        (card.task.value.as_str(), card.task.origin),
        ("classify", Origin::Metadata)
    );
    assert_eq!((card.labels.as_str(), card.label_count), ("metadata", 1000));
    assert_eq!(card.inputs[0].shape, ["N", "3", "224", "224"]);
    assert_eq!(card.preprocess.resize, Resize::ShortestCrop);
    assert_eq!(card.preprocess.filter, Filter::PilBicubic);
    assert_eq!(card.preprocess.mean, [127.0; 3]);
    assert_eq!(card.preprocess.std, [128.0; 3]);
    assert_eq!(card.preprocess_origins["mean"], Origin::Metadata);
    assert_eq!(card.provider.provider, "CPU");
    assert_eq!(card.provider.reason, None);
    // ONNX Runtime in Python: 94 nodes before fusion, 53 kernels in a profile.
    assert_eq!(card.provider.assigned.get("CPU"), Some(&94));
    assert!(matches!(
        card.provider.executed.get("CPU"),
        Some(ExecutedKernels {
            kernels: 53,
            micros: 1..
        })
    ));
    assert_eq!(card.provider.copies, 0);
}

#[test]
fn colours_keep_their_channels() {
    let Some(library) = library() else { return };
    let expected = json("tests/data/synthetic/expected.json");
    let mut runner = load(&scores("tests/data/synthetic/mean_rgb.onnx"), library).expect("a model");
    for case in expected["mean_rgb"]["cases"].as_array().expect("cases") {
        let colour: Vec<u8> = numbers(&case["rgb"]).iter().map(|&n| n as u8).collect();
        let colour = [colour[0], colour[1], colour[2]];
        let output = answer(&mut runner, solid(50, 40, colour));
        assert_near(&by_class(&output), &numbers(&case["logits"]), 0.001);
        let top = output.top_class().map(|class| class.name.as_str());
        assert_eq!(top, case["top1"].as_str());
    }
}

#[test]
fn corners_stay_where_they_are() {
    let Some(library) = library() else { return };
    let expected = json("tests/data/synthetic/expected.json");
    let mut runner = load(&scores("tests/data/synthetic/echo_corner.onnx"), library).expect("it");
    for case in expected["echo_corner"]["cases"].as_array().expect("cases") {
        let quadrant = case["white_quadrant"].as_str().expect("a name");
        let picture = RgbImage::from_fn(64, 64, |x, y| {
            let here = format!(
                "{}_{}",
                if y < 32 { "top" } else { "bottom" },
                if x < 32 { "left" } else { "right" }
            );
            Rgb([if here == quadrant { 255 } else { 0 }; 3])
        });
        let output = answer(&mut runner, frame(picture.into()));
        assert_near(&by_class(&output), &numbers(&case["logits"]), 0.01);
        assert_eq!(
            output.top_class().map(|class| class.name.as_str()),
            Some(quadrant)
        );
    }
}

#[test]
fn every_input_layout_and_type_is_fed_right() {
    let Some(library) = library() else { return };
    for (model, colour, size, expected) in [
        (
            "synthetic/fp16_io.onnx",
            [255, 128, 64],
            (32, 32),
            vec![1.0, 0.502, 0.251],
        ),
        (
            "synthetic/nhwc_u8.onnx",
            [255, 102, 51],
            (40, 20),
            vec![10.0, 4.0, 2.0],
        ),
        (
            "synthetic/nhwc_f32.onnx",
            [255, 102, 51],
            (40, 20),
            vec![1.0, 0.4, 0.2],
        ),
        (
            "synthetic/gray1.onnx",
            [51, 51, 51],
            (40, 20),
            vec![0.8, 0.2],
        ),
        (
            "synthetic/fixed_batch4.onnx",
            [255, 102, 51],
            (8, 8),
            vec![1.0, 0.4, 0.2],
        ),
        (
            "synthetic/dyn_hw.onnx",
            [51, 51, 51],
            (80, 48),
            vec![0.2, 0.2, 0.2, 48.0, 80.0],
        ),
        (
            "synthetic/no_meta.onnx",
            [255, 102, 51],
            (9, 9),
            vec![1.0, 0.4, 0.2],
        ),
        // Weights in a file beside the model; the working directory is another folder.
        (
            "models/external_weights.onnx",
            [255, 102, 51],
            (9, 9),
            vec![1.0, 0.8, 0.8],
        ),
        // C15
        ("cases/fp16.onnx", [127, 127, 127], (32, 32), vec![0.498; 3]),
        // C60
        ("cases/u8.onnx", [200, 200, 200], (32, 32), vec![200.0; 3]),
        ("cases/mean.onnx", [200, 200, 200], (32, 32), vec![0.784; 3]),
    ] {
        let spec = scores(&format!("tests/data/{model}"));
        let mut runner = load(&spec, library).unwrap_or_else(|error| panic!("{model}: {error}"));
        let output = answer(&mut runner, solid(size.0, size.1, colour));
        println!("{model}: {:?}", by_class(&output));
        assert_near(&by_class(&output), &expected, 0.001);
    }
}

#[test]
fn mean_and_std_of_the_session_are_used() {
    let Some(library) = library() else { return };
    let mut spec = scores("tests/data/cases/mean.onnx");
    spec.preprocess.mean = Some([0.485, 0.456, 0.406]);
    spec.preprocess.std = Some([0.229, 0.224, 0.225]);
    let mut runner = load(&spec, library).expect("a model");
    let output = answer(&mut runner, photograph("tests/data/cases/grey200.png"));
    assert_near(&by_class(&output), &[1.307, 1.466, 1.681], 0.005);
    assert_eq!(runner.card().preprocess_origins["mean"], Origin::You);
    assert_eq!(runner.card().preprocess.mean, [0.485, 0.456, 0.406]);
}

#[test]
fn bilinear_is_what_the_filter_says() {
    let Some(library) = library() else { return };
    for (filter, expected) in [(Filter::PilBilinear, 64.0), (Filter::CvLinear, 128.0)] {
        let mut spec = scores("tests/data/cases/ident8.onnx");
        spec.preprocess.filter = Some(filter);
        let mut runner = load(&spec, library).expect("a model");
        let output = answer(&mut runner, photograph("tests/data/cases/stripes512.png"));
        for score in by_class(&output) {
            assert!(
                (score * 255.0 - expected).abs() <= 1.001,
                "{filter:?}: {score}"
            );
        }
        assert_eq!(runner.card().preprocess.filter, filter);
    }
}

#[test]
fn an_output_that_is_a_softmax_gets_no_other() {
    let Some(library) = library() else { return };
    let expected = json("tests/data/synthetic/expected.json");
    let spec = spec("tests/data/synthetic/softmaxed.onnx");
    let mut spec = ModelSpec { top: 3, ..spec };
    spec.preprocess.preset = Some("raw".to_owned());
    let mut runner = load(&spec, library).expect("a model");
    let output = answer(&mut runner, solid(32, 32, [255, 0, 0]));
    let expected = numbers(&expected["softmaxed"]["case"]["probs"]);
    assert_near(&by_class(&output), &expected, 1e-5);
}

#[test]
fn frames_of_a_batch_are_answered_as_by_themselves() {
    let Some(library) = library() else { return };
    let spec = ModelSpec {
        batch: 3,
        top: u32::MAX,
        ..spec("models/efficientnet_lite0.onnx")
    };
    let mut runner = load(&spec, library).expect("a model");
    assert_eq!(runner.card().batch, 3);
    for name in ["cat", "coffee", "rocket"] {
        let file = format!("tests/data/lossless/{name}.png");
        compare_top_5(
            &mut runner,
            "efficientnet_lite0",
            &format!("{name}.jpg"),
            &file,
            0.005,
        );
    }
}

#[test]
fn nan_and_failing_runs_are_invalid_answers_and_the_next_one_is_right() {
    let Some(library) = library() else { return };
    let mut runner = load(&spec("tests/data/synthetic/nan_output.onnx"), library).expect("a model");
    assert_eq!(
        answer(&mut runner, solid(32, 32, [9; 3])),
        Output::Invalid {
            reason: "3 NaN in output `logits`".to_owned()
        }
    );
    let spec = scores("tests/data/synthetic/runtime_error.onnx");
    let mut runner = load(&spec, library).expect("a model");
    for _ in 0..2 {
        let Output::Invalid { reason } = answer(&mut runner, solid(32, 32, [255; 3])) else {
            panic!("it cannot run");
        };
        assert!(
            reason.contains("indices element out of data bounds"),
            "{reason}"
        );
        let black = answer(&mut runner, solid(32, 32, [0; 3]));
        assert!(matches!(black, Output::Classes { .. }), "{black:?}");
    }
}

#[test]
fn models_that_do_not_load_are_explained() {
    let Some(library) = library() else { return };
    for (model, code, words) in [
        // C14
        ("cases/ir99.onnx", "model_ir", "IR version 99 is above"),
        (
            "cases/opset99.onnx",
            "model_opset",
            "opset 99 of ai.onnx is above",
        ),
        ("cases/customop.onnx", "model_operator", "my_ops:DCNv2"),
        ("cases/lfs.onnx", "model_not_onnx", "Git LFS pointer"),
        ("cases/empty.onnx", "model_not_onnx", "empty"),
        (
            "synthetic/broken_truncated.onnx",
            "model_not_onnx",
            "cut off",
        ),
        ("synthetic/broken_empty.onnx", "model_not_onnx", "empty"),
        ("synthetic/broken_text.onnx", "model_not_onnx", "text file"),
        ("synthetic/broken_html.onnx", "model_not_onnx", "HTML"),
        (
            "synthetic/broken_lfs_pointer.onnx",
            "model_not_onnx",
            "Git LFS",
        ),
        (
            "synthetic/broken_unknown_op.onnx",
            "model_operator",
            "NoSuchOp",
        ),
        ("synthetic/broken_dangling.onnx", "model_invalid", "nowhere"),
        ("synthetic/broken_opset.onnx", "model_opset", "opset 999"),
        (
            "synthetic/broken_external_missing.onnx",
            "model_weights",
            "missing_weights.bin",
        ),
        (
            "synthetic/broken_external_escape.onnx",
            "model_weights",
            "outside the model's folder",
        ),
        (
            "synthetic/broken_shapes.onnx",
            "model_invalid",
            "Incompatible dimensions",
        ),
        (
            "synthetic/multi_io.onnx",
            "model_input",
            "2 inputs: `a` f32 [?,4], `b` f32 [?,4]",
        ),
        ("synthetic/odd_names.onnx", "model_input", "[?,6,8,8]"),
        ("synthetic/external_ok.onnx", "model_input", "`x` f32 [?,3]"),
        ("synthetic/nowhere.onnx", "model_missing", "No such file"),
    ] {
        let file = format!("tests/data/{model}");
        let failure = load(&spec(&file), library).err().expect(model);
        let problem = &failure.problem;
        assert_eq!(problem.code, code, "{}", problem.message);
        assert!(
            problem.message.contains(words),
            "{model}: {}",
            problem.message
        );
        let name = model.rsplit('/').next().expect("a name");
        assert!(problem.message.contains(name), "{}", problem.message);
        assert!(!problem.message.contains('\n'), "{}", problem.message);
        assert!(
            !problem.message.contains("onnxruntime_src"),
            "{}",
            problem.message
        );
        assert!(problem.hint.is_some(), "{model}");
        assert_eq!(failure.exit_status(), 4);
    }
}

#[test]
fn a_gpu_that_is_not_there_is_said_and_strict_refuses() {
    let Some(library) = library() else { return };
    if ringside::consumer::Target::Cuda(0).is_built_in() {
        eprintln!("skipped: this ONNX Runtime has CUDA");
        return;
    }
    for (device, strict, fits) in [
        (DeviceChoice::Auto, false, true),
        (DeviceChoice::Auto, true, true),
        (DeviceChoice::Cuda(0), false, true),
        (DeviceChoice::TensorRt(0), false, true),
        (DeviceChoice::Cuda(0), true, false),
        (DeviceChoice::TensorRt(0), true, false),
    ] {
        let spec = ModelSpec {
            device,
            strict,
            ..spec("tests/data/cases/mean.onnx")
        };
        match load(&spec, library) {
            Ok(runner) => {
                assert!(fits, "{device} strict");
                let report = &runner.card().provider;
                assert_eq!(report.asked, device.to_string());
                assert_eq!(report.provider, "CPU");
                let reason = report.reason.as_deref().expect("a reason");
                assert!(reason.contains("built without CUDA"), "{reason}");
                assert!(report.executed.keys().eq(["CPU"]), "{report:?}");
                let notices = &runner.model().notices;
                assert!(
                    notices
                        .iter()
                        .any(|notice| notice.code == "device_fallback")
                );
            }
            Err(failure) => {
                assert!(!fits, "{device}: {failure}");
                assert_eq!(failure.problem.code, "device_unavailable");
                assert_eq!(failure.exit_status(), 5);
                let asked = device.to_string();
                assert!(failure.problem.message.contains(&asked), "{failure}");
            }
        }
    }
}

#[test]
fn other_models_are_described_tensor_by_tensor() {
    let Some(library) = library() else { return };
    let spec = spec("models/centernet_mbv3_coco.onnx");
    let mut runner = load(&spec, library).expect("a model");
    assert_eq!(runner.card().layout, "raw");
    let output = answer(&mut runner, photograph("assets/samples/coffee.jpg"));
    let Output::Raw { tensors } = output else {
        panic!("raw: {output:?}");
    };
    assert_eq!(tensors.len(), 1);
    assert_eq!(
        (tensors[0].name.as_str(), tensors[0].dtype.as_str()),
        ("output0", "f32")
    );
    assert_eq!(tensors[0].shape, [1, 100, 6]);
    assert_eq!(tensors[0].nan, 0);
}

#[test]
fn labels_that_do_not_belong_to_the_model_are_noticed() {
    let Some(library) = library() else { return };
    let spec = ModelSpec {
        labels: Some(root("tests/data/synthetic/coco80_labels.txt")),
        ..spec("tests/data/cases/mean.onnx")
    };
    let runner = load(&spec, library).expect("a model");
    let notice = &runner.model().notices[0];
    assert_eq!(notice.code, "labels_mismatch");
    assert!(notice.message.contains("80 labels"), "{}", notice.message);
    assert!(notice.message.contains("3 classes"), "{}", notice.message);
}

#[test]
fn a_file_that_is_no_onnx_runtime_is_one_clear_error() {
    let needed = ringside::runtime::Version::NEEDED.to_string();
    let text = root("README.md");
    for path in [
        Path::new("/nonexistent.so"),
        Path::new("/"),
        Path::new("/lib/x86_64-linux-gnu/libm.so.6"),
        Path::new("/dev/null"),
        text.as_path(),
    ] {
        let Err(error) = Library::load(Some(path)) else {
            panic!("{} was loaded", path.display());
        };
        let failure = Failure::from(error);
        assert_eq!(failure.exit_status(), 5);
        let message = &failure.problem.message;
        assert!(message.contains(&needed), "{message}");
        assert!(message.contains(&path.display().to_string()), "{message}");
    }
}
