use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::RuntimeError;
use super::error::at;

/// Begin of the names of directories that are being filled.
const PREFIX: &str = ".partial-";

/// A directory that is being filled; removed when dropped, and swept after a kill.
pub(super) struct Partial(PathBuf);

impl Partial {
    /// A new, empty directory below `root`.
    ///
    /// # Errors
    /// It cannot be created.
    pub(super) fn create(root: &Path) -> Result<Self, RuntimeError> {
        let path = root.join(format!("{PREFIX}{}", ulid::Ulid::new()));
        std::fs::create_dir(&path).map_err(at("create", &path))?;
        Ok(Self(path))
    }

    /// Removes the directories below `root` that killed processes have left. Only for the one that
    /// holds the lock of `root`.
    ///
    /// # Errors
    /// One cannot be removed.
    pub(super) fn sweep(root: &Path) -> Result<(), RuntimeError> {
        let entries = std::fs::read_dir(root).map_err(at("read", root))?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
                tracing::info!("removing the unfinished {}", entry.path().display());
                remove_tree(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Puts the finished directory `finished`, which lies in this one, to `place` in one step. What
    /// was there before goes into this directory, and away with it.
    ///
    /// # Errors
    /// It cannot be moved or synced.
    pub(super) fn publish(&self, finished: &Path, place: &Path) -> Result<(), RuntimeError> {
        sync_directory(finished)?;
        let occupied = place.symlink_metadata().is_ok();
        let exchanged =
            occupied && renameat_with(CWD, finished, CWD, place, RenameFlags::EXCHANGE).is_ok();
        if !exchanged {
            // Some file systems cannot exchange: for a moment the place is empty.
            if occupied {
                std::fs::rename(place, self.0.join("replaced")).map_err(at("move", place))?;
            }
            std::fs::rename(finished, place).map_err(at("create", place))?;
        }
        place.parent().map_or(Ok(()), sync_directory)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Err(error) = remove_tree(&self.0) {
            tracing::warn!("{error}");
        }
    }
}

fn sync_directory(directory: &Path) -> Result<(), RuntimeError> {
    File::open(directory)
        .and_then(|file| file.sync_all())
        .map_err(at("write", directory))
}

fn remove_tree(path: &Path) -> Result<(), RuntimeError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at("remove", path)(error)),
        _ => Ok(()),
    }
}
