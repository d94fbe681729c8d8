use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{Rect, pos2};

use super::order::{Arrival, Arrivals, Grabbed, Panels, Picture, SourceArrival, TileOrder};
use super::pool::Pool;
use super::reduce::{Reducer, fitting};
use crate::frame::Frame;
use crate::gui::rewind::{KeptFrame, Recorder, decode};
use crate::gui::{FramePreview, OpenPreview};
use crate::session::SessionView;

/// The thread's own state: the ring it is attached to, the last frames, and what each tile has got.
pub(super) struct Copier {
    open: OpenPreview,
    /// Start of the session whose frames these are.
    session: u64,
    attached: Option<(String, Box<dyn FramePreview>)>,
    /// The ring that could not be attached to, so that the log says it once.
    refused: Option<String>,
    recorder: Recorder,
    pool: Pool,
    reducer: Reducer,
    served: BTreeMap<String, Served>,
    served_source: Option<(u64, [u32; 2])>,
    past: Option<Past>,
}

/// What a tile got last.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Served {
    order: TileOrder,
    /// Sequence of the answer.
    answered: Option<u64>,
    /// Sequence of the picture that was wanted.
    pictured: u64,
    looked_back: Option<u64>,
}

/// The kept frame that is looked back at.
struct Past {
    kept: KeptFrame,
    frame: Option<Arc<Frame>>,
}

impl Copier {
    pub(super) fn new(open: OpenPreview, recorder: Recorder) -> Self {
        Self {
            open,
            session: 0,
            attached: None,
            refused: None,
            recorder,
            pool: Pool::default(),
            reducer: Reducer::default(),
            served: BTreeMap::new(),
            served_source: None,
            past: None,
        }
    }

    /// Pictures for the predictions, and of the source, that have not been served yet, or not in
    /// this size. The frames that are shown are kept to be looked back at.
    pub(super) fn serve(
        &mut self,
        view: &SessionView,
        panels: &Panels,
        grabs: Vec<u64>,
    ) -> Arrivals {
        if self.session != view.started_nanos {
            self.session = view.started_nanos;
            self.forget();
        }
        self.attach(view.ring.as_ref().map(|ring| ring.name.as_str()));
        let grabbed = grabs.into_iter().map(|seq| Grabbed {
            seq,
            frame: self.frame(seq),
        });
        let grabbed = grabbed.collect();
        self.look_back(panels.look_back);
        self.served
            .retain(|tile, _| panels.tiles.contains_key(tile));
        let tiles = match panels.look_back {
            Some(seq) => self.serve_past(seq, panels),
            None => self.serve_tiles(view, panels),
        };
        let source = panels
            .source
            .filter(|_| view.source.published > 0)
            .and_then(|panel| self.serve_source(view.source.published, panel));
        if panels.source.is_none() {
            self.served_source = None;
        }
        self.keep_shown(view, panels);
        Arrivals {
            tiles,
            source,
            grabbed,
        }
    }

    /// Forgets the frames and answers of another session, whose sequences come again.
    fn forget(&mut self) {
        self.pool.clear();
        self.served.clear();
        self.served_source = None;
        self.past = None;
    }

    fn serve_tiles(&mut self, view: &SessionView, panels: &Panels) -> BTreeMap<String, Arrival> {
        let mut arrivals = BTreeMap::new();
        for model in &view.models {
            let tile = &model.spec.name;
            let (Some(prediction), Some(&order)) = (&model.shown, panels.tiles.get(tile)) else {
                continue;
            };
            let seq = prediction.event.seq;
            let wanted = if order.newest {
                view.source.published.max(seq)
            } else {
                seq
            };
            let served = Served {
                order,
                answered: Some(seq),
                pictured: wanted,
                looked_back: None,
            };
            if self.served.get(tile) == Some(&served) {
                continue;
            }
            self.served.insert(tile.clone(), served);
            let frame = if order.newest {
                self.newest(wanted)
            } else {
                self.frame(wanted).map(|frame| (wanted, frame))
            };
            let picture = frame.and_then(|(seq, frame)| self.picture(seq, &frame, None, order));
            let arrival = Arrival {
                prediction: Some(Arc::clone(prediction)),
                picture,
                looked_back: None,
            };
            arrivals.insert(tile.clone(), arrival);
        }
        arrivals
    }

    fn look_back(&mut self, seq: Option<u64>) {
        let Some(seq) = seq else {
            self.past = None;
            return;
        };
        // Answers may have been added since.
        let kept = self.recorder.buffer().get(seq);
        let frame = self.past.take().filter(|past| past.kept.seq == seq);
        let frame = frame.map(|past| (past.kept, past.frame));
        let (kept, frame) = match (kept, frame) {
            (Some(kept), Some((_, frame))) => (kept, frame),
            (None, Some(past)) => past,
            (Some(kept), None) => {
                let frame = match decode(&kept) {
                    Ok(frame) => Some(Arc::new(frame)),
                    Err(cause) => {
                        tracing::warn!("frame {seq} cannot be looked back at: {cause}");
                        None
                    }
                };
                (kept, frame)
            }
            (None, None) => return,
        };
        self.past = Some(Past { kept, frame });
    }

    fn serve_past(&mut self, seq: u64, panels: &Panels) -> BTreeMap<String, Arrival> {
        let Some(Past { kept, frame }) = self.past.take() else {
            return BTreeMap::new();
        };
        let mut arrivals = BTreeMap::new();
        for (tile, &order) in &panels.tiles {
            let prediction = kept.answers.get(tile);
            let served = Served {
                order,
                answered: prediction.map(|prediction| prediction.event.seq),
                pictured: seq,
                looked_back: Some(seq),
            };
            if self.served.get(tile) == Some(&served) {
                continue;
            }
            self.served.insert(tile.clone(), served);
            let size = Some(kept.frame_size);
            let picture = frame
                .as_ref()
                .and_then(|frame| self.picture(seq, frame, size, order));
            let arrival = Arrival {
                prediction: prediction.cloned(),
                picture,
                looked_back: Some(seq),
            };
            arrivals.insert(tile.clone(), arrival);
        }
        self.past = Some(Past { kept, frame });
        arrivals
    }

    /// Keeps the frame of each answer that tiles show now, or would show if they did not look back.
    fn keep_shown(&mut self, view: &SessionView, panels: &Panels) {
        for model in &view.models {
            let Some(shown) = &model.shown else {
                continue;
            };
            let seq = shown.event.seq;
            if panels.tiles.contains_key(&model.spec.name)
                && self.recorder.wants(seq)
                && let Some(frame) = self.frame(seq)
            {
                self.recorder.keep(seq, &frame);
            }
        }
        self.recorder.buffer().follow(view);
    }

    /// The newest frame of the ring, when it is another one than before. `published` is the
    /// sequence that the session knows of; the ring may be ahead.
    fn serve_source(&mut self, published: u64, panel: [u32; 2]) -> Option<SourceArrival> {
        if self.served_source == Some((published, panel)) {
            return None;
        }
        let (seq, frame) = self.newest(published)?;
        if self.served_source == Some((seq, panel)) {
            return None;
        }
        let order = TileOrder {
            most: panel,
            ..Default::default()
        };
        let picture = self.picture(seq, &frame, None, order)?;
        self.served_source = Some((seq, panel));
        Some(SourceArrival {
            path: frame.position.path.clone(),
            picture,
        })
    }

    fn attach(&mut self, ring: Option<&str>) {
        let Some(name) = ring else {
            self.attached = None;
            return;
        };
        let attached = self.attached.as_ref().is_some_and(|(at, _)| at == name);
        if attached {
            return;
        }
        self.attached = None;
        match (self.open)(name) {
            Ok(preview) => {
                self.attached = Some((name.to_owned(), preview));
                self.refused = None;
            }
            Err(cause) => {
                if self.refused.as_deref() != Some(name) {
                    tracing::warn!("no preview: ring {name} cannot be read: {cause}");
                    self.refused = Some(name.to_owned());
                }
            }
        }
    }

    /// The part of a frame that `order` asks for, not larger than it is. `size` is that of the frame
    /// which `frame` is a reduced copy of.
    fn picture(
        &mut self,
        seq: u64,
        frame: &Arc<Frame>,
        size: Option<[u32; 2]>,
        order: TileOrder,
    ) -> Option<Picture> {
        let actual = [frame.description.width, frame.description.height];
        let frame_size = size.unwrap_or(actual);
        let whole = [0, 0, actual[0], actual[1]];
        let part = order.zoomed.and_then(|zoomed| zoomed.part(frame_size));
        let (crop, most) = match part {
            Some((crop, most)) => (crop_in(crop, frame_size, actual), most),
            None => (whole, order.most),
        };
        let reduced = fitting([crop[2], crop[3]], most);
        let image = match self.reducer.image(frame, crop, reduced) {
            Ok(image) => image,
            Err(cause) => {
                tracing::warn!("no preview of frame {seq}: {cause}");
                return None;
            }
        };
        let scale = |axis: usize| frame_size[axis] as f32 / actual[axis].max(1) as f32;
        let at = |x: u32, y: u32| pos2(x as f32 * scale(0), y as f32 * scale(1));
        Some(Picture {
            image,
            seq,
            captured_nanos: frame.position.captured_nanos,
            frame_size,
            part: Rect::from_min_max(
                at(crop[0], crop[1]),
                at(crop[0] + crop[2], crop[1] + crop[3]),
            ),
            frame: order.inspect.then(|| Arc::clone(frame)),
        })
    }

    /// The newest frame, which is `published` or a later one.
    fn newest(&mut self, published: u64) -> Option<(u64, Arc<Frame>)> {
        match self.pool.get(published) {
            Some(frame) => Some((published, frame)),
            None => self.copy(None),
        }
    }

    fn frame(&mut self, seq: u64) -> Option<Arc<Frame>> {
        match self.pool.get(seq) {
            Some(frame) => Some(frame),
            None => self.copy(Some(seq)).map(|(_, frame)| frame),
        }
    }

    /// Copies frame `seq`, or the newest one.
    fn copy(&mut self, seq: Option<u64>) -> Option<(u64, Arc<Frame>)> {
        let (name, preview) = self.attached.as_mut()?;
        let mut frame = self.pool.spare();
        match preview.copy(seq, &mut frame) {
            Ok(Some(copied)) => Some((copied, self.pool.put(copied, frame))),
            Ok(None) => None,
            Err(cause) => {
                tracing::warn!("no preview: ring {name}: {cause}");
                self.attached = None;
                self.pool.clear();
                None
            }
        }
    }
}

/// A part of a frame of `full` pixels, in the pixels of a copy of `actual` pixels: at least one, and
/// within it.
fn crop_in(crop: [u32; 4], full: [u32; 2], actual: [u32; 2]) -> [u32; 4] {
    let axis = |axis: usize| {
        let scale = f64::from(actual[axis]) / f64::from(full[axis].max(1));
        let from = (f64::from(crop[axis]) * scale).floor() as u32;
        let to = (f64::from(crop[axis].saturating_add(crop[axis + 2])) * scale).ceil() as u32;
        let from = from.min(actual[axis].saturating_sub(1));
        let to = to.clamp(from + 1, actual[axis].max(from + 1));
        (from, to - from)
    };
    let ((x, width), (y, height)) = (axis(0), axis(1));
    [x, y, width, height]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FrameDescription, FramePosition, PixelOrder, SampleType};
    use crate::gui::rewind::SharedBuffer;
    use crate::session::{RingView, SourceView};

    /// A ring with one frame of one grey.
    struct Grey(u8);

    impl FramePreview for Grey {
        fn copy(&mut self, _seq: Option<u64>, frame: &mut Frame) -> Result<Option<u64>, String> {
            *frame = Frame {
                description: FrameDescription::packed(2, 2, SampleType::U8, PixelOrder::Gray)
                    .expect("a description"),
                position: FramePosition::default(),
                pixels: vec![self.0; 4],
            };
            Ok(Some(1))
        }
    }

    #[test]
    fn a_frame_of_another_session_with_the_same_sequence_is_another_frame() {
        let recorder = Recorder::start(SharedBuffer::default(), || {}).expect("a thread");
        let open: OpenPreview = Box::new(|ring| {
            let grey = if ring == "/first" { 10 } else { 200 };
            Ok(Box::new(Grey(grey)))
        });
        let mut copier = Copier::new(open, recorder);
        let panels = Panels {
            source: Some([2, 2]),
            ..Panels::default()
        };
        let mut shown = |started_nanos, ring: &str| {
            let view = SessionView {
                started_nanos,
                source: SourceView {
                    published: 1,
                    ..SourceView::default()
                },
                ring: Some(RingView {
                    name: ring.to_owned(),
                    ..RingView::default()
                }),
                ..SessionView::default()
            };
            let arrivals = copier.serve(&view, &panels, Vec::new());
            arrivals
                .source
                .map(|source| source.picture.image.pixels[0].r())
        };
        assert_eq!(shown(1, "/first"), Some(10));
        assert_eq!(shown(1, "/first"), None, "it is there already");
        assert_eq!(shown(2, "/second"), Some(200));
    }

    #[test]
    fn a_part_of_a_frame_stays_within_it() {
        assert_eq!(
            crop_in([10, 20, 30, 40], [100, 100], [100, 100]),
            [10, 20, 30, 40]
        );
        // Half the size, rounded outwards.
        assert_eq!(
            crop_in([11, 20, 30, 41], [100, 100], [50, 50]),
            [5, 10, 16, 21]
        );
        assert_eq!(
            crop_in([90, 90, 50, 50], [100, 100], [100, 100]),
            [90, 90, 10, 10]
        );
        assert_eq!(crop_in([500, 0, 5, 5], [1, 1], [1, 1]), [0, 0, 1, 1]);
        assert_eq!(
            crop_in([0, 40, 20_000, 10], [20_000, 50], [1280, 3]),
            [0, 2, 1280, 1]
        );
    }
}
