use std::path::{Path, PathBuf};

use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::runtime::{self, RuntimeError};

/// ONNX Runtime, loaded into this process.
#[derive(Clone)]
pub struct Library {
    /// Its environment, of which a process has one.
    pub environment: Environment,
    /// Its release, as `1.31.1`.
    pub version: String,
}

/// Why ONNX Runtime could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// There is no file that could be it.
    #[error(transparent)]
    Find(#[from] RuntimeError),
    /// The file looks like it, and the system's loader refuses it.
    #[error("ONNX Runtime {} cannot be loaded: {reason}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// What the loader says.
        reason: String,
    },
}

impl LibraryError {
    /// Stable identifier of the problem.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Find(error) => error.code(),
            Self::Load { .. } => "runtime_unusable",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Find(error) => error.hint(),
            Self::Load { .. } => Some(format!(
                "run `ringside runtime install`, or name a library of {} or newer for this machine \
                 with --onnxruntime FILE",
                runtime::Version::NEEDED
            )),
        }
    }
}

impl Library {
    /// Loads the library at `explicit`, or the first one that is found.
    ///
    /// The file has been checked before the system's loader sees it: a file that is no ONNX Runtime,
    /// or too old, is an error here, not a hang or a panic later.
    ///
    /// # Errors
    /// See [`LibraryError`].
    pub fn load(explicit: Option<&Path>) -> Result<Self, LibraryError> {
        let found = runtime::find(explicit)?;
        for rejected in &found.rejected {
            tracing::info!("skipped {rejected}");
        }
        tracing::info!(
            "ONNX Runtime {} from {} ({})",
            found.version,
            found.path.display(),
            found.origin
        );
        let failed = |reason: String| LibraryError::Load {
            path: found.path.clone(),
            reason,
        };
        let environment = ort::init_from(&found.path)
            .map_err(|error| failed(error.to_string()))?
            .with_name("ringside")
            .with_telemetry(false)
            .build()
            .map_err(|error| failed(error.to_string()))?;
        environment.set_log_level(LogLevel::Warning);
        Ok(Self {
            environment,
            version: found.version.to_string(),
        })
    }
}
