//! Serde forms of paths: text escaped by [`escape_path`], so that a name that is not UTF-8 passes
//! through JSON and TOML.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

use crate::base::{escape_path, unescape_path};

/// A path as escaped text.
///
/// # Errors
/// The serializer's own.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&escape_path(path))
}

/// The path of an escaped text.
///
/// # Errors
/// The value is not text.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok(unescape_path(&text))
}

/// The same for a path that may be absent.
pub mod option {
    use super::{Deserialize, Deserializer, PathBuf, Serializer, escape_path, unescape_path};

    /// A path as escaped text, or nothing.
    ///
    /// # Errors
    /// The serializer's own.
    pub fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match path {
            Some(path) => serializer.serialize_some(&escape_path(path)),
            None => serializer.serialize_none(),
        }
    }

    /// The path of an escaped text, or nothing.
    ///
    /// # Errors
    /// The value is not text.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.as_deref().map(unescape_path))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;
    use crate::protocol::ModelSpec;

    #[test]
    fn a_model_whose_path_is_not_utf8_passes_through_json() {
        let spec = ModelSpec {
            path: PathBuf::from(OsString::from_vec(b"/d\xe9/m.onnx".to_vec())),
            labels: Some(PathBuf::from(OsString::from_vec(b"/\xff".to_vec()))),
            ..ModelSpec::default()
        };
        let json = serde_json::to_string(&spec).expect("paths are escaped");
        assert!(json.contains(r#""path":"/d%E9/m.onnx""#), "{json}");
        let back: ModelSpec = serde_json::from_str(&json).expect("what was written");
        assert_eq!(back, spec);
    }
}
