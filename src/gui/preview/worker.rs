use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use egui::ColorImage;

use super::reduce::Reducer;
use crate::base::Worker;
use crate::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use crate::gui::pulse::Pulse;
use crate::gui::{FramePreview, OpenPreview};
use crate::session::ShownPrediction;

/// The picture that a tile needs.
#[derive(Debug, Clone)]
pub(in crate::gui) struct Want {
    /// The prediction whose frame is to be shown.
    pub(in crate::gui) prediction: Arc<ShownPrediction>,
    /// Pixels of the panel, width and height.
    pub(in crate::gui) panel: [u32; 2],
}

/// A picture for a tile.
pub(in crate::gui) struct Picture {
    /// Its pixels, reduced to the panel.
    pub(in crate::gui) image: ColorImage,
    /// Width and height of the frame itself.
    pub(in crate::gui) frame_size: [u32; 2],
}

/// The answer to a [`Want`].
pub(in crate::gui) struct Arrival {
    /// The prediction it was wanted for.
    pub(in crate::gui) prediction: Arc<ShownPrediction>,
    /// Its frame; `None` when the ring no longer has it.
    pub(in crate::gui) picture: Option<Picture>,
}

/// Copies and reduces frames on a thread, so that the window neither waits for a lock nor touches
/// full-size pixels. At most one want and one answer for each tile are kept: the newest.
pub(in crate::gui) struct Previews {
    board: Arc<Board>,
    /// Ends when the board is closed, which `drop` does first.
    _worker: Worker,
}

#[derive(Default)]
struct Board {
    orders: Mutex<Orders>,
    changed: Condvar,
    arrivals: Mutex<BTreeMap<String, Arrival>>,
}

#[derive(Default)]
struct Orders {
    ring: Option<String>,
    wants: BTreeMap<String, Want>,
    fresh: bool,
    closed: bool,
}

impl Previews {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(in crate::gui) fn start(open: OpenPreview, pulse: Pulse) -> io::Result<Self> {
        let board = Arc::<Board>::default();
        let shared = Arc::clone(&board);
        let worker = Worker::spawn("preview", move || {
            let mut copier = Copier::new(open);
            while let Some((ring, wants)) = shared.next_orders() {
                let arrivals = copier.serve(ring.as_deref(), wants);
                if !arrivals.is_empty() {
                    lock(&shared.arrivals).extend(arrivals);
                    pulse.request();
                }
            }
        })?;
        Ok(Self {
            board,
            _worker: worker,
        })
    }

    /// Says what all tiles need now; tiles that already have it cost nothing.
    pub(in crate::gui) fn want(&self, ring: Option<&str>, wants: BTreeMap<String, Want>) {
        let mut orders = lock(&self.board.orders);
        orders.ring = ring.map(str::to_owned);
        orders.wants = wants;
        orders.fresh = true;
        self.board.changed.notify_one();
    }

    /// The pictures that have arrived since the last call, by tile.
    pub(in crate::gui) fn take(&self) -> BTreeMap<String, Arrival> {
        std::mem::take(&mut *lock(&self.board.arrivals))
    }
}

impl Drop for Previews {
    fn drop(&mut self) {
        lock(&self.board.orders).closed = true;
        self.board.changed.notify_one();
    }
}

impl Board {
    /// Waits for new orders; `None` when there will be none.
    fn next_orders(&self) -> Option<(Option<String>, BTreeMap<String, Want>)> {
        let mut orders = lock(&self.orders);
        loop {
            if orders.closed {
                return None;
            }
            if orders.fresh {
                orders.fresh = false;
                return Some((orders.ring.clone(), std::mem::take(&mut orders.wants)));
            }
            orders = self
                .changed
                .wait(orders)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What is behind these locks is replaced whole, so a panic elsewhere leaves it usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread's own state: the ring it is attached to, a frame, and what each tile has got.
struct Copier {
    open: OpenPreview,
    attached: Option<(String, Box<dyn FramePreview>)>,
    /// The ring that could not be attached to, so that the log says it once.
    refused: Option<String>,
    frame: Frame,
    frame_seq: Option<u64>,
    reducer: Reducer,
    served: BTreeMap<String, (u64, [u32; 2])>,
}

impl Copier {
    fn new(open: OpenPreview) -> Self {
        Self {
            open,
            attached: None,
            refused: None,
            frame: Frame {
                description: FrameDescription {
                    width: 0,
                    height: 0,
                    sample: SampleType::U8,
                    order: PixelOrder::Rgb,
                    stride_bytes: 0,
                },
                position: FramePosition::default(),
                pixels: Vec::new(),
            },
            frame_seq: None,
            reducer: Reducer::default(),
            served: BTreeMap::new(),
        }
    }

    fn serve(
        &mut self,
        ring: Option<&str>,
        wants: BTreeMap<String, Want>,
    ) -> BTreeMap<String, Arrival> {
        self.attach(ring);
        self.served.retain(|tile, _| wants.contains_key(tile));
        let mut arrivals = BTreeMap::new();
        for (tile, want) in wants {
            let key = (want.prediction.event.seq, want.panel);
            if self.served.get(&tile) == Some(&key) {
                continue;
            }
            let picture = self.picture(&want);
            self.served.insert(tile.clone(), key);
            arrivals.insert(
                tile,
                Arrival {
                    prediction: want.prediction,
                    picture,
                },
            );
        }
        arrivals
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

    fn picture(&mut self, want: &Want) -> Option<Picture> {
        let seq = want.prediction.event.seq;
        if self.frame_seq != Some(seq) && !self.copy(seq) {
            return None;
        }
        match self.reducer.reduce(&self.frame, want.panel) {
            Ok(image) => Some(Picture {
                image,
                frame_size: [self.frame.description.width, self.frame.description.height],
            }),
            Err(cause) => {
                tracing::warn!("no preview of frame {seq}: {cause}");
                None
            }
        }
    }

    fn copy(&mut self, seq: u64) -> bool {
        self.frame_seq = None;
        let Some((name, preview)) = &mut self.attached else {
            return false;
        };
        match preview.copy(seq, &mut self.frame) {
            Ok(true) => {
                self.frame_seq = Some(seq);
                true
            }
            Ok(false) => false,
            Err(cause) => {
                tracing::warn!("no preview of frame {seq}: ring {name}: {cause}");
                self.attached = None;
                false
            }
        }
    }
}
