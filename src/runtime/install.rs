use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;

use super::by_hand::by_hand;
use super::download::{Download, Fetched};
use super::error::at;
use super::library::inspect;
use super::partial::Partial;
use super::search::{Found, Origin, Rejected};
use super::unpack::{OnBytes, sha256_of, take_from_directory, unpack_wheel};
use super::{Flavour, RuntimeError, Tool, Version, Wheel, wheel};

/// Environment variable that forbids downloads.
const OFFLINE_VARIABLE: &str = "RINGSIDE_OFFLINE";
/// Held while something is being installed.
const LOCK_FILE: &str = ".lock";
/// How often a busy lock is tried.
const LOCK_POLL: Duration = Duration::from_millis(100);

/// What to install.
#[derive(Debug, Clone, Default)]
pub struct InstallRequest {
    /// What it is to compute on; not looked at when `wheel` is given.
    pub flavour: Flavour,
    /// Install again what is there already.
    pub force: bool,
    /// A pinned wheel that has been downloaded before; nothing is fetched then.
    pub wheel: Option<PathBuf>,
}

/// How far an installation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Another process is installing; its turn first.
    Waiting,
    /// A tool is being started.
    Asking {
        /// Which one.
        tool: Tool,
    },
    /// A tool is fetching.
    Downloading {
        /// Which one.
        tool: Tool,
        /// Bytes so far.
        done_bytes: u64,
        /// All bytes.
        total_bytes: u64,
    },
    /// The digest of the wheel is being computed.
    Checking {
        /// Bytes so far.
        done_bytes: u64,
        /// All bytes.
        total_bytes: u64,
    },
    /// The libraries are being unpacked, and their digests computed.
    Unpacking {
        /// Bytes so far.
        done_bytes: u64,
        /// All bytes.
        total_bytes: u64,
    },
}

/// Installs pinned wheels into a directory.
#[derive(Debug, Clone)]
pub struct Installer {
    /// The release.
    pub version: Version,
    /// Its wheels.
    pub wheels: Vec<Wheel>,
    /// This machine's processor, as [`std::env::consts::ARCH`].
    pub architecture: String,
    /// Where releases are installed, each in its own directory.
    pub root: PathBuf,
    /// Where `pip` and `uv` are looked for, as `PATH`.
    pub path: OsString,
    /// Whether downloads are forbidden.
    pub offline: bool,
}

/// The directory of installed releases: `$XDG_DATA_HOME/ringside/onnxruntime`.
pub(super) fn default_root() -> Option<PathBuf> {
    let directories = Xdg::new().ok()?;
    Some(directories.data_dir().join("ringside").join("onnxruntime"))
}

/// The directories of installed releases. Of one release, `cuda` comes before `cpu`, since it
/// serves both.
pub(super) fn installed_dirs(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else {
        return Vec::new();
    };
    let mut directories: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|entry| entry.path())
        .collect();
    directories.sort_by(|a, b| b.cmp(a));
    directories
}

impl Installer {
    /// The pinned release for this machine and user.
    ///
    /// # Errors
    /// [`RuntimeError::NoDataDirectory`].
    pub fn from_environment() -> Result<Self, RuntimeError> {
        let (version, wheels) = wheel::pinned();
        let offline = std::env::var_os(OFFLINE_VARIABLE);
        Ok(Self {
            version,
            wheels,
            architecture: std::env::consts::ARCH.to_owned(),
            root: default_root().ok_or(RuntimeError::NoDataDirectory)?,
            path: std::env::var_os("PATH").unwrap_or_default(),
            offline: offline.is_some_and(|value| !value.is_empty() && value != "0"),
        })
    }

    /// See [`install`](super::install).
    ///
    /// # Errors
    /// See [`install`](super::install).
    pub fn install(
        &self,
        request: &InstallRequest,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Found, RuntimeError> {
        let wheel = match &request.wheel {
            Some(file) => self.identify(file, progress)?,
            None => self.pinned(request.flavour)?,
        };
        let finished = || match request.force {
            true => None,
            false => self.installed(wheel),
        };
        if let Some(found) = finished() {
            return Ok(found);
        }
        if self.offline && request.wheel.is_none() {
            return Err(RuntimeError::Offline {
                by_hand: by_hand(wheel, &self.root),
            });
        }
        std::fs::create_dir_all(&self.root).map_err(at("create", &self.root))?;
        let _lock = self.lock(progress)?;
        // Whoever had the lock may have installed the same.
        if let Some(found) = finished() {
            return Ok(found);
        }
        Partial::sweep(&self.root)?;
        let partial = Partial::create(&self.root)?;
        let fetched = match &request.wheel {
            Some(file) => Fetched::Wheel(file.clone()),
            None => Download {
                wheel,
                work: partial.path(),
                root: &self.root,
                path: &self.path,
                progress,
            }
            .fetch()?,
        };
        let libraries = unpack(wheel, &fetched, &partial, request.wheel.is_some(), progress)?;
        let version = usable_version(&libraries.join(main_file(wheel)))?;
        let directory = self.directory(wheel);
        partial.publish(&libraries, &directory)?;
        tracing::info!("installed {}", directory.display());
        Ok(found(directory.join(main_file(wheel)), version))
    }

    fn pinned(&self, flavour: Flavour) -> Result<&Wheel, RuntimeError> {
        self.wheels
            .iter()
            .find(|wheel| wheel.flavour == flavour && wheel.architecture == self.architecture)
            .ok_or_else(|| RuntimeError::NoWheel {
                flavour,
                architecture: self.architecture.clone(),
            })
    }

    /// The pinned wheel that a file is.
    fn identify(
        &self,
        file: &Path,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<&Wheel, RuntimeError> {
        let digest = checked_digest(file, progress)?;
        let usable = || {
            self.wheels
                .iter()
                .filter(|wheel| wheel.architecture == self.architecture)
        };
        usable()
            .find(|wheel| wheel.sha256 == digest)
            .ok_or_else(|| RuntimeError::WrongDigest {
                path: file.to_owned(),
                expected: usable()
                    .map(|wheel| format!("{} ({})", wheel.sha256, wheel.file))
                    .collect::<Vec<_>>()
                    .join(" or "),
                found: digest,
            })
    }

    fn directory(&self, wheel: &Wheel) -> PathBuf {
        self.root
            .join(format!("{}-{}", self.version, wheel.flavour))
    }

    /// The installed release, if it is whole.
    fn installed(&self, wheel: &Wheel) -> Option<Found> {
        let directory = self.directory(wheel);
        let is_whole = wheel.members.iter().all(|member| {
            std::fs::metadata(directory.join(member.file_name()))
                .is_ok_and(|metadata| metadata.is_file() && metadata.len() == member.bytes)
        });
        let path = directory.join(main_file(wheel));
        let version = is_whole.then(|| inspect(&path).ok()).flatten()?;
        Some(found(path, version))
    }

    /// Waits until nobody else installs; the kernel frees the lock of a killed process.
    fn lock(
        &self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<File, RuntimeError> {
        let path = self.root.join(LOCK_FILE);
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(at("open", &path))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(at("lock", &path)(error)),
            }
            if progress(Progress::Waiting).is_break() {
                return Err(RuntimeError::Cancelled);
            }
            std::thread::sleep(LOCK_POLL);
        }
    }
}

fn main_file(wheel: &Wheel) -> &str {
    wheel
        .members
        .first()
        .map_or("", |member| member.file_name())
}

fn found(path: PathBuf, version: Version) -> Found {
    Found {
        path,
        version,
        origin: Origin::Installed,
        rejected: Vec::new(),
    }
}

/// The version of a library that is about to be installed; refuses one that could not be used.
fn usable_version(library: &Path) -> Result<Version, RuntimeError> {
    inspect(library).map_err(|defect| {
        RuntimeError::Unusable(Rejected {
            path: library.to_owned(),
            origin: Origin::Installed,
            defect,
        })
    })
}

/// The digest of a file, with progress.
fn checked_digest(
    file: &Path,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<String, RuntimeError> {
    let metadata = std::fs::metadata(file).map_err(at("read", file))?;
    if !metadata.is_file() {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        return Err(at("read", file)(error));
    }
    let total_bytes = metadata.len();
    let mut done_bytes = 0;
    sha256_of(file, &mut |bytes| {
        done_bytes += bytes;
        progress(Progress::Checking {
            done_bytes,
            total_bytes,
        })
    })
}

/// Takes the pinned files out of what was fetched; returns the directory that holds them.
fn unpack(
    wheel: &Wheel,
    fetched: &Fetched,
    partial: &Partial,
    is_checked: bool,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<PathBuf, RuntimeError> {
    let libraries = partial.path().join("libraries");
    std::fs::create_dir(&libraries).map_err(at("create", &libraries))?;
    if let Fetched::Wheel(file) = fetched
        && !is_checked
    {
        let found = checked_digest(file, progress)?;
        if found != wheel.sha256 {
            return Err(RuntimeError::WrongDigest {
                path: file.clone(),
                expected: wheel.sha256.clone(),
                found,
            });
        }
    }
    let total_bytes = wheel.members.iter().map(|member| member.bytes).sum();
    let mut done_bytes = 0;
    let on_bytes: OnBytes<'_> = &mut |bytes| {
        done_bytes += bytes;
        progress(Progress::Unpacking {
            done_bytes,
            total_bytes,
        })
    };
    match fetched {
        Fetched::Wheel(file) => unpack_wheel(wheel, file, &libraries, on_bytes)?,
        Fetched::Directory(directory) => {
            take_from_directory(wheel, directory, &libraries, on_bytes)?;
        }
    }
    Ok(libraries)
}
