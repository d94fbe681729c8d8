//! Classifiers and other models, answer by answer.

use super::*;

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
