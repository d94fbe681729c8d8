use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::base::{MOST_TEXT_BYTES, read_regular};
use crate::protocol::PreprocessSpec;

/// `MODEL.ringside.toml` beside a model: what its file does not say of itself.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Sidecar {
    /// `classify` or `raw`.
    pub task: Option<String>,
    /// Name of a decoder.
    pub layout: Option<String>,
    /// A file with one label a line, relative to the sidecar.
    pub labels: Option<PathBuf>,
    /// See [`PreprocessSpec`].
    pub preprocess: PreprocessSpec,
}

/// A sidecar that is there and cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", crate::base::escape_path(path))]
pub struct SidecarError {
    /// The sidecar.
    pub path: PathBuf,
    /// What is wrong, with its line.
    pub reason: String,
}

impl Sidecar {
    /// Where the sidecar of the model at `model` is: `models/a.ringside.toml` for `models/a.onnx`.
    pub(super) fn path_of(model: &Path) -> PathBuf {
        model.with_extension("ringside.toml")
    }

    /// The sidecar of the model at `model`, if there is one.
    ///
    /// # Errors
    /// It cannot be read, is no TOML, or has a key that is not known.
    pub(super) fn read(model: &Path) -> Result<Option<Self>, SidecarError> {
        let path = Self::path_of(model);
        let fail = |reason: String| SidecarError {
            path: path.clone(),
            reason,
        };
        let text = match read_regular(&path, MOST_TEXT_BYTES) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|error| fail(error.to_string()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error.to_string())),
        };
        let mut unknown = Vec::new();
        let document = toml::Deserializer::parse(&text).map_err(|error| fail(error.to_string()))?;
        let sidecar: Self =
            serde_ignored::deserialize(document, |key| unknown.push(key.to_string()))
                .map_err(|error| fail(error.to_string()))?;
        if !unknown.is_empty() {
            return Err(fail(format!("unknown key `{}`", unknown.join("`, `"))));
        }
        let labels = sidecar
            .labels
            .map(|labels| path.parent().unwrap_or(Path::new("")).join(labels));
        Ok(Some(Self { labels, ..sidecar }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_sidecar_is_read_and_its_labels_are_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let model = folder.path().join("a.b.onnx");
        assert_eq!(Sidecar::read(&model).expect("none"), None);
        let text = "task = \"classify\"\nlabels = \"l.txt\"\n[preprocess]\nresize = \"stretch\"\nmean = [1, 2, 3]\n";
        fs::write(folder.path().join("a.b.ringside.toml"), text).expect("a file");
        let sidecar = Sidecar::read(&model).expect("a sidecar").expect("it");
        assert_eq!(sidecar.task.as_deref(), Some("classify"));
        assert_eq!(sidecar.labels, Some(folder.path().join("l.txt")));
        assert_eq!(sidecar.preprocess.mean, Some([1.0, 2.0, 3.0]));
    }

    #[test]
    fn what_is_wrong_with_a_sidecar_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let model = folder.path().join("a.onnx");
        for (text, words) in [
            ("task = 3", "invalid type"),
            ("tsak = \"raw\"", "unknown key `tsak`"),
            ("[preprocess]\nmeen = 1", "unknown key `preprocess.meen`"),
            ("[", "line 1"),
        ] {
            fs::write(Sidecar::path_of(&model), text).expect("a file");
            let error = Sidecar::read(&model).expect_err(text).to_string();
            assert!(error.contains("a.ringside.toml"), "{error}");
            assert!(error.contains(words), "{error}");
        }
    }
}
