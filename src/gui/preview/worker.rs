use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use egui::ColorImage;

use super::reduce::Reducer;
use crate::base::Worker;
use crate::frame::Frame;
use crate::gui::pulse::Pulse;
use crate::gui::{FramePreview, OpenPreview, SessionHandle, Wake};
use crate::session::{ModelView, SessionView, ShownPrediction};

/// A picture for a tile.
pub(in crate::gui) struct Picture {
    /// Its pixels, reduced to the panel.
    pub(in crate::gui) image: ColorImage,
    /// Width and height of the frame itself.
    pub(in crate::gui) frame_size: [u32; 2],
}

/// What a tile shows next.
pub(in crate::gui) struct Arrival {
    /// A new prediction.
    pub(in crate::gui) prediction: Arc<ShownPrediction>,
    /// Its frame; `None` when the ring no longer has it.
    pub(in crate::gui) picture: Option<Picture>,
}

/// The newest frame of the source, for tiles whose model has no answer to show.
pub(in crate::gui) struct SourceArrival {
    /// The frame's sequence.
    pub(in crate::gui) seq: u64,
    /// Its path in the source.
    pub(in crate::gui) path: Option<String>,
    /// Its pixels.
    pub(in crate::gui) picture: Picture,
}

/// What has arrived for the window.
#[derive(Default)]
pub(in crate::gui) struct Arrivals {
    /// By the model's name.
    pub(in crate::gui) tiles: BTreeMap<String, Arrival>,
    /// For all tiles without an answer.
    pub(in crate::gui) source: Option<SourceArrival>,
}

impl Arrivals {
    fn is_empty(&self) -> bool {
        self.tiles.is_empty() && self.source.is_none()
    }

    /// Newer arrivals take the place of older ones.
    fn extend(&mut self, newer: Self) {
        self.tiles.extend(newer.tiles);
        self.source = newer.source.or(self.source.take());
    }
}

/// How large the panels are that pictures are for, in pixels, width and height.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::gui) struct Panels {
    /// By the model's name.
    pub(in crate::gui) tiles: BTreeMap<String, [u32; 2]>,
    /// The largest one that shows the source; `None` where none does.
    pub(in crate::gui) source: Option<[u32; 2]>,
}

/// Follows the session on a thread: copies and reduces the frame of each new prediction, then asks
/// for a repaint. So the window neither waits for a lock nor touches full-size pixels, and a
/// prediction and its frame take one repaint. Of each tile only the newest arrival is kept.
pub(in crate::gui) struct Previews {
    board: Arc<Board>,
    /// Ends when the board is closed, which `drop` does first.
    _worker: Worker,
}

/// Where the session, the window and the thread meet.
#[derive(Default)]
pub(in crate::gui) struct Board {
    orders: Mutex<Orders>,
    changed: Condvar,
    arrivals: Mutex<Arrivals>,
}

#[derive(Default)]
struct Orders {
    panels: Panels,
    fresh: bool,
    closed: bool,
}

/// How long a change waits that is neither an answer nor a change of state (a counter, a rate).
const QUIET: Duration = Duration::from_millis(200);

impl Board {
    /// What a session is to call when its picture has changed.
    pub(in crate::gui) fn wake(self: &Arc<Self>) -> Wake {
        let board = Arc::clone(self);
        Arc::new(move || {
            lock(&board.orders).fresh = true;
            board.changed.notify_one();
        })
    }

    /// Waits for something new and gives the panels; `None` when there will be nothing more.
    fn next_panels(&self) -> Option<Panels> {
        let mut orders = lock(&self.orders);
        loop {
            if orders.closed {
                return None;
            }
            if orders.fresh {
                orders.fresh = false;
                return Some(orders.panels.clone());
            }
            orders = self
                .changed
                .wait(orders)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Previews {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(in crate::gui) fn start(
        board: Arc<Board>,
        session: Arc<dyn SessionHandle>,
        open: OpenPreview,
        pulse: Pulse,
    ) -> io::Result<Self> {
        let shared = Arc::clone(&board);
        let worker = Worker::spawn("preview", move || {
            let mut copier = Copier::new(open);
            let mut last = Arc::<SessionView>::default();
            while let Some(mut panels) = shared.next_panels() {
                if pulse.is_hidden() {
                    // Nobody sees a picture.
                    panels = Panels::default();
                }
                let view = session.view();
                let arrivals = copier.serve(&view, &panels);
                if arrivals.is_empty() && is_quiet(&last, &view) {
                    pulse.request_after(QUIET);
                } else {
                    lock(&shared.arrivals).extend(arrivals);
                    pulse.request();
                }
                last = view;
            }
        })?;
        Ok(Self {
            board,
            _worker: worker,
        })
    }

    /// Says how large the panels are now.
    pub(in crate::gui) fn set_panels(&self, panels: Panels) {
        let mut orders = lock(&self.board.orders);
        if orders.panels != panels {
            orders.panels = panels;
            orders.fresh = true;
            self.board.changed.notify_one();
        }
    }

    /// Makes pictures also where nothing has changed.
    pub(in crate::gui) fn refresh(&self) {
        lock(&self.board.orders).fresh = true;
        self.board.changed.notify_one();
    }

    /// What has arrived since the last call.
    pub(in crate::gui) fn take(&self) -> Arrivals {
        std::mem::take(&mut *lock(&self.board.arrivals))
    }
}

impl Drop for Previews {
    fn drop(&mut self) {
        lock(&self.board.orders).closed = true;
        self.board.changed.notify_one();
    }
}

/// Whether only counters, rates and percentiles may have changed.
fn is_quiet(last: &SessionView, view: &SessionView) -> bool {
    let same_source = last.source.child == view.source.child
        && last.source.state == view.source.state
        && last.source.stale_since == view.source.stale_since
        && last.source.waits_for == view.source.waits_for
        && last.source.looping == view.source.looping;
    let same_model = |(last, model): (&ModelView, &ModelView)| {
        let same_shown = match (&last.shown, &model.shown) {
            (Some(last), Some(shown)) => Arc::ptr_eq(last, shown),
            (None, None) => true,
            _ => false,
        };
        last.child == model.child && last.spec.name == model.spec.name && same_shown
    };
    last.phase == view.phase
        && same_source
        && last.models.len() == view.models.len()
        && last.models.iter().zip(&view.models).all(same_model)
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
    served_source: Option<(u64, [u32; 2])>,
}

impl Copier {
    fn new(open: OpenPreview) -> Self {
        Self {
            open,
            attached: None,
            refused: None,
            frame: Frame::empty(),
            frame_seq: None,
            reducer: Reducer::default(),
            served: BTreeMap::new(),
            served_source: None,
        }
    }

    /// Pictures for the predictions, and of the source, that have not been served yet, or not in
    /// this size.
    fn serve(&mut self, view: &SessionView, panels: &Panels) -> Arrivals {
        self.attach(view.ring.as_ref().map(|ring| ring.name.as_str()));
        let tiles = self.serve_tiles(view, &panels.tiles);
        let source = panels
            .source
            .filter(|_| view.source.published > 0)
            .and_then(|panel| self.serve_source(view.source.published, panel));
        if panels.source.is_none() {
            self.served_source = None;
        }
        Arrivals { tiles, source }
    }

    fn serve_tiles(
        &mut self,
        view: &SessionView,
        panels: &BTreeMap<String, [u32; 2]>,
    ) -> BTreeMap<String, Arrival> {
        self.served.retain(|tile, _| panels.contains_key(tile));
        let mut arrivals = BTreeMap::new();
        for model in &view.models {
            let tile = &model.spec.name;
            let (Some(prediction), Some(&panel)) = (&model.shown, panels.get(tile)) else {
                continue;
            };
            let key = (prediction.event.seq, panel);
            if self.served.get(tile) == Some(&key) {
                continue;
            }
            let picture = self.picture(prediction.event.seq, panel);
            self.served.insert(tile.clone(), key);
            let arrival = Arrival {
                prediction: Arc::clone(prediction),
                picture,
            };
            arrivals.insert(tile.clone(), arrival);
        }
        arrivals
    }

    /// The newest frame of the ring, when it is another one than before. `published` is the
    /// sequence that the session knows of; the ring may be ahead.
    fn serve_source(&mut self, published: u64, panel: [u32; 2]) -> Option<SourceArrival> {
        if self.served_source == Some((published, panel)) {
            return None;
        }
        if self.frame_seq != Some(published) {
            self.copy(None);
        }
        let seq = self.frame_seq?;
        if self.served_source == Some((seq, panel)) {
            return None;
        }
        let picture = self.reduce(seq, panel)?;
        self.served_source = Some((seq, panel));
        Some(SourceArrival {
            seq,
            path: self.frame.position.path.clone(),
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

    fn picture(&mut self, seq: u64, panel: [u32; 2]) -> Option<Picture> {
        if self.frame_seq != Some(seq) {
            self.copy(Some(seq));
        }
        if self.frame_seq != Some(seq) {
            return None;
        }
        self.reduce(seq, panel)
    }

    fn reduce(&mut self, seq: u64, panel: [u32; 2]) -> Option<Picture> {
        match self.reducer.reduce(&self.frame, panel) {
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

    /// Copies frame `seq`, or the newest one; `frame_seq` says what came of it.
    fn copy(&mut self, seq: Option<u64>) {
        self.frame_seq = None;
        let Some((name, preview)) = &mut self.attached else {
            return;
        };
        match preview.copy(seq, &mut self.frame) {
            Ok(copied) => self.frame_seq = copied,
            Err(cause) => {
                tracing::warn!("no preview: ring {name}: {cause}");
                self.attached = None;
            }
        }
    }
}
