//! What known models want, and who said so.

use std::collections::BTreeMap;

use ringside::consumer::preprocess::{
    Hints, InputTensor, InputType, Layout, PreprocessError, Resolved, resolve,
};
use ringside::protocol::{Filter, Origin, PreprocessSpec, Resize};

fn input(channels: u32, dtype: InputType, size: Option<[u32; 2]>) -> InputTensor {
    InputTensor {
        layout: Layout::Nchw,
        dtype,
        channels,
        height: size.map(|[height, _]| height),
        width: size.map(|[_, width]| width),
    }
}

fn rgb(side: u32) -> InputTensor {
    input(3, InputType::F32, Some([side, side]))
}

fn metadata<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

fn wanted(
    input: &InputTensor,
    task: &str,
    metadata: &BTreeMap<String, String>,
    spec: &PreprocessSpec,
) -> Result<Resolved, PreprocessError> {
    let hints = Hints {
        metadata,
        sidecar: None,
        spec,
        task,
    };
    resolve(input, &hints)
}

fn auto(input: &InputTensor, task: &str, metadata: &BTreeMap<String, String>) -> Resolved {
    wanted(input, task, metadata, &PreprocessSpec::default()).unwrap()
}

fn preset(name: &str) -> PreprocessSpec {
    PreprocessSpec {
        preset: Some(name.to_owned()),
        ..PreprocessSpec::default()
    }
}

#[test]
fn efficientnet_lites_metadata_are_followed() {
    let metadata = metadata([
        ("task", "classify"),
        ("names", "{0: 'tench, Tinca tinca'}"),
        ("imgsz", "[224, 224]"),
        ("mean", "[127.0, 127.0, 127.0]"),
        ("std", "[128.0, 128.0, 128.0]"),
        (
            "resize",
            "crop_padding 32 (centre square of min(h,w)*size/(size+32)), bicubic",
        ),
        ("color", "RGB"),
    ]);
    let Resolved {
        preprocess,
        origins,
        ..
    } = auto(&rgb(224), "classify", &metadata);
    assert_eq!(preprocess.resize, Resize::ShortestCrop);
    assert_eq!(preprocess.filter, Filter::PilBicubic);
    assert_eq!(preprocess.size, Some([224, 224]));
    assert_eq!(preprocess.crop_pct, 0.875);
    assert_eq!(preprocess.order, "rgb");
    assert_eq!(
        (preprocess.scale, preprocess.mean, preprocess.std),
        (1.0, [127.0; 3], [128.0; 3])
    );
    for key in [
        "resize", "filter", "crop_pct", "order", "scale", "mean", "std",
    ] {
        assert_eq!(origins[key], Origin::Metadata, "{key}");
    }
    assert_eq!(origins["size"], Origin::Shape);
    assert_eq!(origins["pad"], Origin::Default);
}

#[test]
fn the_other_bundled_models_metadata_are_followed() {
    let centernet = metadata([
        ("stride", "4"),
        ("names", "{0: 'person'}"),
        ("imgsz", "[512, 512]"),
        ("mean", "[0.0, 0.0, 0.0]"),
        ("std", "[255.0, 255.0, 255.0]"),
        (
            "resize",
            "stretch to 512x512 (as @vladmandic/human does), bilinear",
        ),
        ("color", "RGB"),
    ]);
    let found = auto(&rgb(512), "raw", &centernet).preprocess;
    assert_eq!(
        (found.resize, found.filter),
        (Resize::Stretch, Filter::PilBilinear)
    );
    assert_eq!((found.scale, found.std), (1.0, [255.0; 3]));

    let movenet = metadata([
        ("imgsz", "[192, 192]"),
        ("layout", "NHWC"),
        (
            "resize",
            "letterbox (pad to a square), bilinear; int32 pixels 0..255",
        ),
    ]);
    let found = auto(&input(3, InputType::I32, Some([192, 192])), "raw", &movenet).preprocess;
    assert_eq!(
        (found.resize, found.filter),
        (Resize::Letterbox, Filter::CvLinear)
    );
    assert_eq!((found.pad, found.scale, found.std), (0, 1.0, [1.0; 3]));

    let blazeface = metadata([
        ("mean", "[127.5, 127.5, 127.5]"),
        ("std", "[127.5, 127.5, 127.5]"),
        ("resize", "letterbox"),
    ]);
    let found = auto(&rgb(128), "raw", &blazeface).preprocess;
    assert_eq!(
        (found.resize, found.filter),
        (Resize::Letterbox, Filter::CvLinear)
    );
    assert_eq!((found.pad, found.scale, found.mean), (0, 1.0, [127.5; 3]));
}

#[test]
fn families_are_told_by_task_and_metadata() {
    let nothing = metadata([]);
    let found = auto(&rgb(224), "classify", &nothing).preprocess;
    assert_eq!(
        (found.resize, found.crop_pct),
        (Resize::ShortestCrop, 0.875)
    );
    assert_eq!(found.mean, [0.485, 0.456, 0.406]);
    let found = auto(&rgb(224), "raw", &nothing).preprocess;
    assert_eq!((found.resize, found.mean), (Resize::Stretch, [0.0; 3]));
    assert_eq!(found.scale, 1.0 / 255.0);

    let yolo_v8 = metadata([("stride", "32"), ("names", "{}"), ("task", "classify")]);
    let found = auto(&rgb(224), "classify", &yolo_v8).preprocess;
    assert_eq!((found.resize, found.crop_pct), (Resize::ShortestCrop, 1.0));
    assert_eq!((found.scale, found.std), (1.0 / 255.0, [1.0; 3]));
    let found = auto(&rgb(640), "detect", &yolo_v8).preprocess;
    assert_eq!(
        (found.resize, found.filter),
        (Resize::Letterbox, Filter::CvLinear)
    );
    assert_eq!((found.pad, found.scale), (114, 1.0 / 255.0));

    let yolo_v5 = metadata([("stride", "32"), ("names", "{}")]);
    let found = auto(&rgb(224), "classify", &yolo_v5).preprocess;
    assert_eq!(found.std, [0.229, 0.224, 0.225]);
}

#[test]
fn presets_replace_what_metadata_say_and_keys_replace_presets() {
    let metadata = metadata([("mean", "127"), ("std", "128"), ("resize", "letterbox")]);
    let yolox = wanted(&rgb(416), "detect", &metadata, &preset("yolox")).unwrap();
    let found = &yolox.preprocess;
    assert_eq!(
        (found.resize, found.order.as_str()),
        (Resize::LetterboxTopleft, "bgr")
    );
    assert_eq!(
        (found.scale, found.mean, found.std),
        (1.0, [0.0; 3], [1.0; 3])
    );
    assert_eq!(found.pad, 114);
    assert_eq!(yolox.origins["mean"], Origin::You);

    let spec = PreprocessSpec {
        resize: Some(Resize::Stretch),
        pad: Some(7),
        ..preset("yolo")
    };
    let found = wanted(&rgb(416), "detect", &metadata, &spec)
        .unwrap()
        .preprocess;
    assert_eq!((found.resize, found.pad), (Resize::Stretch, 7));
    assert_eq!(found.filter, Filter::CvLinear);

    let same = wanted(&rgb(416), "detect", &metadata, &preset("auto")).unwrap();
    assert_eq!(same, auto(&rgb(416), "detect", &metadata));
}

#[test]
fn the_users_keys_come_before_the_sidecars_and_those_before_metadata() {
    let metadata = metadata([("mean", "1"), ("std", "2"), ("color", "BGR")]);
    let sidecar = PreprocessSpec {
        mean: Some([3.0; 3]),
        filter: Some(Filter::Nearest),
        ..PreprocessSpec::default()
    };
    let spec = PreprocessSpec {
        filter: Some(Filter::PilBicubic),
        ..PreprocessSpec::default()
    };
    let hints = Hints {
        metadata: &metadata,
        sidecar: Some(&sidecar),
        spec: &spec,
        task: "raw",
    };
    let Resolved {
        preprocess,
        origins,
        ..
    } = resolve(&rgb(8), &hints).unwrap();
    assert_eq!(
        (preprocess.mean, origins["mean"]),
        ([3.0; 3], Origin::Sidecar)
    );
    assert_eq!(
        (preprocess.std, origins["std"]),
        ([2.0; 3], Origin::Metadata)
    );
    assert_eq!(
        (preprocess.filter, origins["filter"]),
        (Filter::PilBicubic, Origin::You)
    );
    assert_eq!(preprocess.order, "bgr");
}

#[test]
fn whole_number_inputs_keep_levels_and_grey_inputs_are_grey() {
    let metadata = metadata([("mean", "127"), ("std", "128"), ("color", "RGB")]);
    let bytes = input(1, InputType::U8, Some([28, 28]));
    for spec in [
        PreprocessSpec::default(),
        preset("imagenet"),
        preset("yolox"),
    ] {
        let found = wanted(&bytes, "classify", &metadata, &spec).unwrap();
        let preprocess = &found.preprocess;
        assert_eq!(
            (preprocess.scale, preprocess.mean, preprocess.std),
            (1.0, [0.0; 3], [1.0; 3])
        );
        assert_eq!(preprocess.order, "gray");
        assert_eq!(
            (found.origins["scale"], found.origins["order"]),
            (Origin::Shape, Origin::Shape)
        );
    }
    let spec = PreprocessSpec {
        scale: Some(0.5),
        ..PreprocessSpec::default()
    };
    let found = wanted(&bytes, "classify", &metadata, &spec)
        .unwrap()
        .preprocess;
    assert_eq!(found.scale, 0.5);
}

#[test]
fn means_of_unit_scale_are_recognised() {
    let metadata = metadata([
        ("mean", "[0.485, 0.456, 0.406]"),
        ("std", "(0.229, 0.224, 0.225)"),
    ]);
    let found = auto(&rgb(224), "classify", &metadata).preprocess;
    assert_eq!(
        (found.scale, found.mean),
        (1.0 / 255.0, [0.485, 0.456, 0.406])
    );
}

#[test]
fn nonsense_in_metadata_is_left_out() {
    let metadata = metadata([
        ("mean", "[1, 2]"),
        ("std", "[0, 0, 0]"),
        ("imgsz", "[-1, 1e9]"),
        ("resize", "somehow"),
        ("color", "CMYK"),
    ]);
    assert_eq!(
        auto(&input(3, InputType::F32, None), "raw", &metadata),
        auto(&input(3, InputType::F32, None), "raw", &BTreeMap::new())
    );
}

#[test]
fn open_sizes_come_from_whoever_names_one() {
    let open = input(3, InputType::F32, None);
    let own = auto(&open, "classify", &metadata([]));
    assert_eq!(own.preprocess.size, None);
    assert_eq!(
        own.preprocess.resize,
        Resize::Stretch,
        "a frame of its own size is not cropped"
    );
    let named = auto(&open, "detect", &metadata([("imgsz", "[480, 640]")]));
    assert_eq!(named.preprocess.size, Some([480, 640]));
    assert_eq!(named.origins["size"], Origin::Metadata);
    let yolo = wanted(&open, "raw", &metadata([]), &preset("yolo")).unwrap();
    assert_eq!(yolo.preprocess.size, Some([640, 640]));
    let half_open = InputTensor {
        height: Some(48),
        ..open
    };
    let found = auto(&half_open, "raw", &metadata([("imgsz", "[480, 640]")]));
    assert_eq!(found.preprocess.size, Some([48, 640]));
    let found = auto(&half_open, "raw", &metadata([]));
    assert_eq!(found.preprocess.size, Some([48, 48]));
    let crop = auto(
        &open,
        "classify",
        &metadata([("imgsz", "260"), ("resize", "crop_padding 32, bicubic")]),
    );
    assert_eq!(crop.preprocess.crop_pct, 260.0 / 292.0);
}

#[test]
fn what_cannot_be_used_is_refused_with_its_key() {
    let refusal = |input: &InputTensor, spec: PreprocessSpec| {
        wanted(input, "raw", &BTreeMap::new(), &spec)
            .unwrap_err()
            .to_string()
    };
    let none = PreprocessSpec::default;
    let message = refusal(&rgb(8), preset("imagnet"));
    assert!(
        message.contains("`imagnet`") && message.contains("`imagenet`"),
        "{message}"
    );
    let open = input(3, InputType::F32, None);
    for (input, spec, expected) in [
        (
            rgb(8),
            PreprocessSpec {
                size: Some([9, 8]),
                ..none()
            },
            "preprocess.size = [9, 8]",
        ),
        (
            open,
            PreprocessSpec {
                size: Some([0, 8]),
                ..none()
            },
            "preprocess.size",
        ),
        (
            rgb(8),
            PreprocessSpec {
                std: Some([1.0, 0.0, 1.0]),
                ..none()
            },
            "preprocess.std",
        ),
        (
            rgb(8),
            PreprocessSpec {
                mean: Some([f64::NAN; 3]),
                ..none()
            },
            "preprocess.mean",
        ),
        (
            rgb(8),
            PreprocessSpec {
                scale: Some(f64::INFINITY),
                ..none()
            },
            "preprocess.scale",
        ),
        (
            rgb(8),
            PreprocessSpec {
                crop_pct: Some(0.0),
                ..none()
            },
            "preprocess.crop_pct",
        ),
        (
            rgb(8),
            PreprocessSpec {
                crop_pct: Some(1.5),
                ..none()
            },
            "preprocess.crop_pct",
        ),
        (
            rgb(8),
            PreprocessSpec {
                order: Some("gray".into()),
                ..none()
            },
            "preprocess.order",
        ),
        (
            input(1, InputType::F32, None),
            PreprocessSpec {
                order: Some("bgr".into()),
                ..none()
            },
            "preprocess.order",
        ),
    ] {
        let message = refusal(&input, spec);
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("session file"), "{message}");
    }
}
