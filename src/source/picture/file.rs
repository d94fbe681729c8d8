use std::fs::{File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::PictureError;

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    /// The state that `metadata` describes.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// The present state of the file at `path`, if it is there.
    pub(crate) fn now(path: &Path) -> Option<Self> {
        path.metadata().ok().as_ref().map(Self::of)
    }
}

/// Opens a regular file; anything else is refused without blocking on it.
///
/// # Errors
/// It is gone, cannot be opened, or is no regular file.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata), PictureError> {
    let file = OpenOptions::new()
        .read(true)
        // Opening a FIFO would wait for a writer.
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(path)
        .map_err(|error| match path.metadata() {
            // A socket cannot be opened at all.
            Ok(metadata) if !metadata.is_file() => PictureError::NotAFile(kind(&metadata)),
            _ => error.into(),
        })?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(PictureError::NotAFile(kind(&metadata)));
    }
    Ok((file, metadata))
}

/// Reads at most `length` bytes of the beginning of a file.
///
/// # Errors
/// As [`open`], or reading fails.
pub(crate) fn read_beginning(path: &Path, length: u64) -> Result<Vec<u8>, PictureError> {
    let mut bytes = Vec::new();
    open(path)?.0.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
