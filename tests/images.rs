//! Folder images and numbers, end to end: file → ring → model → row. The cases' numbers (C24 …) are
//! those of `tests/data/cases`; expected values were computed with Pillow, OpenCV and ONNX Runtime.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use ringside::recording::Row;
use support::{
    Finished, data, finish, folder, image, predictions, ringside, run_json, summary, top, values,
};

/// Mean red, green and blue of what `model` was fed, by path.
fn means(finished: &Finished) -> BTreeMap<String, [f32; 3]> {
    let rows = finished.rows();
    let means = predictions(&rows).into_iter().map(|row| {
        let values = values(row);
        (
            row.path.clone().unwrap_or_default(),
            ["R", "G", "B"].map(|name| values[name]),
        )
    });
    means.collect()
}

fn assert_near(actual: [f32; 3], expected: [f32; 3], tolerance: f32, what: &str) {
    for (a, b) in actual.iter().zip(expected) {
        assert!(
            (a - b).abs() <= tolerance,
            "{what}: {actual:?}, expected {expected:?} ± {tolerance}"
        );
    }
}

/// A folder with copies of these files of `tests/data`.
fn folder_of(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for file in files {
        let name = Path::new(file).file_name().expect("a name");
        std::fs::copy(data(file), folder.path().join(name)).expect("a copy");
    }
    folder
}

fn skipped(rows: &[Row]) -> BTreeMap<String, String> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Skipped(row) => Some((row.path.clone().unwrap_or_default(), row.reason.clone())),
            _ => None,
        })
        .collect()
}

#[test]
fn c24_pictures_of_all_orientations_arrive_upright() {
    let names: Vec<String> = (1..=8)
        .flat_map(|n| [format!("cases/exif{n}.jpg"), format!("cases/exif{n}.png")])
        .collect();
    let pictures = folder_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let finished = run_json(
        &folder(pictures.path()),
        &[&data("synthetic/echo_corner.onnx")],
        &["--device", "cpu"],
    );
    let rows = finished.rows();
    // Stored 64x32; 5 to 8 swap the sides.
    for row in &rows {
        if let Row::Frame(frame) = row {
            let path = frame.path.clone().expect("a file");
            let number: u8 = path.trim_start_matches("exif")[..1]
                .parse()
                .expect("a number");
            let expected = if number >= 5 { (32, 64) } else { (64, 32) };
            assert_eq!((frame.width, frame.height), expected, "{path}");
            assert_eq!(frame.stored, [64, 32], "{path}");
        }
    }
    assert_eq!(predictions(&rows).len(), 16);
}

#[test]
fn c24_the_model_is_fed_the_upright_picture() {
    let names: Vec<String> = (1..=8)
        .map(|n| format!("edge/exif_orientation_{n}.jpg"))
        .collect();
    let pictures = folder_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let finished = run_json(
        &folder(pictures.path()),
        &[&data("synthetic/echo_corner.onnx")],
        &["--device", "cpu"],
    );
    let rows = finished.rows();
    let answers: Vec<&str> = predictions(&rows).into_iter().map(top).collect();
    // `echo_corner.with_exif_applied` of tests/data/edge-index.json, for every orientation.
    assert_eq!(answers, ["bottom_right"; 8]);
}

#[test]
fn c27_one_bad_file_never_ends_the_run() {
    let pictures = folder_of(&[
        "cases/full.jpg",
        "cases/trunc.jpg",
        "cases/zero.jpg",
        "cases/text.jpg",
        "cases/._full.jpg",
        "cases/png_named.jpg",
        "cases/webp_named.jpg",
        "edge/notes.txt",
    ]);
    std::fs::write(pictures.path().join(".DS_Store"), b"Bud1").expect("a file");
    let finished = run_json(
        &folder(pictures.path()),
        &[&data("cases/mean.onnx")],
        &["--device", "cpu", "--preset", "raw"],
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    let means = means(&finished);
    assert_eq!(
        means.keys().collect::<Vec<_>>(),
        ["full.jpg", "png_named.jpg", "webp_named.jpg"]
    );
    for name in ["png_named.jpg", "webp_named.jpg"] {
        assert_near(
            means[name],
            [200.0 / 255.0, 100.0 / 255.0, 50.0 / 255.0],
            0.008,
            name,
        );
    }
    let skipped = skipped(&rows);
    assert_eq!(
        skipped.keys().collect::<Vec<_>>(),
        ["text.jpg", "trunc.jpg", "zero.jpg"]
    );
    let summary = summary(&rows);
    assert_eq!((summary.frames.published, summary.frames.skipped), (3, 3));
}

#[test]
fn c28_giant_pictures_in_tiny_files_are_refused_with_size_and_limit() {
    let pictures = folder_of(&[
        "cases/huge1bit.png",
        "cases/forged.png",
        "cases/red.png",
        "cases/green.png",
        "cases/blue.png",
    ]);
    let mut command = Command::new("prlimit");
    // Without control groups: the producer's and the model's address space, each well under it
    // in practice, may together not pass what a 1 GiB machine gives.
    command.args([
        "--data=1073741824",
        env!("CARGO_BIN_EXE_ringside"),
        "run",
        "--json",
        "--device",
        "cpu",
        "--preset",
        "raw",
        "--source",
    ]);
    command
        .arg(folder(pictures.path()))
        .arg("--model")
        .arg(data("cases/mean.onnx"));
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let finished = finish(&mut command);
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    let means = means(&finished);
    for (name, colour) in [
        ("red.png", [1.0, 0.0, 0.0]),
        ("green.png", [0.0, 1.0, 0.0]),
        ("blue.png", [0.0, 0.0, 1.0]),
    ] {
        assert_near(means[name], colour, 0.001, name);
    }
    let skipped = skipped(&rows);
    assert!(skipped["forged.png"].contains("60000"), "{skipped:?}");
    assert!(
        skipped
            .get("huge1bit.png")
            .is_none_or(|reason| reason.contains("20000")),
        "{skipped:?}"
    );
}

#[test]
fn c30_odd_names_come_through_and_stay_distinct() {
    let pictures = tempfile::tempdir().expect("a folder");
    let make = Command::new("python3")
        .arg(data("cases/make_names"))
        .arg(data("cases/grey200.png"))
        .arg(pictures.path())
        .status();
    if !make.is_ok_and(|status| status.success()) {
        println!("skipped: python3, which makes the names, is missing");
        return;
    }
    let model_folder = pictures.path().join(ringside::base::unescape_path("d%E9"));
    let model = model_folder.join("mean.onnx");
    std::fs::copy(data("cases/mean.onnx"), &model).expect("a copy");
    let source = format!("{}?recursive=1", folder(pictures.path()));
    let finished = run_json(&source, &[&model], &["--device", "cpu", "--preset", "raw"]);
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let means = means(&finished);
    let names: BTreeSet<&str> = means.keys().map(String::as_str).collect();
    let long = format!("{}.png", "x".repeat(251));
    let expected = [
        "%FF%FE.png",
        "new%0Aline.png",
        "a,\"b\".png",
        "%2503d.png",
        "-lead.png",
        "猫 🐈.png",
        &long,
        "d%E9/1.png",
    ];
    assert_eq!(names, BTreeSet::from(expected));
    for (name, mean) in &means {
        assert_near(*mean, [200.0 / 255.0; 3], 0.001, name);
    }
}

#[test]
fn c15_a_float16_model_takes_and_gives_float16() {
    let finished = run_json(
        &image(&data("cases/grey127.png")),
        &[&data("cases/fp16.onnx")],
        &["--device", "cpu", "--preset", "raw"],
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    assert_near(
        means(&finished)["grey127.png"],
        [0.498; 3],
        0.001,
        "float16",
    );
}

#[test]
fn c57_red_is_red_and_a_bgr_option_flips_the_tensor_only() {
    let names: Vec<String> = ["red", "green", "blue"]
        .iter()
        .flat_map(|colour| [format!("cases/{colour}.png"), format!("cases/{colour}.jpg")])
        .collect();
    let pictures = folder_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let finished = run_json(
        &folder(pictures.path()),
        &[&data("cases/mean.onnx")],
        &["--device", "cpu", "--preset", "raw"],
    );
    let means_rgb = means(&finished);
    for (name, mean) in &means_rgb {
        let expected = match name.split('.').next() {
            Some("red") => [1.0, 0.0, 0.0],
            Some("green") => [0.0, 1.0, 0.0],
            _ => [0.0, 0.0, 1.0],
        };
        assert_near(*mean, expected, 0.01, name);
    }
    assert_eq!(means_rgb.len(), 6);

    let session = pictures.path().join("session.toml");
    let text = format!(
        "source = \"image:red.png\"\n[[model]]\npath = {:?}\ndevice = \"cpu\"\n[model.preprocess]\npreset = \"raw\"\norder = \"bgr\"\n",
        data("cases/mean.onnx")
    );
    std::fs::write(&session, text).expect("a session file");
    let finished = finish(ringside(["run", "--json"]).arg(&session));
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    assert_near(means(&finished)["red.png"], [0.0, 0.0, 1.0], 0.001, "bgr");
}

#[test]
fn c60_scaling_is_the_models_own() {
    let picture = image(&data("cases/grey200.png"));
    for (model, preset, expected) in [
        ("cases/u8.onnx", "auto", [200.0, 200.0, 200.0]),
        ("cases/mean.onnx", "raw", [0.784, 0.784, 0.784]),
        ("cases/mean.onnx", "imagenet", [1.307, 1.466, 1.681]),
    ] {
        let finished = run_json(
            &picture,
            &[&data(model)],
            &["--device", "cpu", "--preset", preset],
        );
        assert_eq!(finished.code(), 0, "{}", finished.stderr);
        assert_near(means(&finished)["grey200.png"], expected, 0.005, preset);
    }
}

#[test]
fn c56_both_kinds_of_bilinear_are_what_they_say() {
    let folder = tempfile::tempdir().expect("a folder");
    for (filter, expected) in [("pil-bilinear", 64.0), ("cv-linear", 128.0)] {
        let session = folder.path().join("session.toml");
        let text = format!(
            "source = \"image:{}\"\n[[model]]\npath = {:?}\ntop = 192\ntask = \"classify\"\ndevice = \"cpu\"\n[model.preprocess]\npreset = \"raw\"\nfilter = \"{filter}\"\n",
            data("cases/stripes512.png").display(),
            data("cases/ident8.onnx")
        );
        std::fs::write(&session, text).expect("a session file");
        let finished = finish(ringside(["run", "--json"]).arg(&session));
        assert_eq!(finished.code(), 0, "{}", finished.stderr);
        let rows = finished.rows();
        let values = values(predictions(&rows)[0]);
        assert_eq!(values.len(), 192);
        for (name, value) in values {
            assert!(
                (value * 255.0 - expected).abs() <= 1.0,
                "{filter}, {name}: {}",
                value * 255.0
            );
        }
        let exported = rows.iter().any(|row| matches!(row, Row::Session(session) if session.models.iter().any(|model| serde_json::to_value(model.preprocess.filter).expect("JSON") == filter)));
        assert!(exported, "the filter in use is in the rows");
    }
}
