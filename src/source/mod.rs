//! Where frames come from: folders, pictures, test patterns.

mod address;
mod error;
mod folder;
mod pattern;
mod picture;

pub use address::{FileOptions, SourceAddress};
pub use error::SourceError;
pub use folder::FolderSource;
pub use pattern::{PatternKind, PatternSource, PatternSpec};
pub use picture::{PictureError, PictureFormat};

use crate::frame::Frame;
use crate::protocol::{Problem, Skipped, SourceInfo};

/// A place in a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    /// File number of a folder, frame number of a pattern, from 0.
    pub source_index: u64,
    /// How often the source had been played whole before, from 0.
    pub pass: u32,
}

/// Where a source's next step leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upcoming {
    /// The place.
    pub cursor: Cursor,
    /// The file there, relative to the source's root and escaped.
    pub path: Option<String>,
}

/// What a step of a source gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A frame: [`FrameSource::frame`].
    Frame,
    /// An entry that gives no frame.
    Skipped(Skipped),
    /// There is no further entry; a later step may find one after [`FrameSource::seek`] or
    /// [`FrameSource::set_looping`].
    End,
}

/// An open source of frames. It owns the frame of the last step, so that no pixel is copied and no
/// buffer allocated on the way to the ring.
pub trait FrameSource: Send {
    /// What it says of itself.
    fn info(&self) -> &SourceInfo;

    /// What the user should know about how it was opened.
    fn notices(&self) -> &[Problem];

    /// Goes to the next entry and waits until it is there.
    ///
    /// # Errors
    /// The source is lost; nothing more will come.
    fn step(&mut self) -> Result<Step, SourceError>;

    /// The frame of the last step, if that was [`Step::Frame`]. Its rows are packed.
    fn frame(&self) -> Option<&Frame>;

    /// XXH3-64 of the pixels of [`Self::frame`]; 0 where there is none.
    fn xxh3(&self) -> u64;

    /// What the next step would open; `None` at the end.
    fn upcoming(&self) -> Option<Upcoming>;

    /// Goes to another place; the next step gives what is there.
    fn seek(&mut self, cursor: Cursor);

    /// Whether to begin again at the end.
    fn set_looping(&mut self, looping: bool);

    /// Whether entries behind the next one may be opened before they are asked for. What was opened
    /// already is forgotten when this is turned off.
    fn set_read_ahead(&mut self, on: bool);
}

/// Opens the source at an address.
///
/// # Errors
/// The address is wrong, or what it names cannot be opened.
pub fn open(address: &str) -> Result<Box<dyn FrameSource>, SourceError> {
    Ok(match SourceAddress::parse(address)? {
        SourceAddress::Folder(path, options) => Box::new(FolderSource::folder(&path, options)?),
        SourceAddress::Image(path, options) => Box::new(FolderSource::image(&path, options)?),
        SourceAddress::Path(path, options) => {
            let metadata = path.metadata().map_err(|cause| SourceError::Path {
                path: path.clone(),
                cause,
            })?;
            if metadata.is_dir() {
                Box::new(FolderSource::folder(&path, options)?)
            } else {
                Box::new(FolderSource::image(&path, options)?)
            }
        }
        SourceAddress::Pattern(spec) => Box::new(PatternSource::new(spec)?),
    })
}
