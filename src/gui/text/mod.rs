//! Every word of the window, in each of its languages.
//!
//! A language is one value of [`Strings`]: a text that is missing in one does not compile. What the
//! session says (problems, steps, names, paths) is shown as it is.

mod chinese;
mod english;
mod table;

use std::cell::Cell;

pub(super) use table::Strings;

/// A language of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Its name in itself.
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    /// The one after it, over and over.
    pub(super) fn next(self) -> Self {
        match self {
            Self::English => Self::Chinese,
            Self::Chinese => Self::English,
        }
    }

    /// Its words.
    pub(super) fn strings(self) -> &'static Strings {
        match self {
            Self::English => &english::ENGLISH,
            Self::Chinese => &chinese::CHINESE,
        }
    }

    /// Its texts without parameters, each with the name by which the other languages have it.
    pub fn texts(self) -> Vec<(&'static str, &'static str)> {
        self.strings().fixed()
    }

    /// The language that the environment asks for (`LC_ALL`, `LC_MESSAGES`, `LANG`).
    pub fn of_environment() -> Self {
        let wanted = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .filter_map(std::env::var_os)
            .find(|value| !value.is_empty());
        match wanted {
            Some(value) if value.to_string_lossy().starts_with("zh") => Self::Chinese,
            _ => Self::English,
        }
    }
}

thread_local! {
    /// A window is drawn by one thread; tests draw many, each on a thread of its own.
    static LANGUAGE: Cell<Language> = const { Cell::new(Language::English) };
}

/// Draws in `language` from now on; called at each pass.
pub(super) fn speak(language: Language) {
    LANGUAGE.set(language);
}

/// The words of the language that the window is drawn in.
pub(super) fn text() -> &'static Strings {
    LANGUAGE.get().strings()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_empty_and_nearly_all_are_translated() {
        let (english, chinese) = (Language::English.texts(), Language::Chinese.texts());
        assert_eq!(english.len(), chinese.len());
        let mut same = Vec::new();
        for ((name, english), (_, chinese)) in english.iter().zip(&chinese) {
            assert!(!english.is_empty() && !chinese.is_empty(), "{name}");
            if english == chinese {
                same.push(*english);
            }
        }
        // Signs and names that are the same in both.
        assert_eq!(same, ["fps", "PID", "CPU", "p50", "p99"]);
    }

    #[test]
    fn both_languages_end_their_texts_alike() {
        for (english, chinese) in Language::English
            .texts()
            .iter()
            .zip(Language::Chinese.texts())
        {
            let ends = |text: &str| text.ends_with(['.', '。', ':', '：']);
            assert_eq!(ends(english.1), ends(chinese.1), "{}", english.0);
        }
    }
}
