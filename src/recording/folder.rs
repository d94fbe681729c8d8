use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::JsonLines;

/// Name of the rows in a recording's folder.
const ROWS: &str = "rows.jsonl";

/// Why a recording cannot be begun.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The folder holds a recording already.
    #[error("`{}` holds a recording already; name another folder", .0.display())]
    Exists(PathBuf),
    /// The folder or the file cannot be made.
    #[error("the recording `{}` cannot be made: {cause}", .path.display())]
    Create {
        /// What was to be made.
        path: PathBuf,
        /// Why it was not.
        #[source]
        cause: io::Error,
    },
}

/// Begins a recording in `folder`, which is made when it is not there. Every row is written at
/// once, so that a killed session leaves whole lines.
///
/// # Errors
/// See [`RecordingError`]; a recording is never overwritten.
pub fn create(folder: &Path) -> Result<JsonLines<File>, RecordingError> {
    let failed = |path: &Path, cause| RecordingError::Create {
        path: path.to_owned(),
        cause,
    };
    fs::create_dir_all(folder).map_err(|cause| failed(folder, cause))?;
    let path = folder.join(ROWS);
    match File::create_new(&path) {
        Ok(file) => Ok(JsonLines::new(file)),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            Err(RecordingError::Exists(folder.to_owned()))
        }
        Err(cause) => Err(failed(&path, cause)),
    }
}
