use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::spec_check::check_model;
use super::spec_keys;
use super::spec_paths::{resolve_path, resolve_source};
use crate::base::{MOST_TEXT_BYTES, read_limited};
use crate::protocol::{Delivery, DeviceChoice, ModelSpec, Schedule};
use crate::ring::MAX_MEMBERS;

/// Version of the session file's format.
pub const SPEC_VERSION: u32 = 1;

/// What a session does: its source, its models, and how frames travel between them.
///
/// Paths are absolute; text forms are escaped by [`escape_path`](crate::base::escape_path).
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSpec {
    /// Address of the source; empty: none yet, until [`SessionCommand::SetSource`] names one.
    ///
    /// [`SessionCommand::SetSource`]: crate::session::SessionCommand::SetSource
    pub source: String,
    /// Which frames models get; `None`: every one, unless the source is a camera or a stream.
    pub delivery: Option<Delivery>,
    /// How models share a device; `None`: turns in `every`, together in `live`.
    pub schedule: Option<Schedule>,
    /// Begin again at the end of the source.
    pub looping: bool,
    /// Frames per second; 0: the source's own pace, or as fast as they are taken.
    pub fps: f64,
    /// End after this many frames (`every`: published; `live`: predictions of each model).
    pub frames: Option<u64>,
    /// The ring.
    pub ring: RingSpec,
    /// The models, names unique.
    pub models: Vec<ModelSpec>,
}

/// The `[ring]` table of a session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RingSpec {
    /// Number of slots; 0: from the readers.
    pub slots: u32,
    /// Most bytes of shared memory.
    pub max_bytes: u64,
}

impl Default for RingSpec {
    fn default() -> Self {
        Self {
            slots: 0,
            max_bytes: 2_000_000_000,
        }
    }
}

/// A session file as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SessionFile {
    ringside: u32,
    source: SourceValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<Delivery>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<Schedule>,
    #[serde(rename = "loop")]
    looping: bool,
    fps: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u64>,
    ring: RingSpec,
    model: Vec<ModelSpec>,
}

impl Default for SessionFile {
    fn default() -> Self {
        Self {
            ringside: SPEC_VERSION,
            source: SourceValue::Text("pattern:".to_owned()),
            delivery: None,
            schedule: None,
            looping: false,
            fps: 0.0,
            frames: None,
            ring: RingSpec::default(),
            model: Vec::new(),
        }
    }
}

/// The forms in which a file may name its source.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum SourceValue {
    Text(String),
    List(Vec<String>),
    Table { uri: String },
}

/// Options of the command line; what is given overrides the file, for all models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecOverrides {
    /// Address of the source, escaped; relative paths are relative to the working directory.
    pub source: Option<String>,
    /// Models instead of the file's.
    pub models: Vec<PathBuf>,
    /// Device of all models.
    pub device: Option<DeviceChoice>,
    /// Refuse to run elsewhere than asked, for all models.
    pub strict: bool,
    /// Preprocessing preset of all models.
    pub preset: Option<String>,
    /// Lowest score of all models.
    pub threshold: Option<f32>,
    /// Number of classes reported by all models.
    pub top: Option<u32>,
    /// Threads of inference of all models.
    pub threads: Option<u32>,
    /// Frames inferred at once by all models.
    pub batch: Option<u32>,
    /// Preprocessing threads of all models.
    pub workers: Option<u32>,
    /// Which frames models get.
    pub delivery: Option<Delivery>,
    /// How models share a device.
    pub schedule: Option<Schedule>,
    /// Number of frames.
    pub frames: Option<u64>,
    /// Begin again at the end of the source.
    pub looping: bool,
    /// Frames per second.
    pub fps: Option<f64>,
}

/// Why a session's description cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The file cannot be read.
    #[error("cannot read the session file {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// It is not TOML, or a value has the wrong type.
    #[error("the session file does not parse: {0}")]
    Syntax(#[from] toml::de::Error),
    /// A key that does not exist.
    #[error("line {line}: unknown key `{key}`{}", nearest.as_ref().map(|key| format!("; did you mean `{key}`?")).unwrap_or_default())]
    UnknownKey {
        /// Line of the file, from 1.
        line: usize,
        /// The key, with the tables that it stands in.
        key: String,
        /// The existing key that is most like it.
        nearest: Option<String>,
    },
    /// A file for another version of the program.
    #[error(
        "`ringside = {found}` is a newer session format than this program's ({SPEC_VERSION}); update ringside"
    )]
    Version {
        /// Version of the file.
        found: u32,
    },
    /// A value that cannot be.
    #[error("{0}")]
    Invalid(String),
    /// One of the above, in a file.
    #[error("{}: {cause}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: Box<SpecError>,
    },
}

impl Default for SessionSpec {
    /// A moving test pattern and no model.
    fn default() -> Self {
        Self {
            source: "pattern:".to_owned(),
            delivery: None,
            schedule: None,
            looping: false,
            fps: 0.0,
            frames: None,
            ring: RingSpec::default(),
            models: Vec::new(),
        }
    }
}

impl SessionSpec {
    /// Reads a session file; relative paths are relative to it.
    ///
    /// # Errors
    /// See [`SpecError`]; each names the file.
    pub fn load(path: &Path) -> Result<Self, SpecError> {
        let text = read_limited(path, MOST_TEXT_BYTES)
            .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
            .map_err(|cause| SpecError::Read {
                path: path.to_owned(),
                cause,
            })?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = absolute.parent().unwrap_or(Path::new("/"));
        Self::from_toml(&text, folder).map_err(|cause| SpecError::InFile {
            path: path.to_owned(),
            cause: Box::new(cause),
        })
    }

    /// Reads the text of a session file; relative paths are relative to `folder` (absolute).
    ///
    /// # Errors
    /// See [`SpecError`].
    pub fn from_toml(text: &str, folder: &Path) -> Result<Self, SpecError> {
        spec_keys::check(text)?;
        let mut file: SessionFile = toml::from_str(text)?;
        if file.ringside != SPEC_VERSION {
            return Err(SpecError::Version {
                found: file.ringside,
            });
        }
        let source = match file.source {
            SourceValue::Text(uri) | SourceValue::Table { uri } => uri,
            SourceValue::List(mut list) => match (list.pop(), list.is_empty()) {
                (Some(uri), true) => uri,
                _ => {
                    return Err(SpecError::Invalid(
                        "`source` must name one source; put the files into one folder".to_owned(),
                    ));
                }
            },
        };
        for (model, raw) in file.model.iter_mut().zip(spec_keys::model_paths(text)?) {
            if !raw.path.is_empty() {
                model.path = resolve_path(&raw.path, folder);
            }
            model.labels = raw.labels.map(|labels| resolve_path(&labels, folder));
        }
        let mut spec = Self {
            source: resolve_source(&source, folder),
            delivery: file.delivery,
            schedule: file.schedule,
            looping: file.looping,
            fps: file.fps,
            frames: file.frames,
            ring: file.ring,
            models: file.model,
        };
        spec.name_models();
        spec.check()?;
        Ok(spec)
    }

    /// The text of a session file that reads as this session from any folder.
    ///
    /// # Errors
    /// A value that TOML has no form for.
    pub fn to_toml(&self) -> Result<String, SpecError> {
        let file = SessionFile {
            ringside: SPEC_VERSION,
            source: SourceValue::Text(self.source.clone()),
            delivery: self.delivery,
            schedule: self.schedule,
            looping: self.looping,
            fps: self.fps,
            frames: self.frames,
            ring: self.ring,
            model: self.models.clone(),
        };
        toml::to_string(&file)
            .map_err(|error| SpecError::Invalid(format!("the session cannot be written: {error}")))
    }

    /// Applies options of the command line; relative paths are relative to `folder`.
    ///
    /// # Errors
    /// [`SpecError::Invalid`].
    pub fn apply(&mut self, overrides: &SpecOverrides, folder: &Path) -> Result<(), SpecError> {
        if let Some(source) = &overrides.source {
            self.source = resolve_source(source, folder);
        }
        if !overrides.models.is_empty() {
            let model = |path: &PathBuf| ModelSpec {
                path: folder.join(path),
                ..ModelSpec::default()
            };
            self.models = overrides.models.iter().map(model).collect();
            self.name_models();
        }
        for model in &mut self.models {
            model.device = overrides.device.unwrap_or(model.device);
            model.strict |= overrides.strict;
            model.threshold = overrides.threshold.unwrap_or(model.threshold);
            model.top = overrides.top.unwrap_or(model.top);
            model.threads = overrides.threads.unwrap_or(model.threads);
            model.batch = overrides.batch.unwrap_or(model.batch);
            model.workers = overrides.workers.unwrap_or(model.workers);
            if let Some(preset) = &overrides.preset {
                model.preprocess.preset = Some(preset.clone());
            }
        }
        self.delivery = overrides.delivery.or(self.delivery);
        self.schedule = overrides.schedule.or(self.schedule);
        self.frames = overrides.frames.or(self.frames);
        self.looping |= overrides.looping;
        self.fps = overrides.fps.unwrap_or(self.fps);
        self.check()
    }

    /// Which frames models get.
    pub fn delivery(&self) -> Delivery {
        let live = ["camera:", "rtsp:", "rtsps:", "http:", "https:", "udp:"];
        self.delivery.unwrap_or({
            if live.iter().any(|scheme| self.source.starts_with(scheme)) {
                Delivery::Live
            } else {
                Delivery::Every
            }
        })
    }

    /// How models share a device.
    pub fn schedule(&self) -> Schedule {
        self.schedule.unwrap_or(match self.delivery() {
            Delivery::Every => Schedule::Turns,
            Delivery::Live => Schedule::Together,
        })
    }

    /// Gives every model without a name that of its file, made unique by a number.
    fn name_models(&mut self) {
        let mut taken: BTreeSet<String> =
            self.models.iter().map(|model| model.name.clone()).collect();
        for model in &mut self.models {
            if model.name.is_empty() {
                model.name = unique_model_name(&model.path, |name| taken.contains(name));
                taken.insert(model.name.clone());
            }
        }
    }

    fn check(&self) -> Result<(), SpecError> {
        let invalid = |message: String| Err(SpecError::Invalid(message));
        if !(self.fps.is_finite() && self.fps >= 0.0) {
            return invalid(format!("fps = {} is not a rate: use 0 or more", self.fps));
        }
        if self.frames == Some(0) {
            return invalid("frames = 0 would end before it begins: use 1 or more".to_owned());
        }
        if self.models.len() > MAX_MEMBERS as usize {
            return invalid(format!(
                "{} models: a session has at most {MAX_MEMBERS}",
                self.models.len()
            ));
        }
        let mut names = BTreeSet::new();
        for model in &self.models {
            check_model(model)?;
            if !names.insert(&model.name) {
                return invalid(format!(
                    "two models are named `{}`: give one another `name`",
                    model.name
                ));
            }
        }
        Ok(())
    }
}

/// The stem of a model's file, with a number where `taken` says that another model has it.
pub fn unique_model_name(path: &Path, taken: impl Fn(&str) -> bool) -> String {
    let stem = path.file_stem().map_or_else(
        || "model".to_owned(),
        |stem| crate::base::escape_path(Path::new(stem)),
    );
    if !taken(&stem) {
        return stem;
    }
    (2..)
        .map(|number| format!("{stem}-{number}"))
        .find(|name| !taken(name))
        .unwrap_or(stem)
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
