//! Options as text and back.

use serde::Serialize;
use serde::de::{DeserializeOwned, IntoDeserializer};

use super::draft::Key;
use crate::base::{escape_path, unescape_path};
use crate::protocol::{ModelCard, ModelSpec, Origin};

/// The values that a key can have, where they are few.
pub(super) fn choices(key: Key) -> &'static [&'static str] {
    match key {
        Key::Device => &["cpu", "cuda:0", "cuda:1", "tensorrt:0"],
        Key::Preset => &["raw", "imagenet", "yolo", "yolox"],
        Key::Resize => &["stretch", "letterbox", "letterbox-topleft", "shortest-crop"],
        Key::Filter => &["pil-bilinear", "pil-bicubic", "cv-linear", "nearest"],
        Key::Order => &["rgb", "bgr", "gray"],
        _ => &[],
    }
}

/// Whether a key is on or off.
pub(super) fn is_switch(key: Key) -> bool {
    matches!(key, Key::Strict | Key::PersistentWorkers)
}

/// The user's choice as text; empty where there is none.
pub(super) fn text(spec: &ModelSpec, key: Key) -> String {
    let default = ModelSpec::default();
    let unless = |is_default: bool, text: String| if is_default { String::new() } else { text };
    let number = |value: u32, default: u32| unless(value == default, value.to_string());
    let preprocess = &spec.preprocess;
    match key {
        Key::Device => unless(spec.device == default.device, spec.device.to_string()),
        Key::Strict => unless(!spec.strict, "true".to_owned()),
        Key::Labels => spec.labels.as_deref().map(escape_path).unwrap_or_default(),
        Key::Batch => number(spec.batch, default.batch),
        Key::Threads => number(spec.threads, default.threads),
        Key::Workers => number(spec.workers, default.workers),
        Key::PersistentWorkers => unless(!spec.persistent_workers, "true".to_owned()),
        Key::Preset => preprocess.preset.clone().unwrap_or_default(),
        Key::Resize => word(preprocess.resize.as_ref()),
        Key::Filter => word(preprocess.filter.as_ref()),
        Key::Size => preprocess.size.map(size).unwrap_or_default(),
        Key::CropPct => preprocess.crop_pct.map(decimal).unwrap_or_default(),
        Key::Order => preprocess.order.clone().unwrap_or_default(),
        Key::Scale => preprocess.scale.map(decimal).unwrap_or_default(),
        Key::Mean => preprocess.mean.map(triple).unwrap_or_default(),
        Key::Std => preprocess.std.map(triple).unwrap_or_default(),
        Key::Pad => preprocess
            .pad
            .map(|pad| pad.to_string())
            .unwrap_or_default(),
    }
}

/// Takes a text as the user's choice.
///
/// # Errors
/// What is wrong with it.
pub(super) fn set(spec: &mut ModelSpec, key: Key, text: &str) -> Result<(), String> {
    let default = ModelSpec::default();
    let given = (!text.is_empty()).then_some(text);
    let whole = |default: u32| {
        given.map_or(Ok(default), |text| {
            text.parse::<u32>()
                .ok()
                .ok_or_else(|| format!("`{text}` is not a whole number"))
        })
    };
    let preprocess = &mut spec.preprocess;
    match key {
        Key::Device => {
            spec.device = match given {
                Some(text) => text.parse().map_err(|error| format!("{error}"))?,
                None => default.device,
            };
        }
        Key::Strict => spec.strict = text == "true",
        Key::Labels => spec.labels = given.map(unescape_path),
        Key::Batch => spec.batch = whole(default.batch)?,
        Key::Threads => spec.threads = whole(default.threads)?,
        Key::Workers => spec.workers = whole(default.workers)?,
        Key::PersistentWorkers => spec.persistent_workers = text == "true",
        Key::Preset => preprocess.preset = given.map(str::to_owned),
        Key::Resize => preprocess.resize = given.map(from_word).transpose()?,
        Key::Filter => preprocess.filter = given.map(from_word).transpose()?,
        Key::Size => preprocess.size = given.map(from_size).transpose()?,
        Key::CropPct => preprocess.crop_pct = given.map(from_decimal).transpose()?,
        Key::Order => preprocess.order = given.map(str::to_owned),
        Key::Scale => preprocess.scale = given.map(from_decimal).transpose()?,
        Key::Mean => preprocess.mean = given.map(from_triple).transpose()?,
        Key::Std => preprocess.std = given.map(from_triple).transpose()?,
        Key::Pad => {
            preprocess.pad = given
                .map(|text| text.parse().ok().ok_or("use a number from 0 to 255"))
                .transpose()?;
        }
    }
    Ok(())
}

/// The value in force, and who chose it; `None` while it is not known.
pub(super) fn effective(
    spec: &ModelSpec,
    card: Option<&ModelCard>,
    key: Key,
) -> Option<(String, Origin)> {
    let own = text(spec, key);
    let by_us = |value: String| {
        let origin = if own.is_empty() {
            Origin::Default
        } else {
            Origin::You
        };
        Some((value, origin))
    };
    let whole = |value: u32| by_us(value.to_string());
    match key {
        Key::Device => by_us(spec.device.to_string()),
        Key::Strict => by_us(spec.strict.to_string()),
        Key::Batch => whole(spec.batch),
        Key::Threads => whole(card.map_or(spec.threads, |card| card.threads)),
        Key::Workers => whole(spec.workers),
        Key::PersistentWorkers => by_us(spec.persistent_workers.to_string()),
        Key::Preset => by_us(spec.preprocess.preset.clone().unwrap_or("auto".to_owned())),
        Key::Labels => {
            let labels = card?.labels.clone();
            let origin = match labels.as_str() {
                _ if !own.is_empty() => Origin::You,
                "metadata" => Origin::Metadata,
                "none" => Origin::Default,
                _ => Origin::Sidecar,
            };
            Some((labels, origin))
        }
        _ => {
            let card = card?;
            let preprocess = &card.preprocess;
            let value = match key {
                Key::Resize => word(Some(&preprocess.resize)),
                Key::Filter => word(Some(&preprocess.filter)),
                Key::Size => preprocess.size.map(size)?,
                Key::CropPct => decimal(preprocess.crop_pct),
                Key::Order => preprocess.order.clone(),
                Key::Scale => decimal(preprocess.scale),
                Key::Mean => triple(preprocess.mean),
                Key::Std => triple(preprocess.std),
                _ => preprocess.pad.to_string(),
            };
            let origin = card.preprocess_origins.get(key.name());
            Some((value, origin.copied().unwrap_or(Origin::Default)))
        }
    }
}

/// A choice as session files write it.
fn word<T: Serialize>(value: Option<&T>) -> String {
    let written = value.and_then(|value| serde_json::to_value(value).ok());
    written
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn from_word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let words: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
        text.into_deserializer();
    T::deserialize(words).map_err(|error| error.to_string())
}

/// As few digits as give the same number; shares of 255 as such.
pub(super) fn decimal(value: f64) -> String {
    let of_255 = value * 255.0;
    if value != 0.0 && (of_255 - 1.0).abs() < 1e-12 {
        return "1/255".to_owned();
    }
    value.to_string()
}

fn from_decimal(text: &str) -> Result<f64, String> {
    let not = || format!("`{text}` is not a number");
    let parse = |text: &str| text.trim().parse::<f64>().ok().ok_or_else(not);
    match text.split_once('/') {
        Some((above, below)) => Ok(parse(above)? / parse(below)?),
        None => parse(text),
    }
}

pub(super) fn triple(values: [f64; 3]) -> String {
    values.map(decimal).join(", ")
}

fn from_triple(text: &str) -> Result<[f64; 3], String> {
    let values: Vec<f64> = parts(text, &[',', ' ', ';'])
        .map(from_decimal)
        .collect::<Result<_, _>>()?;
    <[f64; 3]>::try_from(values)
        .ok()
        .ok_or_else(|| "use three numbers, for red, green and blue".to_owned())
}

pub(super) fn size([height, width]: [u32; 2]) -> String {
    format!("{height} × {width}")
}

fn from_size(text: &str) -> Result<[u32; 2], String> {
    let sides: Option<Vec<u32>> = parts(text, &['×', 'x', ',', ' '])
        .map(|side| side.parse().ok())
        .collect();
    sides
        .and_then(|sides| <[u32; 2]>::try_from(sides).ok())
        .ok_or_else(|| "use height × width, as 224 × 224".to_owned())
}

fn parts<'a>(text: &'a str, between: &'a [char]) -> impl Iterator<Item = &'a str> {
    text.split(between).filter(|part| !part.is_empty())
}
