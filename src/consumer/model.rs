use std::collections::BTreeMap;
use std::time::Instant;

use ort::session::SessionOutputs;

use super::decode::{CLASSIFY, Decoder, Known};
use super::engine::{Engine, EngineRequest};
use super::failure::Failure;
use super::input::{ImageInput, InputBuffer};
use super::labels::Labels;
use super::library::Library;
use super::model_file::{Cause, DeclaredTensor, ModelError};
use super::preprocess::{self, Hints, Preprocessor};
use super::reading::Reading;
use super::sidecar::Sidecar;
use super::tensor::OutputView;
use super::threads::{inference_threads, too_few_cores};
use crate::protocol::{DeviceChoice, ModelCard, ModelSpec, Preprocess, Problem};

/// A model that is loaded and has run, with everything that feeds it and reads it.
pub struct Model {
    /// Runs it.
    pub engine: Engine,
    /// Reads its outputs.
    pub decoder: Box<dyn Decoder>,
    /// What it takes.
    pub input: ImageInput,
    /// How frames become its input.
    pub preprocess: Preprocess,
    /// Frames of a run: as many as this are waited for.
    pub batch: u32,
    /// What is known of it.
    pub card: ModelCard,
    /// What the user should know, such as options that cannot be had.
    pub notices: Vec<Problem>,
}

/// A frame like those of many cameras: it gives the size of the first run of a model that takes
/// frames of any size.
const USUAL_FRAME: (u32, u32) = (640, 480);

impl Model {
    /// Loads the model that `spec` describes, one of `models` in the session.
    ///
    /// # Errors
    /// The model, its labels or its sidecar cannot be used, or the device cannot be had.
    pub fn load(spec: &ModelSpec, models: u32, library: &Library) -> Result<Self, Failure> {
        Self::load_read(spec, models, library, Reading::start(&spec.path)?)
    }

    /// As [`Self::load`], for a file that is being read already.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_read(
        spec: &ModelSpec,
        models: u32,
        library: &Library,
        reading: Reading,
    ) -> Result<Self, Failure> {
        let mut timer = StepTimer::new();
        let path = spec.path.as_path();
        let refuse = |cause: Cause| ModelError::new(path, cause);
        let (file, hashing) = reading.file()?;
        let sidecar = Sidecar::read(path)?;
        let input = match ImageInput::of(&file) {
            Ok(input) => input,
            Err(cause) => {
                // A model that does not load at all has a worse fault than taking no picture.
                Engine::check(&library.environment, path)?;
                return Err(refuse(cause).into());
            }
        };
        let labels = Labels::find(
            path,
            spec.labels.as_deref(),
            &file.metadata,
            sidecar
                .as_ref()
                .and_then(|sidecar| sidecar.labels.as_deref()),
        )?;
        timer.step("file");

        let declared: Vec<_> = file.outputs.iter().map(DeclaredTensor::info).collect();
        let of_sidecar = |key: fn(&Sidecar) -> Option<&str>| sidecar.as_ref().and_then(key);
        let known = Known {
            task: &spec.task,
            layout: &spec.layout,
            sidecar_task: of_sidecar(|sidecar| sidecar.task.as_deref()),
            sidecar_layout: of_sidecar(|sidecar| sidecar.layout.as_deref()),
            metadata_task: file.metadata.get("task").map(String::as_str),
            outputs: &declared,
            last_operator: &file.last_operator,
        };
        let task = known.task()?;
        let hints = Hints {
            metadata: &file.metadata,
            sidecar: sidecar.as_ref().map(|sidecar| &sidecar.preprocess),
            spec: &spec.preprocess,
            task: &task.value,
        };
        let resolved = preprocess::resolve(&input.tensor, &hints)
            .map_err(|error| refuse(Cause::Preprocess(error.to_string())))?;
        let (batch, mut notices) = batch_of(spec, &input);
        let mut sample = InputBuffer::new(input.tensor.dtype);
        let (width, height) = USUAL_FRAME;
        let size =
            Preprocessor::new(&resolved.preprocess, &input.tensor).output_size(width, height);
        sample.resize(&input, batch, size);
        let threads = inference_threads(spec.threads, models);
        let request = EngineRequest {
            model: path,
            content: file.whole(),
            input: &input.name,
            device: spec.device,
            strict: spec.strict,
            threads,
            changing_size: resolved.preprocess.size.is_none(),
        };
        let labels_origin = labels.origin.clone();
        let label_count = labels.len();
        let mut decoder = known.decoder(&task.value, labels)?;
        let frames = batch as usize;
        // What the model says of a black picture tells already what its numbers are.
        let look = |outputs: &SessionOutputs<'_>| {
            decoder.learn(&OutputView::all(outputs), frames, frames);
        };
        let engine = Engine::load(&library.environment, &request, &sample, look)?;
        timer.step("session");

        let outputs = engine.outputs();
        notices.extend(label_notice(
            spec,
            &task.value,
            (label_count, &labels_origin),
            class_count(&outputs),
        ));
        notices.extend(option_notices(spec));
        notices.extend(resolved.unscaled_preset.map(|preset| Problem {
            code: "preset_unscaled".to_owned(),
            message: format!(
                "{}: its input takes whole numbers, 0..=255: scale, mean and std of preset `{preset}` are left out",
                spec.name
            ),
            hint: Some("Write `scale`, `mean` and `std` in [model.preprocess] to use them.".to_owned()),
        }));
        notices.extend(engine_notices(spec, &engine));
        let card = ModelCard {
            path: spec.path.clone(),
            sha256: hashing.sha256(),
            bytes: file.bytes(),
            onnxruntime: library.version.clone(),
            inputs: engine.inputs(),
            outputs,
            metadata: file.metadata.clone(),
            provider: engine.report().clone(),
            threads,
            batch,
            task,
            layout: decoder.layout().to_owned(),
            scores: decoder.scores().cloned(),
            labels: labels_origin,
            label_count: u32::try_from(label_count).unwrap_or(u32::MAX),
            preprocess: resolved.preprocess.clone(),
            preprocess_origins: resolved.origins,
            load_micros: timer.micros,
        };
        Ok(Self {
            engine,
            decoder,
            input,
            preprocess: resolved.preprocess,
            batch,
            card,
            notices,
        })
    }
}

/// Frames of a run, and a notice where it is not as many as asked for.
fn batch_of(spec: &ModelSpec, input: &ImageInput) -> (u32, Vec<Problem>) {
    let asked = spec.batch.max(1);
    match input.batch {
        Some(fixed) if fixed != asked && asked > 1 => {
            let notice = Problem {
                code: "batch_fixed".to_owned(),
                message: format!(
                    "{}: the model takes {fixed} frames at once, not the {asked} asked for",
                    spec.name
                ),
                hint: Some("Export the model with an open batch dimension.".to_owned()),
            };
            (fixed, vec![notice])
        }
        Some(fixed) => (fixed, vec![]),
        None => (asked, vec![]),
    }
}

/// Number of classes of the first output, where its shape tells.
fn class_count(outputs: &[crate::protocol::TensorInfo]) -> Option<usize> {
    let shape = &outputs.first()?.shape;
    let classes = if shape.len() > 1 { &shape[1..] } else { shape };
    classes
        .iter()
        .map(|side| side.parse::<usize>().ok())
        .product()
}

fn label_notice(
    spec: &ModelSpec,
    task: &str,
    (labels, origin): (usize, &str),
    classes: Option<usize>,
) -> Option<Problem> {
    let classes = classes.filter(|&classes| classes != labels)?;
    (task == CLASSIFY && labels > 0).then(|| Problem {
        code: "labels_mismatch".to_owned(),
        message: format!(
            "{}: {labels} labels ({origin}) for {classes} classes; classes may be named wrongly",
            spec.name
        ),
        hint: Some("Name the labels that belong to the model.".to_owned()),
    })
}

/// Options that have no effect, or not the one that they seem to have.
fn option_notices(spec: &ModelSpec) -> Vec<Problem> {
    let mut notices = Vec::new();
    if let Some(cores) = too_few_cores(spec.threads) {
        notices.push(Problem {
            code: "many_threads".to_owned(),
            message: format!(
                "{}: {} threads of inference share {cores} cores, and wait for one another",
                spec.name, spec.threads
            ),
            hint: Some("`threads = 0` takes as many as there are cores for.".to_owned()),
        });
    }
    if spec.strict && spec.device == DeviceChoice::Auto {
        notices.push(Problem {
            code: "strict_auto".to_owned(),
            message: format!(
                "{}: strict has no effect with device `auto`, which names no device",
                spec.name
            ),
            hint: Some("Name the device that it must run on, as `cuda:0`.".to_owned()),
        });
    }
    notices
}

fn engine_notices(spec: &ModelSpec, engine: &Engine) -> Vec<Problem> {
    let mut notices = Vec::new();
    let report = engine.report();
    if let Some(reason) = &report.reason {
        notices.push(Problem {
            code: "device_fallback".to_owned(),
            message: match spec.device {
                DeviceChoice::Auto => format!(
                    "{}: runs on {}, the best device that works here: {reason}",
                    spec.name, report.provider
                ),
                _ => format!(
                    "{}: runs on {}; {} was asked for: {reason}",
                    spec.name, report.provider, report.asked
                ),
            },
            hint: Some(
                match spec.device {
                    DeviceChoice::Auto => "`device = \"cpu\"` asks for the CPU from the start.",
                    _ => "`strict = true` refuses to run elsewhere.",
                }
                .to_owned(),
            ),
        });
    }
    if let Some(error) = engine.warm_up_error() {
        notices.push(Problem {
            code: "first_run".to_owned(),
            message: format!(
                "{}: the first run, on a black picture, failed: {error}",
                spec.name
            ),
            hint: None,
        });
    }
    notices
}

/// Time spent by step, in microseconds.
struct StepTimer {
    begun: Instant,
    micros: BTreeMap<String, u64>,
}

impl StepTimer {
    fn new() -> Self {
        Self {
            begun: Instant::now(),
            micros: BTreeMap::new(),
        }
    }

    fn step(&mut self, name: &str) {
        let micros = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.micros.insert(name.to_owned(), micros);
        self.begun = Instant::now();
    }
}
