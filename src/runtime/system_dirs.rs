//! The directories in which the system's loader looks for libraries.

use std::path::{Path, PathBuf};

/// Configuration of the loader.
const LOADER_CONFIGURATION: &str = "/etc/ld.so.conf";
/// Includes of includes are followed this deep.
const MAX_INCLUDES: u32 = 4;

/// `LD_LIBRARY_PATH`, what `/etc/ld.so.conf` names, and the usual directories; existing ones only,
/// each once.
pub(super) fn library_dirs() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = std::env::var_os("LD_LIBRARY_PATH")
        .map(|value| std::env::split_paths(&value).collect())
        .unwrap_or_default();
    read_configuration(
        Path::new(LOADER_CONFIGURATION),
        MAX_INCLUDES,
        &mut directories,
    );
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    for parent in ["/usr/local/lib", "/usr/lib", "/lib"] {
        directories.push(Path::new(parent).join(&triple));
        directories.push(PathBuf::from(format!("{parent}64")));
        directories.push(PathBuf::from(parent));
    }
    let mut seen = std::collections::HashSet::new();
    directories.retain(|directory| {
        directory.is_absolute() && directory.canonicalize().is_ok_and(|real| seen.insert(real))
    });
    directories
}

/// Adds the directories that a loader configuration file names. What cannot be read is left out, as
/// the loader does.
fn read_configuration(file: &Path, includes_left: u32, directories: &mut Vec<PathBuf>) {
    let Ok(text) = std::fs::read_to_string(file) else {
        return;
    };
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut words = line.split_whitespace();
        match words.next() {
            Some("include") if includes_left > 0 => {
                for pattern in words {
                    let base = file.parent().unwrap_or(Path::new("/"));
                    for included in expand(&base.join(pattern)) {
                        read_configuration(&included, includes_left - 1, directories);
                    }
                }
            }
            Some(word) if word.starts_with('/') => directories.push(PathBuf::from(line)),
            _ => {}
        }
    }
}

/// The files that a pattern with at most one `*`, in its last component, stands for, sorted.
fn expand(pattern: &Path) -> Vec<PathBuf> {
    let (Some(directory), Some(name)) = (pattern.parent(), pattern.file_name()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy();
    let Some((prefix, suffix)) = name.split_once('*') else {
        return vec![pattern.to_owned()];
    };
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.len() >= prefix.len() + suffix.len()
                && name.starts_with(prefix)
                && name.ends_with(suffix)
        })
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loader_configuration_is_read_with_its_includes() {
        let root = tempfile::tempdir().expect("temporary directory");
        let parts = root.path().join("conf.d");
        std::fs::create_dir(&parts).expect("directory");
        std::fs::write(parts.join("b.conf"), "/opt/b # own\n").expect("file");
        std::fs::write(
            parts.join("a.conf"),
            "# none\n/opt/a one\n\nhwcap 0 nosegneg\n",
        )
        .expect("file");
        std::fs::write(parts.join("c.conf.old"), "/opt/never\n").expect("file");
        let main = root.path().join("ld.so.conf");
        std::fs::write(&main, "/first\ninclude conf.d/*.conf\ninclude ld.so.conf\n").expect("file");
        let mut directories = Vec::new();
        read_configuration(&main, 1, &mut directories);
        let once: Vec<PathBuf> = ["/first", "/opt/a one", "/opt/b"]
            .iter()
            .map(PathBuf::from)
            .collect();
        assert_eq!(directories[..3], once);
        assert!(!directories.contains(&PathBuf::from("/opt/never")));
    }
}
