use std::collections::BTreeMap;

use crate::protocol::{Origin, Preprocess, PreprocessSpec, Resize};

use super::metadata::{Described, describe, is_yolo};
use super::preset::{self, preset};
use super::{InputTensor, PreprocessError};

/// Where a model's preprocessing can be read from, beside its input.
#[derive(Debug, Clone, Copy)]
pub struct Hints<'a> {
    /// The model's metadata.
    pub metadata: &'a BTreeMap<String, String>,
    /// What a file beside the model says.
    pub sidecar: Option<&'a PreprocessSpec>,
    /// What the user says.
    pub spec: &'a PreprocessSpec,
    /// `classify`, `raw`, `detect` and so on.
    pub task: &'a str,
}

/// Preprocessing in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// All of it.
    pub preprocess: Preprocess,
    /// Who chose each of its keys.
    pub origins: BTreeMap<String, Origin>,
    /// Preset that somebody named, whose scale, mean and std a whole-number input does not take.
    pub unscaled_preset: Option<String>,
}

/// Decides a model's preprocessing, key by key: the user's keys, the user's preset, the sidecar's
/// keys and preset, the model's metadata, its input's shape and type, and what models of its family
/// usually take.
///
/// Values of whole-number inputs stay 0..=255, whatever metadata and presets say; only `scale`,
/// `mean` and `std` written as such change them.
///
/// # Errors
/// A preset that is not known, or a value of the user or the sidecar that cannot be used.
pub fn resolve(input: &InputTensor, hints: &Hints<'_>) -> Result<Resolved, PreprocessError> {
    let Described { spec, crop_padding } = describe(hints.metadata);
    let mut choices = Choices::new(family(hints));
    choices.apply(demanded(input), Origin::Shape);
    choices.apply(within(input, spec), Origin::Metadata);
    let mut unscaled_preset = None;
    let said = [
        (hints.sidecar, Origin::Sidecar),
        (Some(hints.spec), Origin::You),
    ];
    for (spec, origin) in said {
        let Some(spec) = spec else { continue };
        if let Some(name) = &spec.preset
            && let Some(preset) = preset(name)?
        {
            if input.dtype.is_integer() && preset != as_is(preset.clone()) {
                unscaled_preset = Some(name.clone());
            }
            choices.apply(within(input, as_spec(preset)), origin);
        }
        if spec.scale.is_some() && spec.mean.is_some() && spec.std.is_some() {
            unscaled_preset = None;
        }
        check(input, spec, origin)?;
        choices.apply(spec.clone(), origin);
    }
    choices.complete_size(input);
    if let Some(padding) = crop_padding {
        choices.crop_by_padding(padding);
    }
    let resolved = choices.finish()?;
    Ok(Resolved {
        unscaled_preset,
        ..resolved
    })
}

/// With the values 0..=255 of pictures.
fn as_is(preprocess: Preprocess) -> Preprocess {
    Preprocess {
        scale: 1.0,
        mean: [0.0; 3],
        std: [1.0; 3],
        ..preprocess
    }
}

/// What models of this kind usually take.
fn family(hints: &Hints<'_>) -> Preprocess {
    match (hints.task, is_yolo(hints.metadata)) {
        // YOLOv5 writes no task, and its classifiers take ImageNet's mean and deviation.
        ("classify", true) if hints.metadata.contains_key("task") => preset::ultralytics_classify(),
        ("classify", _) => preset::imagenet(),
        (_, true) => preset::yolo(),
        (_, false) => preset::raw(),
    }
}

/// What the input leaves no choice about.
fn demanded(input: &InputTensor) -> PreprocessSpec {
    let mut spec = PreprocessSpec::default();
    if let (Some(height), Some(width)) = (input.height, input.width) {
        spec.size = Some([height, width]);
    }
    if input.channels == 1 {
        spec.order = Some("gray".to_owned());
    }
    if input.dtype.is_integer() {
        spec.scale = Some(1.0);
        spec.mean = Some([0.0; 3]);
        spec.std = Some([1.0; 3]);
    }
    spec
}

/// What metadata or a preset says, without what the input leaves no choice about.
fn within(input: &InputTensor, mut spec: PreprocessSpec) -> PreprocessSpec {
    let demanded = demanded(input);
    if demanded.size.is_some() {
        spec.size = None;
    }
    if demanded.order.is_some() {
        spec.order = None;
    }
    if demanded.scale.is_some() {
        (spec.scale, spec.mean, spec.std) = (None, None, None);
    }
    spec
}

/// Checks the written keys against the input.
fn check(
    input: &InputTensor,
    spec: &PreprocessSpec,
    origin: Origin,
) -> Result<(), PreprocessError> {
    if let Some(order) = &spec.order {
        let right: &[&str] = match input.channels {
            1 => &["gray"],
            _ => &["rgb", "bgr"],
        };
        if !right.contains(&order.as_str()) {
            return Err(PreprocessError::Unusable {
                key: "order",
                value: format!("\"{order}\""),
                origin,
                reason: format!(
                    "the model's input has {} channel(s), which take {}",
                    input.channels,
                    right.join(" or ")
                ),
            });
        }
    }
    if let Some([height, width]) = spec.size
        && (input.height.is_some_and(|fixed| fixed != height)
            || input.width.is_some_and(|fixed| fixed != width))
    {
        let side = |side: Option<u32>| side.map_or("open".to_owned(), |side| side.to_string());
        return Err(PreprocessError::Unusable {
            key: "size",
            value: format!("[{height}, {width}]"),
            origin,
            reason: format!(
                "the model's input has a height of {} and a width of {}",
                side(input.height),
                side(input.width)
            ),
        });
    }
    Ok(())
}

/// A specification that sets every key.
fn as_spec(preprocess: Preprocess) -> PreprocessSpec {
    PreprocessSpec {
        preset: None,
        resize: Some(preprocess.resize),
        filter: Some(preprocess.filter),
        size: preprocess.size,
        crop_pct: Some(preprocess.crop_pct),
        order: Some(preprocess.order),
        scale: Some(preprocess.scale),
        mean: Some(preprocess.mean),
        std: Some(preprocess.std),
        pad: Some(preprocess.pad),
    }
}

/// The preprocessing chosen so far, and who chose each key.
#[derive(Debug)]
struct Choices {
    preprocess: Preprocess,
    origins: BTreeMap<String, Origin>,
}

impl Choices {
    fn new(preprocess: Preprocess) -> Self {
        let keys = [
            "resize", "filter", "size", "crop_pct", "order", "scale", "mean", "std", "pad",
        ];
        Self {
            preprocess,
            origins: keys.map(|key| (key.to_owned(), Origin::Default)).into(),
        }
    }

    /// Overrides the keys that `spec` has.
    fn apply(&mut self, spec: PreprocessSpec, origin: Origin) {
        let PreprocessSpec {
            preset: _,
            resize,
            filter,
            size,
            crop_pct,
            order,
            scale,
            mean,
            std,
            pad,
        } = spec;
        let mut said = |key: &str| self.origins.insert(key.to_owned(), origin);
        let chosen = &mut self.preprocess;
        choose(&mut chosen.resize, resize, || said("resize"));
        choose(&mut chosen.filter, filter, || said("filter"));
        choose(&mut chosen.size, size.map(Some), || said("size"));
        choose(&mut chosen.crop_pct, crop_pct, || said("crop_pct"));
        choose(&mut chosen.order, order, || said("order"));
        choose(&mut chosen.scale, scale, || said("scale"));
        choose(&mut chosen.mean, mean, || said("mean"));
        choose(&mut chosen.std, std, || said("std"));
        choose(&mut chosen.pad, pad, || said("pad"));
    }

    fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).copied().unwrap_or(Origin::Default)
    }

    fn say(&mut self, key: &str, origin: Origin) {
        self.origins.insert(key.to_owned(), origin);
    }

    /// Takes a side that the input fixes from there, and the other one from it too where nobody has
    /// set it. Where nothing says a size, frames keep theirs, and are cropped or padded only if
    /// somebody says so.
    fn complete_size(&mut self, input: &InputTensor) {
        let size = match (input.height, input.width, self.preprocess.size) {
            (Some(_), Some(_), _) | (None, None, Some(_)) => return,
            (Some(height), None, Some([_, width])) => Some([height, width]),
            (None, Some(width), Some([height, _])) => Some([height, width]),
            (Some(side), None, None) | (None, Some(side), None) => Some([side, side]),
            (None, None, None) => {
                if self.origin("resize") == Origin::Default {
                    self.preprocess.resize = Resize::Stretch;
                    self.say("resize", Origin::Shape);
                }
                None
            }
        };
        if size.is_none() || size != self.preprocess.size {
            self.preprocess.size = size;
            self.say("size", Origin::Shape);
        }
    }

    /// Sets the crop that metadata describe by its padding.
    fn crop_by_padding(&mut self, padding: f64) {
        if let Some([height, width]) = self.preprocess.size
            && self.origin("crop_pct") == Origin::Default
        {
            let side = f64::from(height.min(width));
            self.preprocess.crop_pct = side / (side + padding);
            self.say("crop_pct", Origin::Metadata);
        }
    }

    /// Checks the values that only a person can have written wrong.
    ///
    /// # Errors
    /// [`PreprocessError::Unusable`].
    fn finish(self) -> Result<Resolved, PreprocessError> {
        let Preprocess {
            size,
            crop_pct,
            scale,
            mean,
            std,
            ..
        } = &self.preprocess;
        let unusable = |key, value, reason: &str| {
            Err(PreprocessError::Unusable {
                key,
                value,
                origin: self.origin(key),
                reason: reason.to_owned(),
            })
        };
        if size.is_some_and(|size| size.contains(&0)) {
            return unusable(
                "size",
                format!("{:?}", size),
                "both sides must be at least 1",
            );
        }
        if !(*crop_pct > 0.0 && *crop_pct <= 1.0) {
            return unusable(
                "crop_pct",
                crop_pct.to_string(),
                "it must be in 0..=1, above 0",
            );
        }
        if !scale.is_finite() {
            return unusable("scale", scale.to_string(), "it must be a finite number");
        }
        if !mean.iter().all(|mean| mean.is_finite()) {
            return unusable("mean", format!("{mean:?}"), "all must be finite numbers");
        }
        if !std.iter().all(|std| std.is_finite() && *std != 0.0) {
            return unusable("std", format!("{std:?}"), "all must be finite and not 0");
        }
        Ok(Resolved {
            preprocess: self.preprocess,
            origins: self.origins,
            unscaled_preset: None,
        })
    }
}

fn choose<T>(chosen: &mut T, value: Option<T>, mut said: impl FnMut() -> Option<Origin>) {
    if let Some(value) = value {
        *chosen = value;
        said();
    }
}
