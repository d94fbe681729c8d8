use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use crossbeam::channel::{Sender, bounded};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

use super::buffer::{KeptFrame, RewindBuffer, SharedBuffer};
use crate::base::Worker;
use crate::frame::{Frame, FrameDescription, PixelOrder, SampleType};
use crate::gui::preview::{Reducer, fitting};

/// Longer side of kept pictures, in pixels.
const LONGER_SIDE: u32 = 1280;
/// Of kept pictures, 1 to 100.
const QUALITY: u8 = 85;
/// Frames that wait to be encoded at most; when it is full, frames are not kept.
const QUEUE: usize = 4;
/// Bytes of frames that wait at most, the first one apart; past it frames are not kept.
const QUEUED_BYTES: usize = 64_000_000;

/// Encodes the frames that were shown, on a thread of its own.
pub(in crate::gui) struct Recorder {
    buffer: SharedBuffer,
    queued_bytes: Arc<AtomicUsize>,
    jobs: Sender<(u64, Arc<Frame>)>,
    /// Ends when `jobs` is gone, which is dropped first.
    _worker: Worker,
}

impl Recorder {
    /// Starts the thread; `changed` is called on it when a frame is there to be looked back at.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(in crate::gui) fn start(
        buffer: SharedBuffer,
        changed: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let (jobs, to_do) = bounded::<(u64, Arc<Frame>)>(QUEUE);
        let queued_bytes = Arc::<AtomicUsize>::default();
        let (shared, queued) = (Arc::clone(&buffer), Arc::clone(&queued_bytes));
        let worker = Worker::spawn("rewind", move || {
            let mut reducer = Reducer::default();
            for (seq, frame) in to_do {
                let jpeg = encode(&frame, &mut reducer);
                queued.fetch_sub(frame.pixels.len(), Ordering::Relaxed);
                drop(frame);
                let mut buffer = lock(&shared);
                match jpeg {
                    Ok(jpeg) => buffer.finish(seq, jpeg),
                    Err(cause) => {
                        tracing::warn!("frame {seq} cannot be looked back at: {cause}");
                        buffer.abandon(seq);
                    }
                }
                drop(buffer);
                changed();
            }
        })?;
        Ok(Self {
            buffer,
            queued_bytes,
            jobs,
            _worker: worker,
        })
    }

    /// What is kept.
    pub(in crate::gui) fn buffer(&self) -> MutexGuard<'_, RewindBuffer> {
        lock(&self.buffer)
    }

    /// Whether this frame is neither kept nor waiting to be.
    pub(in crate::gui) fn wants(&self, seq: u64) -> bool {
        !self.jobs.is_full() && !lock(&self.buffer).contains(seq)
    }

    /// Keeps a frame, unless the encoder has not kept up: nobody waits for it.
    pub(in crate::gui) fn keep(&self, seq: u64, frame: &Arc<Frame>) {
        let bytes = frame.pixels.len();
        let waiting = self.queued_bytes.load(Ordering::Relaxed);
        if waiting > 0 && waiting + bytes > QUEUED_BYTES {
            return;
        }
        let size = [frame.description.width, frame.description.height];
        lock(&self.buffer).begin(seq, size, frame.position.clone());
        self.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.jobs.try_send((seq, Arc::clone(frame))).is_err() {
            self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            lock(&self.buffer).abandon(seq);
        }
    }
}

/// What is behind it is whole after each call, so a panic elsewhere leaves it usable.
fn lock(buffer: &SharedBuffer) -> MutexGuard<'_, RewindBuffer> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The frame as JPEG, at most [`LONGER_SIDE`] pixels long.
fn encode(frame: &Frame, reducer: &mut Reducer) -> Result<Vec<u8>, String> {
    let full = [frame.description.width, frame.description.height];
    let size = fitting(full, [LONGER_SIDE; 2]);
    let rgb = reducer.rgb(frame, [0, 0, full[0], full[1]], size)?;
    let mut jpeg = Vec::new();
    let mut encoder = Encoder::new(&mut jpeg, QUALITY);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    // Both sides are at most `LONGER_SIDE`.
    let [width, height] = size.map(|side| side as u16);
    encoder
        .encode(rgb, width, height, ColorType::Rgb)
        .map_err(|error| error.to_string())?;
    Ok(jpeg)
}

/// The picture of a kept frame, as a frame.
///
/// # Errors
/// It has no picture, or one that cannot be read.
pub(in crate::gui) fn decode(kept: &KeptFrame) -> Result<Frame, String> {
    let jpeg = kept.jpeg.as_ref().ok_or("it is being encoded")?;
    let picture = image::load_from_memory_with_format(jpeg, image::ImageFormat::Jpeg)
        .map_err(|error| error.to_string())?
        .into_rgb8();
    let (width, height) = picture.dimensions();
    let description = FrameDescription::packed(width, height, SampleType::U8, PixelOrder::Rgb)
        .map_err(|error| error.to_string())?;
    Ok(Frame {
        description,
        position: kept.position.clone(),
        pixels: picture.into_raw(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::frame::FramePosition;

    fn frame(width: u32, height: u32) -> Arc<Frame> {
        let description = FrameDescription::packed(width, height, SampleType::U8, PixelOrder::Rgb)
            .expect("a description");
        // The left half is dark, the right half light.
        let row: Vec<u8> = (0..width)
            .flat_map(|x| [if x < width / 2 { 40 } else { 200 }; 3])
            .collect();
        Arc::new(Frame {
            description,
            position: FramePosition::default(),
            pixels: row.repeat(height as usize),
        })
    }

    fn kept(frame: &Arc<Frame>) -> KeptFrame {
        let buffer = SharedBuffer::default();
        let recorder = Recorder::start(Arc::clone(&buffer), || {}).expect("a thread");
        assert!(recorder.wants(5));
        recorder.keep(5, frame);
        let begin = Instant::now();
        loop {
            if let Some(kept) = recorder.buffer().get(5) {
                return kept;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "never encoded");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn frames_of_any_shape_are_kept_reduced_and_come_back() {
        for (size, reduced) in [
            ([1, 1], [1, 1]),
            ([20_000, 50], [1280, 3]),
            ([50, 20_000], [3, 1280]),
            ([640, 480], [640, 480]),
            ([3840, 2160], [1280, 720]),
        ] {
            let kept = kept(&frame(size[0], size[1]));
            assert_eq!(kept.frame_size, size);
            let back = decode(&kept).expect("a picture");
            assert_eq!([back.description.width, back.description.height], reduced);
            let last = back.pixels[back.pixels.len() - 1];
            assert!(last.abs_diff(200) < 8, "{size:?}: {last}");
            if size[0] > 1 {
                assert!(
                    back.pixels[0].abs_diff(40) < 8,
                    "{size:?}: {}",
                    back.pixels[0]
                );
            }
        }
    }

    #[test]
    fn a_full_queue_drops_frames_and_leaves_nothing_of_them() {
        let buffer = SharedBuffer::default();
        let recorder = Recorder::start(Arc::clone(&buffer), || {}).expect("a thread");
        let frame = frame(640, 480);
        for seq in 1..=100 {
            recorder.keep(seq, &frame);
        }
        let begin = Instant::now();
        while recorder.queued_bytes.load(Ordering::Relaxed) > 0 {
            assert!(begin.elapsed() < Duration::from_secs(60), "never encoded");
            std::thread::sleep(Duration::from_millis(2));
        }
        drop(recorder);
        let mut buffer = lock(&buffer);
        let kept = buffer.index().frames.len();
        let begun = (1..=100).filter(|&seq| buffer.contains(seq)).count();
        assert!(kept >= 1);
        assert_eq!(kept, begun, "every frame that was begun has a picture");
    }
}
