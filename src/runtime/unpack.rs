//! Takes the pinned files out of a wheel, or out of a directory that a wheel was unpacked to.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::at;
use super::{Member, RuntimeError, Wheel};
use crate::base::hexadecimal;

/// Bytes copied between two looks at whether to go on.
const CHUNK_BYTES: usize = 1 << 20;

/// Called with the number of bytes done since the last call; may ask to stop.
pub(super) type OnBytes<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// SHA-256 of a file, hexadecimal.
///
/// # Errors
/// The file cannot be read, or `on_bytes` asked to stop.
pub(super) fn sha256_of(file: &Path, on_bytes: OnBytes<'_>) -> Result<String, RuntimeError> {
    let mut source = File::open(file).map_err(at("open", file))?;
    copy_hashed(&mut source, &mut io::sink(), u64::MAX, on_bytes, file).map(|(_, digest)| digest)
}

/// Writes the pinned members of the wheel in `file` to the directory `to`, flat, and syncs them.
///
/// # Errors
/// Not a wheel, a member is missing or is not the pinned one, the disk is full, or `on_bytes` asked
/// to stop.
pub(super) fn unpack_wheel(
    wheel: &Wheel,
    file: &Path,
    to: &Path,
    on_bytes: OnBytes<'_>,
) -> Result<(), RuntimeError> {
    let unsound = |error| RuntimeError::NotAWheel {
        path: file.to_owned(),
        source: error,
    };
    let source = File::open(file).map_err(at("open", file))?;
    let mut archive = zip::ZipArchive::new(io::BufReader::new(source)).map_err(unsound)?;
    for member in &wheel.members {
        let mut content = archive.by_name(&member.path).map_err(unsound)?;
        write_member(member, &mut content, file, to, on_bytes)?;
    }
    Ok(())
}

/// The same out of a directory that holds the wheel's files unpacked.
///
/// # Errors
/// As [`unpack_wheel`].
pub(super) fn take_from_directory(
    wheel: &Wheel,
    directory: &Path,
    to: &Path,
    on_bytes: OnBytes<'_>,
) -> Result<(), RuntimeError> {
    for member in &wheel.members {
        let path = directory.join(&member.path);
        let mut content = File::open(&path).map_err(at("open", &path))?;
        write_member(member, &mut content, &path, to, on_bytes)?;
    }
    Ok(())
}

fn write_member(
    member: &Member,
    content: &mut dyn Read,
    origin: &Path,
    to: &Path,
    on_bytes: OnBytes<'_>,
) -> Result<(), RuntimeError> {
    let path = to.join(member.file_name());
    let mut target = File::create_new(&path).map_err(at("create", &path))?;
    let (bytes, digest) = copy_hashed(content, &mut target, member.bytes, on_bytes, &path)?;
    if bytes != member.bytes || digest != member.sha256 {
        return Err(RuntimeError::WrongDigest {
            path: origin.join(&member.path),
            expected: member.sha256.clone(),
            found: digest,
        });
    }
    target.sync_all().map_err(at("write", &path))
}

/// Copies at most one byte more than `limit` (enough to tell that it is too much); returns the
/// number of bytes and their digest.
fn copy_hashed(
    source: &mut dyn Read,
    target: &mut dyn Write,
    limit: u64,
    on_bytes: OnBytes<'_>,
    path: &Path,
) -> Result<(u64, String), RuntimeError> {
    let mut source = source.take(limit.saturating_add(1));
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut total = 0;
    loop {
        let length = match source.read(&mut buffer) {
            Ok(0) => return Ok((total, hexadecimal(&hasher.finalize()))),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(at("read", path)(error)),
        };
        hasher.update(&buffer[..length]);
        target
            .write_all(&buffer[..length])
            .map_err(at("write", path))?;
        total += length as u64;
        if on_bytes(length as u64).is_break() {
            return Err(RuntimeError::Cancelled);
        }
    }
}
