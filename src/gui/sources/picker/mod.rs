//! The file picker in the window.

mod keys;
mod listing;
mod thumbnail;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use egui::{ColorImage, Context, TextureHandle, TextureOptions};

pub(super) use listing::{Kind, Listing, list};
pub(super) use thumbnail::thumbnail;
pub(super) use view::picker_ui;

use super::{Purpose, strings};
use listing::Entry;

/// Thumbnails that are being made at once; others wait until these are there.
const MOST_ORDERED: usize = 6;
/// Thumbnails kept.
const MOST_KEPT: usize = 400;

/// What a picker asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PickerRequest {
    /// What is in this folder?
    List(PathBuf),
    /// Is there something of this name, typed by hand?
    Look(PathBuf),
    /// A small picture of this file.
    Thumbnail(PathBuf),
    /// This has been chosen.
    Choose {
        /// What.
        path: PathBuf,
        /// Whether it is a folder.
        is_folder: bool,
    },
    /// Nothing has been chosen.
    Close,
}

/// An open picker.
pub(super) struct Picker {
    pub(super) purpose: Purpose,
    /// Folders to begin at: name and path.
    places: Vec<(String, PathBuf)>,
    folder: PathBuf,
    entries: Vec<Entry>,
    /// Why the folder cannot be read, or what was typed is not there.
    error: Option<String>,
    is_loading: bool,
    /// The folder, and the beginning of a name, as text.
    path: String,
    /// Files of all kinds are shown.
    all_files: bool,
    /// Place among the visible entries.
    selected: Option<usize>,
    /// The list is to show the selected entry.
    scroll: bool,
    /// Name of the file to be written.
    pub(super) name: String,
    /// The path field has not had the focus yet.
    is_new: bool,
    thumbnails: BTreeMap<PathBuf, Option<TextureHandle>>,
    ordered: BTreeSet<PathBuf>,
    requests: Vec<PickerRequest>,
}

impl Picker {
    /// Begins at `folder`.
    pub(super) fn new(purpose: Purpose, folder: PathBuf, places: Vec<(String, PathBuf)>) -> Self {
        let mut picker = Self {
            purpose,
            places,
            folder: PathBuf::new(),
            entries: Vec::new(),
            error: None,
            is_loading: false,
            path: String::new(),
            all_files: false,
            selected: None,
            scroll: false,
            name: strings::NEW_SESSION.to_owned(),
            is_new: true,
            thumbnails: BTreeMap::new(),
            ordered: BTreeSet::new(),
            requests: Vec::new(),
        };
        picker.go(folder);
        picker
    }

    /// What it asks for since the last call.
    pub(super) fn take_requests(&mut self) -> Vec<PickerRequest> {
        std::mem::take(&mut self.requests)
    }

    /// Takes what is in a folder, if it is still the one.
    pub(super) fn accept_listing(&mut self, listing: Listing) {
        if listing.folder != self.folder {
            return;
        }
        self.is_loading = false;
        match listing.entries {
            Ok(entries) => self.entries = entries,
            Err(cause) => {
                self.entries.clear();
                self.error = Some(strings::unreadable(&listing.folder, &cause));
            }
        }
    }

    /// Takes what is known of a typed path: whether it is a folder, or why it cannot be used.
    pub(super) fn accept_look(&mut self, path: PathBuf, is_folder: Result<bool, String>) {
        match is_folder {
            Ok(true) => self.go(path),
            Ok(false) => self.choose(path, false),
            Err(cause) => self.error = Some(strings::unreadable(&path, &cause)),
        }
    }

    /// Takes a thumbnail.
    pub(super) fn accept_thumbnail(
        &mut self,
        context: &Context,
        path: PathBuf,
        image: Option<ColorImage>,
    ) {
        self.ordered.remove(&path);
        if path.parent() == Some(&self.folder) {
            let texture =
                image.map(|image| context.load_texture("thumbnail", image, TextureOptions::LINEAR));
            self.thumbnails.insert(path, texture);
        }
    }

    /// Goes to a folder.
    fn go(&mut self, folder: PathBuf) {
        self.path = with_slash(&folder);
        self.show(folder);
    }

    fn show(&mut self, folder: PathBuf) {
        self.requests.push(PickerRequest::List(folder.clone()));
        self.folder = folder;
        self.entries.clear();
        self.error = None;
        self.is_loading = true;
        self.selected = None;
        self.thumbnails.clear();
    }

    fn go_up(&mut self) {
        if let Some(parent) = self.folder.parent() {
            let parent = parent.to_owned();
            self.go(parent);
        }
    }

    /// The path has been typed on: shows the folder that it is in, and what begins like it.
    fn typed(&mut self) {
        self.error = None;
        self.selected = None;
        // A path that is typed after another one begins anew.
        if let Some(at) = self.path.rfind("//") {
            self.path.drain(..=at);
        }
        let (folder, _) = split(&self.path);
        if folder != self.folder {
            self.show(folder);
        }
    }

    /// The beginning of a name that is typed after the folder, in lower case.
    fn prefix(&self) -> String {
        split(&self.path).1.to_lowercase()
    }

    /// The entries shown.
    fn visible(&self) -> Vec<Entry> {
        let prefix = self.prefix();
        self.entries
            .iter()
            .filter(|entry| {
                (entry.kind == Kind::Folder || self.all_files || entry.kind.serves(&self.purpose))
                    && entry.name.to_lowercase().starts_with(&prefix)
            })
            .cloned()
            .collect()
    }

    /// Writes on as far as all visible entries agree; a single folder is gone to.
    fn complete(&mut self) {
        let visible = self.visible();
        let Some(first) = visible.first() else {
            return;
        };
        if visible.len() == 1 && first.kind == Kind::Folder {
            let path = first.path.clone();
            self.go(path);
            return;
        }
        let common = visible.iter().fold(first.name.as_str(), |common, entry| {
            let same = common
                .char_indices()
                .zip(entry.name.chars())
                .take_while(|((_, a), b)| a == b)
                .last()
                .map_or(0, |((at, letter), _)| at + letter.len_utf8());
            &common[..same]
        });
        if common.len() > self.prefix().len() {
            self.path = format!("{}{common}", with_slash(&self.folder));
        }
    }

    /// Opens a folder, chooses a file.
    fn activate(&mut self, entry: &Entry) {
        if entry.kind == Kind::Folder {
            self.go(entry.path.clone());
        } else if self.purpose == Purpose::Save {
            self.name.clone_from(&entry.name);
        } else {
            self.choose(entry.path.clone(), false);
        }
    }

    /// Enter: the selected entry, or what is typed.
    fn enter(&mut self) {
        let visible = self.visible();
        let selected = self.selected.and_then(|place| visible.get(place));
        if let Some(entry) = selected {
            self.activate(entry);
        } else if self.prefix().is_empty() {
            self.choose_folder();
        } else {
            let path = expanded(&self.path);
            self.requests.push(PickerRequest::Look(path));
        }
    }

    /// The folder itself is chosen, where that has a meaning.
    fn choose_folder(&mut self) {
        match self.purpose {
            Purpose::Source => self.choose(self.folder.clone(), true),
            Purpose::Save => self.choose_name(),
            Purpose::Model | Purpose::Labels | Purpose::Session => {}
        }
    }

    fn choose_name(&mut self) {
        if let Some(file) = self.file_to_write() {
            self.choose(file, false);
        }
    }

    /// The file that is written, with its ending.
    fn file_to_write(&self) -> Option<PathBuf> {
        let name = self.name.trim();
        let is_name = !name.is_empty() && !name.contains('/');
        is_name.then(|| {
            let ending = if Path::new(name).extension().is_some_and(|is| is == "toml") {
                ""
            } else {
                ".toml"
            };
            self.folder.join(format!("{name}{ending}"))
        })
    }

    fn choose(&mut self, path: PathBuf, is_folder: bool) {
        self.requests
            .push(PickerRequest::Choose { path, is_folder });
    }

    /// The thumbnail of a visible picture, which is ordered where it is not there.
    fn thumbnail(&mut self, path: &Path) -> Option<TextureHandle> {
        if let Some(thumbnail) = self.thumbnails.get(path) {
            return thumbnail.clone();
        }
        if self.thumbnails.len() >= MOST_KEPT {
            self.thumbnails.clear();
        }
        if self.ordered.len() < MOST_ORDERED && self.ordered.insert(path.to_owned()) {
            self.requests
                .push(PickerRequest::Thumbnail(path.to_owned()));
        }
        None
    }
}

fn with_slash(folder: &Path) -> String {
    let text = folder.to_string_lossy();
    if text.ends_with('/') {
        text.into_owned()
    } else {
        format!("{text}/")
    }
}

/// A typed path, absolute, `~` being the user's own folder.
fn expanded(text: &str) -> PathBuf {
    let home = std::env::var_os("HOME").unwrap_or_default();
    let path = match text.strip_prefix("~/") {
        Some(rest) => Path::new(&home).join(rest),
        None if text.is_empty() => PathBuf::from("/"),
        None => PathBuf::from(text),
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    // Without a slash at its end.
    path.components().collect()
}

/// The folder of a typed path, and the beginning of a name after its last slash.
fn split(text: &str) -> (PathBuf, &str) {
    match text.rfind('/') {
        Some(at) => (expanded(&text[..=at]), &text[at + 1..]),
        None => (expanded("/"), text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(folder: &Path, purpose: Purpose) -> Picker {
        let mut picker = Picker::new(purpose, folder.to_owned(), Vec::new());
        assert_eq!(
            picker.take_requests(),
            [PickerRequest::List(folder.to_owned())]
        );
        picker.accept_listing(list(folder.to_owned()));
        picker
    }

    fn names(picker: &Picker) -> Vec<String> {
        picker
            .visible()
            .into_iter()
            .map(|entry| entry.name)
            .collect()
    }

    #[test]
    fn typing_narrows_and_tab_completes() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for name in ["photos-2025", "photos-2026", "videos"] {
            std::fs::create_dir(root.join(name)).expect("a folder");
        }
        for name in ["pier.jpg", "model.onnx"] {
            std::fs::write(root.join(name), b"").expect("a file");
        }
        let mut picker = at(root, Purpose::Source);
        assert_eq!(
            names(&picker),
            ["photos-2025", "photos-2026", "videos", "pier.jpg"]
        );
        picker.path.push_str("PH");
        picker.typed();
        assert_eq!(names(&picker), ["photos-2025", "photos-2026"]);
        picker.complete();
        assert!(picker.path.ends_with("/photos-202"), "{}", picker.path);
        picker.path.push('6');
        picker.complete();
        assert_eq!(picker.folder, root.join("photos-2026"));
        picker.go_up();
        assert_eq!(picker.folder, root);
        // Another folder, typed.
        picker.path = format!("/somewhere/{}/videos/", root.display());
        picker.typed();
        assert_eq!(picker.folder, root.join("videos"));
    }

    #[test]
    fn a_session_is_saved_under_a_name_with_its_ending() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut picker = at(folder.path(), Purpose::Save);
        for (name, file) in [
            ("a", Some("a.toml")),
            (" b.toml ", Some("b.toml")),
            ("v1.2", Some("v1.2.toml")),
            ("", None),
            ("x/y", None),
        ] {
            picker.name = name.to_owned();
            let expected = file.map(|file| folder.path().join(file));
            assert_eq!(picker.file_to_write(), expected, "{name}");
        }
    }
}
