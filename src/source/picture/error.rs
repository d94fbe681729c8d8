use std::io;

use super::format::PictureFormat;

/// Why a file is left out, in words that complete "skipped NAME: …".
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The file is not there (any more).
    #[error("the file is gone")]
    Gone,
    /// The system does not let it be read.
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// Not a regular file, so that reading it could block.
    #[error("is {0}, not a file")]
    NotAFile(&'static str),
    /// Zero bytes.
    #[error("the file is empty (0 bytes)")]
    Empty,
    /// The content is of no known picture format.
    #[error("is not a picture: it begins with {beginning}")]
    NotAPicture {
        /// Its first bytes, printable.
        beginning: String,
    },
    /// A picture format that is known by name only.
    #[error("{0} pictures are not supported; convert it to PNG or JPEG")]
    Format(&'static str),
    /// A variant of a supported format that its decoder does not know.
    #[error("this kind of {format} is not supported: {detail}")]
    Variant {
        /// The format.
        format: PictureFormat,
        /// What the decoder says.
        detail: String,
    },
    /// The data end early.
    #[error("{format} ends after {} bytes, before the picture is complete", grouped(*.bytes))]
    Truncated {
        /// The format.
        format: PictureFormat,
        /// Size of the file.
        bytes: u64,
    },
    /// The data are damaged.
    #[error("{format} is damaged: {detail}")]
    Damaged {
        /// The format.
        format: PictureFormat,
        /// What the decoder says.
        detail: String,
    },
    /// More pixels than are accepted.
    #[error(
        "{width}x{height} pixels need {} bytes and at most {} are accepted; raise max_bytes in the \
         source's address to let it in",
        grouped(*.needed), grouped(*.limit)
    )]
    TooLarge {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Bytes of the decoded pixels.
        needed: u64,
        /// Bytes accepted.
        limit: u64,
    },
    /// More bytes of file than are accepted.
    #[error(
        "the file has {} bytes and at most {} are accepted; raise max_bytes in the source's \
         address to let it in",
        grouped(*.bytes), grouped(*.limit)
    )]
    FileTooLarge {
        /// Size of the file.
        bytes: u64,
        /// Bytes accepted.
        limit: u64,
    },
    /// The decoder itself needs more memory than is accepted.
    #[error(
        "decoding this {format} needs more than {} bytes of memory; raise max_bytes in the \
         source's address to let it in",
        grouped(*.limit)
    )]
    DecoderMemory {
        /// The format.
        format: PictureFormat,
        /// Bytes accepted.
        limit: u64,
    },
    /// The decoder has a fault of its own.
    #[error("the {format} decoder failed on it (a fault of the decoder, please report it)")]
    Decoder {
        /// The format.
        format: PictureFormat,
    },
}

impl From<io::Error> for PictureError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound {
            Self::Gone
        } else {
            Self::Io(error)
        }
    }
}

/// A number with a comma between each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1234, "1,234"),
            (10_800_000_000, "10,800,000,000"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
