use super::spec::SpecError;
use super::spec_keys;
use crate::protocol::{ModelSpec, PreprocessSpec};

/// Checks the options of one model.
///
/// # Errors
/// [`SpecError::Invalid`], naming the model and the option.
pub fn check_model(model: &ModelSpec) -> Result<(), SpecError> {
    let name = &model.name;
    let invalid = |message: String| Err(SpecError::Invalid(format!("model `{name}`: {message}")));
    if name.is_empty() || matches!(name.as_str(), "source" | "session") {
        return Err(SpecError::Invalid(format!(
            "`{name}` cannot be the name of a model"
        )));
    }
    if model.path.as_os_str().is_empty() {
        return invalid("`path` is missing".to_owned());
    }
    for (key, value) in [("threshold", model.threshold), ("iou", model.iou)] {
        if !(0.0..=1.0).contains(&value) {
            return invalid(format!("{key} = {value} is not between 0 and 1"));
        }
    }
    for (key, value) in [
        ("batch", model.batch),
        ("top", model.top),
        ("max_detections", model.max_detections),
    ] {
        if value == 0 {
            return invalid(format!("{key} = 0: use 1 or more"));
        }
    }
    known(name, "task", &model.task, &["auto", "classify", "raw"])?;
    check_preprocess(name, &model.preprocess)
}

fn check_preprocess(name: &str, preprocess: &PreprocessSpec) -> Result<(), SpecError> {
    let invalid = |message: String| Err(SpecError::Invalid(format!("model `{name}`: {message}")));
    if let Some(preset) = &preprocess.preset {
        let presets = ["auto", "raw", "imagenet", "yolo", "yolox"];
        known(name, "preset", preset, &presets)?;
    }
    if let Some(order) = &preprocess.order {
        known(name, "order", order, &["rgb", "bgr", "gray"])?;
    }
    if preprocess.size.is_some_and(|size| size.contains(&0)) {
        return invalid("size has a side of 0".to_owned());
    }
    if preprocess
        .crop_pct
        .is_some_and(|share| !(share > 0.0 && share <= 1.0))
    {
        return invalid("crop_pct is not above 0 and at most 1".to_owned());
    }
    if preprocess.std.is_some_and(|std| std.contains(&0.0)) {
        return invalid("std has a 0, by which nothing can be divided".to_owned());
    }
    Ok(())
}

/// Checks that `value` is one of `choices`; the error names the nearest.
fn known(name: &str, key: &str, value: &str, choices: &[&str]) -> Result<(), SpecError> {
    if choices.contains(&value) {
        return Ok(());
    }
    let nearest = spec_keys::nearest(value, choices.iter().copied());
    let suggestion = nearest.map_or_else(
        || format!("use one of {}", choices.join(", ")),
        |nearest| format!("did you mean `{nearest}`?"),
    );
    Err(SpecError::Invalid(format!(
        "model `{name}`: {key} = \"{value}\" is not known; {suggestion}"
    )))
}
