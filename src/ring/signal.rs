use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::thread::futex;

/// How long a waiter looks at the word before it sleeps. Waking a sleeper costs about as much.
const SPIN: Duration = Duration::from_micros(50);

/// A counter in shared memory that processes wait on: it is advanced after something has changed.
///
/// To wait without missing a change: read [`Self::now`], look for what is wanted, and if it is not
/// there [`Self::wait`] with the value read.
pub(super) struct Signal<'a> {
    /// The futex word: counts changes, wraps around.
    pub(super) changes: &'a AtomicU32,
    /// 1 while somebody may sleep on it. One that died asleep leaves a 1, which costs a wake-up
    /// call once.
    pub(super) sleepers: &'a AtomicU32,
}

impl Signal<'_> {
    /// Number of changes so far.
    pub(super) fn now(&self) -> u32 {
        // SYNC: pairs with `notify`: what was stored before the change that is seen is seen, too.
        self.changes.load(Ordering::SeqCst)
    }

    /// Announces a change and wakes everybody who sleeps.
    pub(super) fn notify(&self) {
        // SYNC: pairs with `now`. SeqCst, so that of this change and a sleeper's mark in `wait`
        // one is always seen by the other side.
        self.changes.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.swap(0, Ordering::SeqCst) != 0
            && let Err(error) = futex::wake(self.changes, futex::Flags::empty(), i32::MAX as u32)
        {
            tracing::error!("cannot wake the processes that wait on a ring: {error}");
        }
    }

    /// Looks for a change since `seen` for a very short time; says whether there was one.
    pub(super) fn spin(&self, seen: u32) -> bool {
        let start = Instant::now();
        loop {
            for _ in 0..16 {
                if self.changes.load(Ordering::SeqCst) != seen {
                    return true;
                }
                std::hint::spin_loop();
            }
            if start.elapsed() >= SPIN {
                return false;
            }
        }
    }

    /// Sleeps until there was a change since `seen`, at most for `timeout`. May return early.
    pub(super) fn wait(&self, seen: u32, timeout: Duration) {
        // SYNC: pairs with the swap in `notify`; see there.
        self.sleepers.store(1, Ordering::SeqCst);
        // A timeout that is too long for the kernel's type is as good as none.
        let timeout = futex::Timespec::try_from(timeout).ok();
        match futex::wait(self.changes, futex::Flags::empty(), seen, timeout.as_ref()) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {}
            Err(error) => {
                // Callers look again after a wait that is too short; do not let them spin.
                tracing::error!("cannot wait on a ring: {error}");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleeper_is_woken_by_a_change_and_does_not_miss_one() {
        let (changes, sleepers) = (AtomicU32::new(0), AtomicU32::new(0));
        let signal = Signal {
            changes: &changes,
            sleepers: &sleepers,
        };
        let seen = signal.now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while sleepers.load(Ordering::SeqCst) == 0 {
                    std::thread::yield_now();
                }
                signal.notify();
            });
            while signal.now() == seen {
                signal.wait(seen, Duration::from_secs(60));
            }
        });
        // A change before the wait ends it at once; a hang here is the failure.
        signal.wait(seen, Duration::from_secs(600));
        assert!(signal.spin(seen));
        assert!(!signal.spin(signal.now()));
    }
}
