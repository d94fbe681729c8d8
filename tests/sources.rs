//! Pictures as Pillow and OpenCV see them, and files that are none.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use ringside::base::escape_path;
use ringside::frame::{Frame, PixelOrder, SampleType, rgb8_into};
use ringside::source::{self, Cursor, FrameSource, Step};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde::Deserialize;

/// An entry of `pictures.json`; see `make_picture_fixtures.py`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expected {
    Refused {
        #[serde(rename = "error")]
        _error: String,
    },
    Picture {
        size: [u32; 2],
        stored: [u32; 2],
        orientation: u8,
        mean: [f64; 3],
        samples: Vec<[u32; 5]>,
    },
}

/// What Pillow decodes and Ringside refuses, and the words in which.
const REFUSED: [(&str, &str); 3] = [
    ("edge/plain.avif", "AVIF pictures are not supported"),
    ("pictures/palette.tif", "this kind of TIFF is not supported"),
    (
        "pictures/rgb.ico",
        "ICO is damaged: The PNG is not in RGBA format",
    ),
];

/// Largest difference of a sample, and of the mean of a channel: JPEG decoders differ by that much.
const TOLERANCE: u32 = 2;

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(path)
}

fn expected_pictures() -> BTreeMap<String, Expected> {
    let text = fs::read_to_string(data("pictures.json")).expect("pictures.json");
    serde_json::from_str(&text).expect("pictures.json")
}

/// What a source gives until its end: frames by path, reasons by path.
#[derive(Debug, Default)]
struct Played {
    frames: BTreeMap<String, Frame>,
    skipped: BTreeMap<String, String>,
}

fn play(source: &mut dyn FrameSource) -> Played {
    let mut played = Played::default();
    loop {
        match source.step().expect("a step") {
            Step::Frame => {
                let frame = source.frame().expect("a frame").clone();
                frame.check().expect("a whole frame");
                let path = frame.position.path.clone().expect("a path");
                played.frames.insert(path, frame);
            }
            Step::Skipped(skipped) => {
                let path = skipped.path.expect("a path");
                played.skipped.insert(path, skipped.reason);
            }
            Step::End => return played,
        }
    }
}

fn folder(path: &Path, options: &str) -> Box<dyn FrameSource> {
    source::open(&format!("folder:{}{options}", escape_path(path))).expect("a source")
}

fn rgb(frame: &Frame) -> Vec<u8> {
    let mut rgb = Vec::new();
    rgb8_into(frame, &mut rgb).expect("a whole frame");
    rgb
}

#[test]
fn pictures_are_what_pillow_and_opencv_decode() {
    let expected = expected_pictures();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for set in ["edge", "cases", "pictures"] {
        let played = play(&mut *folder(&data(set), ""));
        for (key, expected) in &expected {
            let Some(name) = key.strip_prefix(&format!("{set}/")) else {
                continue;
            };
            seen += 1;
            let name = escape_path(Path::new(name));
            let refused = REFUSED.iter().find(|(refused, _)| refused == key);
            let reason = played.skipped.get(&name);
            match (expected, refused, played.frames.get(&name)) {
                (Expected::Refused { .. }, _, None) => assert!(reason.is_some(), "{key}"),
                (Expected::Picture { .. }, Some((_, words)), None) => {
                    let reason = reason.expect(key);
                    assert!(reason.starts_with(words), "{key}: {reason}");
                }
                (Expected::Picture { .. }, None, Some(frame)) => {
                    wrong.extend(difference(frame, expected).map(|text| format!("{key}: {text}")));
                }
                (_, _, frame) => wrong.push(format!("{key}: {frame:?} {reason:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(seen, expected.len());
}

/// How a frame differs from what was decoded elsewhere, if it does.
fn difference(frame: &Frame, expected: &Expected) -> Option<String> {
    let Expected::Picture {
        size,
        stored,
        orientation,
        mean,
        samples,
    } = expected
    else {
        return Some("decoded, where Pillow refuses".to_owned());
    };
    let position = &frame.position;
    let width = frame.description.width;
    if [width, frame.description.height] != *size
        || position.stored != *stored
        || u8::from(position.orientation) != *orientation
    {
        return Some(format!("{:?} {position:?}", frame.description));
    }
    let rgb = rgb(frame);
    for (channel, expected) in mean.iter().enumerate() {
        let values = rgb.iter().skip(channel).step_by(3);
        let sum: f64 = values.map(|&value| f64::from(value)).sum();
        let actual = sum / (rgb.len() / 3) as f64;
        if (actual - expected).abs() > 1.0 {
            return Some(format!("mean {channel} is {actual}, not {expected}"));
        }
    }
    for &[x, y, red, green, blue] in samples {
        let at = (y * width + x) as usize * 3;
        let actual = &rgb[at..at + 3];
        let near =
            |(&actual, expected): (&u8, u32)| u32::from(actual).abs_diff(expected) <= TOLERANCE;
        if !actual.iter().zip([red, green, blue]).all(near) {
            return Some(format!(
                "({x}, {y}) is {actual:?}, not {red},{green},{blue}"
            ));
        }
    }
    None
}

#[test]
fn depth_grey_and_alpha_are_kept() {
    let edge = play(&mut *folder(&data("edge"), ""));
    let made = play(&mut *folder(&data("pictures"), ""));
    for (frames, name, sample, order) in [
        (&edge, "gray16.png", SampleType::U16, PixelOrder::Gray),
        (&edge, "rgb16.png", SampleType::U16, PixelOrder::Rgb),
        (&edge, "gray8.jpg", SampleType::U8, PixelOrder::Gray),
        (&edge, "gray_alpha.png", SampleType::U8, PixelOrder::Rgba),
        (&edge, "bilevel.png", SampleType::U8, PixelOrder::Gray),
        (&edge, "palette.png", SampleType::U8, PixelOrder::Rgb),
        (
            &edge,
            "palette_transparent.png",
            SampleType::U8,
            PixelOrder::Rgba,
        ),
        (&edge, "cmyk.jpg", SampleType::U8, PixelOrder::Rgb),
        (&made, "gray16.tif", SampleType::U16, PixelOrder::Gray),
        (&made, "rgba16.ff", SampleType::U16, PixelOrder::Rgba),
        (&made, "float.hdr", SampleType::F32, PixelOrder::Rgb),
        (&made, "float.exr", SampleType::F32, PixelOrder::Rgb),
    ] {
        let description = frames.frames[name].description;
        assert_eq!(
            (description.sample, description.order),
            (sample, order),
            "{name}"
        );
    }
    // "16-bit grey, 128x64, ramp 0..65535 left to right" (edge-index.json).
    let ramp = &edge.frames["gray16.png"].pixels[..256];
    assert_eq!(ramp[..2], 0u16.to_ne_bytes());
    assert_eq!(ramp[254..], 65535u16.to_ne_bytes());
}

#[test]
fn photographs_stored_turned_are_upright() {
    // Case C24: stored 64x32, left red, right blue.
    let played = play(&mut *folder(&data("cases"), ""));
    for extension in ["jpg", "png"] {
        for (tag, size, [red_x, red_y], [blue_x, blue_y]) in [
            (1, [64, 32], [5, 16], [58, 16]),
            (3, [64, 32], [58, 16], [5, 16]),
            (6, [32, 64], [16, 5], [16, 58]),
            (8, [32, 64], [16, 58], [16, 5]),
        ] {
            let frame = &played.frames[&format!("exif{tag}.{extension}")];
            let description = frame.description;
            assert_eq!([description.width, description.height], size, "tag {tag}");
            let rgb = rgb(frame);
            let pixel = |x: u32, y: u32| &rgb[((y * description.width + x) * 3) as usize..][..3];
            let (red, blue) = (pixel(red_x, red_y), pixel(blue_x, blue_y));
            assert!(red[0] > 200 && red[2] < 50, "tag {tag}: {red:?}");
            assert!(blue[2] > 200 && blue[0] < 50, "tag {tag}: {blue:?}");
        }
    }
}

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
fn a_picture_that_is_cut_off_is_never_shown() {
    let folder_ = tempfile::tempdir().expect("a folder");
    let mut cut = 0;
    for (key, expected) in expected_pictures() {
        let (set, name) = key.split_once('/').expect("a set");
        if matches!(expected, Expected::Refused { .. })
            || REFUSED.iter().any(|(name, _)| *name == key)
        {
            continue;
        }
        let bytes = fs::read(data(&key)).expect("a picture");
        for (part, length) in [("half", bytes.len() / 2), ("most", bytes.len() * 9 / 10)] {
            // The extension stays, as some formats are known by it.
            let name = folder_.path().join(format!("{part}_{set}_{name}"));
            fs::write(name, &bytes[..length]).expect("a file");
            cut += 1;
        }
    }
    let played = play(&mut *folder(folder_.path(), ""));
    let shown: Vec<&str> = played.frames.keys().map(String::as_str).collect();
    // The first frame or page of these is whole, or the pixels are and what is cut stands behind.
    let whole = [
        "half_edge_animated.gif",
        "half_edge_multipage.tif",
        "most_edge_animated.gif",
        "most_edge_multipage.tif",
        "most_pictures_exif6_late.png",
    ];
    assert_eq!(shown, whole);
    assert_eq!(played.skipped.len(), cut - whole.len());
}

#[test]
fn gigantic_pictures_are_refused_with_their_size_and_the_limit() {
    // Case C28, and the same of edge/.
    for (file, size, needed) in [
        ("cases/huge1bit.png", "20000x20000", "400,000,000"),
        ("cases/forged.png", "60000x60000", "10,800,000,000"),
        (
            "edge/bomb_header_60000x60000.png",
            "60000x60000",
            "10,800,000,000",
        ),
        (
            "edge/bomb_real_30000x30000_1bit.png",
            "30000x30000",
            "900,000,000",
        ),
        (
            "edge/bomb_header_65500x65500.jpg",
            "65500x65500",
            "12,870,750,000",
        ),
    ] {
        let error = source::open(&format!("image:{}", data(file).display()))
            .err()
            .expect(file)
            .to_string();
        for words in [size, needed, "268,435,456", "max_bytes"] {
            assert!(error.contains(words), "{file}: {error}");
        }
    }
    let played = play(&mut *folder(&data("cases"), ""));
    for name in ["huge1bit.png", "forged.png"] {
        assert!(played.skipped[name].contains("268,435,456"), "{name}");
    }
    let address = format!(
        "image:{}?max_bytes=500000000",
        data("cases/huge1bit.png").display()
    );
    let source = source::open(&address).expect("a picture under the raised limit");
    assert_eq!(source.info().largest.pixel_bytes(), 400_000_000);
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
        let path = folder_
            .path()
            .join(frame.position.path_buf().expect("a path"));
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
