use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use ringside::runtime::{
    Flavour, Found, InstallRequest, Origin, Progress, RuntimeError, Search, Tool,
};

use crate::fakes::{Place, names_in, write_wheel};

/// Brings the wheel.
const COPY: &str = "cp \"$wheel\" \"$dest/\"";

fn install(place: &Place) -> Result<Found, RuntimeError> {
    install_with(place, &InstallRequest::default())
}

fn install_with(place: &Place, request: &InstallRequest) -> Result<Found, RuntimeError> {
    place
        .installer
        .install(request, &mut |_| ControlFlow::Continue(()))
}

/// The three ways by hand, with concrete commands and paths.
fn assert_by_hand(error: &RuntimeError, place: &Place) {
    let hint = error.hint().expect("what to do by hand");
    for part in [
        "python3 -m pip download",
        "onnxruntime==1.31.1",
        "ringside runtime install --from onnxruntime-1.31.1-cp313-cp313-",
        "uv pip install",
        "ORT_DYLIB_PATH=",
        place.installer.root.to_str().expect("UTF-8"),
    ] {
        assert!(hint.contains(part), "`{part}` is missing in:\n{hint}");
    }
    assert!(!hint.contains("http"), "{hint}");
}

#[test]
fn pip_brings_the_wheel_and_only_the_libraries_are_kept() {
    let place = Place::new();
    place.add_pip("23.0.1", COPY);
    let found = install(&place).expect("installed");
    place.assert_installed();
    assert_eq!(
        found.path,
        place.destination().join("libonnxruntime.so.1.31.1")
    );
    assert_eq!(
        (found.version.to_string().as_str(), found.origin),
        ("1.31.1", Origin::Installed)
    );
    assert!(
        !place
            .installer
            .root
            .parent()
            .expect("a parent")
            .join("escaped.txt")
            .exists()
    );

    let architecture = std::env::consts::ARCH;
    let asked = format!(
        "python3 -m pip download --no-deps --only-binary=:all: --platform manylinux_2_28_{architecture} \
         --python-version 313 --implementation cp --abi cp313 --dest "
    );
    let calls = place.calls();
    assert!(
        calls[1].starts_with(&asked) && calls[1].ends_with(" onnxruntime==1.31.1"),
        "{calls:?}"
    );

    let search = Search {
        installed: Some(place.installer.root.clone()),
        ..Search::default()
    };
    assert_eq!(search.find().expect("found").path, found.path);
    // What is there is not fetched again, unless asked for.
    assert_eq!(install(&place).expect("still there").path, found.path);
    assert_eq!(place.downloads(), 1);
    install_with(
        &place,
        &InstallRequest {
            force: true,
            ..InstallRequest::default()
        },
    )
    .expect("installed again");
    assert_eq!(place.downloads(), 2);
    place.assert_installed();
}

#[test]
fn progress_grows_to_the_whole_size() {
    let place = Place::new();
    place.add_pip(
        "23.0.1",
        "head -c 1000 \"$wheel\" > \"$TMPDIR/growing\"; sleep 0.5; cp \"$wheel\" \"$dest/\"; sleep 0.5",
    );
    let wheel_bytes = place.installer.wheels[0].bytes;
    let (mut downloaded, mut checked, mut unpacked) = (vec![], vec![], vec![]);
    let collect = &mut |progress| {
        match progress {
            Progress::Downloading {
                tool: Tool::Pip,
                done_bytes,
                total_bytes,
            } => downloaded.push((done_bytes, total_bytes)),
            Progress::Checking {
                done_bytes,
                total_bytes,
            } => checked.push((done_bytes, total_bytes)),
            Progress::Unpacking {
                done_bytes,
                total_bytes,
            } => unpacked.push((done_bytes, total_bytes)),
            _ => {}
        }
        ControlFlow::Continue(())
    };
    place
        .installer
        .install(&InstallRequest::default(), collect)
        .expect("installed");
    let all: u64 = place
        .members
        .iter()
        .map(|(_, content)| content.len() as u64)
        .sum();
    assert!(downloaded.contains(&(1000, wheel_bytes)), "{downloaded:?}");
    for (steps, total) in [
        (downloaded, wheel_bytes),
        (checked, wheel_bytes),
        (unpacked, all),
    ] {
        assert!(steps.is_sorted(), "{steps:?}");
        assert_eq!(steps.last(), Some(&(total, total)));
    }
}

#[test]
fn a_failing_pip_is_followed_by_uv() {
    let place = Place::new();
    place.add_pip("23.0.1", "echo 'no route to index' >&2; exit 1");
    place.unpack_wheel();
    place.add_tool(
        "uv",
        "while [ $# -gt 0 ]; do case $1 in --target) target=$2;; --requirement) cat \"$2\" >> \"$log\";; esac; shift; done\n\
         cp -r \"$unpacked\"/. \"$target\"\n",
    );
    install(&place).expect("installed");
    place.assert_installed();
    let calls = place.calls();
    let wheel = &place.installer.wheels[0];
    let architecture = std::env::consts::ARCH;
    assert!(
        calls.contains(&format!(
            "onnxruntime==1.31.1 --hash=sha256:{}",
            wheel.sha256
        )),
        "{calls:?}"
    );
    let uv = calls
        .iter()
        .find(|call| call.starts_with("uv "))
        .expect("uv was called");
    for option in [
        "--no-deps",
        "--require-hashes",
        "--python-version 3.13",
        &format!("--python-platform {architecture}-manylinux_2_28"),
    ] {
        assert!(uv.contains(option), "{uv}");
    }
}

#[test]
fn files_from_uv_are_checked_as_well() {
    let mut place = Place::new();
    place.members[0].1.push(0);
    place.unpack_wheel();
    place.add_tool(
        "uv",
        "while [ $# -gt 0 ]; do case $1 in --target) target=$2;; esac; shift; done\ncp -r \"$unpacked\"/. \"$target\"\n",
    );
    assert!(matches!(
        install(&place),
        Err(RuntimeError::WrongDigest { .. })
    ));
    assert!(place.root_entries().is_empty());
}

#[test]
fn every_failure_is_told_with_its_last_words_and_the_ways_by_hand() {
    let place = Place::new();
    place.add_pip(
        "23.0.1",
        "echo downloading; echo 'ERROR: no route to index' >&2; exit 3",
    );
    place.add_tool(
        "pip",
        "case $1 in --version) echo 'pip 22.1 from /elsewhere (python 3.9)'; exit;; esac; exit 4",
    );
    // The same as `python3 -m pip`: not tried twice.
    place.add_tool("pip3", "echo 'pip 23.0.1 from /somewhere (python 3.6)'");
    place.add_tool("uv", "echo 'uv says no' >&2; kill -9 $$");
    let error = install(&place).expect_err("nothing works");
    let text = error.to_string();
    for part in [
        "-m pip download`: exit status: 3",
        "ERROR: no route to index",
        "pip download`: exit status: 4",
        "uv says no",
    ] {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
    match &error {
        RuntimeError::Download { failures, .. } => assert_eq!(failures.len(), 3, "{failures:?}"),
        other => panic!("{other:?}"),
    }
    assert_by_hand(&error, &place);
    assert!(
        place.root_entries().is_empty(),
        "{:?}",
        place.root_entries()
    );
}

#[test]
fn a_pip_that_is_too_old_fetches_a_newer_one_for_this_once() {
    let place = Place::new();
    place.add_pip(
        "18.1",
        "case $dest in *newer-pip) echo pip > \"$dest/pip\";; *) cat \"$PYTHONPATH/pip\" >> \"$log\"; cp \"$wheel\" \"$dest/\";; esac",
    );
    install(&place).expect("installed");
    place.assert_installed();
    let calls = place.calls();
    assert!(
        calls[1].contains("install --no-deps --target") && calls[1].ends_with("pip>=19.2"),
        "{calls:?}"
    );
    assert!(calls[2].contains("download"), "{calls:?}");
    assert_eq!(calls[3], "pip", "the newer one was not used");
}

#[test]
fn without_any_tool_the_ways_by_hand_are_told() {
    let place = Place::new();
    let error = install(&place).expect_err("no tool");
    assert!(matches!(error, RuntimeError::NoTool { .. }), "{error:?}");
    assert_by_hand(&error, &place);
    // A Python without pip, and a file that is not executable, are no tools.
    place.add_tool("python3", "echo 'No module named pip' >&2; exit 1");
    fs::write(PathBuf::from(&place.installer.path).join("uv"), "").expect("a file");
    let error = install(&place).expect_err("no tool");
    assert!(matches!(error, RuntimeError::NoTool { .. }), "{error:?}");
}

#[test]
fn offline_nothing_is_called_and_a_wheel_at_hand_is_taken() {
    let mut place = Place::new();
    place.add_pip("23.0.1", COPY);
    place.installer.offline = true;
    let error = install(&place).expect_err("offline");
    assert!(matches!(error, RuntimeError::Offline { .. }), "{error:?}");
    assert!(error.to_string().contains("RINGSIDE_OFFLINE"), "{error}");
    assert_by_hand(&error, &place);
    let request = InstallRequest {
        wheel: Some(place.wheel_file.clone()),
        ..InstallRequest::default()
    };
    install_with(&place, &request).expect("installed");
    place.assert_installed();
    assert!(place.calls().is_empty());
    // Installed is installed.
    install(&place).expect("nothing to fetch");
}

#[test]
fn a_wheel_that_is_not_the_pinned_one_is_refused() {
    let place = Place::new();
    place.add_pip(
        "23.0.1",
        "cp \"$wheel\" \"$dest/\"; echo >> \"$dest/${wheel##*/}\"",
    );
    let error = install(&place).expect_err("tampered");
    let pinned = &place.installer.wheels[0].sha256;
    assert!(
        matches!(&error, RuntimeError::WrongDigest { expected, .. } if expected == pinned),
        "{error:?}"
    );
    assert!(error.to_string().contains(pinned.as_str()), "{error}");
    assert!(
        place.root_entries().is_empty(),
        "{:?}",
        place.root_entries()
    );

    let other = place.path("other.whl");
    write_wheel(&other, &place.members[..1]);
    for file in [other, place.path("missing.whl"), place.path("")] {
        let request = InstallRequest {
            wheel: Some(file.clone()),
            ..InstallRequest::default()
        };
        let error = install_with(&place, &request).expect_err("not pinned");
        assert!(
            error.to_string().contains(&file.display().to_string()),
            "{error}"
        );
    }
    assert!(!place.destination().exists());
}

#[test]
fn a_pinned_wheel_with_other_members_is_refused() {
    // The digest of the wheel is right, its content is not what was pinned: too long, short, absent.
    let changes: [fn(&mut Place); 3] = [
        |place| place.installer.wheels[0].members[0].bytes -= 1,
        |place| place.installer.wheels[0].members[1].bytes += 1,
        |place| place.installer.wheels[0].members[2].path = "onnxruntime/absent".to_owned(),
    ];
    for change in changes {
        let mut place = Place::new();
        place.add_pip("23.0.1", COPY);
        change(&mut place);
        let error = install(&place).expect_err("not as pinned");
        assert!(
            matches!(
                error,
                RuntimeError::WrongDigest { .. } | RuntimeError::NotAWheel { .. }
            ),
            "{error:?}"
        );
        assert!(
            place.root_entries().is_empty(),
            "{:?}",
            place.root_entries()
        );
    }
}

#[test]
fn a_cancelled_download_leaves_nothing() {
    let place = Place::new();
    place.add_pip(
        "23.0.1",
        "head -c 1000 \"$wheel\" > \"$dest/part\"; echo $$ > \"$log.pid\"; sleep 1000",
    );
    let pid_file = place.path("calls.pid");
    let result = place
        .installer
        .install(&InstallRequest::default(), &mut |_| {
            if pid_file.exists() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
    assert!(matches!(result, Err(RuntimeError::Cancelled)), "{result:?}");
    assert!(
        place.root_entries().is_empty(),
        "{:?}",
        place.root_entries()
    );
    place.add_pip("23.0.1", COPY);
    install(&place).expect("installed");
    place.assert_installed();
}

#[test]
fn two_installations_at_once_fetch_once() {
    let place = Place::new();
    place.add_pip("23.0.1", "sleep 1; cp \"$wheel\" \"$dest/\"");
    let paths: Vec<PathBuf> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| install(&place).expect("installed").path))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    assert!(paths.iter().all(|path| *path == paths[0]));
    assert_eq!(place.downloads(), 1);
    place.assert_installed();
}

#[test]
fn leftovers_are_swept_and_damaged_installations_replaced() {
    let place = Place::new();
    place.add_pip("23.0.1", COPY);
    let left = place.installer.root.join(".partial-killed/tmp");
    fs::create_dir_all(&left).expect("a directory");
    fs::write(left.join("half.whl"), "half").expect("a file");
    fs::create_dir(place.destination()).expect("a directory");
    fs::write(
        place.destination().join("libonnxruntime.so.1.31.1"),
        &place.members[0].1[..100],
    )
    .expect("a file");
    install(&place).expect("installed");
    place.assert_installed();
    fs::remove_file(
        place
            .destination()
            .join("libonnxruntime_providers_shared.so"),
    )
    .expect("an installed file");
    install(&place).expect("repaired");
    place.assert_installed();
    assert_eq!(place.downloads(), 2);
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let mut place = Place::new();
    place.add_pip("23.0.1", COPY);
    let file = place.path("a file");
    fs::write(&file, "").expect("a file");
    place.installer.root = file.join("onnxruntime");
    let error = install(&place).expect_err("no directory");
    assert!(matches!(error, RuntimeError::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("a file/onnxruntime"), "{error}");
}

#[test]
fn a_flavour_that_is_not_pinned_for_this_processor_is_refused() {
    let place = Place::new();
    let error = install_with(
        &place,
        &InstallRequest {
            flavour: Flavour::Cuda,
            ..InstallRequest::default()
        },
    );
    let error = error.expect_err("no such wheel");
    assert!(
        error.to_string().contains(std::env::consts::ARCH),
        "{error}"
    );
    assert!(names_in(&place.installer.root).is_empty());
}
