use std::path::{Path, PathBuf};

use crate::base::{escape_path, split_scheme, unescape_path};

/// Addresses that name a file or a folder after their scheme.
const FILE_SCHEMES: [&str; 4] = ["folder:", "image:", "video:", "recording:"];

/// The absolute path that `text` names, seen from `folder`: as it stands where such a file exists,
/// else unescaped.
pub(super) fn resolve_path(text: &str, folder: &Path) -> PathBuf {
    let literal = folder.join(text);
    if literal.exists() {
        literal
    } else {
        folder.join(unescape_path(text))
    }
}

/// The address `text` with its path absolute and escaped.
pub(super) fn resolve_source(text: &str, folder: &Path) -> String {
    if text.is_empty() {
        return String::new();
    }
    let scheme = FILE_SCHEMES
        .into_iter()
        .find(|scheme| text.starts_with(scheme))
        .unwrap_or("");
    // Other kinds of sources name no file; what looks like a misspelt kind is left to the producer.
    if scheme.is_empty() && split_scheme(text).is_some() && !folder.join(text).exists() {
        return text.to_owned();
    }
    let rest = &text[scheme.len()..];
    // A question mark begins options, unless a file is really named so.
    let (path, options) = match rest.rfind('?') {
        Some(position) if !folder.join(rest).exists() => rest.split_at(position),
        _ => (rest, ""),
    };
    let path = escape_path(&resolve_path(path, folder));
    format!("{scheme}{path}{options}")
}

/// The address without the user name and password that a network address may carry.
pub(super) fn without_secrets(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{host}{path}"),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_become_absolute() {
        let folder = Path::new("/base");
        for (text, expected) in [
            ("folder:assets/a b", "folder:/base/assets/a b"),
            (
                "folder:/x/%FF?recursive=true",
                "folder:/x/%FF?recursive=true",
            ),
            ("cat.jpg", "/base/cat.jpg"),
            ("pattern:?size=64x48", "pattern:?size=64x48"),
            ("", ""),
            ("rtsp://host/x", "rtsp://host/x"),
            ("foldr:x", "foldr:x"),
            ("camera:/dev/video0?fps=30", "camera:/dev/video0?fps=30"),
        ] {
            assert_eq!(resolve_source(text, folder), expected);
        }
    }

    #[test]
    fn a_name_with_a_percent_sign_is_taken_as_it_stands_where_it_exists() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("50%20off")).expect("a folder");
        let address = resolve_source("folder:50%20off", folder.path());
        let expected = format!("folder:{}/50%2520off", folder.path().display());
        assert_eq!(address, expected);
    }

    #[test]
    fn passwords_are_left_out() {
        for (address, expected) in [
            ("rtsp://user:S3cr%21t@10.0.0.1:1/x", "rtsp://10.0.0.1:1/x"),
            ("rtsp://u:p@q@host", "rtsp://host"),
            ("http://host/a@b", "http://host/a@b"),
            ("folder:/a@b", "folder:/a@b"),
        ] {
            assert_eq!(without_secrets(address), expected);
        }
    }
}
