use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use ort::environment::Environment;
use ort::logging::LogLevel;
use ort::session::{Session, SessionOutputs};

use super::assignment::{RECORD_KEY, assigned_nodes};
use super::device::{Target, plain_reason};
use super::input::InputBuffer;
use super::model_file::ModelError;
use super::profile::Executed;
use super::profile_folder::ProfileFolder;
use super::tensor::tensor_info;
use crate::protocol::{DeviceChoice, ProviderReport, TensorInfo};

/// What an engine is built for.
#[derive(Debug, Clone, Copy)]
pub struct EngineRequest<'a> {
    /// The ONNX file.
    pub model: &'a Path,
    /// What is in it, unless it keeps weights in other files: ONNX Runtime need not read it again.
    pub content: Option<&'a [u8]>,
    /// Name of its input.
    pub input: &'a str,
    /// The device asked for.
    pub device: DeviceChoice,
    /// Refuse another device.
    pub strict: bool,
    /// Threads of inference on the CPU.
    pub threads: u32,
    /// The input's size changes from frame to frame: memory is given back after every run, since an
    /// arena would keep blocks for each size.
    pub changing_size: bool,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The model cannot be loaded, wherever it is to run.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The device asked for cannot be had, and no other one may be used.
    #[error("{} cannot run on {device}: {reason}", crate::base::escape_path(model))]
    Device {
        /// The model.
        model: PathBuf,
        /// The device asked for.
        device: DeviceChoice,
        /// Why.
        reason: String,
    },
}

/// A loaded model.
#[derive(Debug)]
pub struct Engine {
    session: Session,
    input: String,
    target: Target,
    report: ProviderReport,
    warm_up_error: Option<String>,
}

/// Why a session could not be built for one target.
enum Attempt {
    /// The provider could not be registered.
    Register(ort::Error),
    /// The model could not be loaded, or did not run.
    Load(ort::Error),
}

impl Engine {
    /// Loads a model for the device asked for, or the next best one, and runs it on `sample`, twice
    /// where it is on a GPU; the last run is profiled. `look` sees the outputs.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub fn load(
        environment: &Environment,
        request: &EngineRequest<'_>,
        sample: &InputBuffer,
        mut look: impl FnMut(&SessionOutputs<'_>),
    ) -> Result<Self, EngineError> {
        let model_error =
            |error: &ort::Error| ModelError::from_onnxruntime(request.model, error.message());
        let mut reasons = Vec::new();
        let mut model_suspected = false;
        for target in Target::candidates(request.device, request.strict) {
            let provider = target.provider();
            if !target.is_built_in() {
                reasons.push(format!("this ONNX Runtime was built without {provider}"));
                continue;
            }
            match Self::attempt(environment, request, target, sample, &mut look) {
                Ok(engine) if engine.ran_elsewhere() => {
                    reasons.push(format!(
                        "{provider} was registered, and no kernel ran there"
                    ));
                }
                Ok(mut engine) => {
                    engine.report.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
                    return Ok(engine);
                }
                Err(Attempt::Load(error)) if target == Target::Cpu => {
                    return Err(model_error(&error).into());
                }
                Err(Attempt::Load(error)) => {
                    model_suspected = true;
                    reasons.push(format!("{provider}: {}", plain_reason(error.message())));
                }
                Err(Attempt::Register(error)) => {
                    reasons.push(format!("{provider}: {}", plain_reason(error.message())));
                }
            }
        }
        // The device or the model? What the CPU cannot load either is not the device's fault.
        if model_suspected
            && let Err(Attempt::Load(error)) =
                Self::attempt(environment, request, Target::Cpu, sample, &mut look)
        {
            return Err(model_error(&error).into());
        }
        Err(EngineError::Device {
            model: request.model.to_owned(),
            device: request.device,
            reason: reasons.join("; "),
        })
    }

    /// Asks ONNX Runtime whether it can load the model at `path` on the CPU, without running it.
    ///
    /// # Errors
    /// It cannot.
    pub fn check(environment: &Environment, path: &Path) -> Result<(), ModelError> {
        let load = || {
            Session::builder(environment)?
                .with_log_level(LogLevel::Warning)?
                .commit_from_file(path)
        };
        load()
            .map(drop)
            .map_err(|error| ModelError::from_onnxruntime(path, error.message()))
    }

    fn attempt(
        environment: &Environment,
        request: &EngineRequest<'_>,
        target: Target,
        sample: &InputBuffer,
        look: &mut dyn FnMut(&SessionOutputs<'_>),
    ) -> Result<Self, Attempt> {
        // Without a folder for it the run is not profiled; what ran is then not known.
        let profile = ProfileFolder::create()
            .inspect_err(|error| tracing::warn!("the first run is not profiled: {error}"))
            .ok();
        let session = build(environment, request, target, profile.as_ref())?;
        let profile = profile.and_then(|folder| {
            folder
                .into_file()
                .inspect_err(|error| tracing::warn!("the first run is not profiled: {error}"))
                .ok()
        });
        let mut engine = Self {
            session,
            input: request.input.to_owned(),
            target,
            report: ProviderReport {
                asked: request.device.to_string(),
                provider: target.provider().to_owned(),
                device: target.number(),
                ..ProviderReport::default()
            },
            warm_up_error: None,
        };
        for _ in 0..warm_up_runs(target) {
            let run = engine.run(sample).map(|outputs| look(&outputs));
            if let Err(error) = run {
                // A model may dislike a black picture; a device that does not work is another matter.
                if target != Target::Cpu {
                    return Err(Attempt::Load(error));
                }
                engine.warm_up_error = Some(plain_reason(error.message()));
                break;
            }
        }
        engine.report.assigned = assigned_nodes(&engine.session).unwrap_or_else(|error| {
            tracing::warn!("the assignment of nodes to providers is not known: {error}");
            Default::default()
        });
        if let Some(profile) = profile {
            let executed = engine.executed(profile).unwrap_or_else(|error| {
                tracing::warn!("the profile of the first run cannot be read: {error}");
                Executed::default()
            });
            engine.report.executed = executed.kernels;
            engine.report.copies = executed.copies;
        }
        Ok(engine)
    }

    fn executed(&mut self, profile: File) -> io::Result<Executed> {
        self.session.end_profiling().map_err(io::Error::other)?;
        Executed::read(profile)
    }

    /// Whether it is known that no kernel ran on the target.
    fn ran_elsewhere(&self) -> bool {
        let executed = &self.report.executed;
        let ran = |target: Target| executed.contains_key(target.provider());
        self.target != Target::Cpu && !executed.is_empty() && !ran(self.target)
    }

    /// Runs the model.
    ///
    /// # Errors
    /// ONNX Runtime fails, as for values that an operator of the model does not take.
    pub fn run(&mut self, input: &InputBuffer) -> ort::Result<SessionOutputs<'_>> {
        let value = input.value()?;
        self.session.run(ort::inputs![self.input.as_str() => value])
    }

    /// Where it runs.
    pub fn target(&self) -> Target {
        self.target
    }

    /// What was asked, what was registered, what ran.
    pub fn report(&self) -> &ProviderReport {
        &self.report
    }

    /// Why the first run failed, if it did.
    pub fn warm_up_error(&self) -> Option<&str> {
        self.warm_up_error.as_deref()
    }

    /// Inputs, in order.
    pub fn inputs(&self) -> Vec<TensorInfo> {
        self.session.inputs().iter().map(tensor_info).collect()
    }

    /// Outputs, in order.
    pub fn outputs(&self) -> Vec<TensorInfo> {
        self.session.outputs().iter().map(tensor_info).collect()
    }
}

/// Runs of a model before it is ready. The first one on a GPU is spent on choosing kernels; on the CPU
/// a second would tell nothing that the first does not.
const fn warm_up_runs(target: Target) -> u32 {
    match target {
        Target::Cpu => 1,
        Target::Cuda(_) | Target::TensorRt(_) => 2,
    }
}

fn build(
    environment: &Environment,
    request: &EngineRequest<'_>,
    target: Target,
    profile: Option<&ProfileFolder>,
) -> Result<Session, Attempt> {
    let load = |error: ort::Error| Attempt::Load(error);
    let configure = || -> ort::Result<_> {
        let mut builder = Session::builder(environment)?
            // A session without a level of its own formats every message of every run.
            .with_log_level(LogLevel::Warning)?
            .with_intra_threads(request.threads as usize)?
            // Threads spin for work while a run lasts, and not a moment longer.
            .with_intra_op_spinning(true)?
            .with_config_entry("session.force_spinning_stop", "1")?
            .with_config_entry(RECORD_KEY, "1")?;
        if request.changing_size {
            builder = builder.with_memory_pattern(false)?;
        }
        match profile {
            Some(folder) => Ok(builder.with_profiling(folder.prefix())?),
            None => Ok(builder),
        }
    };
    let mut builder = configure()
        .map_err(load)?
        .with_execution_providers(target.providers(!request.changing_size))
        .map_err(|error| Attempt::Register(error.into()))?;
    match request.content {
        Some(content) => builder.commit_from_memory(content),
        None => builder.commit_from_file(request.model),
    }
    .map_err(load)
}
