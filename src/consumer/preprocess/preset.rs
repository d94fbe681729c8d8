use crate::protocol::{Filter, Preprocess, Resize};

use super::PreprocessError;

/// Levels of an 8-bit sample, as a factor to 0..=1.
pub(super) const TO_UNIT: f64 = 1.0 / 255.0;

/// Names of the presets; `auto` is none.
const NAMES: [&str; 5] = ["auto", "raw", "imagenet", "yolo", "yolox"];

/// The preprocessing that a preset stands for; `None` for `auto`.
///
/// Its `size` is what such models usually take, for inputs that leave it open.
///
/// # Errors
/// [`PreprocessError::UnknownPreset`].
pub(super) fn preset(name: &str) -> Result<Option<Preprocess>, PreprocessError> {
    Ok(Some(match name {
        "auto" => return Ok(None),
        "raw" => raw(),
        "imagenet" => Preprocess {
            size: Some([224, 224]),
            ..imagenet()
        },
        "yolo" => yolo(),
        "yolox" => Preprocess {
            resize: Resize::LetterboxTopleft,
            order: "bgr".to_owned(),
            scale: 1.0,
            ..yolo()
        },
        _ => {
            let distance = |known: &&str| strsim::damerau_levenshtein(known, name);
            return Err(PreprocessError::UnknownPreset {
                name: name.to_owned(),
                nearest: NAMES.into_iter().min_by_key(distance).unwrap_or("auto"),
            });
        }
    }))
}

/// The whole frame, RGB, 0..=1.
pub(super) fn raw() -> Preprocess {
    Preprocess {
        resize: Resize::Stretch,
        filter: Filter::PilBilinear,
        size: None,
        crop_pct: 0.875,
        order: "rgb".to_owned(),
        scale: TO_UNIT,
        mean: [0.0; 3],
        std: [1.0; 3],
        pad: 114,
    }
}

/// Classifiers of torchvision and timm, trained on ImageNet.
pub(super) fn imagenet() -> Preprocess {
    Preprocess {
        resize: Resize::ShortestCrop,
        mean: [0.485, 0.456, 0.406],
        std: [0.229, 0.224, 0.225],
        ..raw()
    }
}

/// Classifiers of Ultralytics, v8 and later.
pub(super) fn ultralytics_classify() -> Preprocess {
    Preprocess {
        resize: Resize::ShortestCrop,
        crop_pct: 1.0,
        ..raw()
    }
}

/// Detectors of Ultralytics and their kin.
pub(super) fn yolo() -> Preprocess {
    Preprocess {
        resize: Resize::Letterbox,
        filter: Filter::CvLinear,
        size: Some([640, 640]),
        ..raw()
    }
}
