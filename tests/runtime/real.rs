//! The real program, the real wheel, the real `pip` and `uv`, and `kill -9`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ringside::runtime::{Flavour, Installer, Wheel, inspect};

use crate::fakes::names_in;

/// A download or a process that takes longer than this hangs.
const HANG: Duration = Duration::from_secs(300);

/// Says why a test did not run; past the test harness, which shows nothing of tests that pass.
fn skip(test: &str, reason: &str) {
    writeln!(std::io::stderr(), "skipped {test}: {reason}").ok();
}

/// Whether the long forms are wanted.
fn soak() -> bool {
    std::env::var_os("RINGSIDE_SOAK").is_some()
}

/// The pinned wheel for the CPU of this machine.
fn pinned() -> Wheel {
    let installer = Installer::from_environment().expect("a home directory");
    let fits = |wheel: &Wheel| {
        wheel.flavour == Flavour::Cpu && wheel.architecture == installer.architecture
    };
    installer
        .wheels
        .iter()
        .find(|wheel| fits(wheel))
        .expect("a wheel for this processor")
        .clone()
}

/// The pinned wheel as a file, fetched once and kept in `RINGSIDE_TEST_CACHE` (default:
/// `target/test-cache`); `None` where it cannot be fetched.
fn cached_wheel() -> Option<&'static Path> {
    static WHEEL: OnceLock<Option<PathBuf>> = OnceLock::new();
    let fetch = || {
        let wheel = pinned();
        let cache = std::env::var_os("RINGSIDE_TEST_CACHE").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-cache"),
            PathBuf::from,
        );
        let file = cache.join(&wheel.file);
        if fs::metadata(&file).is_ok_and(|metadata| metadata.len() == wheel.bytes) {
            return Some(file);
        }
        fs::create_dir_all(&cache).expect("a cache directory");
        let draft = tempfile::tempdir_in(&cache).expect("a directory");
        let platform = wheel
            .file
            .rsplit_once('-')?
            .1
            .strip_suffix(".whl")?
            .to_owned();
        let status = Command::new("python3")
            .args([
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
            ])
            .args([
                "--platform",
                &platform,
                "--python-version",
                "313",
                "--implementation",
                "cp",
            ])
            .args(["--abi", "cp313", "onnxruntime==1.31.1", "--dest"])
            .arg(draft.path())
            .stdin(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success()).then(|| {
            fs::rename(draft.path().join(&wheel.file), &file).expect("the wheel");
            file
        })
    };
    WHEEL.get_or_init(fetch).as_deref()
}

/// A user with an empty home and few programs.
struct User {
    home: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        fs::create_dir(home.path().join("bin")).expect("a directory");
        Self { home }
    }

    fn root(&self) -> PathBuf {
        self.home.path().join("data/ringside/onnxruntime")
    }

    /// Puts a shell script on the user's path.
    fn add_program(&self, name: &str, script: &str) {
        let draft = self.home.path().join("draft");
        fs::write(&draft, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).expect("a script");
        fs::rename(draft, self.home.path().join("bin").join(name)).expect("a script");
    }

    /// Makes `name` start the program `target`.
    fn add_alias(&self, name: &str, target: &Path) {
        self.add_program(name, &format!("exec '{}' \"$@\"", target.display()));
    }

    /// `ringside runtime …` as this user.
    fn ringside(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringside"));
        command
            .arg("runtime")
            .args(arguments)
            .env("PATH", self.home.path().join("bin"))
            .env("XDG_DATA_HOME", self.home.path().join("data"))
            .env_remove("ORT_DYLIB_PATH")
            .env_remove("RINGSIDE_OFFLINE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Fails unless the pinned wheel's libraries are installed and nothing else is.
    fn assert_installed(&self) {
        let entries = names_in(&self.root());
        let release = format!(
            "{}-cpu",
            Installer::from_environment().expect("a home").version
        );
        assert_eq!(entries, [".lock", release.as_str()]);
        let directory = self.root().join(release);
        let mut names: Vec<String> = pinned()
            .members
            .iter()
            .map(|member| member.file_name().to_owned())
            .collect();
        names.sort();
        assert_eq!(names_in(&directory), names);
        for member in pinned().members {
            let bytes = fs::metadata(directory.join(member.file_name()))
                .expect("a library")
                .len();
            assert_eq!(bytes, member.bytes, "{}", member.path);
        }
        inspect(&directory.join(pinned().members[0].file_name())).expect("usable");
    }
}

/// Waits for the end; fails when it hangs or panics.
fn finish(mut child: Child) -> Output {
    let deadline = Instant::now() + HANG;
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("a child");
            panic!("hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("a child");
    assert!(!text(&output).contains("panicked"), "{}", text(&output));
    output
}

fn run(command: &mut Command) -> Output {
    finish(command.spawn().expect("the program starts"))
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Every Python 3 on the path: its version and its real program.
fn pythons() -> BTreeMap<(u32, u32), PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_python = |name: &OsString| {
        let name = name.to_string_lossy();
        name.strip_prefix("python3").is_some_and(|rest| {
            rest.is_empty()
                || rest
                    .strip_prefix('.')
                    .is_some_and(|minor| minor.parse::<u32>().is_ok())
        })
    };
    let programs = std::env::split_paths(&path).flat_map(|directory| {
        fs::read_dir(directory)
            .into_iter()
            .flatten()
            .flatten()
            .collect::<Vec<_>>()
    });
    let mut found = BTreeMap::new();
    for program in programs.filter(|entry| is_python(&entry.file_name())) {
        let question = "import sys; print(*sys.version_info[:2], sys.executable)";
        let answer = Command::new(program.path())
            .args(["-c", question])
            .stderr(Stdio::null())
            .output();
        let Ok(answer) = answer else { continue };
        let answer = String::from_utf8_lossy(&answer.stdout).into_owned();
        let mut words = answer.trim().splitn(3, ' ');
        let mut number = || words.next()?.parse().ok();
        let (Some(major), Some(minor)) = (number(), number()) else {
            continue;
        };
        let Some(executable) = words.next().map(PathBuf::from) else {
            continue;
        };
        found.entry((major, minor)).or_insert(executable);
    }
    found
}

fn has_pip(python: &Path) -> bool {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "--version"]).stderr(Stdio::null());
    pip.output().is_ok_and(|output| output.status.success())
}

#[test]
fn any_python_with_pip_installs_the_pinned_libraries() {
    let mut all = pythons();
    all.retain(|_, python| has_pip(python));
    // The wheel is for one Python: the oldest here and the newest, which differ from it or not.
    let ends: Vec<_> = all
        .iter()
        .take(1)
        .chain(all.iter().skip(1).next_back())
        .collect();
    let chosen: Vec<_> = if soak() { all.iter().collect() } else { ends };
    if chosen.is_empty() {
        return skip(
            "any_python_with_pip_installs_the_pinned_libraries",
            "no Python 3 with pip on the path",
        );
    }
    for (version, python) in chosen {
        let user = User::new();
        user.add_alias("python3", python);
        let output = run(&mut user.ringside(&["install"]));
        assert!(
            output.status.success(),
            "Python {version:?}: {}",
            text(&output)
        );
        user.assert_installed();
        let output = run(&mut user.ringside(&["list"]));
        assert!(
            text(&output).contains(user.root().to_str().expect("UTF-8")),
            "{}",
            text(&output)
        );
    }
}

#[test]
fn uv_without_pip_installs_the_pinned_libraries() {
    const TEST: &str = "uv_without_pip_installs_the_pinned_libraries";
    let path = std::env::var_os("PATH").unwrap_or_default();
    let uv = std::env::split_paths(&path)
        .chain([Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-python/bin")])
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("uv"))
        .find(|file| {
            Command::new(file)
                .arg("--version")
                .output()
                .is_ok_and(|output| output.status.success())
        });
    let Some(uv) = uv else {
        return skip(TEST, "no uv on the path");
    };
    // uv looks at some Python, under a name that is not asked for `pip`.
    let Some(((_, minor), python)) = pythons().into_iter().next_back() else {
        return skip(TEST, "no Python 3 on the path");
    };
    let user = User::new();
    user.add_alias("uv", &uv);
    user.add_alias(&format!("python3.{minor}"), &python);
    let output = run(&mut user.ringside(&["install"]));
    assert!(output.status.success(), "{}", text(&output));
    user.assert_installed();
}

#[test]
fn with_neither_and_offline_the_ways_by_hand_are_told() {
    let user = User::new();
    for offline in [false, true] {
        let mut command = user.ringside(&["install"]);
        if offline {
            command.env("RINGSIDE_OFFLINE", "1");
        }
        let output = run(&mut command);
        assert_eq!(output.status.code(), Some(5), "{}", text(&output));
        for part in [
            "python3 -m pip download",
            "uv pip install",
            "--onnxruntime",
            &pinned().file,
        ] {
            assert!(
                text(&output).contains(part),
                "`{part}` is missing in:\n{}",
                text(&output)
            );
        }
        assert!(!text(&output).contains("http"), "{}", text(&output));
    }
    let output = run(&mut user.ringside(&["list"]));
    assert!(
        !text(&output).contains(user.root().to_str().expect("UTF-8")),
        "{}",
        text(&output)
    );
}

#[test]
fn two_programs_at_once_install_once() {
    let Some(wheel) = cached_wheel() else {
        return skip(
            "two_programs_at_once_install_once",
            "the wheel cannot be fetched",
        );
    };
    let user = User::new();
    add_slow_pip(&user, wheel);
    let children: Vec<Child> = (0..3)
        .map(|_| {
            user.ringside(&["install"])
                .spawn()
                .expect("the program starts")
        })
        .collect();
    for child in children {
        let output = finish(child);
        assert!(output.status.success(), "{}", text(&output));
    }
    user.assert_installed();
    let downloads = fs::read_to_string(user.home.path().join("downloads")).expect("a count");
    assert_eq!(downloads.lines().count(), 1);
}

/// A `pip` that takes a second, and notes its process for each download.
fn add_slow_pip(user: &User, wheel: &Path) {
    user.add_program(
        "python3",
        &format!(
            "PATH=/usr/bin:/bin\ncase \"$*\" in *--version*) echo 'pip 23.0 from /x (python 3.9)'; exit;; esac\n\
             echo $$ >> '{0}/downloads'\nwhile [ $# -gt 0 ]; do case $1 in --dest) dest=$2;; esac; shift; done\n\
             sleep 0.4\nhead -c 10000000 '{1}' > \"$dest/part\"\nsleep 0.4\nrm \"$dest/part\"\ncp '{1}' \"$dest/\"\nsleep 0.2",
            user.home.path().display(),
            wheel.display()
        ),
    );
}

#[test]
fn an_installation_killed_at_any_moment_leaves_nothing_half_done() {
    let Some(wheel) = cached_wheel() else {
        return skip(
            "an_installation_killed_at_any_moment_leaves_nothing_half_done",
            "the wheel cannot be fetched",
        );
    };
    let user = User::new();
    add_slow_pip(&user, wheel);
    let started = Instant::now();
    let output = run(&mut user.ringside(&["install"]));
    assert!(output.status.success(), "{}", text(&output));
    let whole = started.elapsed();
    let directory = user
        .root()
        .join(names_in(&user.root()).pop().expect("a release"));
    let library = directory.join(pinned().members[0].file_name());

    let kills = if soak() { 50 } else { 6 };
    let mut killed = 0;
    // First what is there is replaced, then there is nothing to begin with.
    for (replaces, round) in (0..2 * kills).map(|round| (round < kills, round % kills)) {
        if !replaces {
            fs::remove_dir_all(&directory).ok();
        }
        let mut child = user
            .ringside(&["install", "--force"])
            .spawn()
            .expect("the program starts");
        std::thread::sleep(whole * round / kills);
        child.kill().expect("a child");
        let output = finish(child);
        killed += u32::from(output.status.signal().is_some());
        if let Err(defect) = inspect(&library) {
            assert!(!replaces, "what was installed is gone: {defect}");
            assert!(
                !directory.exists(),
                "half installed: {:?}",
                names_in(&directory)
            );
        }
    }
    assert!(killed > 0, "no installation was killed");
    for pid in fs::read_to_string(user.home.path().join("downloads"))
        .expect("processes")
        .lines()
    {
        assert_ends(pid);
    }
    let output = run(&mut user.ringside(&["install", "--force"]));
    assert!(output.status.success(), "{}", text(&output));
    user.assert_installed();
}

/// Fails when a process goes on.
fn assert_ends(pid: &str) {
    let deadline = Instant::now() + HANG;
    let status = Path::new("/proc").join(pid).join("stat");
    while fs::read_to_string(&status).is_ok_and(|status| !status.contains(") Z ")) {
        assert!(
            Instant::now() < deadline,
            "process {pid} outlives the program that started it"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_real_library_is_recognised_whole_and_refused_cut_off() {
    let Some(wheel) = cached_wheel() else {
        return skip(
            "the_real_library_is_recognised_whole_and_refused_cut_off",
            "the wheel cannot be fetched",
        );
    };
    let user = User::new();
    let output = run(user
        .ringside(&["install", "--from"])
        .arg(wheel)
        .env("RINGSIDE_OFFLINE", "1"));
    assert!(output.status.success(), "{}", text(&output));
    user.assert_installed();
    let release = names_in(&user.root()).pop().expect("a release");
    let library = user
        .root()
        .join(release)
        .join(pinned().members[0].file_name());
    let whole = fs::read(&library).expect("the library");
    let cut = user.home.path().join("cut.so");
    for length in [whole.len() - 1, whole.len() / 2, 4096, 64] {
        fs::write(&cut, &whole[..length]).expect("a file");
        let output = run(user.ringside(&["list", "--onnxruntime"]).arg(&cut));
        assert_eq!(output.status.code(), Some(5), "{}", text(&output));
        assert!(
            text(&output).contains("cut off"),
            "{length}: {}",
            text(&output)
        );
    }
}
