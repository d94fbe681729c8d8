use std::path::PathBuf;

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;

/// The file of the window's settings: `$XDG_CONFIG_HOME/ringside/settings.toml`.
pub(super) fn settings_file() -> Option<PathBuf> {
    let directories = Xdg::new().ok()?;
    Some(
        directories
            .config_dir()
            .join("ringside")
            .join("settings.toml"),
    )
}
