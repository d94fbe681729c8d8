use std::path::{Path, PathBuf};

/// The session file that comes with the program.
const DEMO: &str = "assets/demo.toml";

/// Finds the demo session: in a folder above the executable (a checkout, where it stands in
/// `target/release`), in `../share/ringside` beside it (an installation), or in the current folder.
pub(super) fn find() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    let folder = executable.parent()?;
    let above = folder.ancestors().take(4).map(Path::to_owned);
    above
        .chain([folder.join("../share/ringside"), PathBuf::from(".")])
        .map(|folder| folder.join(DEMO))
        .find(|file| file.is_file())
}
