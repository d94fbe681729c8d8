//! Pictures as Pillow and OpenCV see them, and files that are none.

mod folders;
mod pictures;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use ringside::base::{escape_path, unescape_path};
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
