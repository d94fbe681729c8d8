use std::path::{Component, Path, PathBuf};

use crate::base::{escape_path, unescape_path};
use crate::session::{SessionSpec, SpecError};

/// Addresses that name a file or a folder after their scheme.
const FILE_SCHEMES: [&str; 4] = ["folder:", "image:", "video:", "recording:"];

/// The text of a session file for `folder` (absolute): paths are relative to it where they and the
/// folder have more in common than the root, so that a project can be moved as a whole.
///
/// # Errors
/// A value that TOML has no form for.
pub(in crate::gui) fn session_text(spec: &SessionSpec, folder: &Path) -> Result<String, SpecError> {
    let mut spec = spec.clone();
    for model in &mut spec.models {
        model.path = relative(&model.path, folder);
        model.labels = model.labels.take().map(|labels| relative(&labels, folder));
    }
    spec.source = relative_source(&spec.source, folder);
    spec.to_toml()
}

fn relative_source(address: &str, folder: &Path) -> String {
    let scheme = FILE_SCHEMES
        .into_iter()
        .find(|scheme| address.starts_with(scheme))
        .unwrap_or("");
    let (path, options) = match address[scheme.len()..].split_once('?') {
        Some((path, options)) => (path, format!("?{options}")),
        None => (&address[scheme.len()..], String::new()),
    };
    if !path.starts_with('/') {
        return address.to_owned();
    }
    let short = escape_path(&relative(&unescape_path(path), folder));
    // Without its root a bare path may look like an address.
    let begin = if scheme.is_empty() && short.contains(':') && !short.starts_with('/') {
        "./"
    } else {
        scheme
    };
    format!("{begin}{short}{options}")
}

/// `path` seen from `folder`, or as it is where only the root is common.
fn relative(path: &Path, folder: &Path) -> PathBuf {
    let (mut rest, mut up) = (path.components().peekable(), folder.components().peekable());
    let mut common = 0;
    while let (Some(a), Some(b)) = (rest.peek(), up.peek()) {
        if a != b {
            break;
        }
        if matches!(a, Component::Normal(_)) {
            common += 1;
        }
        rest.next();
        up.next();
    }
    let climbs = up.clone().count();
    let is_plain = up.all(|part| matches!(part, Component::Normal(_)));
    if common == 0 || !is_plain {
        return path.to_owned();
    }
    let relative: PathBuf = std::iter::repeat_n(Component::ParentDir, climbs)
        .chain(rest)
        .collect();
    if relative.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        relative
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ModelSpec;

    #[test]
    fn paths_are_relative_where_folders_are_shared() {
        let folder = Path::new("/home/me/project");
        for (path, text) in [
            ("/home/me/project/m.onnx", "m.onnx"),
            ("/home/me/project/a/m.onnx", "a/m.onnx"),
            ("/home/me/models/m.onnx", "../models/m.onnx"),
            ("/data/m.onnx", "/data/m.onnx"),
            ("/home/me/project", "."),
        ] {
            assert_eq!(relative(Path::new(path), folder), Path::new(text), "{path}");
        }
        for (address, text) in [
            (
                "folder:/home/me/project/p?recursive=1",
                "folder:p?recursive=1",
            ),
            ("/home/me/project/a:b.jpg", "./a:b.jpg"),
            ("folder:/data/p", "folder:/data/p"),
            ("pattern:bars", "pattern:bars"),
            ("rtsp://host/home", "rtsp://host/home"),
            ("", ""),
        ] {
            assert_eq!(relative_source(address, folder), text);
        }
    }

    #[test]
    fn a_saved_session_reads_as_the_same_one() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("p 1/50%");
        std::fs::create_dir_all(&folder).expect("a folder");
        let spec = SessionSpec {
            source: format!("folder:{}", escape_path(&folder.join("pictures"))),
            looping: true,
            fps: 2.5,
            models: vec![ModelSpec {
                path: folder.join("m.onnx"),
                name: "m".to_owned(),
                labels: Some(folder.join("labels.txt")),
                top: 3,
                ..ModelSpec::default()
            }],
            ..SessionSpec::default()
        };
        let text = session_text(&spec, &folder).expect("TOML");
        assert!(text.contains("source = \"folder:pictures\""), "{text}");
        let read = SessionSpec::from_toml(&text, &folder).expect("a session");
        assert_eq!(read, spec);
    }
}
