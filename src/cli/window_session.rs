use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::base::Worker;
use crate::gui::SessionHandle;
use crate::session::{Session, SessionCommand, SessionError, SessionSpec, SessionView};

/// Starts a session for the window.
type Start = Box<dyn Fn(SessionSpec) -> Result<Session, SessionError> + Send + Sync>;

/// What runs behind a window: one session after another, never two.
#[derive(Clone)]
pub(super) struct WindowSession(Arc<Shared>);

struct Shared {
    start: Start,
    running: RwLock<Arc<Session>>,
    /// Held while one session ends and another starts, and by whoever ends the last one.
    turn: Mutex<Turn>,
    /// The thread that changes sessions.
    worker: Mutex<Option<Worker>>,
}

#[derive(Default)]
struct Turn {
    /// The window is closed: nothing is started any more.
    is_over: bool,
}

impl WindowSession {
    /// Starts the first session.
    ///
    /// # Errors
    /// See [`Session::start`].
    pub(super) fn start(spec: SessionSpec, start: Start) -> Result<Self, SessionError> {
        let running = RwLock::new(Arc::new(start(spec)?));
        Ok(Self(Arc::new(Shared {
            start,
            running,
            turn: Mutex::default(),
            worker: Mutex::default(),
        })))
    }

    fn running(&self) -> Arc<Session> {
        let running = self.0.running.read();
        Arc::clone(&running.unwrap_or_else(PoisonError::into_inner))
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.0.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change_to(&self, spec: SessionSpec) {
        let turn = self.turn();
        if turn.is_over {
            return;
        }
        let before = self.running();
        before.send(SessionCommand::Stop);
        before.wait();
        match (self.0.start)(spec) {
            Ok(session) => {
                let mut running = self
                    .0
                    .running
                    .write()
                    .unwrap_or_else(PoisonError::into_inner);
                *running = Arc::new(session);
            }
            // The window shows the ended one.
            Err(error) => tracing::error!("the session cannot be started: {error}"),
        }
        drop(turn);
    }
}

impl SessionHandle for WindowSession {
    fn view(&self) -> Arc<SessionView> {
        self.running().view()
    }

    fn send(&self, command: SessionCommand) {
        self.running().send(command);
    }

    fn open(&self, spec: SessionSpec) {
        let shared = self.clone();
        let mut worker = self.0.worker.lock().unwrap_or_else(PoisonError::into_inner);
        // One that changes now is done before the next one begins: the thread of before is joined
        // on the new one's.
        let before = worker.take();
        let started = Worker::spawn("change session", move || {
            drop(before);
            shared.change_to(spec);
        });
        match started {
            Ok(started) => *worker = Some(started),
            Err(error) => tracing::error!("another session cannot be opened: {error}"),
        }
    }

    fn end(&self) {
        let mut turn = self.turn();
        turn.is_over = true;
        let running = self.running();
        running.send(SessionCommand::Stop);
        running.wait();
        drop(turn);
        // Joined here: the thread itself may hold the last of us.
        let mut worker = self.0.worker.lock().unwrap_or_else(PoisonError::into_inner);
        drop(worker.take());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::session::{SessionOptions, SessionPhase};

    #[test]
    fn a_session_ends_before_the_next_one_starts_and_none_starts_after_the_window() {
        // Neither a source nor a model: there are no children.
        let nothing = || SessionSpec {
            source: String::new(),
            ..SessionSpec::default()
        };
        let started = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&started);
        let start = move |spec| {
            count.fetch_add(1, Ordering::SeqCst);
            let options = SessionOptions {
                interactive: true,
                ..SessionOptions::new("/bin/false".into())
            };
            Session::start(spec, options)
        };
        let window = WindowSession::start(nothing(), Box::new(start)).expect("a thread");
        let first = window.running();
        window.open(nothing());
        let begin = Instant::now();
        while Arc::ptr_eq(&first, &window.running()) {
            assert!(begin.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(first.view().phase, SessionPhase::Stopped);
        assert_eq!(started.load(Ordering::SeqCst), 2);
        window.end();
        assert_eq!(window.view().phase, SessionPhase::Stopped);
        window.open(nothing());
        window.end();
        assert_eq!(started.load(Ordering::SeqCst), 2);
    }
}
