//! Pictures of a folder, or a single one.

mod cache;
mod largest;
mod listing;
mod notices;
mod read_ahead;

use std::path::{Path, PathBuf};

use super::address::FileOptions;
use super::picture::{self, FileStamp, PictureError, PictureReader};
use super::{Cursor, FrameSource, SourceError, Step, Upcoming};
use crate::base::{escape_path, monotonic_nanos};
use crate::frame::{CapturedFrom, Frame, FramePosition};
use crate::protocol::{Problem, Skipped, SourceInfo};
use cache::{Cache, Kept};
use notices::{left_out, notices};
use read_ahead::{Decoded, ReadAhead, decode};

/// Decoded frames kept of a folder that loops.
const CACHE_BYTES: usize = 256 << 20;

/// Plays picture files one after the other.
#[derive(Debug)]
pub struct FolderSource {
    info: SourceInfo,
    notices: Vec<Problem>,
    root: PathBuf,
    /// Relative to `root`.
    pictures: Vec<PathBuf>,
    options: FileOptions,
    cursor: Cursor,
    looping: bool,
    reads_ahead: bool,
    /// The frame of the last step, and its entry.
    current: Option<(u64, Kept)>,
    /// Entries left out since the last frame.
    fruitless: usize,
    cache: Cache,
    ahead: Option<ReadAhead>,
    reader: PictureReader,
    spare_pixels: Vec<u8>,
}

impl FolderSource {
    /// All pictures of a folder. It is listed now and never again.
    ///
    /// # Errors
    /// It is no folder, cannot be read, or holds no picture.
    pub fn folder(path: &Path, options: FileOptions) -> Result<Self, SourceError> {
        let at_path = |cause| SourceError::Path {
            path: path.to_owned(),
            cause,
        };
        if !path.metadata().map_err(at_path)?.is_dir() {
            return Err(SourceError::NotAFolder {
                path: path.to_owned(),
            });
        }
        let listing = listing::list(path, options.recursive).map_err(at_path)?;
        if listing.pictures.is_empty() {
            return Err(SourceError::NoPictures {
                path: path.to_owned(),
                left_out: left_out(&listing).unwrap_or_else(|| "it is empty".to_owned()),
                has_subfolders: listing.subfolders > 0,
            });
        }
        let recursive = if options.recursive {
            "?recursive=1"
        } else {
            ""
        };
        let uri = format!("folder:{}{recursive}", escape_path(path));
        let notices = notices(path, &listing);
        Ok(Self::new(
            uri,
            path.to_owned(),
            listing.pictures,
            notices,
            options,
        ))
    }

    /// One picture.
    ///
    /// # Errors
    /// It is not there, or its header cannot be read.
    pub fn image(path: &Path, options: FileOptions) -> Result<Self, SourceError> {
        let metadata = path.metadata().map_err(|cause| SourceError::Path {
            path: path.to_owned(),
            cause,
        })?;
        let (Some(name), false) = (path.file_name(), metadata.is_dir()) else {
            return Err(SourceError::NotAPicture {
                path: path.to_owned(),
            });
        };
        picture::describe(path, options.max_bytes).map_err(|reason| SourceError::Picture {
            path: path.to_owned(),
            reason,
        })?;
        let root = path.parent().unwrap_or(Path::new("")).to_owned();
        let uri = format!("image:{}", escape_path(path));
        Ok(Self::new(
            uri,
            root,
            vec![PathBuf::from(name)],
            Vec::new(),
            options,
        ))
    }

    fn new(
        uri: String,
        root: PathBuf,
        pictures: Vec<PathBuf>,
        notices: Vec<Problem>,
        options: FileOptions,
    ) -> Self {
        Self {
            info: SourceInfo {
                uri,
                entries: Some(pictures.len() as u64),
                largest: largest::largest(&root, &pictures, options.max_bytes),
                live: false,
                fps: None,
            },
            notices,
            root,
            pictures,
            options,
            cursor: Cursor::default(),
            looping: false,
            reads_ahead: true,
            current: None,
            fruitless: 0,
            cache: Cache::new(CACHE_BYTES),
            ahead: None,
            reader: PictureReader::default(),
            spare_pixels: Vec::new(),
        }
    }

    fn entry(&self, index: u64) -> Option<&Path> {
        let index = usize::try_from(index).ok()?;
        self.pictures.get(index).map(PathBuf::as_path)
    }

    /// Puts the frame of the last step away: into the cache, or its buffer to be used again.
    fn retire(&mut self) {
        let Some((index, kept)) = self.current.take() else {
            return;
        };
        let rejected = if self.looping {
            self.cache.put(index, kept)
        } else {
            Some(kept)
        };
        if let Some(kept) = rejected {
            self.spare_pixels = kept.frame.pixels;
        }
    }

    /// The frame of entry `index` from the cache, if its file is still the same.
    fn cached(&mut self, index: u64, path: &Path) -> Option<Kept> {
        let mut kept = self.cache.take(index)?;
        let captured_nanos = monotonic_nanos();
        if FileStamp::now(path) != Some(kept.stamp) {
            return None;
        }
        kept.frame.position.captured_nanos = captured_nanos;
        Some(kept)
    }

    /// Decodes entry `index`, or waits until that has been done.
    fn decoded(
        &mut self,
        index: u64,
        path: &Path,
    ) -> Result<Result<Decoded, PictureError>, SourceError> {
        if self.reads_ahead && self.pictures.len() > 1 {
            self.plan(index)?;
            if let Some(result) = self.ahead.as_mut().and_then(|ahead| ahead.take(index)) {
                // Keeps the threads busy while the frame is being published.
                self.plan(index + 1)?;
                return Ok(result);
            }
        }
        let pixels = std::mem::take(&mut self.spare_pixels);
        Ok(decode(
            &mut self.reader,
            path,
            self.options.max_bytes,
            pixels,
        ))
    }

    /// Asks for the entries from `index` on, as far as the queue has room.
    fn plan(&mut self, index: u64) -> Result<(), SourceError> {
        let entries = self.pictures.len() as u64;
        if self.ahead.is_none() {
            let threads = self.options.threads.min(self.pictures.len());
            let ahead = ReadAhead::start(threads, self.options.max_bytes);
            self.ahead = Some(ahead.map_err(SourceError::Thread)?);
        }
        let Some(ahead) = &mut self.ahead else {
            return Ok(());
        };
        let mut next = if ahead.awaits(index) {
            ahead.last_index().map_or(index, |last| last + 1)
        } else {
            ahead.forget();
            index
        };
        for _ in 0..entries {
            if next >= entries {
                if !self.looping {
                    break;
                }
                next = 0;
            }
            if !ahead.has_room() || ahead.awaits(next) {
                break;
            }
            let will_be_kept = self.current.as_ref().is_some_and(|(current, kept)| {
                *current == next
                    && self.looping
                    && self.cache.has_room(kept.frame.pixels.capacity())
            });
            if !self.cache.holds(next) && !will_be_kept {
                let path = self.root.join(&self.pictures[next as usize]);
                ahead.ask(next, path, std::mem::take(&mut self.spare_pixels));
            }
            next += 1;
        }
        Ok(())
    }
}

impl FrameSource for FolderSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn notices(&self) -> &[Problem] {
        &self.notices
    }

    fn step(&mut self) -> Result<Step, SourceError> {
        let asked_nanos = monotonic_nanos();
        self.retire();
        let Some(Upcoming { cursor, path }) = self.upcoming() else {
            return Ok(Step::End);
        };
        let index = cursor.source_index;
        let Some(entry) = self.entry(index) else {
            return Ok(Step::End);
        };
        let file = self.root.join(entry);
        self.cursor = Cursor {
            source_index: index + 1,
            pass: cursor.pass,
        };
        let kept = match self.cached(index, &file) {
            Some(mut kept) => {
                kept.frame.position.pass = cursor.pass;
                kept
            }
            None => match self.decoded(index, &file)? {
                Ok(decoded) => keep(decoded, cursor, path, asked_nanos),
                Err(reason) => {
                    self.fruitless += 1;
                    return Ok(Step::Skipped(Skipped {
                        source_index: index,
                        path,
                        reason: reason.to_string(),
                    }));
                }
            },
        };
        self.fruitless = 0;
        self.current = Some((index, kept));
        Ok(Step::Frame)
    }

    fn frame(&self) -> Option<&Frame> {
        self.current.as_ref().map(|(_, kept)| &kept.frame)
    }

    fn xxh3(&self) -> u64 {
        self.current.as_ref().map_or(0, |(_, kept)| kept.xxh3)
    }

    fn upcoming(&self) -> Option<Upcoming> {
        let at_end = self.cursor.source_index >= self.pictures.len() as u64;
        // A folder in which nothing can be decoded ends instead of being tried for ever.
        let is_barren = self.fruitless >= self.pictures.len();
        let cursor = match (at_end, self.looping && !is_barren) {
            (false, _) => self.cursor,
            (true, true) => Cursor {
                source_index: 0,
                pass: self.cursor.pass.saturating_add(1),
            },
            (true, false) => return None,
        };
        let path = self.entry(cursor.source_index).map(escape_path);
        Some(Upcoming { cursor, path })
    }

    fn seek(&mut self, cursor: Cursor) {
        self.retire();
        self.cursor = cursor;
        self.fruitless = 0;
        if let Some(ahead) = &mut self.ahead {
            ahead.forget();
        }
    }

    fn set_looping(&mut self, looping: bool) {
        self.looping = looping;
        if !looping {
            self.cache.clear();
        }
    }

    fn set_read_ahead(&mut self, on: bool) {
        self.reads_ahead = on;
        if !on && let Some(ahead) = &mut self.ahead {
            ahead.forget();
        }
    }
}

fn keep(decoded: Decoded, cursor: Cursor, path: Option<String>, asked_nanos: u64) -> Kept {
    let Decoded { picture, xxh3, .. } = decoded;
    Kept {
        frame: Frame {
            description: picture.description,
            position: FramePosition {
                source_index: cursor.source_index,
                pass: cursor.pass,
                path,
                media_seconds: None,
                // A paced folder reads ahead; the wait for its turn does not make a frame old.
                captured_nanos: picture.opened_nanos.max(asked_nanos),
                captured_from: CapturedFrom::File,
                stored: picture.stored,
                orientation: picture.orientation,
            },
            pixels: picture.pixels,
        },
        xxh3,
        stamp: picture.stamp,
    }
}
