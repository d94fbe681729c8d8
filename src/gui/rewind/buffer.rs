use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::frame::FramePosition;
use crate::prediction::Output;
use crate::session::{SessionView, ShownPrediction};

/// The buffer as the preview thread, the encoder and the window share it. Its lock is held to look
/// up or insert one frame, never while encoding, decoding or painting.
pub(in crate::gui) type SharedBuffer = Arc<Mutex<RewindBuffer>>;

/// Bytes that the buffer holds at most, the newest frame apart.
const MOST_BYTES: usize = 100_000_000;
/// Frames of an index at most: it is copied for the window.
const MOST_FRAMES: usize = 20_000;
/// What an entry takes besides its picture and answers, roughly.
const ENTRY_BYTES: usize = 256;
/// Marks that are remembered at most.
const MOST_MARKS: usize = 256;

/// The last frames that were shown, with their answers, bounded by bytes; the oldest go first.
pub(in crate::gui) struct RewindBuffer {
    frames: BTreeMap<u64, KeptFrame>,
    marks: VecDeque<Mark>,
    restarts: BTreeMap<String, u32>,
    bytes: usize,
    most_bytes: usize,
    index: Option<Arc<Index>>,
}

/// A frame that is kept.
#[derive(Debug, Clone)]
pub(in crate::gui) struct KeptFrame {
    /// Its sequence.
    pub(in crate::gui) seq: u64,
    /// Width and height of the frame itself, in pixels.
    pub(in crate::gui) frame_size: [u32; 2],
    /// Where it comes from.
    pub(in crate::gui) position: FramePosition,
    /// The reduced picture; `None` while it is being encoded.
    pub(in crate::gui) jpeg: Option<Arc<[u8]>>,
    /// What each model said about it, by the model's name.
    pub(in crate::gui) answers: BTreeMap<String, Arc<ShownPrediction>>,
}

/// What the window knows of all kept frames.
#[derive(Debug, Default)]
pub(in crate::gui) struct Index {
    /// In the order of their sequences.
    pub(in crate::gui) frames: Vec<Kept>,
    /// What happened meanwhile, oldest first.
    pub(in crate::gui) marks: Vec<Mark>,
    /// Bytes of pictures and answers together.
    pub(in crate::gui) bytes: usize,
}

/// One frame of an [`Index`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gui) struct Kept {
    /// Its sequence.
    pub(in crate::gui) seq: u64,
    /// Monotonic time of its capture, in nanoseconds.
    pub(in crate::gui) captured_nanos: u64,
    /// Its path in the source.
    pub(in crate::gui) path: Option<String>,
    /// Whether two models name different best classes for it.
    pub(in crate::gui) disagrees: bool,
}

/// Something that happened between frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gui) struct Mark {
    /// Monotonic time, in nanoseconds.
    pub(in crate::gui) at_nanos: u64,
    /// Whose process was started anew: a model's name, or `source`.
    pub(in crate::gui) restarted: String,
}

impl Default for RewindBuffer {
    fn default() -> Self {
        Self::with_bytes(MOST_BYTES)
    }
}

impl RewindBuffer {
    /// A buffer of at most `most_bytes`.
    pub(in crate::gui) fn with_bytes(most_bytes: usize) -> Self {
        Self {
            frames: BTreeMap::new(),
            marks: VecDeque::new(),
            restarts: BTreeMap::new(),
            bytes: 0,
            most_bytes,
            index: None,
        }
    }

    /// Whether the frame is kept, or being encoded.
    pub(in crate::gui) fn contains(&self, seq: u64) -> bool {
        self.frames.contains_key(&seq)
    }

    /// Makes a place for a frame whose picture is being encoded; answers may come before it.
    pub(in crate::gui) fn begin(
        &mut self,
        seq: u64,
        frame_size: [u32; 2],
        position: FramePosition,
    ) {
        let frame = KeptFrame {
            seq,
            frame_size,
            position,
            jpeg: None,
            answers: BTreeMap::new(),
        };
        self.bytes += frame.bytes();
        if let Some(old) = self.frames.insert(seq, frame) {
            self.bytes -= old.bytes();
        }
    }

    /// Takes the place back: there will be no picture.
    pub(in crate::gui) fn abandon(&mut self, seq: u64) {
        if let Some(frame) = self.frames.remove(&seq) {
            self.bytes -= frame.bytes();
            self.index = None;
        }
    }

    /// Puts the picture in its place, and drops the oldest frames where there are too many bytes.
    pub(in crate::gui) fn finish(&mut self, seq: u64, jpeg: Vec<u8>) {
        let Some(frame) = self.frames.get_mut(&seq) else {
            return;
        };
        self.bytes += jpeg.len();
        frame.jpeg = Some(jpeg.into());
        self.shrink();
        self.index = None;
    }

    /// Takes answers to kept frames, and notes what was restarted.
    pub(in crate::gui) fn follow(&mut self, view: &SessionView) {
        for model in &view.models {
            let name = &model.spec.name;
            for answer in model.recent.iter().chain(&model.shown) {
                self.answer(name, answer);
            }
            self.note_restarts(name, model.restarts, view.at_nanos);
        }
        self.note_restarts("source", view.source.restarts, view.at_nanos);
        self.shrink();
    }

    fn answer(&mut self, model: &str, answer: &Arc<ShownPrediction>) {
        let Some(frame) = self.frames.get_mut(&answer.event.seq) else {
            return;
        };
        if frame.answers.contains_key(model) {
            return;
        }
        self.bytes += answer_bytes(model, answer);
        frame.answers.insert(model.to_owned(), Arc::clone(answer));
        self.index = None;
    }

    fn note_restarts(&mut self, who: &str, restarts: u32, at_nanos: u64) {
        let known = self.restarts.get(who).copied();
        if known == Some(restarts) {
            return;
        }
        self.restarts.insert(who.to_owned(), restarts);
        if known.is_some_and(|known| known < restarts) {
            self.marks.push_back(Mark {
                at_nanos,
                restarted: who.to_owned(),
            });
            if self.marks.len() > MOST_MARKS {
                self.marks.pop_front();
            }
            self.index = None;
        }
    }

    fn shrink(&mut self) {
        while (self.bytes > self.most_bytes || self.frames.len() > MOST_FRAMES)
            && self.frames.len() > 1
        {
            if let Some((_, oldest)) = self.frames.pop_first() {
                self.bytes -= oldest.bytes();
                self.index = None;
            }
        }
    }

    /// A kept frame with its picture.
    pub(in crate::gui) fn get(&self, seq: u64) -> Option<KeptFrame> {
        let frame = self.frames.get(&seq)?;
        frame.jpeg.is_some().then(|| frame.clone())
    }

    /// The kept frames captured at or after a monotonic time, in nanoseconds.
    pub(in crate::gui) fn since(&self, nanos: u64) -> Vec<KeptFrame> {
        let frames = self.frames.values();
        frames
            .filter(|frame| frame.jpeg.is_some() && frame.position.captured_nanos >= nanos)
            .cloned()
            .collect()
    }

    /// All frames with a picture, in order; cheap while nothing has changed.
    pub(in crate::gui) fn index(&mut self) -> Arc<Index> {
        if let Some(index) = &self.index {
            return Arc::clone(index);
        }
        let frames: Vec<Kept> = self
            .frames
            .values()
            .filter(|frame| frame.jpeg.is_some())
            .map(KeptFrame::kept)
            .collect();
        let first = frames.first().map_or(u64::MAX, |kept| kept.captured_nanos);
        let marks = self.marks.iter().filter(|mark| mark.at_nanos >= first);
        let index = Arc::new(Index {
            marks: marks.cloned().collect(),
            frames,
            bytes: self.bytes,
        });
        self.index = Some(Arc::clone(&index));
        index
    }
}

impl KeptFrame {
    fn bytes(&self) -> usize {
        let answers = self.answers.iter();
        ENTRY_BYTES
            + self.jpeg.as_ref().map_or(0, |jpeg| jpeg.len())
            + answers
                .map(|(model, answer)| answer_bytes(model, answer))
                .sum::<usize>()
    }

    fn kept(&self) -> Kept {
        let mut classes = self
            .answers
            .values()
            .filter_map(|answer| answer.event.output.top_class())
            .map(|class| class.name.as_str());
        let first = classes.next();
        Kept {
            seq: self.seq,
            captured_nanos: self.position.captured_nanos,
            path: self.position.path.clone(),
            disagrees: classes.any(|class| Some(class) != first),
        }
    }
}

/// What an answer takes in memory, roughly.
fn answer_bytes(model: &str, answer: &ShownPrediction) -> usize {
    let text = |name: &String| name.len() + 24;
    let output = match &answer.event.output {
        Output::Classes { classes, .. } => classes.iter().map(|class| text(&class.name) + 16).sum(),
        Output::Detections { detections } => detections
            .iter()
            .map(|found| {
                let points = found.keypoints.as_ref().map_or(0, Vec::len);
                text(&found.name) + 64 + points * 12
            })
            .sum(),
        Output::Raw { tensors } => tensors
            .iter()
            .map(|tensor| {
                let values = tensor.values.as_ref().map_or(0, Vec::len);
                text(&tensor.name) + 128 + tensor.shape.len() * 8 + values * 16
            })
            .sum(),
        Output::Invalid { reason } => text(reason),
    };
    let own: usize = output;
    own + size_of::<ShownPrediction>() + model.len() + 64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::ModelView;

    fn position(nanos: u64) -> FramePosition {
        FramePosition {
            captured_nanos: nanos,
            ..Default::default()
        }
    }

    fn add(buffer: &mut RewindBuffer, seq: u64, bytes: usize) {
        buffer.begin(seq, [1, 1], position(seq * 1_000));
        buffer.finish(seq, vec![0; bytes]);
    }

    #[test]
    fn the_buffer_stays_within_its_bytes_and_drops_the_oldest() {
        let mut buffer = RewindBuffer::with_bytes(100_000);
        for seq in 1..=5_000 {
            add(&mut buffer, seq, 1_000);
            assert!(buffer.bytes <= 100_000, "{}", buffer.bytes);
        }
        let index = buffer.index();
        let seqs: Vec<u64> = index.frames.iter().map(|kept| kept.seq).collect();
        assert_eq!(seqs.last(), Some(&5_000));
        // 1 000 bytes and the entry itself, 79 times.
        assert_eq!(seqs.len(), 100_000 / (1_000 + ENTRY_BYTES));
        assert!(seqs.windows(2).all(|pair| pair[0] + 1 == pair[1]));
        let counted: usize = buffer.frames.values().map(KeptFrame::bytes).sum();
        assert_eq!(counted, buffer.bytes);
    }

    #[test]
    fn a_frame_larger_than_the_buffer_is_kept_alone() {
        let mut buffer = RewindBuffer::with_bytes(1_000);
        add(&mut buffer, 1, 500);
        add(&mut buffer, 2, 50_000);
        assert_eq!(buffer.index().frames.len(), 1);
        assert!(buffer.get(2).is_some());
    }

    #[test]
    fn frames_being_encoded_are_no_frames_yet_and_abandoned_ones_leave_nothing() {
        let mut buffer = RewindBuffer::default();
        buffer.begin(7, [4, 3], position(1));
        assert!(buffer.contains(7) && buffer.get(7).is_none());
        assert!(buffer.index().frames.is_empty());
        buffer.abandon(7);
        assert_eq!((buffer.contains(7), buffer.bytes), (false, 0));
    }

    #[test]
    fn answers_join_their_frame_whichever_comes_first() {
        let mut buffer = RewindBuffer::default();
        buffer.begin(3, [4, 3], position(1));
        let says = |seq| {
            Arc::new(ShownPrediction {
                event: crate::gui::rewind::save::tests::answer(seq),
                received_nanos: 0,
                micros: Default::default(),
            })
        };
        let model = |name: &str, answers: Vec<Arc<ShownPrediction>>| ModelView {
            spec: Arc::new(crate::protocol::ModelSpec {
                name: name.to_owned(),
                ..Default::default()
            }),
            recent: answers.into(),
            ..Default::default()
        };
        let mut view = SessionView {
            models: vec![model("a", vec![says(2), says(3)])],
            ..Default::default()
        };
        buffer.follow(&view);
        buffer.finish(3, vec![0; 10]);
        view.models.push(model("b", vec![says(3)]));
        buffer.follow(&view);
        buffer.follow(&view);
        let frame = buffer.get(3).expect("kept");
        let names: Vec<&String> = frame.answers.keys().collect();
        assert_eq!(names, ["a", "b"]);
        let counted: usize = buffer.frames.values().map(KeptFrame::bytes).sum();
        assert_eq!(counted, buffer.bytes);
    }

    #[test]
    fn a_restart_leaves_a_mark() {
        let mut buffer = RewindBuffer::default();
        add(&mut buffer, 1, 10);
        let mut view = SessionView {
            at_nanos: 5_000,
            ..Default::default()
        };
        buffer.follow(&view);
        assert!(buffer.index().marks.is_empty());
        view.source.restarts = 1;
        view.at_nanos = 6_000;
        buffer.follow(&view);
        let marks = buffer.index().marks.clone();
        assert_eq!(marks.len(), 1);
        assert_eq!(
            (marks[0].at_nanos, marks[0].restarted.as_str()),
            (6_000, "source")
        );
    }
}
