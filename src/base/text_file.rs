use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Most bytes of labels, settings and the like: far more than anybody writes.
pub const MOST_TEXT_BYTES: u64 = 16 << 20;

/// Reads a file that people write: labels, settings, what stands beside a model. Only a regular file
/// serves, as it may be read again, and a pipe without a writer would be waited for.
///
/// # Errors
/// It cannot be read, is no regular file, or has more than `most_bytes`.
pub fn read_regular(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    read_limited(path, most_bytes)
}

/// Reads a file of any kind, which may have no end.
///
/// # Errors
/// It cannot be read, or has more than `most_bytes`.
pub fn read_limited(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = File::open(path)?.take(most_bytes.saturating_add(1));
    file.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {most_bytes} bytes"),
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_an_end_and_of_other_kinds_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "12345").expect("a file");
        assert_eq!(read_regular(&file, 5).expect("a file"), b"12345");
        let kind = |result: io::Result<Vec<u8>>| result.expect_err("refused").kind();
        assert_eq!(kind(read_regular(&file, 4)), io::ErrorKind::FileTooLarge);
        for other in [folder.path(), Path::new("/dev/zero")] {
            assert_eq!(kind(read_regular(other, 5)), io::ErrorKind::InvalidInput);
        }
        let endless = read_limited(Path::new("/dev/zero"), 5);
        assert_eq!(kind(endless), io::ErrorKind::FileTooLarge);
        let missing = read_regular(&folder.path().join("missing"), 5);
        assert_eq!(kind(missing), io::ErrorKind::NotFound);
    }
}
