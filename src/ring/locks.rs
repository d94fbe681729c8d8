use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use super::layout::{MAX_MEMBERS, MAX_SLOTS};

/// Where the lock bytes lie in the file: far beyond its data, whose locking by others means nothing
/// here. These places are the same in every layout version, so that any version can tell whether a
/// segment's owner lives.
const FIRST: i64 = 1 << 50;
const FIRST_MEMBER: i64 = FIRST + 0x1000;
const FIRST_SLOT: i64 = FIRST + 0x1_0000;
const FIRST_DEVICE: i64 = FIRST + (1 << 33);

const _: () = assert!((MAX_MEMBERS as i64) < FIRST_SLOT - FIRST_MEMBER);
const _: () = assert!((MAX_SLOTS as i64) < FIRST_DEVICE - FIRST_SLOT);

/// A byte of the segment's file that is locked to say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockByte {
    /// Held by the session that created the segment.
    Owner,
    /// Held by the one producer.
    Writer,
    /// Held by the consumer of this entry.
    Member(u32),
    /// Held exclusively while the slot is written, shared while it is copied or pinned.
    Slot(u32),
    /// Held during inference on this device.
    Device(u32),
}

impl LockByte {
    fn offset(self) -> i64 {
        match self {
            Self::Owner => FIRST,
            Self::Writer => FIRST + 1,
            Self::Member(member) => FIRST_MEMBER + i64::from(member),
            Self::Slot(slot) => FIRST_SLOT + i64::from(slot),
            Self::Device(device) => FIRST_DEVICE + i64::from(device),
        }
    }
}

/// How a byte is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockKind {
    /// Together with other shared locks.
    Shared,
    /// Alone.
    Exclusive,
}

/// A descriptor of the segment's file that serves for locks only: closed on exec, never mapped and
/// never duplicated, because a mapping or a duplicate would keep the locks after a close.
///
/// Open-file-description locks belong to the descriptor, not to a process or thread, and the kernel
/// drops them when it is closed, by whatever end of the process.
#[derive(Debug)]
pub(super) struct LockFile {
    file: File,
}

impl LockFile {
    /// Opens the file at `path`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Self { file })
    }

    /// Another descriptor of the same file, with locks of its own. Works although the name may have
    /// been unlinked.
    pub(super) fn reopen(&self) -> io::Result<Self> {
        Self::open(Path::new(&format!(
            "/proc/self/fd/{}",
            self.file.as_raw_fd()
        )))
    }

    /// The file, for its size and the reservation of its pages.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Locks `byte` if nobody else's lock is in the way; says whether it did.
    pub(super) fn try_lock(&self, byte: LockByte, kind: LockKind) -> io::Result<bool> {
        let lock = record(byte.offset(), 1, kind.code());
        match fcntl(&self.file, FcntlArg::F_OFD_SETLK(&lock)) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Locks `byte` exclusively; sleeps in the kernel until it can.
    pub(super) fn lock(&self, byte: LockByte) -> io::Result<()> {
        let lock = record(byte.offset(), 1, LockKind::Exclusive.code());
        loop {
            match fcntl(&self.file, FcntlArg::F_OFD_SETLKW(&lock)) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Gives `byte` back.
    pub(super) fn unlock(&self, byte: LockByte) {
        self.unlock_range(byte.offset(), 1);
    }

    /// The lock of somebody else that would be in the way of an exclusive one, if any.
    pub(super) fn holder(&self, byte: LockByte) -> io::Result<Option<LockKind>> {
        let mut lock = record(byte.offset(), 1, LockKind::Exclusive.code());
        fcntl(&self.file, FcntlArg::F_OFD_GETLK(&mut lock))?;
        Ok(match i32::from(lock.l_type) {
            libc::F_UNLCK => None,
            libc::F_RDLCK => Some(LockKind::Shared),
            _ => Some(LockKind::Exclusive),
        })
    }

    fn unlock_range(&self, start: i64, len: i64) {
        let lock = record(start, len, libc::F_UNLCK);
        if let Err(error) = fcntl(&self.file, FcntlArg::F_OFD_SETLK(&lock)) {
            // The kernel refuses this only when it has no memory to split a range of locks; closing
            // the descriptor drops them all the same.
            tracing::error!("cannot unlock a byte of a ring: {error}");
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // A child between fork and exec has a duplicate of the descriptor for a moment.
        self.unlock_range(FIRST, 0);
    }
}

impl LockKind {
    fn code(self) -> i32 {
        match self {
            Self::Shared => libc::F_RDLCK,
            Self::Exclusive => libc::F_WRLCK,
        }
    }
}

/// The kernel's record of a lock on `len` bytes from `start`; 0 bytes: up to the end of all files.
fn record(start: i64, len: i64, code: i32) -> libc::flock {
    libc::flock {
        l_type: code as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: start,
        l_len: len,
        l_pid: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exclusive_lock_keeps_others_out_until_it_is_given_back() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let one = LockFile::open(file.path()).expect("it is there");
        let two = one.reopen().expect("the same file");
        let byte = LockByte::Slot(3);
        assert!(one.try_lock(byte, LockKind::Exclusive).expect("a lock"));
        assert!(!two.try_lock(byte, LockKind::Shared).expect("no lock"));
        assert!(
            two.try_lock(LockByte::Slot(4), LockKind::Exclusive)
                .expect("another byte")
        );
        assert_eq!(
            two.holder(byte).expect("an answer"),
            Some(LockKind::Exclusive)
        );
        one.unlock(byte);
        assert!(two.try_lock(byte, LockKind::Shared).expect("a lock"));
        assert!(one.try_lock(byte, LockKind::Shared).expect("shared"));
        assert!(!one.try_lock(byte, LockKind::Exclusive).expect("no lock"));
        drop(two);
        assert!(one.try_lock(byte, LockKind::Exclusive).expect("a lock"));
        assert_eq!(one.holder(byte).expect("an answer"), None);
    }
}
