use std::collections::BTreeMap;

use crate::protocol::ModelSpec;
use crate::session::check_model;

use super::values;

/// An option that takes effect when the model is started anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Device,
    Strict,
    Labels,
    Batch,
    Threads,
    Workers,
    PersistentWorkers,
    Preset,
    Resize,
    Filter,
    Size,
    CropPct,
    Order,
    Scale,
    Mean,
    Std,
    Pad,
}

impl Key {
    pub(super) const GENERAL: [Self; 7] = [
        Self::Device,
        Self::Strict,
        Self::Labels,
        Self::Batch,
        Self::Threads,
        Self::Workers,
        Self::PersistentWorkers,
    ];
    pub(super) const PREPROCESSING: [Self; 10] = [
        Self::Preset,
        Self::Resize,
        Self::Filter,
        Self::Size,
        Self::CropPct,
        Self::Order,
        Self::Scale,
        Self::Mean,
        Self::Std,
        Self::Pad,
    ];

    fn all() -> impl Iterator<Item = Self> {
        Self::GENERAL.into_iter().chain(Self::PREPROCESSING)
    }

    /// Its name in a session file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Strict => "strict",
            Self::Labels => "labels",
            Self::Batch => "batch",
            Self::Threads => "threads",
            Self::Workers => "workers",
            Self::PersistentWorkers => "persistent_workers",
            Self::Preset => "preset",
            Self::Resize => "resize",
            Self::Filter => "filter",
            Self::Size => "size",
            Self::CropPct => "crop_pct",
            Self::Order => "order",
            Self::Scale => "scale",
            Self::Mean => "mean",
            Self::Std => "std",
            Self::Pad => "pad",
        }
    }
}

/// Options being edited, as text; an empty text leaves the choice to the model and its files.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    /// The options in force.
    base: ModelSpec,
    texts: BTreeMap<Key, String>,
}

impl Draft {
    pub(super) fn of(spec: &ModelSpec) -> Self {
        let texts = Key::all()
            .map(|key| (key, values::text(spec, key)))
            .collect();
        Self {
            base: spec.clone(),
            texts,
        }
    }

    /// The options in force are others now; what is being typed stays.
    pub(super) fn rebase(&mut self, spec: &ModelSpec) {
        if self.base == *spec {
            return;
        }
        let before = Self::of(&self.base);
        let now = Self::of(spec);
        for (key, text) in &mut self.texts {
            if Some(&*text) == before.texts.get(key)
                && let Some(new) = now.texts.get(key)
            {
                text.clone_from(new);
            }
        }
        self.base = spec.clone();
    }

    pub(super) fn text_mut(&mut self, key: Key) -> &mut String {
        self.texts.entry(key).or_default()
    }

    pub(super) fn is_changed(&self, key: Key) -> bool {
        self.texts.get(&key) != Some(&values::text(&self.base, key))
    }

    pub(super) fn has_changes(&self) -> bool {
        Key::all().any(|key| self.is_changed(key))
    }

    /// The options as they would be, or what is wrong with which of them.
    pub(super) fn spec(&self) -> Result<ModelSpec, BTreeMap<Key, String>> {
        let mut spec = self.base.clone();
        let mut errors = BTreeMap::new();
        for (&key, text) in &self.texts {
            // One at a time, so that each error stands at its own field.
            let mut alone = self.base.clone();
            let result = values::set(&mut spec, key, text.trim())
                .and_then(|()| values::set(&mut alone, key, text.trim()))
                .and_then(|()| check_model(&alone).map_err(|error| without_name(&error)));
            if let Err(error) = result {
                errors.insert(key, error);
            }
        }
        if errors.is_empty() {
            Ok(spec)
        } else {
            Err(errors)
        }
    }
}

/// The error of a model's options without the model's name, which stands above them.
fn without_name(error: &crate::session::SpecError) -> String {
    let text = error.to_string();
    match text.split_once("`: ") {
        Some((_, rest)) => rest.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{DeviceChoice, Filter, Resize};

    fn spec() -> ModelSpec {
        ModelSpec {
            name: "m".to_owned(),
            path: "m.onnx".into(),
            ..ModelSpec::default()
        }
    }

    fn typed(texts: &[(Key, &str)]) -> Result<ModelSpec, BTreeMap<Key, String>> {
        let mut draft = Draft::of(&spec());
        for (key, text) in texts {
            *draft.text_mut(*key) = (*text).to_owned();
        }
        draft.spec()
    }

    #[test]
    fn what_is_typed_becomes_the_options() {
        let made = typed(&[
            (Key::Device, "cuda:1"),
            (Key::Strict, "true"),
            (Key::Labels, "/a/labels.txt"),
            (Key::Batch, "4"),
            (Key::Threads, "0"),
            (Key::Workers, "2"),
            (Key::PersistentWorkers, "true"),
            (Key::Preset, "imagenet"),
            (Key::Resize, "shortest-crop"),
            (Key::Filter, "pil-bicubic"),
            (Key::Size, "224 × 320"),
            (Key::CropPct, "0.875"),
            (Key::Order, "bgr"),
            (Key::Scale, "1/255"),
            (Key::Mean, "1, 2, 3"),
            (Key::Std, "4 5 6"),
            (Key::Pad, "114"),
        ])
        .expect("valid options");
        assert_eq!(made.device, DeviceChoice::Cuda(1));
        assert!(made.strict && made.persistent_workers);
        assert_eq!((made.batch, made.threads, made.workers), (4, 0, 2));
        let preprocess = &made.preprocess;
        assert_eq!(preprocess.resize, Some(Resize::ShortestCrop));
        assert_eq!(preprocess.filter, Some(Filter::PilBicubic));
        assert_eq!(preprocess.size, Some([224, 320]));
        assert_eq!(preprocess.scale, Some(1.0 / 255.0));
        assert_eq!(preprocess.mean, Some([1.0, 2.0, 3.0]));
        assert_eq!(preprocess.std, Some([4.0, 5.0, 6.0]));
        assert_eq!(preprocess.pad, Some(114));
        // And back.
        let again = Draft::of(&made);
        assert_eq!(again.spec(), Ok(made));
        assert!(!again.has_changes());
    }

    #[test]
    fn what_cannot_be_is_refused_at_its_field() {
        for (key, text, reason) in [
            (Key::Device, "gpu", "unknown device"),
            (Key::Batch, "0", "use 1 or more"),
            (Key::Batch, "4000", "at most 1024"),
            (Key::Workers, "-1", "not a whole number"),
            (Key::Size, "224", "height × width"),
            (Key::Size, "0 × 4", "side of 0"),
            (Key::Std, "1 0 1", "divided"),
            (Key::Mean, "1 2", "three numbers"),
            (Key::Scale, "1/0", "not a number to compute with"),
            (Key::CropPct, "1.5", "at most 1"),
            (Key::Pad, "256", "0 to 255"),
        ] {
            let errors = typed(&[(key, text), (Key::Threads, "2")]).expect_err(text);
            assert_eq!(errors.keys().collect::<Vec<_>>(), [&key], "{errors:?}");
            assert!(errors[&key].contains(reason), "{errors:?}");
            assert!(!errors[&key].contains("model `"), "{errors:?}");
        }
    }

    #[test]
    fn what_is_being_typed_survives_a_change_from_elsewhere() {
        let mut draft = Draft::of(&spec());
        *draft.text_mut(Key::Batch) = "8".to_owned();
        let mut other = spec();
        other.threshold = 0.5;
        other.workers = 3;
        draft.rebase(&other);
        let made = draft.spec().expect("valid options");
        assert_eq!((made.batch, made.workers), (8, 3));
        assert!((made.threshold - 0.5).abs() < f32::EPSILON);
    }
}
