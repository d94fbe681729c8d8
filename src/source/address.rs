use std::path::PathBuf;
use std::str::FromStr;

use super::error::SCHEMES;
use super::{PatternSpec, SourceError};
use crate::base::{nearest, split_scheme, unescape_path};

/// Kinds of sources that are planned.
const LATER_SCHEMES: [&str; 8] = [
    "camera",
    "video",
    "recording",
    "rtsp",
    "rtsps",
    "http",
    "https",
    "udp",
];

/// Options of a source of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOptions {
    /// Folders: also the pictures in folders inside it.
    pub recursive: bool,
    /// Largest picture that is accepted, in bytes of decoded pixels; larger ones are left out.
    pub max_bytes: u64,
    /// Decoding threads.
    pub threads: usize,
}

impl Default for FileOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            recursive: false,
            max_bytes: 256 << 20,
            threads: cores.min(4),
        }
    }
}

/// A parsed source address.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceAddress {
    /// `folder:DIR?recursive=1`: all pictures of a folder.
    Folder(PathBuf, FileOptions),
    /// `image:FILE`: one picture.
    Image(PathBuf, FileOptions),
    /// `pattern:NAME?…`: made pictures.
    Pattern(PatternSpec),
    /// A bare path, to be taken for what is there.
    Path(PathBuf, FileOptions),
}

impl SourceAddress {
    /// Parses an address. Paths in it are escaped by [`escape_path`](crate::base::escape_path). A
    /// text that is the path of something that exists is that path, whatever characters it has;
    /// else what follows its last `?` are options: `name=value`, separated by `&`.
    ///
    /// # Errors
    /// The kind of source or one of its options is not known.
    pub fn parse(address: &str) -> Result<Self, SourceError> {
        let Some((scheme, rest)) = split_scheme(address) else {
            let (path, options) = split_path("path", address)?;
            return Ok(Self::Path(path, options));
        };
        match scheme {
            "folder" => {
                let (path, options) = split_path("folder", rest)?;
                Ok(Self::Folder(path, options))
            }
            "image" => {
                let (path, options) = split_path("image", rest)?;
                Ok(Self::Image(path, options))
            }
            "pattern" => PatternSpec::parse(rest).map(Self::Pattern),
            _ if unescape_path(address).exists() => {
                Ok(Self::Path(unescape_path(address), FileOptions::default()))
            }
            _ if LATER_SCHEMES.contains(&scheme) => Err(SourceError::NotSupported {
                scheme: scheme.to_owned(),
            }),
            _ => Err(SourceError::UnknownScheme {
                scheme: scheme.to_owned(),
                address: address.to_owned(),
                nearest: nearest(scheme, SCHEMES.into_iter()),
            }),
        }
    }
}

fn split_path(scheme: &'static str, text: &str) -> Result<(PathBuf, FileOptions), SourceError> {
    let mut options = FileOptions::default();
    let whole = unescape_path(text);
    let (path, query) = match text.rsplit_once('?') {
        Some((path, query)) if !whole.exists() => (unescape_path(path), query),
        _ => (whole, ""),
    };
    if path.as_os_str().is_empty() {
        return Err(SourceError::NoPath { scheme });
    }
    for (name, value) in pairs(query) {
        let option = AddressOption {
            scheme,
            name,
            value,
        };
        match name {
            "recursive" if scheme != "image" => options.recursive = option.switch()?,
            "max_bytes" => {
                options.max_bytes = option.number("a number of bytes, at least 1", |&n| n >= 1)?;
            }
            "threads" => {
                options.threads = option.number("1 to 64", |threads| (1..=64).contains(threads))?;
            }
            _ => {
                let known: &[&str] = if scheme == "image" {
                    &["max_bytes", "threads"]
                } else {
                    &["recursive", "max_bytes", "threads"]
                };
                return Err(option.unknown(known));
            }
        }
    }
    Ok((path, options))
}

/// The `name=value` pairs of a query; a name alone has an empty value.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// An option as it stands in an address.
#[derive(Debug, Clone, Copy)]
pub(super) struct AddressOption<'a> {
    pub(super) scheme: &'static str,
    pub(super) name: &'a str,
    pub(super) value: &'a str,
}

impl AddressOption<'_> {
    pub(super) fn unknown(self, known: &'static [&'static str]) -> SourceError {
        SourceError::UnknownOption {
            scheme: self.scheme,
            option: self.name.to_owned(),
            known,
        }
    }

    pub(super) fn wrong(self, expected: &'static str) -> SourceError {
        SourceError::OptionValue {
            scheme: self.scheme,
            option: self.name.to_owned(),
            value: self.value.to_owned(),
            expected,
        }
    }

    /// A switch; a name without value is on.
    pub(super) fn switch(self) -> Result<bool, SourceError> {
        match self.value {
            "1" | "true" | "" => Ok(true),
            "0" | "false" => Ok(false),
            _ => Err(self.wrong("1 or 0")),
        }
    }

    /// A number that `is_valid` accepts.
    pub(super) fn number<N: FromStr>(
        self,
        expected: &'static str,
        is_valid: impl FnOnce(&N) -> bool,
    ) -> Result<N, SourceError> {
        self.value
            .parse()
            .ok()
            .filter(is_valid)
            .ok_or_else(|| self.wrong(expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        let recursive = FileOptions {
            recursive: true,
            ..FileOptions::default()
        };
        let large = FileOptions {
            max_bytes: 1_000_000_000,
            threads: 1,
            ..FileOptions::default()
        };
        for (address, parsed) in [
            (
                "folder:/a/b",
                SourceAddress::Folder("/a/b".into(), FileOptions::default()),
            ),
            (
                "folder:/a/b?recursive=1",
                SourceAddress::Folder("/a/b".into(), recursive),
            ),
            (
                "image:/a/what%3F.png?max_bytes=1000000000&threads=1",
                SourceAddress::Image("/a/what?.png".into(), large),
            ),
            (
                "/a/b:c",
                SourceAddress::Path("/a/b:c".into(), FileOptions::default()),
            ),
        ] {
            assert_eq!(SourceAddress::parse(address).expect(address), parsed);
        }
    }

    #[test]
    fn a_path_that_exists_is_that_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let odd = folder.path().join("is it?recursive=1");
        std::fs::create_dir(&odd).expect("a folder");
        let address = format!("folder:{}", odd.display());
        assert_eq!(
            SourceAddress::parse(&address).expect("an address"),
            SourceAddress::Folder(odd, FileOptions::default())
        );
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said() {
        for (address, message, hint) in [
            (
                "camera:/dev/video0",
                "`camera:` sources are not supported in this version of Ringside",
                "this version plays `folder:`, `image:`, `pattern:`",
            ),
            (
                "foldr:/a",
                "`foldr:` is no kind of source, and there is no file or folder `foldr:/a`",
                "did you mean `folder:`?",
            ),
            (
                "folder:/a?recursiv=1",
                "`folder:` has no option `recursiv`",
                "its options are recursive, max_bytes, threads",
            ),
            (
                "folder:/a?recursive=maybe",
                "option `recursive` of `folder:` cannot be `maybe`",
                "it has to be 1 or 0",
            ),
            (
                "image:",
                "`image:` needs a path behind the colon",
                "for example `image:/home/me/pictures`",
            ),
        ] {
            let problem = SourceAddress::parse(address).expect_err(address).problem();
            assert_eq!(problem.message, message);
            assert_eq!(problem.hint.as_deref(), Some(hint));
        }
    }
}
