//! How `ringside run` ends, and what it says of a run that came to nothing.

mod support;

use ringside::recording::{ProblemRow, Row};
use support::{
    data, finish, folder, image, predictions, ringside, root, run_json, summary, totals,
};

fn said<'a>(rows: &'a [Row], code: &str) -> Vec<&'a ProblemRow> {
    let problems = rows.iter().filter_map(|row| match row {
        Row::Failed(row) | Row::Notice(row) => Some(row),
        _ => None,
    });
    problems.filter(|row| row.code == code).collect()
}

#[test]
fn a_model_without_a_usable_answer_fails_the_run_and_the_others_are_complete() {
    let cat = image(&root().join("assets/samples/cat.jpg"));
    let models = [
        data("synthetic/nan_output.onnx"),
        data("synthetic/echo_corner.onnx"),
    ];
    let finished = run_json(&cat, &[&models[0], &models[1]], &["--device", "cpu"]);
    assert_eq!(finished.code(), 1, "{}", finished.stderr);
    let rows = finished.rows();
    let failures = said(&rows, "all_invalid");
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].about, "nan_output");
    assert!(failures[0].message.contains("3 NaN"), "{failures:?}");
    assert_eq!(totals(&rows, "echo_corner").predicted, 1);
}

#[test]
fn a_source_of_which_nothing_can_be_read_fails_the_run() {
    let broken = tempfile::tempdir().expect("a folder");
    let cat = std::fs::read(root().join("assets/samples/cat.jpg")).expect("a photograph");
    for name in ["1.jpg", "2.jpg"] {
        std::fs::write(broken.path().join(name), &cat[..100]).expect("a file");
    }
    let finished = run_json(
        &folder(broken.path()),
        &[&data("cases/mean.onnx")],
        &["--device", "cpu"],
    );
    assert_eq!(finished.code(), 1, "{}", finished.stderr);
    let rows = finished.rows();
    let failures = said(&rows, "no_frames");
    assert_eq!(failures.len(), 1);
    assert!(failures[0].message.contains("2 entries"), "{failures:?}");
    // One good picture is a run that went well.
    std::fs::write(broken.path().join("3.jpg"), &cat).expect("a file");
    let finished = run_json(
        &folder(broken.path()),
        &[&data("cases/mean.onnx")],
        &["--device", "cpu"],
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    assert_eq!(summary(&finished.rows()).frames.skipped, 2);
}

#[test]
fn a_session_without_a_model_is_wrong_usage() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = folder.path().join("session.toml");
    std::fs::write(&session, "source = \"pattern:bars?frames=2\"\n").expect("a file");
    let finished = finish(ringside(["run", "--json"]).arg(&session));
    assert_eq!(finished.code(), 2);
    assert!(finished.stderr.contains("no model"), "{}", finished.stderr);
}

#[test]
fn a_few_answers_make_no_rate() {
    let arguments = ["--device", "cpu", "--source", "pattern:stamp?frames=4"];
    let model = data("cases/mean.onnx");
    let finished = finish(
        ringside(["run", "--json"])
            .args(arguments)
            .arg("--model")
            .arg(&model),
    );
    let rows = finished.rows();
    assert_eq!(predictions(&rows).len(), 4);
    assert_eq!(totals(&rows, "mean").frames_per_second, None);
    let last = finished.stdout.lines().last().expect("a summary");
    assert!(last.contains("\"frames_per_second\":null"), "{last}");
    let shown = finish(
        ringside(["run", "--quiet"])
            .args(arguments)
            .arg("--model")
            .arg(&model),
    );
    let line = shown.stdout.lines().last().expect("a summary");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[..6], ["mean", "4", "0", "0", "0", "–"], "{line}");
    // The first of eight is warm-up.
    let long = run_json(
        "pattern:stamp?frames=8&fps=4",
        &[&model],
        &["--device", "cpu"],
    );
    assert!(totals(&long.rows(), "mean").frames_per_second.is_some());
}

#[test]
fn options_that_mean_nothing_or_too_much_are_noticed() {
    let cat = image(&root().join("assets/samples/cat.jpg"));
    let finished = run_json(
        &cat,
        &[&data("cases/mean.onnx")],
        &["--device", "auto", "--strict", "--threads", "250"],
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    assert!(said(&rows, "strict_auto")[0].message.contains("no effect"));
    let threads = &said(&rows, "many_threads")[0].message;
    assert!(threads.contains("250 threads"), "{threads}");
    for notice in said(&rows, "device_fallback") {
        assert!(!notice.message.contains("auto was asked for"), "{notice:?}");
    }
}

#[test]
fn live_answers_are_as_many_as_asked_for_also_in_batches() {
    let finished = run_json(
        "pattern:stamp?size=64x64&fps=200",
        &[&data("cases/mean.onnx"), &data("synthetic/slow.onnx")],
        &[
            "--device",
            "cpu",
            "--delivery",
            "live",
            "--batch",
            "5",
            "--frames",
            "7",
        ],
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    for model in ["mean", "slow"] {
        assert_eq!(totals(&rows, model).predicted, 7, "{model}");
        let answers = predictions(&rows);
        assert_eq!(answers.iter().filter(|row| row.model == model).count(), 7);
    }
}

#[test]
fn a_report_that_cannot_be_made_names_its_cause_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let cat = image(&root().join("assets/samples/cat.jpg"));
    let model = data("cases/mean.onnx");
    let finished = finish(
        ringside(["run", "--source", &cat, "--model"])
            .arg(&model)
            .arg("--report")
            .arg(&file),
    );
    assert_eq!(finished.code(), 1);
    assert_eq!(
        finished.stderr.matches("File exists").count(),
        1,
        "{}",
        finished.stderr
    );
}

#[test]
fn rows_that_nobody_takes_are_said_on_stderr() {
    let full = std::fs::File::create("/dev/full").expect("the device");
    let mut command = ringside(["run", "--json", "--device", "cpu", "--source"]);
    command
        .arg(image(&root().join("assets/samples/cat.jpg")))
        .arg("--model")
        .arg(data("cases/mean.onnx"))
        .stdout(full);
    let output = command.output().expect("the program");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("No space left on device"), "{said}");
}

#[test]
fn files_without_an_end_are_refused_by_name() {
    let finished = finish(&mut ringside(["run", "/dev/zero"]));
    assert_eq!(finished.code(), 2, "{}", finished.stderr);
    assert!(finished.stderr.contains("/dev/zero"), "{}", finished.stderr);
    let folder = tempfile::tempdir().expect("a folder");
    let session = folder.path().join("session.toml");
    let text = format!(
        "source = {:?}\n[[model]]\npath = {:?}\nlabels = \"/dev/zero\"\ndevice = \"cpu\"\n",
        image(&root().join("assets/samples/cat.jpg")),
        data("cases/mean.onnx"),
    );
    std::fs::write(&session, text).expect("a file");
    let finished = finish(ringside(["run"]).arg(&session));
    assert_eq!(finished.code(), 4, "{}", finished.stderr);
    assert!(
        finished
            .stderr
            .contains("/dev/zero: it is not a regular file"),
        "{}",
        finished.stderr
    );
}
