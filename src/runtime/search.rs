use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use super::library::{inspect, libraries_in};
use super::{Defect, RuntimeError, Version, install, system_dirs};

/// Environment variable with the path of the library.
const PATH_VARIABLE: &str = "ORT_DYLIB_PATH";

/// Who or what led to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The user, on the command line or in a session.
    Argument,
    /// The user, in `ORT_DYLIB_PATH`.
    Environment,
    /// It lies beside this program.
    BesideProgram,
    /// `ringside runtime install` put it into the user's data directory.
    Installed,
    /// A directory of the system's loader.
    System,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Argument => "named by --onnxruntime",
            Self::Environment => "named by ORT_DYLIB_PATH",
            Self::BesideProgram => "beside the program",
            Self::Installed => "installed by ringside",
            Self::System => "a system library",
        })
    }
}

/// A file that could be ONNX Runtime.
#[derive(Debug)]
pub struct Candidate {
    /// The file, absolute.
    pub path: PathBuf,
    /// What led to it.
    pub origin: Origin,
    /// Its release, or why it cannot be used.
    pub version: Result<Version, Defect>,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{}` ({origin}): {defect}", .path.display())]
pub struct Rejected {
    /// The file, absolute.
    pub path: PathBuf,
    /// What led to it.
    pub origin: Origin,
    /// What is wrong with it.
    #[source]
    pub defect: Defect,
}

/// The library to use.
#[derive(Debug)]
pub struct Found {
    /// The file, absolute.
    pub path: PathBuf,
    /// Its release.
    pub version: Version,
    /// What led to it.
    pub origin: Origin,
    /// Files that were looked at before and cannot be used.
    pub rejected: Vec<Rejected>,
}

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// A file named by the user; then nothing else is looked at.
    pub named: Option<(PathBuf, Origin)>,
    /// The directory of this program.
    pub program_dir: Option<PathBuf>,
    /// The directory that holds one directory for each installed release.
    pub installed: Option<PathBuf>,
    /// The directories of the system's loader.
    pub system: Vec<PathBuf>,
}

impl Search {
    /// The places of this process; `explicit` goes before `ORT_DYLIB_PATH`.
    pub fn from_environment(explicit: Option<&Path>) -> Self {
        let system = system_dirs::library_dirs();
        let variable = || {
            let value = std::env::var_os(PATH_VARIABLE)?;
            (!value.is_empty()).then(|| (PathBuf::from(value), Origin::Environment))
        };
        let named = explicit
            .map(|path| (path.to_owned(), Origin::Argument))
            .or_else(variable)
            .map(|(path, origin)| (locate(&path, &system), origin));
        let program_dir = std::env::current_exe()
            .ok()
            .and_then(|program| program.parent().map(Path::to_owned));
        Self {
            named,
            program_dir,
            installed: install::default_root(),
            system,
        }
    }

    /// The first usable file.
    ///
    /// # Errors
    /// As [`find`](super::find).
    pub fn find(&self) -> Result<Found, RuntimeError> {
        let mut rejected = Vec::new();
        for candidate in self.candidates() {
            let Candidate {
                path,
                origin,
                version,
            } = candidate;
            match version {
                Ok(version) => {
                    return Ok(Found {
                        path,
                        version,
                        origin,
                        rejected,
                    });
                }
                Err(defect) => rejected.push(Rejected {
                    path,
                    origin,
                    defect,
                }),
            }
        }
        match rejected.pop() {
            Some(only) if self.named.is_some() => Err(RuntimeError::Unusable(only)),
            last => {
                rejected.extend(last);
                Err(RuntimeError::NotFound { rejected })
            }
        }
    }

    /// Every file that could be ONNX Runtime, best first, looked at one by one. A file that is
    /// reached in two ways (by a link, say) is given once.
    pub fn candidates(&self) -> impl Iterator<Item = Candidate> {
        let mut seen = HashSet::new();
        let named = self.named.iter().map(|(path, origin)| Candidate {
            path: path.clone(),
            origin: *origin,
            version: inspect(path),
        });
        let found = self
            .places()
            .into_iter()
            .flat_map(|(directories, origin)| candidates_in(&directories, origin));
        named.chain(found).filter(move |candidate| {
            let identity = candidate.path.canonicalize();
            seen.insert(identity.unwrap_or_else(|_| candidate.path.clone()))
        })
    }

    /// Groups of directories whose files compete by version.
    fn places(&self) -> Vec<(Vec<PathBuf>, Origin)> {
        if self.named.is_some() {
            return Vec::new();
        }
        let mut places = Vec::new();
        places.extend(
            self.program_dir
                .iter()
                .map(|directory| (vec![directory.clone()], Origin::BesideProgram)),
        );
        places.extend(
            self.installed
                .iter()
                .map(|root| (install::installed_dirs(root), Origin::Installed)),
        );
        places.extend(
            self.system
                .iter()
                .map(|directory| (vec![directory.clone()], Origin::System)),
        );
        places
    }
}

/// The candidates of some directories: usable ones first, newest first; among equals the order of
/// the directories counts.
fn candidates_in(directories: &[PathBuf], origin: Origin) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = directories
        .iter()
        .flat_map(|directory| libraries_in(directory))
        .map(|path| Candidate {
            version: inspect(&path),
            origin,
            path,
        })
        .collect();
    candidates.sort_by(|a, b| b.version.as_ref().ok().cmp(&a.version.as_ref().ok()));
    candidates
}

/// The file that a user means: a bare name that is not in the working directory is looked for where
/// the loader would look.
fn locate(named: &Path, system: &[PathBuf]) -> PathBuf {
    let absolute = std::path::absolute(named).unwrap_or_else(|_| named.to_owned());
    let bare = named.components().count() == 1 && !absolute.exists();
    bare.then(|| {
        system
            .iter()
            .map(|directory| directory.join(named))
            .find(|path| path.exists())
    })
    .flatten()
    .unwrap_or(absolute)
}
