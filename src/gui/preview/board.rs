use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::copier::Copier;
use super::order::{Arrivals, Panels};
use crate::base::Worker;
use crate::gui::pulse::Pulse;
use crate::gui::rewind::{Recorder, SharedBuffer};
use crate::gui::{OpenPreview, SessionHandle, Wake};
use crate::session::{ModelView, SessionView};

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
    grabs: Vec<u64>,
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

    /// Waits for something new and gives the panels, and the frames asked for; `None` when there
    /// will be nothing more.
    fn next(&self) -> Option<(Panels, Vec<u64>)> {
        let mut orders = lock(&self.orders);
        loop {
            if orders.closed {
                return None;
            }
            if orders.fresh {
                orders.fresh = false;
                return Some((orders.panels.clone(), std::mem::take(&mut orders.grabs)));
            }
            orders = self
                .changed
                .wait(orders)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Previews {
    /// Starts the thread, and the one that keeps frames in `buffer`.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(in crate::gui) fn start(
        board: Arc<Board>,
        session: Arc<dyn SessionHandle>,
        open: OpenPreview,
        buffer: SharedBuffer,
        pulse: Pulse,
    ) -> io::Result<Self> {
        let shared = Arc::clone(&board);
        let kept = pulse.clone();
        let recorder = Recorder::start(buffer, move || kept.request_after(QUIET))?;
        let worker = Worker::spawn("preview", move || {
            let mut copier = Copier::new(open, recorder);
            let mut last = Arc::<SessionView>::default();
            while let Some((mut panels, grabs)) = shared.next() {
                if pulse.is_hidden() {
                    // Nobody sees a picture.
                    panels = Panels::default();
                }
                let view = session.view();
                let arrivals = copier.serve(&view, &panels, grabs);
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

    /// Asks for a frame with its exact pixels; it arrives, or is said to be gone.
    pub(in crate::gui) fn grab(&self, seq: u64) {
        let mut orders = lock(&self.board.orders);
        orders.grabs.push(seq);
        orders.fresh = true;
        self.board.changed.notify_one();
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
