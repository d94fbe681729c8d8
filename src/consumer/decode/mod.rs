//! What a model's outputs mean.
//!
//! A decoder is chosen once, when the model is loaded, from what the user, the sidecar, the metadata
//! and the outputs' shapes say; it then turns the outputs of every run into [`Output`]s.

mod classes;
mod meaning;
mod raw;

use self::classes::ClassesDecoder;
use self::meaning::Meaning;
use self::raw::RawDecoder;
use super::labels::Labels;
use super::model_file::LastOperator;
use super::tensor::OutputView;
use crate::prediction::Output;
use crate::protocol::{Chosen, ClassScores, Origin, ScoreMeaning, TensorInfo};

/// Turns outputs into predictions.
pub trait Decoder: Send {
    /// Its name, as in a session file's `layout`.
    fn layout(&self) -> &'static str;

    /// Learns from the outputs of a run what the model's numbers are, before they are decoded: they
    /// belong to the first `count` of `batch` frames.
    fn learn(&mut self, _outputs: &[OutputView<'_>], _count: usize, _batch: usize) {}

    /// What a classifier's numbers are, once that is known.
    fn scores(&self) -> Option<&ClassScores> {
        None
    }

    /// What the outputs say about frame `index` of the `batch` frames of the run.
    fn decode(
        &self,
        outputs: &[OutputView<'_>],
        index: usize,
        batch: usize,
        tuning: Tuning,
    ) -> Output;
}

/// Options of decoding that act at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// Lowest score of a reported detection.
    pub threshold: f32,
    /// Most classes reported of a frame.
    pub top: u32,
}

/// What is known of a model when its decoder is chosen.
#[derive(Debug)]
pub(super) struct Known<'a> {
    /// The user's `task`, `auto` if there is no wish.
    pub task: &'a str,
    /// The user's `layout`, `auto` if there is no wish.
    pub layout: &'a str,
    /// The sidecar's task.
    pub sidecar_task: Option<&'a str>,
    /// The sidecar's layout.
    pub sidecar_layout: Option<&'a str>,
    /// The metadata's task.
    pub metadata_task: Option<&'a str>,
    /// The model's outputs.
    pub outputs: &'a [TensorInfo],
    /// What makes the numbers of the first output.
    pub last_operator: &'a LastOperator,
}

/// The task of a classifier.
pub(super) const CLASSIFY: &str = "classify";
/// The task of a model without a decoder.
pub(super) const RAW: &str = "raw";
/// Layouts that can be asked for, beside `auto`: class scores whose meaning is found out, or is told,
/// and tensors as they are.
const LAYOUTS: [&str; 5] = [CLASSES, LOGITS, PROBABILITIES, SCORES, RAW];
const CLASSES: &str = "classes";
const LOGITS: &str = "logits";
const PROBABILITIES: &str = "probabilities";
const SCORES: &str = "scores";

/// A task or layout that there is no decoder for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{name}`: use {known}")]
pub struct UnknownDecoder {
    what: &'static str,
    name: String,
    known: String,
}

impl Known<'_> {
    /// The task and who chose it.
    ///
    /// # Errors
    /// The user or the sidecar asks for a task that is not known.
    pub(super) fn task(&self) -> Result<Chosen<String>, UnknownDecoder> {
        let wished = [
            (Some(self.task), Origin::You),
            (task_of_layout(self.layout), Origin::You),
            (self.sidecar_task, Origin::Sidecar),
            (
                self.sidecar_layout.and_then(task_of_layout),
                Origin::Sidecar,
            ),
        ];
        let wish = wished
            .into_iter()
            .find_map(|(name, origin)| Some((name.filter(|&name| name != "auto")?, origin)));
        let (name, origin) = match wish {
            Some((name @ (CLASSIFY | RAW), origin)) => (name, origin),
            Some((name, _)) => {
                return Err(UnknownDecoder {
                    what: "task",
                    name: name.to_owned(),
                    known: format!("auto, {CLASSIFY} or {RAW}"),
                });
            }
            None => match self.metadata_task {
                Some("classify" | "classification") => (CLASSIFY, Origin::Metadata),
                // Detectors and the like: their outputs are shown as they are.
                Some(_) => (RAW, Origin::Metadata),
                None if looks_like_classes(self.outputs) => (CLASSIFY, Origin::Shape),
                None => (RAW, Origin::Default),
            },
        };
        Ok(Chosen {
            value: name.to_owned(),
            origin,
        })
    }

    /// The decoder for `task`.
    ///
    /// # Errors
    /// The user or the sidecar asks for a layout that is not known.
    pub(super) fn decoder(
        &self,
        task: &str,
        labels: Labels,
    ) -> Result<Box<dyn Decoder>, UnknownDecoder> {
        let wished = [
            (Some(self.layout), Origin::You),
            (self.sidecar_layout, Origin::Sidecar),
        ];
        let wish = wished
            .into_iter()
            .find_map(|(name, origin)| Some((name.filter(|&name| name != "auto")?, origin)));
        let (name, origin) = wish.unwrap_or((CLASSES, Origin::Default));
        let Some(layout) = LAYOUTS.into_iter().find(|&layout| layout == name) else {
            return Err(UnknownDecoder {
                what: "layout",
                name: name.to_owned(),
                known: format!("auto, {}", LAYOUTS.join(", ")),
            });
        };
        if task != CLASSIFY {
            return Ok(Box::new(RawDecoder));
        }
        let meaning = match layout {
            LOGITS => Meaning::wished(ScoreMeaning::Logits, origin, layout),
            PROBABILITIES => Meaning::wished(ScoreMeaning::Probabilities, origin, layout),
            SCORES => Meaning::wished(ScoreMeaning::Scores, origin, layout),
            _ => match self.outputs.first().map(|output| output.dtype.as_str()) {
                Some(dtype @ ("u8" | "i8")) => Meaning::of_integers(dtype),
                _ => Meaning::of_graph(self.last_operator),
            },
        };
        // A classifier has no layout `raw`; its task was asked for beside it.
        let layout = if layout == RAW { CLASSES } else { layout };
        Ok(Box::new(ClassesDecoder::new(labels, layout, meaning)))
    }
}

fn task_of_layout(layout: &str) -> Option<&'static str> {
    match layout {
        CLASSES | LOGITS | PROBABILITIES | SCORES => Some(CLASSIFY),
        RAW => Some(RAW),
        _ => None,
    }
}

/// Whether there is one output, of scores, of shape [N,C], [C] or [N,C,1,1] with at least two classes.
fn looks_like_classes(outputs: &[TensorInfo]) -> bool {
    let [output] = outputs else { return false };
    let several = |side: &String| side.parse().map_or(true, |classes: u64| classes >= 2);
    let one = |side: &String| side == "1";
    matches!(output.dtype.as_str(), "f32" | "f16" | "f64" | "u8" | "i8")
        && match output.shape.as_slice() {
            [classes] | [_, classes] => several(classes),
            [_, classes, height, width] => several(classes) && one(height) && one(width),
            _ => false,
        }
}

/// The fault of an output with values that are not numbers, if it has any.
pub(super) fn fault(output: &str, nan: u64, infinite: u64) -> Option<String> {
    let count = |count: u64, what: &str| format!("{count} {what} in output `{output}`");
    match (nan, infinite) {
        (0, 0) => None,
        (0, infinite) => Some(count(infinite, "infinite values")),
        (nan, _) => Some(count(nan, "NaN")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::model_file::Makes;

    fn output(dtype: &str, shape: &str) -> TensorInfo {
        TensorInfo {
            name: "y".to_owned(),
            dtype: dtype.to_owned(),
            shape: shape.split(',').map(str::to_owned).collect(),
        }
    }

    #[test]
    fn classifiers_are_known_by_their_single_output() {
        for (shape, classes) in [
            ("N,1000", true),
            ("1,2", true),
            ("10", true),
            ("1,1000,1,1", true),
            ("batch,classes", true),
            ("1,1", false),
            ("1,84,8400", false),
            ("1,3,224,224", false),
        ] {
            assert_eq!(
                looks_like_classes(&[output("f32", shape)]),
                classes,
                "{shape}"
            );
        }
        assert!(!looks_like_classes(&[output("i64", "1,10")]));
        assert!(!looks_like_classes(&[
            output("f32", "1,10"),
            output("f32", "1,10")
        ]));
    }

    #[test]
    fn the_most_particular_word_decides_the_task() {
        let outputs = [output("f32", "1,10")];
        let last_operator = LastOperator {
            makes: Makes::Unknown,
            operator: String::new(),
            output: "y".to_owned(),
        };
        let known = Known {
            task: "auto",
            layout: "auto",
            sidecar_task: None,
            sidecar_layout: None,
            metadata_task: None,
            outputs: &outputs,
            last_operator: &last_operator,
        };
        let task = |known: &Known<'_>| {
            let task = known.task().expect("a task");
            (task.value, task.origin)
        };
        assert_eq!(task(&known), ("classify".to_owned(), Origin::Shape));
        let known = Known {
            metadata_task: Some("detect"),
            ..known
        };
        assert_eq!(task(&known), ("raw".to_owned(), Origin::Metadata));
        let known = Known {
            sidecar_layout: Some("scores"),
            ..known
        };
        assert_eq!(task(&known), ("classify".to_owned(), Origin::Sidecar));
        let known = Known {
            task: "raw",
            ..known
        };
        assert_eq!(task(&known), ("raw".to_owned(), Origin::You));
        let known = Known {
            task: "detekt",
            ..known
        };
        let error = known.task().expect_err("unknown").to_string();
        assert_eq!(error, "unknown task `detekt`: use auto, classify or raw");
    }
}
