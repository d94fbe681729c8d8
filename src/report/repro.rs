use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use image::{DynamicImage, ImageBuffer, ImageError, ImageFormat};

use crate::frame::{Frame, FrameError, PixelOrder, SampleType, rgb8_into};
use crate::protocol::{ModelCard, PredictionEvent};
use crate::session::{REPRO_FRAME, ReproCapture, SpecError};

/// Name of the session file in a `repro/` folder.
const SESSION: &str = "session.toml";

/// Name of the answer.
const ANSWER: &str = "answer.json";

/// Name of the text for whoever made the model.
const README: &str = "README.txt";

/// Why a `repro/` folder was not written.
#[derive(Debug, thiserror::Error)]
pub enum ReproError {
    /// The folder or a file in it cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// What was written.
        path: PathBuf,
        /// Why it failed.
        cause: io::Error,
    },
    /// The frame cannot be saved as PNG.
    #[error("cannot save the frame: {0}")]
    Picture(#[from] ImageError),
    /// The frame's description does not fit its pixels.
    #[error("cannot save the frame: {0}")]
    Frame(#[from] FrameError),
    /// The session has no text form.
    #[error(transparent)]
    Session(#[from] SpecError),
}

impl From<ReproError> for io::Error {
    fn from(error: ReproError) -> Self {
        match error {
            ReproError::Write { path, cause } => {
                Self::new(cause.kind(), format!("{}: {cause}", path.display()))
            }
            other => Self::other(other),
        }
    }
}

/// Writes a folder `MODEL-SEQ` into `folder`: the frame without loss, a session that repeats the
/// prediction, the answer, and a text with the model's SHA-256 and a ready command. Returns its
/// path.
///
/// # Errors
/// See [`ReproError`].
pub fn write_repro(capture: &ReproCapture, folder: &Path) -> Result<PathBuf, ReproError> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    // A name is any text; a folder's must not lead elsewhere.
    let name = capture.model.name.replace(['/', '\\'], "_");
    let folder = folder.join(format!("{name}-{:06}", capture.seq));
    fs::create_dir_all(&folder).map_err(|cause| ReproError::Write {
        path: folder.clone(),
        cause,
    })?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|cause| ReproError::Write { path, cause })
    };
    picture(&capture.frame)?.save_with_format(folder.join(REPRO_FRAME), ImageFormat::Png)?;
    write(SESSION, &capture.session_toml(&folder)?)?;
    if let Some(prediction) = &capture.prediction {
        write(ANSWER, &answer(prediction))?;
    }
    write(README, &readme(capture))?;
    Ok(folder)
}

fn answer(prediction: &PredictionEvent) -> String {
    serde_json::to_string_pretty(prediction).expect("answers have string keys only") + "\n"
}

fn readme(capture: &ReproCapture) -> String {
    let model = &capture.model;
    let what = match (&capture.death, &capture.prediction) {
        (Some(death), _) => format!("The process ended by {death} while it had this frame."),
        (None, Some(_)) => format!("What the model said is in {ANSWER}."),
        (None, None) => "There is no answer to this frame.".to_owned(),
    };
    let known = capture.card.as_ref().map(card_text).unwrap_or_default();
    format!(
        "Frame {} of model `{}` ({}).\n{what}\n{known}\nRepeat it from this folder:\n\n    \
         ringside run {SESSION} --json\n\n\
         ({SESSION} names the frame and the model by absolute paths: change them after moving.)\n",
        capture.seq,
        model.name,
        model.path.display(),
    )
}

fn card_text(card: &ModelCard) -> String {
    format!(
        "Model SHA-256: {}\nONNX Runtime: {}\nProvider: {} (asked for {})\n",
        card.sha256, card.onnxruntime, card.provider.provider, card.provider.asked
    )
}

/// The frame's samples as they are, where PNG can hold them, else as 8-bit RGB.
fn picture(frame: &Frame) -> Result<DynamicImage, ReproError> {
    frame.check()?;
    let description = &frame.description;
    let (width, height) = (description.width, description.height);
    let missing = || FrameError::Short {
        needed: description.pixel_bytes(),
        actual: frame.pixels.len(),
    };
    let picture = match (description.sample, description.order) {
        (SampleType::U8, PixelOrder::Gray) => {
            ImageBuffer::from_raw(width, height, packed(frame)).map(DynamicImage::ImageLuma8)
        }
        (SampleType::U8, PixelOrder::Rgba) => {
            ImageBuffer::from_raw(width, height, packed(frame)).map(DynamicImage::ImageRgba8)
        }
        (SampleType::U16, PixelOrder::Gray) => {
            ImageBuffer::from_raw(width, height, packed_u16(frame)).map(DynamicImage::ImageLuma16)
        }
        (SampleType::U16, PixelOrder::Rgb) => {
            ImageBuffer::from_raw(width, height, packed_u16(frame)).map(DynamicImage::ImageRgb16)
        }
        (SampleType::U16, PixelOrder::Rgba) => {
            ImageBuffer::from_raw(width, height, packed_u16(frame)).map(DynamicImage::ImageRgba16)
        }
        _ => {
            let mut rgb = Vec::new();
            rgb8_into(frame, &mut rgb)?;
            ImageBuffer::from_raw(width, height, rgb).map(DynamicImage::ImageRgb8)
        }
    };
    Ok(picture.ok_or_else(missing)?)
}

/// The rows without the padding between them.
fn packed(frame: &Frame) -> Vec<u8> {
    let row_bytes = frame.description.row_bytes();
    frame
        .pixels
        .chunks_exact(frame.description.stride_bytes as usize)
        .take(frame.description.height as usize)
        .flat_map(|row| &row[..row_bytes])
        .copied()
        .collect()
}

fn packed_u16(frame: &Frame) -> Vec<u16> {
    let bytes = packed(frame);
    let (samples, _) = bytes.as_chunks::<2>();
    samples
        .iter()
        .map(|&sample| u16::from_ne_bytes(sample))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FrameDescription, FramePosition};
    use crate::protocol::{Filter, ModelSpec, Resize};
    use crate::session::SessionSpec;

    fn capture(sample: SampleType, order: PixelOrder, pixels: Vec<u8>) -> ReproCapture {
        let mut description = FrameDescription::packed(2, 1, sample, order).expect("two pixels");
        description.stride_bytes += 4;
        ReproCapture {
            seq: 12,
            frame: Frame {
                description,
                position: FramePosition::default(),
                pixels: [pixels, vec![9; 4]].concat(),
            },
            model: ModelSpec {
                name: "a/b".to_owned(),
                path: "/models/m.onnx".into(),
                ..ModelSpec::default()
            },
            card: None,
            prediction: None,
            death: Some("signal 11 (SIGSEGV)".to_owned()),
        }
    }

    #[test]
    fn the_saved_frame_has_the_very_samples() {
        let samples = [1u16, 60_000];
        for (sample, order, pixels, expected) in [
            (SampleType::U8, PixelOrder::Gray, vec![3, 4], "L8 [3, 4]"),
            (
                SampleType::U8,
                PixelOrder::Rgb,
                vec![1, 2, 3, 4, 5, 6],
                "Rgb8 [1, 2, 3, 4, 5, 6]",
            ),
            (
                SampleType::U8,
                PixelOrder::Bgr,
                vec![3, 2, 1, 6, 5, 4],
                "Rgb8 [1, 2, 3, 4, 5, 6]",
            ),
            (
                SampleType::U16,
                PixelOrder::Gray,
                samples.map(u16::to_ne_bytes).concat(),
                "L16 [1, 0, 96, 234]",
            ),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let made =
                write_repro(&capture(sample, order, pixels), folder.path()).expect("a repro");
            assert_eq!(made, folder.path().join("a_b-000012"));
            let picture = image::open(made.join(REPRO_FRAME)).expect("a PNG");
            assert_eq!(
                format!("{:?} {:?}", picture.color(), picture.as_bytes()),
                expected
            );
        }
    }

    #[test]
    fn the_session_repeats_the_model_on_the_frame() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut capture = capture(SampleType::U8, PixelOrder::Gray, vec![0, 0]);
        capture.model.preprocess.resize = Some(Resize::Stretch);
        capture.model.preprocess.filter = Some(Filter::Nearest);
        let made = write_repro(&capture, folder.path()).expect("a repro");
        let spec = SessionSpec::load(&made.join(SESSION)).expect("a session file");
        assert_eq!(
            spec.source,
            format!("image:{}", made.join(REPRO_FRAME).display())
        );
        assert_eq!(spec.models, [capture.model]);
        let text = fs::read_to_string(made.join(README)).expect("a text");
        assert!(
            text.contains("ringside run session.toml") && text.contains("signal 11"),
            "{text}"
        );
    }
}
