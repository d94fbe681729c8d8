//! What the window remembers between two runs, and session files that it writes.

mod keeper;
mod session_text;
mod values;

pub(super) use keeper::{Keeper, write_whole};
pub(super) use session_text::session_text;
pub(super) use values::{Settings, ThemeChoice};

/// All that this module says to people.
mod strings {
    /// What stands at the top of the settings' file.
    pub(super) const HEAD: &str = "# Kept by ringside; it may be edited while no window is open.\n";

    pub(super) fn broken(file: &str, cause: &str, aside: &str) -> String {
        format!("{file} cannot be used: {cause}. It is now {aside}, and the settings begin anew.")
    }

    pub(super) fn stuck(file: &str, cause: &str) -> String {
        format!("{file} cannot be used: {cause}. It stays as it is, and nothing is remembered.")
    }

    pub(super) fn unreadable(file: &str, cause: &str) -> String {
        format!("{file} cannot be read: {cause}. Nothing is remembered.")
    }

    pub(super) fn not_written(file: &str, cause: &str) -> String {
        format!("{file} cannot be written: {cause}. What was chosen is forgotten at the end.")
    }
}
