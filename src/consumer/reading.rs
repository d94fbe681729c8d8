use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam::channel::{Receiver, bounded};

use super::model_file::{Cause, ModelError, ModelFile};

/// A model's file, read and hashed beside whatever else there is to do.
#[derive(Debug)]
pub struct Reading {
    path: PathBuf,
    file: Receiver<Result<Arc<ModelFile>, ModelError>>,
    // Not a `Worker`: one that is not needed any more need not be waited for.
    digest: JoinHandle<Option<String>>,
}

impl Reading {
    /// Starts to read the model at `path`.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn start(path: &Path) -> io::Result<Self> {
        let (sender, file) = bounded(1);
        let model = path.to_owned();
        let digest = thread::Builder::new()
            .name("model file".to_owned())
            .spawn(move || {
                let result = ModelFile::open(&model).map(Arc::new);
                let file = result.as_ref().ok().map(Arc::clone);
                // Whoever asked may have given up for another reason.
                drop(sender.send(result));
                Some(file?.sha256())
            })?;
        Ok(Self {
            path: path.to_owned(),
            file,
            digest,
        })
    }

    /// The file, once it has been read.
    ///
    /// # Errors
    /// As [`ModelFile::open`].
    pub fn file(&self) -> Result<Arc<ModelFile>, ModelError> {
        self.file.recv().unwrap_or_else(|_panicked| {
            let reason = "reading it panicked; the log says where".to_owned();
            Err(ModelError::new(&self.path, Cause::Unreadable(reason)))
        })
    }

    /// SHA-256 of the file, hexadecimal, once it is known; empty where the file cannot be read.
    pub fn sha256(self) -> String {
        match self.digest.join() {
            Ok(digest) => digest.unwrap_or_default(),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}
