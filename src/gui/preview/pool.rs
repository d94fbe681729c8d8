//! The frames copied last, by sequence; their buffers are used again.

use std::sync::Arc;

use crate::frame::Frame;

/// Frames that are remembered at most.
const MOST_FRAMES: usize = 6;
/// Bytes of the remembered frames at most, the newest one apart.
const MOST_BYTES: usize = 96_000_000;

/// A few frames with their exact pixels, the one used last at the end.
#[derive(Default)]
pub(super) struct Pool {
    frames: Vec<(u64, Arc<Frame>)>,
}

impl Pool {
    /// The frame `seq`, if it is remembered.
    pub(super) fn get(&mut self, seq: u64) -> Option<Arc<Frame>> {
        let place = self.frames.iter().position(|(at, _)| *at == seq)?;
        let entry = self.frames.remove(place);
        let frame = Arc::clone(&entry.1);
        self.frames.push(entry);
        Some(frame)
    }

    /// A frame to copy into: the oldest one that nobody else holds, where there are enough.
    pub(super) fn spare(&mut self) -> Frame {
        let bytes: usize = self
            .frames
            .iter()
            .map(|(_, frame)| frame.pixels.len())
            .sum();
        let is_full = self.frames.len() >= MOST_FRAMES || bytes > MOST_BYTES;
        if is_full {
            let unused = |(_, frame): &(u64, Arc<Frame>)| Arc::strong_count(frame) == 1;
            let place = self.frames.iter().position(unused).unwrap_or(0);
            let (_, frame) = self.frames.remove(place);
            if let Some(frame) = Arc::into_inner(frame) {
                return frame;
            }
        }
        Frame::empty()
    }

    /// Remembers a frame.
    pub(super) fn put(&mut self, seq: u64, frame: Frame) -> Arc<Frame> {
        let frame = Arc::new(frame);
        self.frames.retain(|(at, _)| *at != seq);
        self.frames.push((seq, Arc::clone(&frame)));
        frame
    }

    /// Forgets all frames: those of another ring may have the same sequences.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_holds_a_few_frames_and_uses_their_buffers_again() {
        let mut pool = Pool::default();
        for seq in 1..=100 {
            let mut frame = pool.spare();
            frame.pixels.resize(1_000, seq as u8);
            pool.put(seq, frame);
        }
        assert_eq!(pool.frames.len(), MOST_FRAMES);
        assert!(pool.get(100).is_some() && pool.get(1).is_none());
        assert_eq!(pool.spare().pixels.capacity(), 1_000);
    }

    #[test]
    fn large_frames_are_not_hoarded() {
        let mut pool = Pool::default();
        for seq in 1..=10 {
            let mut frame = pool.spare();
            frame.pixels = vec![0; MOST_BYTES * 2 / 3];
            pool.put(seq, frame);
        }
        assert!(pool.frames.len() <= 2, "{}", pool.frames.len());
    }
}
