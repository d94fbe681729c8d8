//! Pictures reach the model as it wants them.

use super::*;

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
fn a_preset_that_a_whole_number_input_does_not_take_whole_is_noticed() {
    let Some(library) = library() else { return };
    let codes = |preset: &str, model: &str| {
        let mut spec = spec(model);
        spec.preprocess.preset = Some(preset.to_owned());
        let runner = load(&spec, library).expect("a model");
        let notices = &runner.model().notices;
        let codes = notices.iter().map(|notice| notice.code.clone());
        codes.collect::<Vec<_>>()
    };
    let u8 = "tests/data/cases/u8.onnx";
    assert_eq!(codes("imagenet", u8), ["preset_unscaled"]);
    // YOLOX takes 0..=255, as the input does.
    assert_eq!(codes("yolox", u8), [""; 0]);
    assert_eq!(codes("imagenet", "tests/data/cases/mean.onnx"), [""; 0]);
}
