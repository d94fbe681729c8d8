use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::python_literal::Literal;
use crate::base::{MOST_TEXT_BYTES, read_regular};

/// Names of a model's classes, by index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Labels {
    names: Arc<[String]>,
    /// Where they come from, in words: `metadata`, a file, or `none`.
    pub origin: String,
}

/// Labels that were named and cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("labels {}: {reason}", crate::base::escape_path(path))]
pub struct LabelsError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub reason: String,
}

/// Highest class index that labels may name.
const MAX_CLASSES: usize = 1 << 20;
/// Metadata keys that hold class names; `kpt_names` and the like are others.
const METADATA_KEYS: [&str; 3] = ["names", "id2label", "classes"];

impl Labels {
    /// The labels of the model at `model`: the file `named` by the user, else its metadata, else the
    /// file that its sidecar names, else a file beside it, else none.
    ///
    /// # Errors
    /// A file that somebody named cannot be read.
    pub(super) fn find(
        model: &Path,
        named: Option<&Path>,
        metadata: &BTreeMap<String, String>,
        sidecar: Option<&Path>,
    ) -> Result<Self, LabelsError> {
        if let Some(path) = named {
            return Self::read(path);
        }
        if let Some(labels) = Self::from_metadata(metadata) {
            return Ok(labels);
        }
        if let Some(path) = sidecar {
            return Self::read(path);
        }
        let beside = Self::beside(model).into_iter().find(|path| path.is_file());
        beside.map_or_else(|| Ok(Self::none()), |path| Self::read(&path))
    }

    fn none() -> Self {
        Self {
            names: Arc::default(),
            origin: "none".to_owned(),
        }
    }

    /// Files that hold the labels of a model by their name, most particular first.
    fn beside(model: &Path) -> [PathBuf; 5] {
        let folder = model.parent().unwrap_or(Path::new(""));
        [
            model.with_extension("labels"),
            model.with_extension("labels.txt"),
            model.with_extension("names"),
            folder.join("labels.txt"),
            folder.join("classes.txt"),
        ]
    }

    /// One label a line; a JSON list or dictionary where the text is one.
    fn read(path: &Path) -> Result<Self, LabelsError> {
        let fail = |reason: String| LabelsError {
            path: path.to_owned(),
            reason,
        };
        let bytes = read_regular(path, MOST_TEXT_BYTES).map_err(|error| fail(error.to_string()))?;
        // Text of whatever encoding has no such bytes.
        let is_odd = |&byte: &u8| byte < b' ' && !byte.is_ascii_whitespace() && byte != 0x0b;
        if let Some(at) = bytes.iter().position(is_odd) {
            let what = match bytes.as_slice() {
                [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "text in UTF-16; save it as UTF-8",
                _ => "not a text file",
            };
            return Err(fail(format!("{what} (byte {:#04x} at {at})", bytes[at])));
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\u{feff}');
        let names = parse(text).unwrap_or_else(|| {
            let names = text.trim_end().lines().map(|line| line.trim().to_owned());
            names.collect()
        });
        if names.iter().all(String::is_empty) {
            return Err(fail("there is no label in it".to_owned()));
        }
        Ok(Self {
            names: names.into(),
            origin: crate::base::escape_path(path),
        })
    }

    fn from_metadata(metadata: &BTreeMap<String, String>) -> Option<Self> {
        let texts = METADATA_KEYS.iter().filter_map(|&key| metadata.get(key));
        let names = texts
            .filter_map(|text| parse(text))
            .find(|names| !names.is_empty())
            .or_else(|| {
                // OpenVINO model_api: separated by blanks, blanks in names written as `_`.
                let text = metadata.get("model_info labels")?;
                Some(text.split_whitespace().map(str::to_owned).collect())
            })?;
        Some(Self {
            names: names.into(),
            origin: "metadata".to_owned(),
        })
    }

    /// Number of labels.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The name of class `index`, or `class 7` where it has none.
    pub(super) fn name(&self, index: usize) -> String {
        match self.names.get(index) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("class {index}"),
        }
    }
}

/// Names out of a JSON or Python list or dictionary; `None` if `text` is neither.
fn parse(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if !text.starts_with(['{', '[', '(']) {
        return None;
    }
    // JSON of names is a Python literal too, its escapes included.
    match Literal::parse(text).ok()? {
        Literal::List(items) => items.into_iter().map(name).collect(),
        Literal::Dict(entries) => {
            let mut names = Vec::new();
            for (key, value) in entries {
                let index = match key {
                    Literal::Int(index) => usize::try_from(index).ok()?,
                    Literal::Text(index) => index.trim().parse().ok()?,
                    _ => return None,
                };
                if index >= MAX_CLASSES {
                    return None;
                }
                if names.len() <= index {
                    names.resize(index + 1, String::new());
                }
                names[index] = name(value)?;
            }
            Some(names)
        }
        _ => None,
    }
}

fn name(literal: Literal) -> Option<String> {
    match literal {
        Literal::Text(text) => Some(text),
        Literal::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn from_metadata(key: &str, text: &str) -> Labels {
        let metadata = BTreeMap::from([(key.to_owned(), text.to_owned())]);
        Labels::find(Path::new("/nowhere/a.onnx"), None, &metadata, None).expect("no file named")
    }

    // The names of tests/data/synthetic/odd_names.onnx, from expected.json.
    #[test]
    fn odd_names_of_a_model_are_whole() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/synthetic");
        let file =
            crate::consumer::model_file::ModelFile::open(&data.join("odd_names.onnx")).expect("it");
        let labels = from_metadata("names", &file.metadata["names"]);
        let expected: serde_json::Value =
            serde_json::from_slice(&fs::read(data.join("expected.json")).expect("a file"))
                .expect("JSON");
        let expected = expected["odd_names"]["names"].as_array().expect("a list");
        assert_eq!(labels.len(), expected.len());
        for (index, name) in expected.iter().enumerate() {
            assert_eq!(Some(labels.name(index).as_str()), name.as_str());
        }
        assert_eq!(labels.origin, "metadata");
    }

    #[test]
    fn dictionaries_and_lists_of_names_are_read() {
        for (key, text) in [
            ("names", "{0: 'a', 2: 'c'}"),
            ("names", r#"{"2": "c", "0": "a"}"#),
            ("id2label", r#"{"0": "a", "2": "c"}"#),
            ("names", r#"["a", "", "c"]"#),
            ("names", "('a', '', 'c')"),
        ] {
            let labels = from_metadata(key, text);
            let names: Vec<String> = (0..4).map(|index| labels.name(index)).collect();
            assert_eq!(names, ["a", "class 1", "c", "class 3"], "{text}");
        }
        assert_eq!(from_metadata("kpt_names", "{0: 'nose'}").origin, "none");
        assert_eq!(from_metadata("names", "{9999999999: 'x'}").origin, "none");
        assert_eq!(from_metadata("names", "person, car").origin, "none");
        assert_eq!(from_metadata("model_info labels", "a b").name(1), "b");
    }

    #[test]
    fn files_are_used_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let model = folder.path().join("m.onnx");
        let find = |named: Option<&Path>, sidecar: Option<&Path>| {
            Labels::find(&model, named, &BTreeMap::new(), sidecar)
        };
        assert_eq!(find(None, None).expect("none").name(0), "class 0");
        let mut expected = Vec::new();
        for name in ["classes.txt", "labels.txt", "m.labels"] {
            let path = folder.path().join(name);
            fs::write(&path, format!("\u{feff}{name}\r\n\r\nlast\r\n\r\n")).expect("a file");
            let labels = find(None, None).expect("labels");
            assert_eq!(labels.name(0), name);
            assert_eq!((labels.len(), labels.name(1)), (3, "class 1".to_owned()));
            expected.push(path);
        }
        let sidecar = find(None, Some(&expected[0])).expect("labels");
        assert_eq!(sidecar.name(0), "classes.txt");
        let named = find(Some(&expected[1]), Some(&expected[0])).expect("labels");
        assert_eq!(named.name(0), "labels.txt");
        for (content, words) in [
            (
                &b"\x89PNG\r\n\x1a\n\0\0"[..],
                "not a text file (byte 0x1a at 6)",
            ),
            (b"\xff\xfec\0a\0t\0", "UTF-16"),
        ] {
            let binary = folder.path().join("binary.txt");
            fs::write(&binary, content).expect("a file");
            let error = find(Some(&binary), None).expect_err("binary").to_string();
            assert!(
                error.contains("binary.txt") && error.contains(words),
                "{error}"
            );
        }
        let latin = folder.path().join("latin.txt");
        fs::write(&latin, b"caf\xe9\tbar\n").expect("a file");
        assert_eq!(find(Some(&latin), None).expect("labels").len(), 1);
        let missing = folder.path().join("missing.txt");
        let error = find(Some(&missing), None).expect_err("missing").to_string();
        assert!(error.contains("missing.txt"), "{error}");
    }
}
