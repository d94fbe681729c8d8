use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ulid::Ulid;

/// A folder into which ONNX Runtime writes a profile; removed with all that is in it.
///
/// Its owner holds a lock on it, which the kernel drops with the process: what a killed process has
/// left is removed by the next one that makes such a folder.
#[derive(Debug)]
pub(super) struct ProfileFolder {
    path: PathBuf,
    _lock: File,
}

/// Before a name that no other process takes: numbers of processes are the same in containers that
/// share a folder for temporary files.
const PREFIX: &str = "ringside-profile-";
/// Age from which a folder without a lock has been left behind, and is not just being made.
const LEFT_BEHIND: Duration = Duration::from_secs(60);

impl ProfileFolder {
    /// Makes a folder of mode 0700 among temporary files, and removes those of killed processes.
    pub(super) fn create() -> io::Result<Self> {
        Self::create_in(&std::env::temp_dir())
    }

    fn create_in(parent: &Path) -> io::Result<Self> {
        sweep(parent, LEFT_BEHIND)?;
        let path = parent.join(format!("{PREFIX}{}", Ulid::new()));
        DirBuilder::new().mode(0o700).create(&path)?;
        let lock = File::open(&path)?;
        lock.lock()?;
        Ok(Self { path, _lock: lock })
    }

    /// What names of profiles are to begin with.
    pub(super) fn prefix(&self) -> PathBuf {
        self.path.join("run")
    }

    /// The profile that ONNX Runtime has begun to write. The folder is removed: from here on a process
    /// that is killed leaves nothing.
    pub(super) fn into_file(self) -> io::Result<File> {
        let begun = fs::read_dir(&self.path)?.next().transpose()?;
        let begun = begun.ok_or_else(|| io::Error::other("no profile has been begun"))?;
        File::open(begun.path())
    }
}

impl Drop for ProfileFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!("{} is left behind: {error}", self.path.display());
        }
    }
}

/// Removes folders in `parent` that nobody holds and that are older than `age`.
fn sweep(parent: &Path, age: Duration) -> io::Result<()> {
    for entry in fs::read_dir(parent)?.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let is_old = |modified: SystemTime| modified.elapsed().is_ok_and(|passed| passed >= age);
        let metadata = entry.metadata();
        if !metadata.is_ok_and(|it| it.is_dir() && it.modified().is_ok_and(is_old)) {
            continue;
        }
        // Another user's cannot be opened, and one in use cannot be locked.
        let folder = File::options()
            .read(true)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(entry.path());
        if let Ok(folder) = folder
            && folder.try_lock().is_ok()
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::debug!("{} is left behind: {error}", entry.path().display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_in_use_is_not() {
        let parent = tempfile::tempdir().expect("a folder");
        let left = parent.path().join(format!("{PREFIX}1-0"));
        fs::create_dir(&left).expect("a folder");
        fs::write(left.join("run.json"), "[").expect("a file");
        let other = parent.path().join("other");
        fs::create_dir(&other).expect("a folder");
        let used = ProfileFolder::create_in(parent.path()).expect("a folder");
        assert!(left.is_dir(), "it is too young to be judged");
        sweep(parent.path(), Duration::ZERO).expect("a folder");
        assert!(!left.exists());
        assert!(other.is_dir() && used.path.is_dir());

        fs::write(used.path.join("run_1.json"), "[]").expect("a file");
        let path = used.path.clone();
        let file = used.into_file().expect("a profile");
        assert!(!path.exists());
        assert_eq!(io::read_to_string(file).expect("text"), "[]");
    }

    #[test]
    fn folders_of_a_process_with_the_same_number_are_left_alone() {
        let parent = tempfile::tempdir().expect("a folder");
        let theirs = parent
            .path()
            .join(format!("{PREFIX}{}-0", std::process::id()));
        fs::create_dir(&theirs).expect("a folder");
        let lock = File::open(&theirs).expect("a folder");
        lock.lock().expect("nobody else has it");
        let ours: Vec<_> = (0..2)
            .map(|_| ProfileFolder::create_in(parent.path()).expect("a folder"))
            .collect();
        assert_ne!(ours[0].path, ours[1].path);
        sweep(parent.path(), Duration::ZERO).expect("a folder");
        assert!(theirs.is_dir() && ours.iter().all(|folder| folder.path.is_dir()));
    }
}
