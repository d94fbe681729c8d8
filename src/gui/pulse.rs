use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use egui::{Context, ViewportId};

use crate::base::monotonic_nanos;

/// The shortest time between two repaints that the session asks for: 30 a second.
const INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 30);
/// A zero delay would paint twice.
const SOON: Duration = Duration::from_millis(1);

/// Asks for repaints from other threads, not more often than a person can follow.
#[derive(Clone)]
pub(super) struct Pulse {
    context: Context,
    last_pass_nanos: Arc<AtomicU64>,
}

impl Pulse {
    pub(super) fn new(context: Context) -> Self {
        Self {
            context,
            last_pass_nanos: Arc::default(),
        }
    }

    /// To be called at each pass of the window.
    pub(super) fn passed(&self) {
        self.last_pass_nanos
            .store(monotonic_nanos(), Ordering::Relaxed);
    }

    /// Something changed: repaint as soon as the interval allows.
    pub(super) fn request(&self) {
        let last = self.last_pass_nanos.load(Ordering::Relaxed);
        let since = Duration::from_nanos(monotonic_nanos().saturating_sub(last));
        self.request_after(INTERVAL.saturating_sub(since).max(SOON));
    }

    /// Something can wait, or changes with time alone: repaint after `delay`.
    pub(super) fn request_after(&self, delay: Duration) {
        self.context
            .request_repaint_after_for(delay, ViewportId::ROOT);
    }
}
