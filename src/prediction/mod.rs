//! What a model says about a frame, in the form in which rows carry it.
//!
//! Coordinates are pixels of the upright frame; boxes are `[x0, y0, x1, y1]`.

use serde::{Deserialize, Serialize};

/// What a model says about one frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Output {
    /// The most likely classes, best first.
    Classes {
        /// What the scores are.
        scores: ScoreKind,
        /// Best first; as many as the model's `top` option says.
        classes: Vec<Class>,
    },
    /// Objects, in falling order of score.
    Detections {
        /// The objects.
        detections: Vec<Detection>,
    },
    /// Statistics of the output tensors, where no decoder is known.
    Raw {
        /// One for each output of the model.
        tensors: Vec<TensorSummary>,
    },
    /// The model answered something that cannot be used.
    Invalid {
        /// What is wrong with it, naming the output.
        reason: String,
    },
}

/// What a class score is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreKind {
    /// Probabilities over all classes, summing to 1.
    Probability,
    /// The model's own numbers, unchanged.
    Score,
}

/// One class of a classifier's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Index in the model's output.
    pub id: u32,
    /// Its label, or `class 7` where the model has no labels.
    pub name: String,
    /// See [`ScoreKind`].
    pub score: f32,
    /// What the model put out for this class, before any softmax.
    pub value: f32,
}

/// One object of a detector's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// Row in the model's output.
    pub index: u32,
    /// Class index.
    pub id: u32,
    /// Class label.
    pub name: String,
    /// 0..=1.
    pub score: f32,
    /// `[x0, y0, x1, y1]` in pixels of the upright frame.
    #[serde(rename = "box")]
    pub bounds: [f32; 4],
    /// Rotation of an oriented box, in radians.
    pub angle: Option<f32>,
    /// `[x, y, score]` of each keypoint.
    pub keypoints: Option<Vec<[f32; 3]>>,
}

/// Shape and statistics of one output tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TensorSummary {
    /// Name of the output.
    pub name: String,
    /// Element type, as `f32`, `f16`, `i64`, …
    pub dtype: String,
    /// Shape of this frame's part (batch 1).
    pub shape: Vec<u64>,
    /// Smallest finite value; `None` when there is none.
    pub min: Option<f64>,
    /// Largest finite value.
    pub max: Option<f64>,
    /// Mean of the finite values.
    pub mean: Option<f64>,
    /// Number of NaN or infinite values.
    pub nan: u64,
    /// All values in order, where there are few (at most [`SMALL_TENSOR`]); NaN and infinity as `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Option<f64>>>,
}

/// Most values of a tensor that are listed one by one.
pub const SMALL_TENSOR: usize = 16;

impl Output {
    /// The best class of a classifier's answer.
    pub fn top_class(&self) -> Option<&Class> {
        match self {
            Self::Classes { classes, .. } => classes.first(),
            _ => None,
        }
    }
}
