use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::RingError;
use super::layout::Header;
use super::locks::{LockByte, LockFile, LockKind};
use super::mapping::Mapping;
use super::memory::{has_version_word, io_error};

/// Where named segments lie.
pub(super) const DIRECTORY: &str = "/dev/shm";
/// What all names begin with.
const PREFIX: &str = "/ringside-";
/// A segment without a header that is older than this was left by a creator that died.
const CREATION: Duration = Duration::from_secs(60);

/// A ring's segment, as found in `/dev/shm`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its name, with the leading slash.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Whether the session that made it lives.
    pub owner_alive: bool,
    /// That session's process, if the header is readable; in its own process namespace.
    pub owner_pid: Option<u32>,
    /// Time since it was made.
    pub age_seconds: u64,
    /// What it is.
    pub state: SegmentState,
}

/// What a segment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentState {
    /// In use.
    Live,
    /// Left by a session that died; [`sweep`] removes it.
    Abandoned,
    /// Being made.
    Initialising,
}

impl SegmentState {
    /// The state in a word, for a table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Abandoned => "abandoned",
            Self::Initialising => "initialising",
        }
    }
}

/// All segments of rings on this machine, by name.
///
/// # Errors
/// `/dev/shm` cannot be read. Segments of other users and such that vanish meanwhile are left out.
pub fn list() -> io::Result<Vec<Segment>> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(DIRECTORY)? {
        let file_name = entry?.file_name();
        let Some(name) = file_name.to_str().map(|name| format!("/{name}")) else {
            continue;
        };
        if name.starts_with(PREFIX) {
            match inspect(&name) {
                Ok((segment, _)) => segments.push(segment),
                Err(error) => tracing::debug!("left out of the list: {error}"),
            }
        }
    }
    segments.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(segments)
}

/// Removes the segments of sessions that died, and returns their names.
///
/// # Errors
/// As [`list`]; a segment that cannot be removed is logged and left.
pub fn sweep() -> io::Result<Vec<String>> {
    let mut swept = Vec::new();
    for segment in list()? {
        if segment.state != SegmentState::Abandoned {
            continue;
        }
        match remove(&segment.name) {
            Ok(true) => swept.push(segment.name),
            Ok(false) => {}
            Err(error) => tracing::warn!("cannot remove {}: {error}", segment.name),
        }
    }
    Ok(swept)
}

/// Removes the segment if it still is abandoned.
fn remove(name: &str) -> Result<bool, RingError> {
    let (segment, locks) = inspect(name)?;
    let abandoned = segment.state == SegmentState::Abandoned
        && locks
            .try_lock(LockByte::Owner, LockKind::Exclusive)
            .map_err(|error| io_error(name, "use a lock", error))?;
    if abandoned {
        unlink(name)?;
    }
    Ok(abandoned)
}

/// Removes the name of a segment; names are never used twice.
pub(super) fn unlink(name: &str) -> Result<(), RingError> {
    fs::remove_file(path_of(name)?).map_err(|error| io_error(name, "remove the file", error))
}

fn inspect(name: &str) -> Result<(Segment, LockFile), RingError> {
    let error = |what| move |error| io_error(name, what, error);
    let locks = LockFile::open(&path_of(name)?).map_err(error("open the file"))?;
    let metadata = locks.file().metadata().map_err(error("read the size"))?;
    let owner_alive = locks
        .holder(LockByte::Owner)
        .map_err(error("use a lock"))?
        .is_some();
    let begun = has_version_word(locks.file()).map_err(error("read the header"))?;
    let header = (metadata.len() > 0 && begun)
        .then(|| Mapping::open(name).ok())
        .flatten()
        .map(|mapping| Header::read(&mapping, name));
    // A ring of another version or a damaged one was initialised once.
    let initialised = matches!(
        &header,
        Some(Ok(_) | Err(RingError::WrongVersion { .. } | RingError::Damaged { .. }))
    );
    let made = SystemTime::UNIX_EPOCH + Duration::from_secs(metadata.ctime().unsigned_abs());
    // A clock that was set back makes segments look new: they are swept later.
    let age = SystemTime::now().duration_since(made).unwrap_or_default();
    let state = if owner_alive {
        SegmentState::Live
    } else if initialised || age > CREATION {
        SegmentState::Abandoned
    } else {
        SegmentState::Initialising
    };
    let segment = Segment {
        name: name.to_owned(),
        bytes: metadata.len(),
        owner_alive,
        owner_pid: header.and_then(Result::ok).map(|header| header.owner_pid),
        age_seconds: age.as_secs(),
        state,
    };
    Ok((segment, locks))
}

/// A name that no other segment has or will have.
pub(super) fn new_name(generation: u32) -> String {
    format!("{PREFIX}{}-{generation}", ulid::Ulid::new())
}

/// The file of the segment `name`.
pub(super) fn path_of(name: &str) -> Result<PathBuf, RingError> {
    let file = name
        .strip_prefix('/')
        .filter(|file| name.starts_with(PREFIX) && !file.contains(['/', '\0']))
        .ok_or_else(|| RingError::BadName {
            name: name.to_owned(),
        })?;
    Ok(Path::new(DIRECTORY).join(file))
}
