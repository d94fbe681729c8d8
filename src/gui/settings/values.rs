use egui::ThemePreference;
use serde::{Deserialize, Serialize};

/// Most entries of each list of recent things.
const MOST_RECENT: usize = 12;

/// What the window remembers. Every key has a default, so that a file of another version serves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::gui) struct Settings {
    /// Dark or light.
    pub(in crate::gui) theme: ThemeChoice,
    /// Language of the window, by its own name; empty: as the system.
    pub(in crate::gui) language: String,
    /// Whether the panel of source and models is open.
    pub(in crate::gui) sources_open: bool,
    /// Sources, newest first: addresses without secrets.
    pub(in crate::gui) recent_sources: Vec<String>,
    /// Session files, newest first, escaped.
    pub(in crate::gui) recent_sessions: Vec<String>,
    /// Folders of chosen files, newest first, escaped.
    pub(in crate::gui) recent_places: Vec<String>,
    /// Keys of other versions, kept as they are.
    #[serde(flatten)]
    pub(in crate::gui) others: toml::Table,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: ThemeChoice::System,
            language: String::new(),
            sources_open: true,
            recent_sources: Vec::new(),
            recent_sessions: Vec::new(),
            recent_places: Vec::new(),
            others: toml::Table::new(),
        }
    }
}

/// Dark or light.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::gui) enum ThemeChoice {
    /// As the system.
    #[default]
    System,
    /// Dark.
    Dark,
    /// Light.
    Light,
}

impl From<ThemePreference> for ThemeChoice {
    fn from(preference: ThemePreference) -> Self {
        match preference {
            ThemePreference::System => Self::System,
            ThemePreference::Dark => Self::Dark,
            ThemePreference::Light => Self::Light,
        }
    }
}

impl From<ThemeChoice> for ThemePreference {
    fn from(choice: ThemeChoice) -> Self {
        match choice {
            ThemeChoice::System => Self::System,
            ThemeChoice::Dark => Self::Dark,
            ThemeChoice::Light => Self::Light,
        }
    }
}

impl Settings {
    /// Puts `entry` at the head of a list of recent things.
    pub(in crate::gui) fn remember(list: &mut Vec<String>, entry: String) {
        list.retain(|known| *known != entry);
        list.insert(0, entry);
        list.truncate(MOST_RECENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_things_are_few_and_each_stands_once() {
        let mut list = Vec::new();
        for number in 0..40 {
            Settings::remember(&mut list, format!("folder:{number}"));
        }
        Settings::remember(&mut list, "folder:35".to_owned());
        assert_eq!(list.len(), MOST_RECENT);
        assert_eq!(list[..3], ["folder:35", "folder:39", "folder:38"]);
    }
}
