use super::spec::SpecError;
use crate::protocol::{ModelSpec, PreprocessSpec};

/// Most frames of a batch: far more than any device takes at once.
const MAX_BATCH: u32 = 1024;
/// Most preprocessing threads of a model, and most threads of inference: far more than machines
/// have cores. What starts more only waits for itself.
const MAX_THREADS: u32 = 256;

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
    for (key, value, most) in [
        ("batch", model.batch, MAX_BATCH),
        ("workers", model.workers, MAX_THREADS),
        ("threads", model.threads, MAX_THREADS),
    ] {
        if value > most {
            return invalid(format!("{key} = {value}: use at most {most}"));
        }
    }
    if name.chars().any(char::is_control) {
        return invalid("the name has a control character".to_owned());
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
    let triples = [("mean", preprocess.mean), ("std", preprocess.std)];
    let singles = [
        ("scale", preprocess.scale),
        ("crop_pct", preprocess.crop_pct),
    ];
    let numbers = triples
        .into_iter()
        .flat_map(|(key, values)| values.into_iter().flatten().map(move |value| (key, value)))
        .chain(
            singles
                .into_iter()
                .filter_map(|(key, value)| Some((key, value?))),
        );
    for (key, value) in numbers {
        if !value.is_finite() {
            return invalid(format!("{key} = {value} is not a number to compute with"));
        }
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
    let nearest = crate::base::nearest(value, choices.iter().copied());
    let suggestion = nearest.map_or_else(
        || format!("use one of {}", choices.join(", ")),
        |nearest| format!("did you mean `{nearest}`?"),
    );
    Err(SpecError::Invalid(format!(
        "model `{name}`: {key} = \"{value}\" is not known; {suggestion}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_no_machine_can_serve_are_refused_by_name() {
        let good = ModelSpec {
            name: "m".to_owned(),
            path: "m.onnx".into(),
            ..ModelSpec::default()
        };
        check_model(&good).expect("defaults are valid");
        let broken = |change: fn(&mut ModelSpec)| {
            let mut model = good.clone();
            change(&mut model);
            check_model(&model).map_err(|error| error.to_string())
        };
        for (key, result) in [
            ("batch", broken(|model| model.batch = 100_000_000)),
            ("workers", broken(|model| model.workers = 100_000)),
            ("threads", broken(|model| model.threads = 1_000)),
            (
                "scale",
                broken(|model| model.preprocess.scale = Some(f64::NAN)),
            ),
            (
                "mean",
                broken(|model| model.preprocess.mean = Some([0.0, f64::INFINITY, 0.0])),
            ),
            ("control", broken(|model| model.name = "a\nb".to_owned())),
        ] {
            let message = result.expect_err(key);
            assert!(message.contains(key), "{message}");
        }
    }
}
