use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::buffer::KeptFrame;
use crate::gui::text::Strings;
use crate::recording::{AtNanos, FrameRow, PredictionRow, Row};
use crate::session::ShownPrediction;

/// Frames to be saved, and what their rows need.
pub(in crate::gui) struct SavedFrames {
    /// In order.
    pub(in crate::gui) frames: Vec<KeptFrame>,
    /// Monotonic time of the session's start, in nanoseconds.
    pub(in crate::gui) started_nanos: u64,
    /// Whether models share devices at the same time.
    pub(in crate::gui) contended: bool,
    /// Where the folder is made.
    pub(in crate::gui) parent: PathBuf,
    /// The language in which it is said what came of it.
    pub(in crate::gui) words: &'static Strings,
}

/// What is beside the frames, in every language of the window: it is for whoever gets the folder.
const README: &str = "\
Frames that Ringside showed, and what each model said about them.

- 000012.jpg: frame 12, reduced to at most 1280 pixels on its longer side. These are not the pixels
  that the models were given: those were larger, or at least not compressed.
- rows.jsonl: one JSON object a line, as in a recording of Ringside: a `frame` row for each picture
  and a `prediction` row for each answer. Boxes are in pixels of the whole upright frame, whose
  width and height are in the row; times are relative to the session's start.
";

/// Makes a new folder with the pictures, `rows.jsonl` and a short README. Returns what is to be said
/// of it.
///
/// # Errors
/// There is nothing to save, or it cannot be written; in words for the user.
pub(in crate::gui) fn save_frames(saved: &SavedFrames) -> Result<String, String> {
    if saved.frames.is_empty() {
        return Err(saved.words.rewind.nothing_to_save.to_owned());
    }
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S");
    let folder = new_folder(saved, &format!("ringside-{now}"))?;
    write_frames(saved, &folder)?;
    Ok((saved.words.rewind.saved_frames)(
        saved.frames.len(),
        &folder.display().to_string(),
    ))
}

/// Makes a folder called `name`, or the next free name that begins so.
fn new_folder(saved: &SavedFrames, name: &str) -> Result<PathBuf, String> {
    let parent = &saved.parent;
    fs::create_dir_all(parent).map_err(|cause| cannot_write(saved, parent, &cause))?;
    let mut folder = parent.join(name);
    for number in 2.. {
        match fs::create_dir(&folder) {
            Ok(()) => break,
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                folder = parent.join(format!("{name}-{number}"));
            }
            Err(cause) => return Err(cannot_write(saved, &folder, &cause)),
        }
    }
    Ok(folder)
}

fn write_frames(saved: &SavedFrames, folder: &Path) -> Result<(), String> {
    let write = |path: PathBuf, bytes: &[u8]| {
        fs::write(&path, bytes).map_err(|cause| cannot_write(saved, &path, &cause))
    };
    let mut rows = Vec::new();
    for frame in &saved.frames {
        if let Some(jpeg) = &frame.jpeg {
            write(folder.join(format!("{:06}.jpg", frame.seq)), jpeg)?;
        }
        let answers = frame.answers.iter().map(|(model, answer)| {
            Row::Prediction(Box::new(prediction_row(model, answer, saved.contended)))
        });
        for row in std::iter::once(frame_row(frame, saved.started_nanos)).chain(answers) {
            write_row(&mut rows, &row).map_err(|cause| cause.to_string())?;
        }
    }
    write(folder.join("rows.jsonl"), &rows)?;
    write(folder.join("README.txt"), README.as_bytes())
}

fn cannot_write(saved: &SavedFrames, path: &Path, cause: &io::Error) -> String {
    (saved.words.rewind.cannot_write)(&path.display().to_string(), &cause.to_string())
}

fn write_row(rows: &mut Vec<u8>, row: &Row) -> io::Result<()> {
    serde_json::to_writer(&mut *rows, row)?;
    rows.write_all(b"\n")
}

/// The row of a shown answer, as a recording has it.
pub(in crate::gui) fn prediction_row(
    model: &str,
    answer: &ShownPrediction,
    contended: bool,
) -> PredictionRow {
    let event = &answer.event;
    PredictionRow {
        seq: event.seq,
        model: model.to_owned(),
        provider: event.provider.clone(),
        path: event.position.path.clone(),
        width: event.width,
        height: event.height,
        warmup: event.warmup,
        batch: event.batch,
        contended,
        micros: answer.micros,
        output: event.output.clone(),
    }
}

fn frame_row(frame: &KeptFrame, started_nanos: u64) -> Row {
    let position = &frame.position;
    let since = |nanos: u64| nanos as i64 - started_nanos as i64;
    // Without an answer nobody has said when it was published.
    let published = frame.answers.values().next();
    let published = published
        .map(|answer| answer.event.at_nanos.published)
        .filter(|&nanos| nanos > 0)
        .unwrap_or(position.captured_nanos);
    Row::Frame(FrameRow {
        seq: frame.seq,
        path: position.path.clone(),
        source_index: position.source_index,
        pass: position.pass,
        width: frame.frame_size[0],
        height: frame.frame_size[1],
        stored: position.stored,
        orientation: position.orientation,
        media_seconds: position.media_seconds,
        captured_from: position.captured_from,
        at_nanos: AtNanos {
            captured: since(position.captured_nanos),
            published: since(published),
        },
        xxh3: None,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::frame::FramePosition;
    use crate::gui::text::text;
    use crate::prediction::Output;
    use crate::protocol::{PredictionEvent, ReportTimes};

    pub(in crate::gui::rewind) fn answer(seq: u64) -> PredictionEvent {
        PredictionEvent {
            seq,
            width: 64,
            height: 48,
            position: FramePosition::default(),
            provider: "CPU".to_owned(),
            warmup: false,
            batch: 1,
            at_nanos: ReportTimes::default(),
            output: Output::Raw {
                tensors: Vec::new(),
            },
        }
    }

    fn frame(seq: u64) -> KeptFrame {
        let shown = ShownPrediction {
            event: answer(seq),
            received_nanos: 0,
            micros: Default::default(),
        };
        KeptFrame {
            seq,
            frame_size: [64, 48],
            position: FramePosition {
                captured_nanos: 1_000 + seq,
                ..Default::default()
            },
            jpeg: Some(vec![0xff, 0xd8, seq as u8].into()),
            answers: BTreeMap::from([("lite".to_owned(), Arc::new(shown))]),
        }
    }

    #[test]
    fn saved_frames_are_pictures_with_the_rows_of_a_recording() {
        let parent = tempfile::tempdir().expect("a folder");
        let saved = SavedFrames {
            frames: vec![frame(7), frame(9)],
            started_nanos: 1_000,
            contended: true,
            parent: parent.path().join("deep/er"),
            words: text(),
        };
        let said = save_frames(&saved).expect("saved");
        save_frames(&saved).expect("saved once more, elsewhere");
        let mut folders: Vec<PathBuf> = fs::read_dir(&saved.parent)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        folders.sort();
        assert_eq!(folders.len(), 2);
        assert!(said.contains("2 frames"), "{said}");
        let picture = fs::read(folders[0].join("000009.jpg")).expect("a picture");
        assert_eq!(picture, [0xff, 0xd8, 9]);
        assert!(folders[0].join("README.txt").exists());
        let rows = fs::read_to_string(folders[0].join("rows.jsonl")).expect("rows");
        let rows: Vec<serde_json::Value> = rows
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[0]["type"], "frame");
        assert_eq!(rows[0]["at_nanos"]["captured"], 7);
        assert_eq!(rows[3]["type"], "prediction");
        assert_eq!(rows[3]["seq"], 9);
        assert_eq!(rows[3]["model"], "lite");
        assert_eq!(rows[3]["contended"], true);
    }

    #[test]
    fn nothing_to_save_is_said_and_makes_no_folder() {
        let parent = tempfile::tempdir().expect("a folder");
        let saved = SavedFrames {
            frames: Vec::new(),
            started_nanos: 0,
            contended: false,
            parent: parent.path().to_owned(),
            words: text(),
        };
        save_frames(&saved).expect_err("nothing");
        assert_eq!(fs::read_dir(parent.path()).expect("a folder").count(), 0);
    }
}
