use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use percent_encoding::{percent_decode_str, percent_encode_byte};

/// A path as text from which [`unescape_path`] makes the same bytes again.
///
/// Text stays as it is; bytes that are not UTF-8, control characters and `%` become `%XX`, so that
/// distinct paths stay distinct and a name never breaks a line.
pub fn escape_path(path: &Path) -> String {
    let mut text = String::with_capacity(path.as_os_str().len());
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '%' || character.is_control() {
                let mut buffer = [0; 4];
                for &byte in character.encode_utf8(&mut buffer).as_bytes() {
                    text.push_str(percent_encode_byte(byte));
                }
            } else {
                text.push(character);
            }
        }
        for &byte in chunk.invalid() {
            text.push_str(percent_encode_byte(byte));
        }
    }
    text
}

/// The path that [`escape_path`] turned into `text`.
pub fn unescape_path(text: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(percent_decode_str(text).collect()))
}

/// The scheme of an address and what follows its colon (RFC 3986: a letter, then letters, digits,
/// `+`, `-` and `.`); `None` for what does not begin like an address.
pub fn split_scheme(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    is_scheme.then_some((scheme, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_escaped_and_come_back() {
        for (bytes, text) in [
            (&b"\xff\xfe.png"[..], "%FF%FE.png"),
            (b"new\nline.png", "new%0Aline.png"),
            (b"%03d.png", "%2503d.png"),
            (b"d\xe9/1.png", "d%E9/1.png"),
            (b"a,\"b\".png", "a,\"b\".png"),
            ("猫 🐈.png".as_bytes(), "猫 🐈.png"),
            ("\u{85}.png".as_bytes(), "%C2%85.png"),
        ] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            assert_eq!(escape_path(&path), text);
            assert_eq!(unescape_path(text), path);
        }
    }

    #[test]
    fn only_what_begins_like_an_address_has_a_scheme() {
        assert_eq!(split_scheme("git+ssh:a:b"), Some(("git+ssh", "a:b")));
        for text in ["a b:c", "1a:b", ":a", "/tmp/a", "\u{e4}:b"] {
            assert_eq!(split_scheme(text), None, "{text}");
        }
    }
}
