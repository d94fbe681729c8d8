use std::path::{Path, PathBuf};

use image::{ImageFormat, RgbImage};

use super::{Preview, RingError};
use crate::frame::{Frame, FrameDescription, FrameError, FramePosition, rgb8_into};

/// Why a snapshot was not saved.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The ring cannot be read.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The frame is not in the ring.
    #[error("the ring {name} has {}; it keeps the last few only", missing(*.seq))]
    NotThere {
        /// Name of the segment.
        name: String,
        /// The sequence asked for; `None`: any.
        seq: Option<u64>,
    },
    /// Its name names no picture format that can be written.
    #[error("`{}` names no picture format that can be written; use .png, .jpg, .bmp or .tiff", .0.display())]
    Format(PathBuf),
    /// The frame cannot be converted.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: image::ImageError,
    },
}

fn missing(seq: Option<u64>) -> String {
    match seq {
        Some(seq) => format!("no frame {seq}"),
        None => "no frame yet".to_owned(),
    }
}

/// Saves frame `seq`, or the newest one, of the ring `name` as an 8-bit RGB picture at `path`,
/// in the format that its name says, and returns its sequence and description.
///
/// # Errors
/// See [`SnapshotError`].
pub fn save_snapshot(
    name: &str,
    seq: Option<u64>,
    path: &Path,
) -> Result<(u64, FrameDescription, FramePosition), SnapshotError> {
    let format = ImageFormat::from_path(path)
        .ok()
        .filter(ImageFormat::writing_enabled)
        .ok_or_else(|| SnapshotError::Format(path.to_owned()))?;
    let mut frame = Frame::empty();
    let mut preview = Preview::attach(name)?;
    let mut copied = None;
    // The newest frame may become an old one, and be written over, while it is looked for.
    for _ in 0..ATTEMPTS {
        copied = preview.copy(seq, &mut frame)?;
        if copied.is_some() {
            break;
        }
    }
    let copied = copied.ok_or_else(|| SnapshotError::NotThere {
        name: name.to_owned(),
        seq,
    })?;
    let mut rgb = Vec::new();
    rgb8_into(&frame, &mut rgb)?;
    let FrameDescription { width, height, .. } = frame.description;
    let picture =
        RgbImage::from_raw(width, height, rgb).ok_or(FrameError::Empty { width, height })?;
    picture
        .save_with_format(path, format)
        .map_err(|source| SnapshotError::Write {
            path: path.to_owned(),
            source,
        })?;
    Ok((copied, frame.description, frame.position))
}

/// How often the newest frame is looked for.
const ATTEMPTS: u32 = 100;
