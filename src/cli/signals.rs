use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::base::Worker;

/// Calls back on SIGINT, SIGTERM or SIGHUP, until it is dropped.
pub(super) struct Interrupts {
    seen: Arc<AtomicBool>,
    handle: Handle,
    _worker: Worker,
}

impl Interrupts {
    /// Calls `on_signal` on a thread of its own for every such signal.
    pub(super) fn watch(mut on_signal: impl FnMut() + Send + 'static) -> io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let seen = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&seen);
        let worker = Worker::spawn("signals", move || {
            for _ in signals.forever() {
                flag.store(true, Ordering::Relaxed);
                on_signal();
            }
        })?;
        Ok(Self {
            seen,
            handle,
            _worker: worker,
        })
    }

    /// Whether a signal came.
    pub(super) fn seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.handle.close();
    }
}
