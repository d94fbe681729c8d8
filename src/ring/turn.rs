use super::RingError;
use super::locks::{LockByte, LockFile};
use super::memory::io_error;

/// The right to use a device, which the members of a ring have in turn.
#[derive(Debug)]
pub struct Turn {
    name: String,
    locks: LockFile,
    byte: LockByte,
}

impl Turn {
    pub(super) fn new(name: &str, locks: &LockFile, device: u32) -> Result<Self, RingError> {
        Ok(Self {
            name: name.to_owned(),
            locks: locks
                .reopen()
                .map_err(|error| io_error(name, "open the file", error))?,
            byte: LockByte::Device(device),
        })
    }

    /// Sleeps until nobody else uses the device; it is given back when the guard is dropped or the
    /// process ends. While another member is stopped in its turn, this waits: a process that must
    /// end meanwhile ends from another thread.
    ///
    /// # Errors
    /// The system refuses the lock.
    pub fn acquire(&mut self) -> Result<TurnGuard<'_>, RingError> {
        self.locks
            .lock(self.byte)
            .map_err(|error| io_error(&self.name, "use a lock", error))?;
        Ok(TurnGuard { turn: self })
    }
}

/// A turn that ends when this is dropped.
#[derive(Debug)]
pub struct TurnGuard<'a> {
    turn: &'a Turn,
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        self.turn.locks.unlock(self.turn.byte);
    }
}
