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
    hashing: Hashing,
}

/// The digest of a file that has been read, on its way.
#[derive(Debug)]
pub struct Hashing {
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
            hashing: Hashing { digest },
        })
    }

    /// The file, once it has been read, and its digest, which takes longer.
    ///
    /// # Errors
    /// As [`ModelFile::open`].
    pub fn file(self) -> Result<(Arc<ModelFile>, Hashing), ModelError> {
        let file = self.file.recv().unwrap_or_else(|_panicked| {
            let reason = "reading it panicked; the log says where".to_owned();
            Err(ModelError::new(&self.path, Cause::Unreadable(reason)))
        })?;
        Ok((file, self.hashing))
    }
}

impl Hashing {
    /// SHA-256 of the file, hexadecimal, once it is known.
    pub fn sha256(self) -> String {
        match self.digest.join() {
            Ok(digest) => digest.expect("a file that has been read is hashed"),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}
