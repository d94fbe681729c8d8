use std::collections::HashMap;

use crate::frame::Frame;
use crate::source::picture::FileStamp;

/// A frame with what is known of it.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) frame: Frame,
    /// XXH3-64 of its pixels.
    pub(super) xxh3: u64,
    /// The file that it was decoded from.
    pub(super) stamp: FileStamp,
}

/// Decoded frames of a folder that is played again and again, by entry. The frames that came first
/// stay: when not all fit, dropping the oldest would drop each just before it is needed.
#[derive(Debug)]
pub(super) struct Cache {
    frames: HashMap<u64, Kept>,
    bytes: usize,
    max_bytes: usize,
}

impl Cache {
    /// A cache of at most `max_bytes` of pixels.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            frames: HashMap::new(),
            bytes: 0,
            max_bytes,
        }
    }

    /// Keeps a frame; gives it back when it does not fit.
    pub(super) fn put(&mut self, index: u64, kept: Kept) -> Option<Kept> {
        let bytes = kept.frame.pixels.capacity();
        if self.bytes + bytes > self.max_bytes || self.frames.contains_key(&index) {
            return Some(kept);
        }
        self.bytes += bytes;
        self.frames.insert(index, kept);
        None
    }

    /// Whether [`Self::put`] would keep a frame of `bytes`.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.bytes + bytes <= self.max_bytes
    }

    /// Whether the frame of that entry is kept.
    pub(super) fn holds(&self, index: u64) -> bool {
        self.frames.contains_key(&index)
    }

    /// Takes a frame out.
    pub(super) fn take(&mut self, index: u64) -> Option<Kept> {
        let kept = self.frames.remove(&index)?;
        self.bytes -= kept.frame.pixels.capacity();
        Some(kept)
    }

    /// Forgets all frames.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }
}
