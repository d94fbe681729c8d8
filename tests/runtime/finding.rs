use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use ringside::runtime::{self, Defect, Origin, RuntimeError, Search, Version, inspect};

use crate::fakes::{compile_library, compile_onnxruntime};

/// Looking at a file takes milliseconds; one that never answers fails the test instead of hanging it.
const HANG: Duration = Duration::from_secs(60);

/// The defect of an explicitly named file, with the message a user gets.
fn named(path: &Path) -> (Defect, String) {
    let (sender, result) = mpsc::channel();
    let path = path.to_owned();
    std::thread::spawn(move || sender.send(runtime::find(Some(&path))).ok());
    match result.recv_timeout(HANG).expect("an answer in time") {
        Err(error @ RuntimeError::Unusable(_)) => {
            let message = error.to_string();
            assert!(
                message.contains(&Version::NEEDED.to_string()),
                "no needed version: {message}"
            );
            assert_eq!(message.lines().count(), 1, "more than one line: {message}");
            assert!(error.hint().is_some());
            match error {
                RuntimeError::Unusable(rejected) => (rejected.defect, message),
                _ => unreachable!("matched above"),
            }
        }
        other => panic!("not refused: {other:?}"),
    }
}

macro_rules! assert_named {
    ($path:expr, $defect:pat) => {{
        let path: PathBuf = $path;
        let (defect, message) = named(&path);
        assert!(matches!(defect, $defect), "{defect:?}");
        assert!(
            message.contains(&path.display().to_string()),
            "no path: {message}"
        );
        message
    }};
}

#[test]
fn the_needed_version_is_the_one_that_ort_asks_for() {
    assert_eq!(Version::NEEDED.minor, ort::MINOR_VERSION);
}

#[test]
fn a_file_that_is_no_library_is_refused_by_name() {
    let place = tempfile::tempdir().expect("a directory");
    let file = |name: &str| place.path().join(name);
    assert_named!(PathBuf::from("/nonexistent.so"), Defect::Missing);
    assert_named!(file("not/there.so"), Defect::Missing);
    symlink(file("nowhere"), file("dangling.so")).expect("a link");
    assert_named!(file("dangling.so"), Defect::Missing);
    symlink(file("loop.so"), file("loop.so")).expect("a link");
    assert_named!(file("loop.so"), Defect::Unreadable(_));

    fs::write(file("text.so"), "<!DOCTYPE html>\n".repeat(100)).expect("a file");
    assert_named!(file("text.so"), Defect::NotElf);
    fs::write(file("empty.so"), "").expect("a file");
    assert_named!(file("empty.so"), Defect::NotElf);
    fs::write(file("script.so"), "INPUT(libonnxruntime.so.1)\n").expect("a file");
    assert_named!(file("script.so"), Defect::NotElf);

    fs::create_dir(file("directory")).expect("a directory");
    assert_named!(file("directory"), Defect::Directory { inside: None });
    fs::write(file("directory/libonnxruntime.so.1.31.1"), "").expect("a file");
    let message = assert_named!(file("directory"), Defect::Directory { inside: Some(_) });
    assert!(
        message.contains("directory/libonnxruntime.so.1.31.1"),
        "{message}"
    );

    rustix::fs::mkfifoat(rustix::fs::CWD, file("pipe.so"), 0o600.into()).expect("a pipe");
    assert_named!(file("pipe.so"), Defect::NotRegular);

    compile_onnxruntime(&file("secret.so"), "1.31.1");
    fs::set_permissions(file("secret.so"), fs::Permissions::from_mode(0o000)).expect("permissions");
    // Root may read everything.
    if fs::File::open(file("secret.so")).is_err() {
        assert_named!(file("secret.so"), Defect::Unreadable(_));
    }
}

#[test]
fn another_library_is_refused() {
    // A bare name is looked for where the loader would look.
    let (defect, message) = named(Path::new("libm.so.6"));
    assert!(matches!(defect, Defect::NotOnnxRuntime), "{defect:?}");
    assert!(message.contains("/libm.so.6"), "{message}");

    let place = tempfile::tempdir().expect("a directory");
    let other = place.path().join("libonnxruntime.so");
    compile_library(
        &other,
        "PyInit_onnxruntime_pybind11_state",
        Some("VERS_1.0"),
    );
    assert_named!(other, Defect::NotOnnxRuntime);
    let program = std::env::current_exe().expect("this test");
    assert_named!(program, Defect::NotOnnxRuntime);
}

#[test]
fn a_release_before_the_needed_one_is_refused() {
    let place = tempfile::tempdir().expect("a directory");
    for version in ["1.16.3", "1.9.0", "1.23.9"] {
        let library = place.path().join(format!("old-{version}.so"));
        compile_onnxruntime(&library, version);
        let message = assert_named!(library, Defect::TooOld(_));
        assert!(message.contains(version), "{message}");
    }
    let library = place.path().join("libonnxruntime.so.1.16.3");
    compile_library(&library, "OrtGetApiBase", None);
    assert_named!(library, Defect::TooOld(_));
    let library = place.path().join("mine.so");
    compile_library(&library, "OrtGetApiBase", None);
    assert_named!(library, Defect::UnknownVersion);
}

#[test]
fn a_usable_library_tells_its_version_by_symbol_then_by_name() {
    let place = tempfile::tempdir().expect("a directory");
    for version in ["1.24.0", "1.31.1", "2.0.0"] {
        let library = place.path().join(format!("any-{version}.so"));
        compile_onnxruntime(&library, version);
        let found = runtime::find(Some(&library)).expect("usable");
        assert_eq!(
            (found.path, found.version.to_string()),
            (library, version.to_owned())
        );
        assert_eq!(found.origin, Origin::Argument);
    }
    let library = place.path().join("libonnxruntime.so.1.30.2");
    compile_library(&library, "OrtGetApiBase", None);
    let link = place.path().join("libonnxruntime.so");
    symlink(&library, &link).expect("a link");
    assert_eq!(inspect(&link).expect("usable").to_string(), "1.30.2");
}

#[test]
fn a_library_for_another_processor_and_an_object_file_are_refused() {
    let place = tempfile::tempdir().expect("a directory");
    let library = place.path().join("library.so");
    compile_onnxruntime(&library, "1.31.1");
    let good = fs::read(&library).expect("the library");
    // Offsets of the ELF header: 4 class, 5 byte order, 16 type, 18 machine.
    for (offset, value) in [(4, 1), (5, 2), (18, 8)] {
        let mut bytes = good.clone();
        bytes[offset] = value;
        fs::write(&library, bytes).expect("a file");
        assert_named!(library.clone(), Defect::ForeignProcessor);
    }
    for kind in [1, 2, 4] {
        let mut bytes = good.clone();
        bytes[16] = kind;
        fs::write(&library, bytes).expect("a file");
        assert_named!(library.clone(), Defect::NotShared);
    }
}

#[test]
fn a_library_cut_off_anywhere_is_refused() {
    let place = tempfile::tempdir().expect("a directory");
    let library = place.path().join("library.so");
    compile_onnxruntime(&library, "1.31.1");
    let good = fs::read(&library).expect("the library");
    let mut cut_off = 0;
    for length in (0..good.len()).step_by(61).chain([good.len() - 1]) {
        fs::write(&library, &good[..length]).expect("a file");
        match inspect(&library) {
            Err(Defect::Truncated { bytes, needed }) => {
                assert_eq!((bytes, needed), (length as u64, good.len() as u64));
                cut_off += 1;
            }
            Err(Defect::NotElf | Defect::Damaged(_)) => assert!(length < 64, "{length}"),
            other => panic!("{length} of {} bytes: {other:?}", good.len()),
        }
    }
    assert!(cut_off > 10);
}

#[test]
fn a_library_with_damaged_bytes_is_never_a_crash() {
    let place = tempfile::tempdir().expect("a directory");
    let library = place.path().join("library.so");
    compile_onnxruntime(&library, "1.31.1");
    let good = fs::read(&library).expect("the library");
    for offset in 0..good.len() {
        for value in [0, 0xff] {
            if good[offset] == value {
                continue;
            }
            let mut bytes = good.clone();
            bytes[offset] = value;
            fs::write(&library, bytes).expect("a file");
            // Usable or not: there is an answer.
            if let Err(defect) = inspect(&library) {
                assert!(!defect.to_string().is_empty());
            }
        }
    }
}

#[test]
fn places_are_looked_at_in_order_and_useless_files_are_skipped_and_listed() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = |name: &str| {
        let path = place.path().join(name);
        fs::create_dir_all(&path).expect("a directory");
        path
    };
    let program_dir = directory("program");
    let installed = directory("data");
    let (first, second) = (directory("lib1"), directory("lib2"));
    let search = Search {
        named: None,
        program_dir: Some(program_dir.clone()),
        installed: Some(installed.clone()),
        system: vec![first.clone(), second.clone(), place.path().join("missing")],
    };
    match search.find() {
        Err(RuntimeError::NotFound { rejected }) => assert!(rejected.is_empty()),
        other => panic!("{other:?}"),
    }

    // What a distribution ships: a file and two links.
    let old = first.join("libonnxruntime.so.1.16.3");
    compile_onnxruntime(&old, "1.16.3");
    symlink(&old, first.join("libonnxruntime.so.1")).expect("a link");
    symlink(&old, first.join("libonnxruntime.so")).expect("a link");
    fs::write(first.join("libonnxruntime_providers_shared.so"), "").expect("a file");
    fs::write(first.join("libonnxruntime.sock"), "").expect("a file");
    let error = search.find().expect_err("only an old one");
    match &error {
        RuntimeError::NotFound { rejected } => {
            assert_eq!(rejected.len(), 1, "{rejected:?}");
            assert!(matches!(rejected[0].defect, Defect::TooOld(_)));
        }
        other => panic!("{other:?}"),
    }
    assert!(error.to_string().contains("1.16.3"), "{error}");
    assert!(
        error.to_string().contains(first.to_str().expect("UTF-8")),
        "{error}"
    );

    let found = |origin: Origin, path: &Path, rejected: usize| {
        let found = search.find().expect("a usable one");
        assert_eq!((found.origin, found.path.as_path()), (origin, path));
        assert_eq!(found.rejected.len(), rejected, "{:?}", found.rejected);
    };
    let system = second.join("libonnxruntime.so");
    compile_onnxruntime(&system, "1.40.0");
    found(Origin::System, &system, 1);

    for (release, version) in [("1.30.0-cuda", "1.30.0"), ("1.31.1-cpu", "1.31.1")] {
        fs::create_dir(installed.join(release)).expect("a directory");
        compile_onnxruntime(
            &installed
                .join(release)
                .join(format!("libonnxruntime.so.{version}")),
            version,
        );
    }
    found(
        Origin::Installed,
        &installed.join("1.31.1-cpu/libonnxruntime.so.1.31.1"),
        0,
    );
    fs::create_dir(installed.join("1.31.1-cuda")).expect("a directory");
    let both = installed.join("1.31.1-cuda/libonnxruntime.so.1.31.1");
    compile_onnxruntime(&both, "1.31.1");
    found(Origin::Installed, &both, 0);
    // An installation that is under way does not count.
    fs::create_dir(installed.join(".partial-1")).expect("a directory");
    compile_onnxruntime(
        &installed.join(".partial-1/libonnxruntime.so.1.39.0"),
        "1.39.0",
    );
    found(Origin::Installed, &both, 0);

    let beside = program_dir.join("libonnxruntime.so");
    compile_onnxruntime(&beside, "1.25.0");
    found(Origin::BesideProgram, &beside, 0);
    fs::write(&beside, "not a library").expect("a file");
    found(Origin::Installed, &both, 1);

    let listed: Vec<Origin> = search
        .candidates()
        .map(|candidate| candidate.origin)
        .collect();
    assert_eq!(listed.len(), 1 + 3 + 2, "{listed:?}");
    assert_eq!(
        (listed[0], listed[5]),
        (Origin::BesideProgram, Origin::System)
    );

    // A file that the user named is never replaced by another one.
    let named = Search {
        named: Some((beside.clone(), Origin::Environment)),
        ..search.clone()
    };
    match named.find() {
        Err(error @ RuntimeError::Unusable(_)) => {
            assert!(error.to_string().contains("ORT_DYLIB_PATH"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(named.candidates().count(), 1);
}

#[test]
fn looking_at_a_library_does_not_load_it() {
    let place = tempfile::tempdir().expect("a directory");
    let library = place.path().join("libonnxruntime.so.1.31.1");
    compile_onnxruntime(&library, "1.31.1");
    runtime::find(Some(&library)).expect("usable");
    assert_eq!(runtime::list(Some(&library)).len(), 1);
    let maps = fs::read_to_string("/proc/self/maps").expect("the map of this process");
    assert!(
        maps.contains("libc.so"),
        "the map is not what this test takes it for"
    );
    assert!(!maps.contains("libonnxruntime"), "{maps}");
}
