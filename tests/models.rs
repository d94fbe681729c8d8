//! Models and libraries that do not work: each says what is wrong with which file, and nothing else
//! is disturbed.

mod support;

use std::path::{Path, PathBuf};

use ringside::protocol::{Origin, ScoreMeaning};
use ringside::recording::{ProblemRow, Row};
use support::{
    Finished, data, finish, image, predictions, ringside, root, run_json, summary, totals,
};

fn failures(rows: &[Row]) -> Vec<&ProblemRow> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Failed(row) => Some(row),
            _ => None,
        })
        .collect()
}

fn run_beside_a_good_one(model: &Path) -> Finished {
    let cat = image(&root().join("assets/samples/cat.jpg"));
    run_json(
        &cat,
        &[model, &data("synthetic/echo_corner.onnx")],
        &["--device", "cpu"],
    )
}

#[test]
fn c14_a_broken_model_is_named_with_its_cause_and_the_others_go_on() {
    for (file, causes) in [
        ("cases/ir99.onnx", &["IR", "99"][..]),
        ("cases/opset99.onnx", &["opset", "99"]),
        ("cases/customop.onnx", &["my_ops", "DCNv2"]),
        ("cases/lfs.onnx", &["LFS"]),
        ("cases/empty.onnx", &["empty"]),
        ("synthetic/broken_truncated.onnx", &[]),
        ("synthetic/broken_empty.onnx", &["empty"]),
        ("synthetic/broken_text.onnx", &["not an ONNX"]),
        ("synthetic/broken_html.onnx", &["HTML"]),
        ("synthetic/broken_lfs_pointer.onnx", &["LFS"]),
        ("synthetic/broken_unknown_op.onnx", &["NoSuchOp"]),
        ("synthetic/broken_dangling.onnx", &[]),
        ("synthetic/broken_shapes.onnx", &[]),
        ("synthetic/broken_opset.onnx", &["opset"]),
        ("synthetic/broken_external_missing.onnx", &[]),
        ("synthetic/broken_external_escape.onnx", &[]),
        ("synthetic/multi_io.onnx", &["inputs"]),
    ] {
        let finished = run_beside_a_good_one(&data(file));
        assert_eq!(finished.code(), 1, "{file}: {}", finished.stderr);
        let rows = finished.rows();
        let failures = failures(&rows);
        let [failure] = failures[..] else {
            panic!("{file}: one failure, not {failures:?}")
        };
        let name = Path::new(file)
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        assert!(
            failure.message.contains(name),
            "{file}: {}",
            failure.message
        );
        assert!(
            !failure.message.contains('\n'),
            "{file}: one line, not {}",
            failure.message
        );
        for cause in causes {
            assert!(
                failure.message.contains(cause),
                "{file}: no `{cause}` in {}",
                failure.message
            );
        }
        assert_eq!(totals(&rows, "echo_corner").predicted, 1, "{file}");
    }
}

#[test]
fn without_any_model_that_loads_the_run_ends_with_4() {
    let cat = image(&root().join("assets/samples/cat.jpg"));
    let finished = run_json(&cat, &[&data("cases/lfs.onnx")], &["--device", "cpu"]);
    assert_eq!(finished.code(), 4, "{}", finished.stderr);
    assert_eq!(predictions(&finished.rows()).len(), 0);
}

#[test]
fn external_weights_are_found_beside_the_model_whatever_the_working_directory() {
    let finished = finish(
        ringside(["run", "--json", "--device", "cpu", "--source"])
            .arg(image(&data("cases/grey127.png")))
            .arg("--model")
            .arg(data("synthetic/external_ok.onnx"))
            .current_dir("/"),
    );
    // Its input is a vector of three, not a picture: it loads, and is then refused by name.
    let rows = finished.rows();
    let failures = failures(&rows);
    assert!(
        failures
            .iter()
            .all(|failure| !failure.message.contains("external_ok.bin")),
        "{failures:?}"
    );
}

#[test]
fn nan_is_invalid_and_counted_apart() {
    let cat = image(&root().join("assets/samples/cat.jpg"));
    let finished = run_json(
        &cat,
        &[&data("synthetic/nan_output.onnx")],
        &["--device", "cpu"],
    );
    let rows = finished.rows();
    let prediction = predictions(&rows)[0];
    let ringside::prediction::Output::Invalid { reason } = &prediction.output else {
        panic!("{:?}", prediction.output)
    };
    assert!(
        reason.contains("NaN") && reason.contains("logits"),
        "{reason}"
    );
    let totals = totals(&rows, "nan_output");
    assert_eq!((totals.predicted, totals.invalid), (0, 1));
}

#[test]
fn a_model_that_fails_while_running_is_invalid_for_that_frame() {
    let finished = run_beside_a_good_one(&data("synthetic/runtime_error.onnx"));
    let rows = finished.rows();
    assert_eq!(totals(&rows, "echo_corner").predicted, 1);
    assert_eq!(totals(&rows, "runtime_error").predicted, 0);
    assert_eq!(summary(&rows).frames.published, 1);
}

#[test]
fn c12_an_unusable_library_is_one_clear_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("libonnxruntime.so");
    std::fs::write(&text, "not a library").expect("a file");
    let libm = [
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/lib/aarch64-linux-gnu/libm.so.6",
        "/lib64/libm.so.6",
    ];
    let libm = libm
        .iter()
        .map(PathBuf::from)
        .find(|path| path.exists())
        .expect("a C library");
    for library in [
        PathBuf::from("/nonexistent.so"),
        folder.path().to_owned(),
        libm,
        text,
    ] {
        let cat = image(&root().join("assets/samples/cat.jpg"));
        let finished = finish(
            ringside([
                "run", "--json", "--device", "cpu", "--source", &cat, "--model",
            ])
            .arg(data("cases/mean.onnx"))
            .env("ORT_DYLIB_PATH", &library),
        );
        assert_eq!(
            finished.code(),
            5,
            "{}: {}",
            library.display(),
            finished.stderr
        );
        let said = format!("{}{}", finished.stdout, finished.stderr);
        assert!(
            said.contains(&library.display().to_string()),
            "{}: {said}",
            library.display()
        );
        assert!(said.contains("1.24"), "the needed version is named: {said}");
        println!("{}: {:.1} s", library.display(), finished.seconds);
    }
}

#[test]
fn c13_a_cuda_device_that_is_not_there_is_said_everywhere() {
    if Path::new("/dev/nvidiactl").exists() {
        println!("skipped: this machine has an NVIDIA device; tests/gpu checks it");
        return;
    }
    let cat = image(&root().join("assets/samples/cat.jpg"));
    let finished = run_json(&cat, &[&data("cases/mean.onnx")], &["--device", "cuda:0"]);
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    assert!(predictions(&rows).iter().all(|row| row.provider == "CPU"));
    let model = rows.iter().rev().find_map(|row| match row {
        Row::Session(session) => session.models.first().cloned(),
        _ => None,
    });
    let model = model.expect("the model");
    assert_eq!(
        (model.asked.as_str(), model.provider.as_deref()),
        ("cuda:0", Some("CPU"))
    );
    assert!(model.reason.is_some_and(|reason| reason.len() > 10));
    assert!(
        rows.iter()
            .any(|row| matches!(row, Row::Notice(notice) if notice.code == "device_fallback"))
    );

    let strict = run_json(
        &cat,
        &[&data("cases/mean.onnx")],
        &["--device", "cuda:0", "--strict"],
    );
    assert_eq!(strict.code(), 5, "{}", strict.stderr);
    assert_eq!(predictions(&strict.rows()).len(), 0);
}

/// What the last session row says of the numbers of its first model.
fn scores(rows: &[Row]) -> ringside::protocol::ClassScores {
    let session = rows.iter().rev().find_map(|row| match row {
        Row::Session(session) => session.models.first(),
        _ => None,
    });
    session.expect("a model").scores.clone().expect("known")
}

#[test]
fn the_session_row_says_what_a_classifiers_numbers_are_and_how_that_is_known() {
    let grey = image(&data("cases/grey200.png"));
    for (model, are, evidence) in [
        ("gemm", ScoreMeaning::Logits, "Gemm makes output `scores`"),
        (
            "softmax",
            ScoreMeaning::Probabilities,
            "Softmax makes output `scores`",
        ),
    ] {
        let file = data(&format!("models/scores_{model}.onnx"));
        let finished = run_json(&grey, &[&file], &["--device", "cpu"]);
        assert_eq!(finished.code(), 0, "{}", finished.stderr);
        let scores = scores(&finished.rows());
        assert_eq!((scores.are, scores.origin), (are, Origin::Graph));
        assert_eq!(scores.evidence, evidence);
    }
}

#[test]
fn numbers_that_turn_out_to_be_logits_are_a_notice_and_a_new_session_row() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, grey) in [("1.png", 0), ("2.png", 255)] {
        let picture = image::GrayImage::from_pixel(8, 8, image::Luma([grey]));
        picture.save(folder.path().join(name)).expect("a picture");
    }
    let finished = run_json(
        &support::folder(folder.path()),
        &[&data("models/scores_shifted.onnx")],
        &["--device", "cpu", "--preset", "raw"],
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    // [0.2, 0.3, 0.5] sums to 1; scipy.special.softmax([1.2, 1.3, 1.5]).
    for (row, expected) in predictions(&rows).iter().zip([0.5, 0.390_694]) {
        let top = row.output.top_class().expect("classes");
        assert_eq!(top.id, 2);
        assert!((top.score - expected).abs() < 1e-4, "{top:?}");
    }
    let notice = rows.iter().find_map(|row| match row {
        Row::Notice(notice) if notice.code == "scores_revised" => Some(notice),
        _ => None,
    });
    assert_eq!(notice.expect("a notice").about, "scores_shifted");
    let scores = scores(&rows);
    assert_eq!(
        (scores.are, scores.origin),
        (ScoreMeaning::Logits, Origin::Answers)
    );
}
