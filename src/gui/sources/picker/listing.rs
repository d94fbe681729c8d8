use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

use crate::base::escape_path;
use crate::gui::sources::Purpose;

/// What is in a folder, or why that cannot be told.
pub(in crate::gui::sources) struct Listing {
    pub(super) folder: PathBuf,
    pub(super) entries: Result<Vec<Entry>, String>,
}

/// A folder or a file that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name as text.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) bytes: u64,
}

/// What a name says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::gui::sources) enum Kind {
    Folder,
    Picture,
    Model,
    Session,
    Labels,
    Other,
}

/// Endings of pictures' names. What a file really is, its content tells.
const PICTURES: [&str; 20] = [
    "jpg", "jpeg", "png", "bmp", "gif", "webp", "tif", "tiff", "tga", "qoi", "pnm", "pbm", "pgm",
    "ppm", "pam", "hdr", "exr", "ico", "dds", "ff",
];
const LABELS: [&str; 4] = ["txt", "names", "labels", "csv"];

impl Kind {
    /// By the ending of a file's name.
    pub(in crate::gui::sources) fn of_file(path: &Path) -> Self {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        match ending.to_ascii_lowercase().as_str() {
            "onnx" => Self::Model,
            "toml" => Self::Session,
            ending if PICTURES.contains(&ending) => Self::Picture,
            ending if LABELS.contains(&ending) => Self::Labels,
            _ => Self::Other,
        }
    }

    /// Whether it can be chosen for a purpose.
    pub(super) fn serves(self, purpose: &Purpose) -> bool {
        match purpose {
            Purpose::Source => self == Self::Picture,
            Purpose::Model => self == Self::Model,
            Purpose::Labels => self == Self::Labels,
            Purpose::Session | Purpose::Save => self == Self::Session,
        }
    }
}

/// Folders first, each in natural order: 1, 2, 10. Hidden files, sockets, pipes and devices are
/// left out.
pub(in crate::gui::sources) fn list(folder: PathBuf) -> Listing {
    let entries = fs::read_dir(&folder).map(|entries| {
        let mut entries: Vec<Entry> = entries
            .flatten()
            .filter_map(|entry| self::entry(entry.path()))
            .collect();
        entries.sort_by(order);
        entries
    });
    Listing {
        entries: entries.map_err(|error| error.to_string()),
        folder,
    }
}

fn entry(path: PathBuf) -> Option<Entry> {
    let name = escape_path(Path::new(path.file_name()?));
    // Links are followed; those that lead nowhere are left out.
    let metadata = fs::metadata(&path).ok()?;
    let kind = if metadata.is_dir() {
        Kind::Folder
    } else if metadata.is_file() {
        Kind::of_file(&path)
    } else {
        return None;
    };
    (!name.starts_with('.')).then_some(Entry {
        name,
        path,
        kind,
        bytes: metadata.len(),
    })
}

fn order(a: &Entry, b: &Entry) -> Ordering {
    let is_file = |entry: &Entry| entry.kind != Kind::Folder;
    is_file(a)
        .cmp(&is_file(b))
        .then_with(|| natord::compare_ignore_case(&a.name, &b.name))
        .then_with(|| a.name.cmp(&b.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_first_and_numbers_count_as_numbers() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["b10", "b9"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        for name in [
            "10.jpg",
            "2.JPG",
            ".hidden.jpg",
            "a.onnx",
            "s.toml",
            "x.bin",
        ] {
            fs::write(folder.path().join(name), b"").expect("a file");
        }
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).expect("a link");
        let entries = list(folder.path().to_owned()).entries.expect("a listing");
        let names: Vec<(&str, Kind)> = entries
            .iter()
            .map(|entry| (entry.name.as_str(), entry.kind))
            .collect();
        assert_eq!(
            names,
            [
                ("b9", Kind::Folder),
                ("b10", Kind::Folder),
                ("2.JPG", Kind::Picture),
                ("10.jpg", Kind::Picture),
                ("a.onnx", Kind::Model),
                ("s.toml", Kind::Session),
                ("x.bin", Kind::Other),
            ]
        );
    }

    #[test]
    fn a_folder_that_cannot_be_read_says_why() {
        let error = list("/no/such/folder".into())
            .entries
            .expect_err("no folder");
        assert!(error.contains("No such file"), "{error}");
    }
}
