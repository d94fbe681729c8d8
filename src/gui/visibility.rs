//! Whether anybody can see the window: winit says so on Wayland, but not on X11, where the server
//! has to be asked.

use std::io;
use std::time::Duration;

use crossbeam::channel::{self, RecvTimeoutError, Sender};
use raw_window_handle::{HasWindowHandle, RawWindowHandle};
use x11rb::connection::Connection;
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConnectionExt, EventMask, MapState, Visibility,
};
use x11rb::rust_connection::RustConnection;

use super::pulse::Pulse;
use crate::base::Worker;

/// How often the server is asked: a window manager may also unmap the frame around the window, or
/// show another workspace, and no event says so.
const INTERVAL: Duration = Duration::from_millis(200);

/// Tells a [`Pulse`] whether the window can be seen, on a thread of its own.
pub(super) struct Watch {
    /// Its end ends the thread.
    _stop: Sender<()>,
    _worker: Worker,
}

impl Watch {
    /// Watches the window behind `handle`; `None` where it is no X11 window.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(super) fn start(handle: &impl HasWindowHandle, pulse: Pulse) -> io::Result<Option<Self>> {
        let window = match handle.window_handle().map(|handle| handle.as_raw()) {
            Ok(RawWindowHandle::Xlib(xlib)) => u32::try_from(xlib.window).ok(),
            Ok(RawWindowHandle::Xcb(xcb)) => Some(xcb.window.get()),
            _ => None,
        };
        let Some(window) = window else {
            return Ok(None);
        };
        // Nothing is ever sent.
        let (stop, stopped) = channel::bounded(0);
        let worker = Worker::spawn("visibility", move || {
            let watched = watch(window, &pulse, || {
                stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout)
            });
            // A window that nobody watches is taken for a visible one.
            pulse.set_hidden(false);
            if let Err(error) = watched {
                tracing::debug!("the window is not watched any more: {error}");
            }
        })?;
        Ok(Some(Self {
            _stop: stop,
            _worker: worker,
        }))
    }
}

/// Asks until `goes_on` says no, which waits between two questions.
fn watch(
    window: u32,
    pulse: &Pulse,
    mut goes_on: impl FnMut() -> bool,
) -> Result<(), ReplyOrIdError> {
    let (connection, _) = RustConnection::connect(None).map_err(|error| {
        tracing::debug!("no second connection to the X server: {error}");
        x11rb::errors::ConnectionError::UnknownError
    })?;
    let wanted = ChangeWindowAttributesAux::new().event_mask(EventMask::VISIBILITY_CHANGE);
    connection
        .change_window_attributes(window, &wanted)?
        .check()?;
    connection.flush()?;
    let mut covered = false;
    loop {
        while let Some(event) = connection.poll_for_event()? {
            if let Event::VisibilityNotify(event) = event {
                covered = event.state == Visibility::FULLY_OBSCURED;
            }
        }
        let attributes = connection.get_window_attributes(window)?.reply()?;
        let mapped = attributes.map_state == MapState::VIEWABLE;
        pulse.set_hidden(!mapped || covered);
        if !goes_on() {
            return Ok(());
        }
    }
}
