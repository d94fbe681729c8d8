use std::cmp::Ordering;
use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::base::escape_path;
use crate::source::picture;

/// The pictures of a folder, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Relative to the folder, in natural order (1, 2, 10).
    pub(super) pictures: Vec<PathBuf>,
    /// Files that neither their name nor their content makes pictures.
    pub(super) others: u64,
    /// Folders that were not looked into.
    pub(super) subfolders: u64,
    /// Folders that could not be read.
    pub(super) unreadable: Vec<(PathBuf, io::Error)>,
}

/// Lists the pictures in `root`. Names that begin with a dot (hidden files, AppleDouble files) are
/// left out and not counted. Folders are looked into where `recursive`, each once, also through
/// links.
///
/// # Errors
/// `root` itself cannot be read.
pub(super) fn list(root: &Path, recursive: bool) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut seen = HashSet::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        if let Err(error) = list_one(root, &folder, &mut seen, &mut folders, &mut listing) {
            if folder.as_os_str().is_empty() {
                return Err(error);
            }
            listing.unreadable.push((folder, error));
        }
        if !recursive {
            listing.subfolders = folders.len() as u64;
            folders.clear();
        }
    }
    let mut keyed: Vec<(Vec<String>, PathBuf)> = listing
        .pictures
        .into_iter()
        .map(|path| (sort_key(&path), path))
        .collect();
    keyed.sort_unstable_by(natural_order);
    listing.pictures = keyed.into_iter().map(|(_, path)| path).collect();
    Ok(listing)
}

/// Adds the pictures of `root`/`folder` to the listing, and its folders to `folders`.
fn list_one(
    root: &Path,
    folder: &Path,
    seen: &mut HashSet<(u64, u64)>,
    folders: &mut Vec<PathBuf>,
    listing: &mut Listing,
) -> io::Result<()> {
    let path = root.join(folder);
    let metadata = path.metadata()?;
    if !seen.insert((metadata.dev(), metadata.ino())) {
        return Ok(());
    }
    for entry in path.read_dir()? {
        let name = entry?.file_name();
        if name.as_bytes().starts_with(b".") {
            continue;
        }
        let relative = folder.join(&name);
        // Follows links; what is gone or a broken link is judged by its name.
        let metadata = path.join(&name).metadata();
        if metadata.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
            folders.push(relative);
        } else if picture::is_named_as_picture(&relative)
            || metadata.is_ok_and(|metadata| metadata.is_file())
                && picture::beginning(&path.join(&name))
                    .is_ok_and(|bytes| picture::begins_as_picture(&bytes))
        {
            listing.pictures.push(relative);
        } else {
            listing.others += 1;
        }
    }
    Ok(())
}

fn sort_key(path: &Path) -> Vec<String> {
    path.iter()
        .map(|part| escape_path(Path::new(part)))
        .collect()
}

/// Natural order, folder by folder; what it takes for equal ("a 1", "a1") is ordered by its bytes.
fn natural_order(a: &(Vec<String>, PathBuf), b: &(Vec<String>, PathBuf)) -> Ordering {
    let mut order = Ordering::Equal;
    for (a, b) in a.0.iter().zip(&b.0) {
        order = order.then_with(|| natord::compare(a, b).then_with(|| a.cmp(b)));
    }
    order
        .then(a.0.len().cmp(&b.0.len()))
        .then_with(|| a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

    fn folder(names: &[&[u8]]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for name in names {
            let path = folder.path().join(OsStr::from_bytes(name));
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, PNG).expect("a file");
        }
        folder
    }

    fn names(listing: &Listing) -> Vec<String> {
        listing
            .pictures
            .iter()
            .map(|path| escape_path(path))
            .collect()
    }

    #[test]
    fn numbers_are_ordered_as_numbers() {
        let folder = folder(&[
            b"10.png",
            b"2.png",
            b"1.png",
            b"b/10/2.png",
            b"b/9/1.png",
            b"a.png",
            b"a 1.png",
            b"a1.png",
            b"\xff2.png",
        ]);
        let listing = list(folder.path(), true).expect("a listing");
        assert_eq!(
            names(&listing),
            [
                "%FF2.png",
                "1.png",
                "2.png",
                "10.png",
                "a.png",
                "a 1.png",
                "a1.png",
                "b/9/1.png",
                "b/10/2.png"
            ]
        );
    }

    #[test]
    fn what_is_left_out_is_counted_unless_hidden() {
        let folder = folder(&[
            b"a.png",
            b"._a.png",
            b".DS_Store",
            b".git/x.png",
            b"sub/b.png",
            b"sub.png/c.png",
            b"no_extension",
        ]);
        fs::write(folder.path().join("notes.txt"), "notes").expect("a file");
        fs::write(folder.path().join("fake.jpg"), "<html>").expect("a file");
        let listing = list(folder.path(), false).expect("a listing");
        assert_eq!(names(&listing), ["a.png", "fake.jpg", "no_extension"]);
        assert_eq!((listing.others, listing.subfolders), (1, 2));
        let listing = list(folder.path(), true).expect("a listing");
        assert_eq!(listing.pictures.len(), 5);
        assert_eq!((listing.others, listing.subfolders), (1, 0));
    }

    #[test]
    fn links_in_a_circle_end() {
        let folder = folder(&[b"sub/a.png"]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("sub/up")).expect("a link");
        std::os::unix::fs::symlink("nowhere", folder.path().join("broken.png")).expect("a link");
        let listing = list(folder.path(), true).expect("a listing");
        assert_eq!(names(&listing), ["broken.png", "sub/a.png"]);
    }

    #[test]
    fn a_fifo_is_listed_without_being_opened() {
        let folder = folder(&[]);
        for name in ["pipe.png", "pipe"] {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                folder.path().join(name),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
                0,
            )
            .expect("a FIFO");
        }
        let listing = list(folder.path(), false).expect("a listing");
        assert_eq!(names(&listing), ["pipe.png"]);
        assert_eq!(listing.others, 1);
    }
}
