use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::{Settings, strings};
use crate::base::{MOST_TEXT_BYTES, Worker, read_regular};

/// Holds the settings and writes them, when they have changed, on a thread.
pub(in crate::gui) struct Keeper {
    settings: Settings,
    written: Settings,
    /// Texts to write. The channel has no bound: a person's choices fill it, and the thread takes
    /// the last one only. It is closed before the thread is joined.
    texts: Option<Sender<String>>,
    notices: Receiver<String>,
    _worker: Option<Worker>,
}

impl Keeper {
    /// Settings that are forgotten at the end.
    pub(in crate::gui) fn forgetful() -> Self {
        Self::new(Settings::default(), None, unbounded().1)
    }

    /// The settings in `file`. One that cannot be used is renamed, and it is said by
    /// [`Self::notice`].
    pub(in crate::gui) fn open(file: PathBuf) -> Self {
        let (notices, receiver) = unbounded();
        let tell = |notice: String| {
            tracing::warn!("{notice}");
            // The receiver lives beside us.
            drop(notices.send(notice));
        };
        let (settings, may_write) = match read(&file) {
            Ok(settings) => (settings, true),
            Err(Unusable { notice, may_write }) => {
                tell(notice);
                (Settings::default(), may_write)
            }
        };
        if !may_write {
            return Self::new(settings, None, receiver);
        }
        let (sender, texts) = unbounded::<String>();
        let worker = Worker::spawn("settings", move || {
            while let Ok(text) = texts.recv() {
                let newest = texts.try_iter().last().unwrap_or(text);
                if let Err(error) = write_whole(&file, &newest) {
                    let notice = strings::not_written(&shown(&file), &error.to_string());
                    tracing::warn!("{notice}");
                    drop(notices.send(notice));
                }
            }
        });
        match worker {
            Ok(worker) => Self::new(settings, Some((sender, worker)), receiver),
            Err(error) => {
                tracing::warn!("the settings are not kept: {error}");
                Self::new(settings, None, receiver)
            }
        }
    }

    fn new(
        settings: Settings,
        writer: Option<(Sender<String>, Worker)>,
        notices: Receiver<String>,
    ) -> Self {
        let (texts, worker) = writer.unzip();
        Self {
            written: settings.clone(),
            settings,
            texts,
            notices,
            _worker: worker,
        }
    }

    /// The settings.
    pub(in crate::gui) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The settings, to be changed; [`Self::keep`] writes them.
    pub(in crate::gui) fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Writes the settings if they have changed.
    pub(in crate::gui) fn keep(&mut self) {
        let Some(texts) = &self.texts else {
            return;
        };
        if self.settings == self.written {
            return;
        }
        self.written.clone_from(&self.settings);
        match toml::to_string(&self.settings) {
            // The thread lives beside us.
            Ok(text) => drop(texts.send(format!("{}{text}", strings::HEAD))),
            Err(error) => tracing::error!("the settings have no form as TOML: {error}"),
        }
    }

    /// What went wrong since the last call.
    pub(in crate::gui) fn notice(&self) -> Option<String> {
        self.notices.try_iter().last()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.keep();
        self.texts = None;
    }
}

/// Why a file does not serve.
struct Unusable {
    notice: String,
    /// Whether another may be written in its place.
    may_write: bool,
}

fn read(file: &Path) -> Result<Settings, Unusable> {
    let text = match read_regular(file, MOST_TEXT_BYTES) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|error| error.to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Settings::default()),
        Err(error) => {
            return Err(Unusable {
                notice: strings::unreadable(&shown(file), &error.to_string()),
                may_write: false,
            });
        }
    };
    let parsed = text.and_then(|text| {
        toml::from_str(&text).map_err(|error| format!("it is not TOML: {}", error.message()))
    });
    parsed.map_err(|cause| {
        let mut aside = file.as_os_str().to_owned();
        aside.push(".broken");
        let aside = PathBuf::from(aside);
        match fs::rename(file, &aside) {
            Ok(()) => Unusable {
                notice: strings::broken(&shown(file), &cause, &shown(&aside)),
                may_write: true,
            },
            Err(error) => Unusable {
                notice: strings::stuck(&shown(file), &format!("{cause}; {error}")),
                may_write: false,
            },
        }
    })
}

/// Writes a file beside `file`, which it then becomes: whoever reads sees the old text or the new.
pub(in crate::gui) fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut name = std::ffi::OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    let beside = folder.join(name);
    let written = File::create(&beside).and_then(|mut output| {
        output.write_all(text.as_bytes())?;
        output.sync_all()
    });
    let moved = written.and_then(|()| fs::rename(&beside, file));
    if moved.is_err() {
        // It may never have been made; the first error is the one that tells.
        drop(fs::remove_file(&beside));
    }
    moved
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gui::settings::ThemeChoice;

    #[test]
    fn settings_come_back_with_keys_of_other_versions() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ringside/settings.toml");
        let mut keeper = Keeper::open(file.clone());
        assert_eq!(*keeper.settings(), Settings::default());
        keeper.settings_mut().theme = ThemeChoice::Light;
        Settings::remember(
            &mut keeper.settings_mut().recent_sources,
            "folder:/a \"b\"".to_owned(),
        );
        drop(keeper);
        let mut text = fs::read_to_string(&file).expect("written at the end");
        assert!(text.contains("theme = \"light\""), "{text}");
        assert_eq!(
            fs::read_dir(file.parent().expect("a folder"))
                .expect("a folder")
                .count(),
            1,
            "nothing is left beside it"
        );
        text.push_str("\n[later]\nversion = 2\n");
        fs::write(&file, text).expect("a file");
        let mut keeper = Keeper::open(file.clone());
        assert_eq!(keeper.notice(), None);
        assert_eq!(keeper.settings().theme, ThemeChoice::Light);
        assert_eq!(keeper.settings().recent_sources, ["folder:/a \"b\""]);
        keeper.settings_mut().sources_open = false;
        drop(keeper);
        let text = fs::read_to_string(&file).expect("a file");
        let table: toml::Table = text.parse().expect("TOML");
        assert_eq!(table["later"]["version"].as_integer(), Some(2));
        assert_eq!(table["sources_open"].as_bool(), Some(false));
    }

    #[test]
    fn a_broken_file_is_put_aside_and_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("settings.toml");
        for broken in [
            &b"theme = "[..],
            b"theme = \"purple\"",
            b"\xff\xfe",
            b"theme = 3",
        ] {
            fs::write(&file, broken).expect("a file");
            let mut keeper = Keeper::open(file.clone());
            let notice = keeper.notice().expect("it is said");
            assert!(notice.contains("settings.toml.broken"), "{notice}");
            let aside = folder.path().join("settings.toml.broken");
            assert_eq!(fs::read(&aside).expect("put aside"), broken);
            assert!(!file.exists());
            keeper.settings_mut().language = "de".to_owned();
            drop(keeper);
            assert!(file.exists(), "settings are kept from now on");
        }
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("settings.toml");
        fs::create_dir(&file).expect("a folder in its place");
        let mut keeper = Keeper::open(file.clone());
        assert!(keeper.notice().expect("it is said").contains("cannot be"));
        keeper.settings_mut().language = "de".to_owned();
        drop(keeper);
        assert!(file.is_dir());
    }
}
