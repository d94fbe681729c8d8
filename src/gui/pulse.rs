use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use egui::{Context, ViewportId};

use crate::base::monotonic_nanos;

/// The shortest time between two repaints that the session asks for: 30 a second.
const INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 30);
/// The same while nobody can see the window.
const HIDDEN_INTERVAL: Duration = Duration::from_secs(1);
/// A zero delay would paint twice.
const SOON: Duration = Duration::from_millis(1);

/// Asks for repaints from other threads, not more often than a person can follow.
#[derive(Clone)]
pub(super) struct Pulse {
    context: Context,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    last_pass_nanos: AtomicU64,
    hidden: AtomicBool,
    /// Whether a repaint of the hidden window has been asked for since its last pass.
    asked: AtomicBool,
}

impl Pulse {
    pub(super) fn new(context: Context) -> Self {
        Self {
            context,
            shared: Arc::default(),
        }
    }

    /// To be called at each pass of the window.
    pub(super) fn passed(&self) {
        self.shared.asked.store(false, Ordering::Relaxed);
        self.shared
            .last_pass_nanos
            .store(monotonic_nanos(), Ordering::Relaxed);
    }

    /// Something changed: repaint as soon as the interval allows.
    pub(super) fn request(&self) {
        let last = self.shared.last_pass_nanos.load(Ordering::Relaxed);
        let since = Duration::from_nanos(monotonic_nanos().saturating_sub(last));
        self.request_after(INTERVAL.saturating_sub(since).max(SOON));
    }

    /// Something can wait, or changes with time alone: repaint after `delay`.
    pub(super) fn request_after(&self, delay: Duration) {
        if !self.is_hidden() {
            self.context
                .request_repaint_after_for(delay, ViewportId::ROOT);
        } else if !self.shared.asked.swap(true, Ordering::Relaxed) {
            // Once: each of them wakes the event loop.
            self.context
                .request_repaint_after_for(delay.max(HIDDEN_INTERVAL), ViewportId::ROOT);
        }
    }

    /// Whether nobody can see the window.
    pub(super) fn is_hidden(&self) -> bool {
        self.shared.hidden.load(Ordering::Relaxed)
    }

    /// Says whether anybody can see the window; one that comes back is painted at once.
    pub(super) fn set_hidden(&self, hidden: bool) {
        let was_hidden = self.shared.hidden.swap(hidden, Ordering::Relaxed);
        if was_hidden != hidden {
            tracing::trace!("{}", if hidden { "hidden" } else { "visible" });
        }
        if was_hidden && !hidden {
            self.context.request_repaint_of(ViewportId::ROOT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_window_is_repainted_once_a_second_and_at_once_when_it_comes_back() {
        let context = Context::default();
        let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        context.set_request_repaint_callback(move |info| {
            kept.lock().expect("its lock").push(info.delay);
        });
        let pulse = Pulse::new(context);
        pulse.passed();
        pulse.set_hidden(true);
        for _ in 0..100 {
            pulse.request();
        }
        let taken = || std::mem::take(&mut *asked.lock().expect("its lock"));
        assert_eq!(taken(), [HIDDEN_INTERVAL]);
        pulse.set_hidden(false);
        assert_eq!(taken(), [Duration::ZERO]);
    }
}
