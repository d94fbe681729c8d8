//! Finds or installs ONNX Runtime.
//!
//! [`find`] looks at files and never loads them: only a consumer may map ONNX Runtime into its
//! process. [`install`] fetches a pinned wheel with the user's own `pip` or `uv`, checks it against
//! pinned digests, and unpacks only the libraries. [`ensure`] does the one, then the other.

mod by_hand;
mod download;
mod error;
mod install;
mod library;
mod partial;
mod search;
mod system_dirs;
mod tool;
mod unpack;
mod version;
mod wheel;

pub use download::{Tool, ToolFailure};
pub use error::RuntimeError;
pub use install::{InstallRequest, Installer, Progress};
pub use library::{Defect, inspect};
pub use search::{Candidate, Found, Origin, Rejected, Search};
pub use version::{Version, VersionError};
pub use wheel::{Flavour, Member, Wheel};

use std::ops::ControlFlow;
use std::path::Path;

/// Finds the ONNX Runtime library to use: `explicit` (what the user named on the command line or in
/// a session), else `ORT_DYLIB_PATH`, else beside the executable, in the user's data directory, in
/// the system's library directories. Files that cannot be used are skipped and listed, except one
/// that the user named: that is an error.
///
/// # Errors
/// [`RuntimeError::Unusable`] for a file that the user named, [`RuntimeError::NotFound`] when
/// there is none.
pub fn find(explicit: Option<&Path>) -> Result<Found, RuntimeError> {
    Search::from_environment(explicit).find()
}

/// Every file that could be ONNX Runtime, in the order of [`find`], with its version or what is
/// wrong with it.
pub fn list(explicit: Option<&Path>) -> Vec<Candidate> {
    Search::from_environment(explicit).candidates().collect()
}

/// Installs the pinned ONNX Runtime into the user's data directory, or returns the one that is
/// installed there already.
///
/// `progress` is called at least every 200 ms; when it returns [`ControlFlow::Break`], everything
/// that was begun is undone and the result is [`RuntimeError::Cancelled`].
///
/// # Errors
/// See [`RuntimeError`]; [`RuntimeError::hint`] says how to do it by hand.
pub fn install(
    request: &InstallRequest,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Found, RuntimeError> {
    Installer::from_environment()?.install(request, progress)
}

/// Finds ONNX Runtime, or installs it for the CPU where there is none.
///
/// # Errors
/// As [`find`] and [`install`].
pub fn ensure(
    explicit: Option<&Path>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Found, RuntimeError> {
    match find(explicit) {
        Err(RuntimeError::NotFound { rejected }) => {
            let found = install(&InstallRequest::default(), progress)?;
            Ok(Found { rejected, ..found })
        }
        result => result,
    }
}
