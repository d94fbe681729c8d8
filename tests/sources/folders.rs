//! Folders and addresses: order, odd names, what is no picture.

use super::*;

#[test]
fn a_folder_with_broken_and_fake_files_is_played_to_its_end() {
    // Case C27.
    let folder_ = tempfile::tempdir().expect("a folder");
    for name in [
        "full.jpg",
        "trunc.jpg",
        "zero.jpg",
        "text.jpg",
        "._full.jpg",
        "png_named.jpg",
        "webp_named.jpg",
    ] {
        fs::copy(data("cases").join(name), folder_.path().join(name)).expect("a copy");
    }
    fs::write(folder_.path().join(".DS_Store"), "x").expect("a file");
    fs::write(folder_.path().join("notes.txt"), "notes").expect("a file");
    let mut source = folder(folder_.path(), "");
    assert_eq!(source.info().entries, Some(6));
    assert!(
        source.notices()[0]
            .message
            .ends_with(": 1 other file left out")
    );
    let played = play(&mut *source);
    let names: Vec<&str> = played.frames.keys().map(String::as_str).collect();
    assert_eq!(names, ["full.jpg", "png_named.jpg", "webp_named.jpg"]);
    for name in &names[1..] {
        assert_eq!(rgb(&played.frames[*name])[..3], [200, 100, 50], "{name}");
    }
    for (name, words) in [
        (
            "text.jpg",
            "is not a picture: it begins with the text \"<html>",
        ),
        ("trunc.jpg", "JPEG ends after 137,719 bytes"),
        ("zero.jpg", "the file is empty"),
    ] {
        let reason = &played.skipped[name];
        assert!(reason.starts_with(words), "{name}: {reason}");
    }
    assert_eq!(played.skipped.len(), 3);
}

#[test]
fn names_that_break_careless_programs_are_played() {
    // Case C30; the names are those of cases/make_names.
    let folder_ = tempfile::tempdir().expect("a folder");
    let long = format!("{}.png", "x".repeat(251));
    let names: [(&[u8], &str); 8] = [
        (b"\xff\xfe.png", "%FF%FE.png"),
        (b"new\nline.png", "new%0Aline.png"),
        (b"a,\"b\".png", "a,\"b\".png"),
        (b"%03d.png", "%2503d.png"),
        (b"-lead.png", "-lead.png"),
        ("猫 🐈.png".as_bytes(), "猫 🐈.png"),
        (long.as_bytes(), &long),
        (b"d\xe9/1.png", "d%E9/1.png"),
    ];
    fs::create_dir(folder_.path().join(OsStr::from_bytes(b"d\xe9"))).expect("a folder");
    for (name, _) in names {
        let path = folder_.path().join(OsStr::from_bytes(name));
        fs::copy(data("cases/grey200.png"), path).expect("a copy");
    }
    let mut flat = folder(folder_.path(), "");
    assert!(
        flat.notices()[0]
            .message
            .ends_with(": 1 folder in it not looked into")
    );
    assert_eq!(play(&mut *flat).frames.len(), 7);
    let played = play(&mut *folder(folder_.path(), "?recursive=1"));
    let found: BTreeSet<&str> = played.frames.keys().map(String::as_str).collect();
    assert_eq!(found, names.iter().map(|(_, text)| *text).collect());
    for (name, frame) in &played.frames {
        assert!(rgb(frame).iter().all(|&value| value == 200), "{name}");
        let path = folder_.path().join(unescape_path(
            frame.position.path.as_deref().expect("a path"),
        ));
        assert!(path.is_file(), "{name} leads back to its file");
    }
}

#[test]
fn what_is_no_file_or_vanishes_is_skipped_without_blocking() {
    let folder_ = tempfile::tempdir().expect("a folder");
    let fifo = folder_.path().join("1fifo.png");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
    let _socket = UnixListener::bind(folder_.path().join("2socket.png")).expect("a socket");
    symlink("/dev/zero", folder_.path().join("3device.png")).expect("a link");
    for name in ["4gone.png", "5stays.png"] {
        fs::copy(data("cases/grey200.png"), folder_.path().join(name)).expect("a copy");
    }
    let mut source = folder(folder_.path(), "");
    fs::remove_file(folder_.path().join("4gone.png")).expect("a file");
    let played = play(&mut *source);
    assert_eq!(played.frames.keys().collect::<Vec<_>>(), ["5stays.png"]);
    for (name, reason) in [
        ("1fifo.png", "is a FIFO, not a file"),
        ("2socket.png", "is a socket, not a file"),
        ("3device.png", "is a device, not a file"),
        ("4gone.png", "the file is gone"),
    ] {
        assert_eq!(played.skipped[name], reason);
    }
}

#[test]
fn frames_are_in_order_and_equal_however_they_are_read() {
    let photographs = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples");
    let mut runs = ["?threads=1", "?threads=8"].map(|options| folder(&photographs, options));
    let mut one_at_a_time = folder(&photographs, "");
    one_at_a_time.set_read_ahead(false);
    one_at_a_time.set_looping(true);
    for source in &mut runs {
        source.set_looping(true);
    }
    let entries = one_at_a_time.info().entries.expect("a number");
    // Three passes: decoded, from the cache, and again after a step back.
    for step in 0..entries * 3 {
        if step == entries * 2 {
            for source in runs.iter_mut().chain([&mut one_at_a_time]) {
                source.seek(Cursor {
                    source_index: 0,
                    pass: 2,
                });
            }
        }
        assert_eq!(one_at_a_time.step().expect("a step"), Step::Frame);
        let expected = one_at_a_time.frame().expect("a frame");
        assert_eq!(expected.position.source_index, step % entries);
        assert_eq!(u64::from(expected.position.pass), step / entries);
        for source in &mut runs {
            assert_eq!(source.step().expect("a step"), Step::Frame);
            let frame = source.frame().expect("a frame");
            assert_eq!(frame.position.path, expected.position.path);
            assert_eq!(frame.position.pass, expected.position.pass);
            assert_eq!(frame.pixels, expected.pixels);
            assert_eq!(source.xxh3(), one_at_a_time.xxh3());
        }
    }
}

#[test]
fn a_folder_in_which_nothing_can_be_decoded_ends_also_when_it_loops() {
    let folder_ = tempfile::tempdir().expect("a folder");
    for name in ["1.png", "2.png"] {
        fs::write(folder_.path().join(name), "nothing").expect("a file");
    }
    let mut source = folder(folder_.path(), "");
    source.set_looping(true);
    assert_eq!(play(&mut *source).skipped.len(), 2);
}

#[test]
fn one_picture_and_bare_paths_are_opened() {
    let picture = data("edge/exif_orientation_6.jpg");
    for address in [
        format!("image:{}", picture.display()),
        picture.display().to_string(),
    ] {
        let mut source = source::open(&address).expect("a source");
        assert_eq!(source.info().entries, Some(1));
        let played = play(&mut *source);
        assert_eq!(
            played.frames["exif_orientation_6.jpg"].description.width,
            160
        );
    }
    let bare = source::open(&data("cases").display().to_string()).expect("a source");
    assert!(
        bare.info().uri.starts_with("folder:"),
        "{}",
        bare.info().uri
    );
    for (address, code) in [
        (
            data("edge/empty.jpg").display().to_string(),
            "source_picture",
        ),
        (
            format!("folder:{}", picture.display()),
            "source_not_a_folder",
        ),
        (
            format!("image:{}", data("edge").display()),
            "source_not_a_picture",
        ),
        (
            format!("folder:{}", data("edge/nested").display()),
            "source_empty",
        ),
        ("/nowhere.jpg".to_owned(), "source_not_found"),
        ("camera:/dev/video0".to_owned(), "source_not_supported"),
    ] {
        let problem = source::open(&address).err().expect(&address).problem();
        assert_eq!(problem.code, code, "{address}");
    }
}
