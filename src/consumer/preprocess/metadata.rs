use std::collections::BTreeMap;

use crate::protocol::{Filter, PreprocessSpec, Resize};

use super::preset::TO_UNIT;

/// What a model's metadata says about its preprocessing.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Described {
    /// The keys that it sets.
    pub(super) spec: PreprocessSpec,
    /// `crop_padding N`: the centre crop is `size / (size + N)` of the shorter side.
    pub(super) crop_padding: Option<f64>,
}

/// Whether the metadata is an Ultralytics export's, or of a project that writes the same.
pub(super) fn is_yolo(metadata: &BTreeMap<String, String>) -> bool {
    metadata.contains_key("stride") && metadata.contains_key("names")
}

/// Reads `imgsz`, `resize`, `color`, `mean` and `std`. A value that makes no sense is left out,
/// with a warning.
pub(super) fn describe(metadata: &BTreeMap<String, String>) -> Described {
    let mut described = Described::default();
    let spec = &mut described.spec;
    spec.size = read(metadata, "imgsz", size);
    spec.order = read(metadata, "color", |color| {
        let color = color.to_ascii_lowercase();
        matches!(color.as_str(), "rgb" | "bgr").then_some(color)
    });
    let mean = read(metadata, "mean", per_channel);
    let std = read(metadata, "std", |text| {
        per_channel(text).filter(|std| std.iter().all(|std| *std > 0.0))
    });
    if mean.is_some() || std.is_some() {
        let std = std.unwrap_or([1.0; 3]);
        // A spread below one level means that both are written in units of 0..=1.
        let in_levels = std.iter().all(|std| *std >= 1.0);
        spec.scale = Some(if in_levels { 1.0 } else { TO_UNIT });
        spec.mean = Some(mean.unwrap_or([0.0; 3]));
        spec.std = Some(std);
    }
    if let Some((resize, filter, crop_padding)) = read(metadata, "resize", resize) {
        spec.resize = Some(resize);
        spec.filter = filter;
        described.crop_padding = crop_padding;
        if resize == Resize::Letterbox && !is_yolo(metadata) {
            // Grey padding is YOLO's; MediaPipe's and TensorFlow's models are padded with black.
            spec.pad = Some(0);
        }
    }
    described
}

fn read<T>(
    metadata: &BTreeMap<String, String>,
    key: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let text = metadata.get(key)?.trim();
    let value = parse(text);
    if value.is_none() {
        tracing::warn!("the model's metadata has `{key}` = `{text}`, which is not understood");
    }
    value
}

/// Height and width: `[480, 640]`, `(480, 640)`, `640`.
fn size(text: &str) -> Option<[u32; 2]> {
    let side = |side: f64| {
        let whole = side.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&side);
        whole.then_some(side as u32)
    };
    match *numbers(text)?.as_slice() {
        [both] => Some([side(both)?; 2]),
        [height, width] => Some([side(height)?, side(width)?]),
        _ => None,
    }
}

/// One number per channel, or one for all.
fn per_channel(text: &str) -> Option<[f64; 3]> {
    match *numbers(text)?.as_slice() {
        [all] => Some([all; 3]),
        [first, second, third] => Some([first, second, third]),
        _ => None,
    }
}

/// A list of finite numbers, as Python or JSON writes it.
fn numbers(text: &str) -> Option<Vec<f64>> {
    text.trim_matches(|c: char| "[]()".contains(c) || c.is_whitespace())
        .split(',')
        .map(|number| number.trim().parse().ok().filter(|n: &f64| n.is_finite()))
        .collect()
}

/// The resize, the filter and the crop padding of a text such as `crop_padding 32 (…), bicubic`.
fn resize(text: &str) -> Option<(Resize, Option<Filter>, Option<f64>)> {
    let text = text.to_ascii_lowercase();
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
    let (resize, crop_padding) = match words.next()? {
        "stretch" => (Resize::Stretch, None),
        "letterbox" => (Resize::Letterbox, None),
        "letterbox-topleft" => (Resize::LetterboxTopleft, None),
        "shortest-crop" => (Resize::ShortestCrop, None),
        "crop_padding" => {
            let padding = words.next()?.parse().ok()?;
            (
                Resize::ShortestCrop,
                Some(padding).filter(|padding| *padding >= 0.0),
            )
        }
        _ => return None,
    };
    let letterbox = matches!(resize, Resize::Letterbox | Resize::LetterboxTopleft);
    let filter = words.find_map(|word| match word {
        "pil-bilinear" => Some(Filter::PilBilinear),
        "pil-bicubic" | "bicubic" => Some(Filter::PilBicubic),
        "cv-linear" => Some(Filter::CvLinear),
        "nearest" => Some(Filter::Nearest),
        "bilinear" if !letterbox => Some(Filter::PilBilinear),
        _ => None,
    });
    // Letterboxes come from pipelines built on OpenCV.
    let filter = filter.or(letterbox.then_some(Filter::CvLinear));
    Some((resize, filter, crop_padding))
}
