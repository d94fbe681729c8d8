use super::*;
use crate::protocol::{Filter, NmsKind, Resize};

/// The session file of DESIGN.md, shortened to what is checked.
const FULL: &str = r#"
ringside = 1
source = "folder:assets/samples"
delivery = "every"
schedule = "turns"
loop = true
fps = 12.5
[ring]
slots = 7
max_bytes = 2_000_000
[[model]]
path = "models/efficientnet_lite0.onnx"
name = "lite0"
device = "cuda:1"
strict = true
labels = "models/labels.txt"
threshold = 0.3
nms = "agnostic"
batch = 2
[model.preprocess]
preset = "imagenet"
resize = "letterbox-topleft"
filter = "pil-bicubic"
size = [640, 480]
mean = [1, 2, 3]
[[model]]
path = "/absolute/other.onnx"
"#;

#[test]
fn a_full_file_is_read_with_paths_relative_to_it() {
    let spec = SessionSpec::from_toml(FULL, Path::new("/base")).expect("a valid file");
    assert_eq!(spec.source, "folder:/base/assets/samples");
    assert_eq!(spec.delivery, Some(Delivery::Every));
    assert_eq!((spec.looping, spec.fps, spec.ring.slots), (true, 12.5, 7));
    assert_eq!(spec.ring.max_bytes, 2_000_000);
    let lite0 = &spec.models[0];
    assert_eq!(
        lite0.path,
        Path::new("/base/models/efficientnet_lite0.onnx")
    );
    assert_eq!(
        lite0.labels.as_deref(),
        Some(Path::new("/base/models/labels.txt"))
    );
    assert_eq!(lite0.device, DeviceChoice::Cuda(1));
    assert_eq!(lite0.nms, NmsKind::Agnostic);
    assert_eq!(lite0.preprocess.resize, Some(Resize::LetterboxTopleft));
    assert_eq!(lite0.preprocess.filter, Some(Filter::PilBicubic));
    assert_eq!(lite0.preprocess.size, Some([640, 480]));
    assert_eq!(lite0.preprocess.mean, Some([1.0, 2.0, 3.0]));
    let other = &spec.models[1];
    assert_eq!(
        (other.name.as_str(), other.batch, other.top),
        ("other", 1, 5)
    );
}

#[test]
fn an_empty_file_is_a_session_of_defaults() {
    let spec = SessionSpec::from_toml("", Path::new("/base")).expect("every key has a default");
    assert_eq!(spec, SessionSpec::default());
}

#[test]
fn a_written_session_reads_as_the_same_one_from_another_folder() {
    let spec = SessionSpec::from_toml(FULL, Path::new("/base")).expect("a valid file");
    let text = spec.to_toml().expect("it has a text");
    let back = SessionSpec::from_toml(&text, Path::new("/elsewhere")).expect(&text);
    assert_eq!(back, spec);
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_one() {
    for (text, line, key, nearest) in [
        ("ringside = 1\nsorce = \"x\"\n", 2, "sorce", Some("source")),
        ("[ring]\nslot = 3\n", 2, "ring.slot", Some("slots")),
        (
            "[[model]]\npath = \"a\"\nthreshhold = 1\n",
            3,
            "model.threshhold",
            Some("threshold"),
        ),
        (
            "[[model]]\n[model.preprocess]\nsizes = 1\n",
            3,
            "model.preprocess.sizes",
            Some("size"),
        ),
        ("qqq = 1\n", 1, "qqq", None),
        ("looping = true\n", 1, "looping", Some("loop")),
    ] {
        let error = SessionSpec::from_toml(text, Path::new("/")).expect_err(text);
        let SpecError::UnknownKey {
            line: found_line,
            key: found_key,
            nearest: found_nearest,
        } = &error
        else {
            panic!("{text}: {error}");
        };
        assert_eq!((*found_line, found_key.as_str()), (line, key));
        assert_eq!(found_nearest.as_deref(), nearest, "{text}");
    }
}

#[test]
fn wrong_values_are_refused_with_what_to_do() {
    for (text, expected) in [
        ("ringside = 2", "newer session format"),
        ("fps = -1", "fps"),
        ("delivery = \"all\"", "every"),
        ("source = [\"a\", \"b\"]", "one source"),
        ("[[model]]\nname = \"a\"", "path"),
        ("[[model]]\npath = \"a\"\nthreshold = 2", "threshold"),
        ("[[model]]\npath = \"a\"\nbatch = 0", "batch"),
        ("[[model]]\npath = \"a\"\ndevice = \"gpu\"", "cuda:N"),
        ("[[model]]\npath = \"a\"\ntask = \"clasify\"", "classify"),
        (
            "[[model]]\npath = \"a\"\nname = \"n\"\n[[model]]\npath = \"b\"\nname = \"n\"",
            "two models",
        ),
        ("frames = \"many\"", "frames"),
    ] {
        let error = SessionSpec::from_toml(text, Path::new("/")).expect_err(text);
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

#[test]
fn the_command_line_overrides_the_file_for_all_models() {
    let mut spec = SessionSpec::from_toml(FULL, Path::new("/base")).expect("a valid file");
    let overrides = SpecOverrides {
        source: Some("image:cat.jpg".to_owned()),
        models: vec!["m.onnx".into(), "x/m.onnx".into()],
        device: Some(DeviceChoice::Cpu),
        preset: Some("raw".to_owned()),
        threshold: Some(0.5),
        delivery: Some(Delivery::Live),
        frames: Some(3),
        ..SpecOverrides::default()
    };
    spec.apply(&overrides, Path::new("/pictures"))
        .expect("valid options");
    assert_eq!(spec.source, "image:/pictures/cat.jpg");
    assert_eq!(spec.frames, Some(3));
    assert_eq!(spec.delivery(), Delivery::Live);
    let names: Vec<&str> = spec
        .models
        .iter()
        .map(|model| model.name.as_str())
        .collect();
    assert_eq!(names, ["m", "m-2"]);
    for model in &spec.models {
        assert_eq!((model.device, model.threshold), (DeviceChoice::Cpu, 0.5));
        assert_eq!(model.preprocess.preset.as_deref(), Some("raw"));
    }
}

#[test]
fn cameras_and_streams_are_live_by_default_and_files_are_not() {
    for (source, delivery) in [
        ("camera:/dev/video0", Delivery::Live),
        ("rtsp://host/x", Delivery::Live),
        ("folder:/x", Delivery::Every),
        ("/x/cat.jpg", Delivery::Every),
    ] {
        let spec = SessionSpec {
            source: source.to_owned(),
            ..SessionSpec::default()
        };
        assert_eq!(spec.delivery(), delivery, "{source}");
    }
}
