use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A model and its options: a `[[model]]` table of a session file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSpec {
    /// The ONNX file.
    #[serde(with = "super::escaped")]
    pub path: PathBuf,
    /// Unique name in the session; default: the file's stem.
    pub name: String,
    /// Where it runs.
    pub device: DeviceChoice,
    /// Refuse to run elsewhere than asked.
    pub strict: bool,
    /// A file with one label a line; default: metadata, else a sidecar, else `class 7`.
    #[serde(
        with = "super::escaped::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub labels: Option<PathBuf>,
    /// `auto`, `classify` or `raw`.
    pub task: String,
    /// Layout of the outputs: `auto`, `raw`, or what a classifier's numbers are: `classes` (found
    /// out), `logits`, `probabilities` or `scores`.
    pub layout: String,
    /// Lowest score of a reported detection.
    pub threshold: f32,
    /// Overlap above which the weaker of two boxes goes.
    pub iou: f32,
    /// Between which boxes.
    pub nms: NmsKind,
    /// Most detections of a frame.
    pub max_detections: u32,
    /// Most classes reported of a frame.
    pub top: u32,
    /// Frames inferred at once.
    pub batch: u32,
    /// Threads of inference; 0: cores shared fairly between the session's models.
    pub threads: u32,
    /// Preprocessing threads beside the inference thread; 0: inline.
    pub workers: u32,
    /// Keep workers while paused.
    pub persistent_workers: bool,
    /// Overrides of the preprocessing.
    pub preprocess: PreprocessSpec,
}

impl Default for ModelSpec {
    fn default() -> Self {
        Self {
            path: PathBuf::new(),
            name: String::new(),
            device: DeviceChoice::Auto,
            strict: false,
            labels: None,
            task: "auto".to_owned(),
            layout: "auto".to_owned(),
            threshold: 0.25,
            iou: 0.45,
            nms: NmsKind::Class,
            max_detections: 300,
            top: 5,
            batch: 1,
            threads: 0,
            workers: 0,
            persistent_workers: false,
            preprocess: PreprocessSpec::default(),
        }
    }
}

/// Between which boxes non-maximum suppression compares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NmsKind {
    /// Boxes of the same class.
    #[default]
    Class,
    /// All boxes.
    Agnostic,
}

/// Where a model is to run: `auto`, `cpu`, `cuda:0`, `tensorrt:0`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// CUDA device 0 if it works, else the CPU, and it is said why.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// This CUDA device.
    Cuda(u32),
    /// This CUDA device, through TensorRT.
    TensorRt(u32),
}

/// A device that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown device `{0}`: use auto, cpu, cuda:N or tensorrt:N")]
pub struct DeviceChoiceError(String);

impl FromStr for DeviceChoice {
    type Err = DeviceChoiceError;

    fn from_str(text: &str) -> Result<Self, DeviceChoiceError> {
        let unknown = || DeviceChoiceError(text.to_owned());
        let (kind, number) = match text.split_once(':') {
            Some((kind, number)) => (kind, number.parse().ok().ok_or_else(unknown)?),
            None => (text, 0),
        };
        match kind {
            "auto" if kind == text => Ok(Self::Auto),
            "cpu" if kind == text => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(number)),
            "tensorrt" => Ok(Self::TensorRt(number)),
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = DeviceChoiceError;

    fn try_from(text: String) -> Result<Self, DeviceChoiceError> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(device: DeviceChoice) -> Self {
        device.to_string()
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.write_str("auto"),
            Self::Cpu => formatter.write_str("cpu"),
            Self::Cuda(number) => write!(formatter, "cuda:{number}"),
            Self::TensorRt(number) => write!(formatter, "tensorrt:{number}"),
        }
    }
}

/// How the frame is fitted to the model's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resize {
    /// To the input's size, whatever the aspect ratio.
    Stretch,
    /// Whole, centred, padded.
    Letterbox,
    /// Whole, in the top left corner, padded.
    LetterboxTopleft,
    /// The centre square of `crop_pct` of the shorter side.
    ShortestCrop,
}

/// Interpolation, named after the library whose result it equals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// Pillow's bilinear: antialiased.
    PilBilinear,
    /// Pillow's bicubic: antialiased.
    PilBicubic,
    /// OpenCV's `INTER_LINEAR`: four neighbours, no antialiasing.
    CvLinear,
    /// Nearest neighbour.
    Nearest,
}

/// The `[model.preprocess]` table: each key overrides what metadata, sidecar or preset says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PreprocessSpec {
    /// `auto`, `raw`, `imagenet`, `yolo` or `yolox`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// See [`Resize`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resize: Option<Resize>,
    /// See [`Filter`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// Height and width of the input, where the model leaves them open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<[u32; 2]>,
    /// Share of the shorter side that `shortest-crop` keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crop_pct: Option<f64>,
    /// `rgb` or `bgr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// x' = (x · scale − mean) / std.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// See `scale`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<[f64; 3]>,
    /// See `scale`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub std: Option<[f64; 3]>,
    /// Value of the padding, 0..=255.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pad: Option<u8>,
}

/// Preprocessing in force, all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preprocess {
    /// See [`Resize`].
    pub resize: Resize,
    /// See [`Filter`].
    pub filter: Filter,
    /// Height and width of the input; `None`: the frame's own size.
    pub size: Option<[u32; 2]>,
    /// Share of the shorter side that `shortest-crop` keeps.
    pub crop_pct: f64,
    /// `rgb`, `bgr` or `gray`.
    pub order: String,
    /// x' = (x · scale − mean) / std.
    pub scale: f64,
    /// See `scale`.
    pub mean: [f64; 3],
    /// See `scale`.
    pub std: [f64; 3],
    /// Value of the padding, 0..=255.
    pub pad: u8,
}

/// Who said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The session file or the command line.
    You,
    /// A file beside the model.
    Sidecar,
    /// The model's metadata.
    Metadata,
    /// The shape or type of the model's inputs and outputs.
    Shape,
    /// The operators of the model's graph.
    Graph,
    /// The model's own answers.
    Answers,
    /// What models of this kind usually take.
    Default,
}

/// A value and who chose it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen<T> {
    /// The value.
    pub value: T,
    /// Who chose it.
    pub origin: Origin,
}

/// What a classifier's own numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreMeaning {
    /// Unbounded: a softmax makes probabilities of them.
    Logits,
    /// Probabilities over all classes, reported as they are.
    Probabilities,
    /// Neither; reported as they are.
    Scores,
}

/// What a classifier's own numbers are, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassScores {
    /// What they are.
    pub are: ScoreMeaning,
    /// Who says so.
    pub origin: Origin,
    /// The evidence, in words.
    pub evidence: String,
}

/// Name, type and shape of an input or output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorInfo {
    /// Its name.
    pub name: String,
    /// Element type, as `f32`.
    pub dtype: String,
    /// Dimensions: numbers, or names of open ones.
    pub shape: Vec<String>,
}

/// Kernels that ran on a provider in one profiled run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutedKernels {
    /// How many.
    pub kernels: u32,
    /// Their time together.
    pub micros: u64,
}

/// What was asked, what was registered, what ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderReport {
    /// The device asked for, as `cuda:0`.
    pub asked: String,
    /// The provider that runs it, as `CPU`, `CUDA`, `TensorRT`.
    pub provider: String,
    /// Number of the CUDA device that it runs on; `None` on the CPU.
    #[serde(default)]
    pub device: Option<u32>,
    /// Why it is not the one asked for.
    pub reason: Option<String>,
    /// Nodes assigned to each provider when the graph was partitioned.
    pub assigned: BTreeMap<String, u32>,
    /// Kernels that each provider ran in one profiled run.
    pub executed: BTreeMap<String, ExecutedKernels>,
    /// Copies between devices in that run.
    pub copies: u32,
}

/// What a consumer knows about its loaded model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCard {
    /// The file.
    #[serde(with = "super::escaped")]
    pub path: PathBuf,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Size of the file.
    pub bytes: u64,
    /// Version of ONNX Runtime.
    pub onnxruntime: String,
    /// Inputs, in order.
    pub inputs: Vec<TensorInfo>,
    /// Outputs, in order.
    pub outputs: Vec<TensorInfo>,
    /// The file's `metadata_props`, and producer, domain, description where given.
    pub metadata: BTreeMap<String, String>,
    /// Where it runs.
    pub provider: ProviderReport,
    /// Threads of inference.
    pub threads: u32,
    /// Frames inferred at once.
    pub batch: u32,
    /// `classify` or `raw`, and who chose it.
    pub task: Chosen<String>,
    /// Name of the decoder.
    pub layout: String,
    /// What a classifier's numbers are; `None` for other models, and before the first usable answer
    /// of one whose graph does not tell.
    #[serde(default)]
    pub scores: Option<ClassScores>,
    /// Where the labels come from, in words (`metadata`, a file, or `none`), and how many there are.
    pub labels: String,
    /// Number of labels.
    pub label_count: u32,
    /// Preprocessing in force.
    pub preprocess: Preprocess,
    /// Who chose each key of `preprocess`.
    pub preprocess_origins: BTreeMap<String, Origin>,
    /// Time from the process's start to ready, by step, in microseconds.
    pub load_micros: BTreeMap<String, u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_written() {
        for text in ["auto", "cpu", "cuda:0", "cuda:3", "tensorrt:1"] {
            assert_eq!(text.parse::<DeviceChoice>().expect(text).to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(DeviceChoice::Cuda(0)));
        for text in ["gpu", "cuda:x", "cpu:1", "auto:0", ""] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text}");
        }
    }
}
