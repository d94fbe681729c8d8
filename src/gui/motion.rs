//! Whether the desktop asks for no animations.

use std::fs;
use std::path::PathBuf;

/// What GTK and KDE wrote into the user's settings; GNOME writes GTK's through its settings daemon
/// where there is one. Where nothing can be read, things may move.
pub(super) fn desktop_wants_none() -> bool {
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    let Some(config) = config else {
        return false;
    };
    ["gtk-4.0/settings.ini", "gtk-3.0/settings.ini", "kdeglobals"]
        .into_iter()
        .filter_map(|file| fs::read_to_string(config.join(file)).ok())
        .any(|settings| asks_for_none(&settings))
}

/// `gtk-enable-animations=0` (or `false`) of GTK, `AnimationDurationFactor=0` of KDE.
fn asks_for_none(settings: &str) -> bool {
    settings.lines().any(|line| {
        let Some((key, value)) = line.split_once('=') else {
            return false;
        };
        match key.trim() {
            "gtk-enable-animations" => matches!(value.trim(), "0" | "false"),
            "AnimationDurationFactor" => value.trim().parse() == Ok(0.0_f32),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_gtk_and_kde_are_understood() {
        let gtk = "[Settings]\ngtk-theme-name=Adwaita\ngtk-enable-animations = ";
        assert!(asks_for_none(&format!("{gtk}0\n")));
        assert!(asks_for_none(&format!("{gtk}false\n")));
        assert!(!asks_for_none(&format!("{gtk}1\n")));
        assert!(asks_for_none("[KDE]\nAnimationDurationFactor=0\n"));
        assert!(!asks_for_none("[KDE]\nAnimationDurationFactor=0.5\n"));
        assert!(!asks_for_none(""));
    }
}
