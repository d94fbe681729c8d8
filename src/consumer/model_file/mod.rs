//! A look at a model's file before ONNX Runtime is asked to load it, and plain words for what it
//! says when it cannot.
//!
//! ONNX Runtime says "Protobuf parsing failed" of a text, an HTML page, a Git LFS pointer and a
//! download that was cut off alike. The file is read here with `prost`: a maintained decoder that
//! skips the fields that are not asked for, weights among them, and refuses what is cut off.

mod error;
mod explain;
mod external;
mod last_operator;
mod proto;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use prost::Message;
use sha2::{Digest, Sha256};

pub use self::error::{Cause, ModelError};
pub use self::last_operator::{LastOperator, Makes};
use self::proto::{DimensionProto, GraphProto, ModelProto, ValueInfoProto};
use crate::base::hexadecimal;
use crate::protocol::TensorInfo;

/// A model's file, read whole.
#[derive(Debug)]
pub struct ModelFile {
    content: Vec<u8>,
    has_weights_elsewhere: bool,
    /// `metadata_props`, and `producer`, `domain`, `description` where the file gives them.
    pub metadata: BTreeMap<String, String>,
    /// Inputs, in order; tensors that the file holds itself are none.
    pub inputs: Vec<DeclaredTensor>,
    /// Outputs, in order.
    pub outputs: Vec<DeclaredTensor>,
    /// What makes the numbers of the first output.
    pub last_operator: LastOperator,
}

/// An input or output as the file declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredTensor {
    /// Its name.
    pub name: String,
    /// Number of its element type in the ONNX format (`TensorProto.DataType`); 0 for what is no
    /// tensor.
    pub element: i32,
    /// Its dimensions, −1 where open; `None` where even their number is.
    pub shape: Option<Vec<i64>>,
}

impl DeclaredTensor {
    fn new(value: &ValueInfoProto) -> Self {
        let r#type = value.r#type.as_ref();
        let tensor = r#type.and_then(|r#type| r#type.tensor_type.as_ref());
        let shape = tensor.and_then(|tensor| tensor.shape.as_ref());
        let side = |dimension: &DimensionProto| dimension.dim_value.unwrap_or(-1);
        Self {
            name: value.name.clone(),
            element: tensor.map_or(0, |tensor| tensor.elem_type),
            shape: shape.map(|shape| shape.dim.iter().map(side).collect()),
        }
    }

    /// Name, type and shape in words; open dimensions are `?`.
    pub fn info(&self) -> TensorInfo {
        let dtype = match self.element {
            1 => "f32",
            2 => "u8",
            3 => "i8",
            6 => "i32",
            7 => "i64",
            8 => "text",
            9 => "bool",
            10 => "f16",
            11 => "f64",
            _ => "other",
        };
        let side = |&side: &i64| match side {
            ..0 => "?".to_owned(),
            side => side.to_string(),
        };
        TensorInfo {
            name: self.name.clone(),
            dtype: dtype.to_owned(),
            shape: self.shape.iter().flatten().map(side).collect(),
        }
    }
}

impl ModelFile {
    /// Reads the file at `path` and checks that it is an ONNX model whose weights are all there.
    ///
    /// # Errors
    /// See [`Cause`]; what only ONNX Runtime can tell is told when it loads the model.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let fail = |cause| ModelError::new(path, cause);
        let unreadable = |error: std::io::Error| fail(Cause::Unreadable(error.to_string()));
        if !fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(fail(Cause::NotAFile));
        }
        let content = fs::read(path).map_err(unreadable)?;
        if let Some(cause) = not_a_model(&content) {
            return Err(fail(cause));
        }
        let model = ModelProto::decode(content.as_slice())
            .map_err(|error| fail(Cause::NotOnnx(error.to_string())))?;
        let Some(graph) = &model.graph else {
            return Err(fail(Cause::NotOnnx("it holds no graph".to_owned())));
        };
        let has_weights_elsewhere = external::check(path, &model)?;
        Ok(Self {
            metadata: metadata(&model),
            inputs: inputs(graph),
            outputs: graph.output.iter().map(DeclaredTensor::new).collect(),
            last_operator: LastOperator::of_first_output(graph),
            has_weights_elsewhere,
            content,
        })
    }

    /// All of the model, where it keeps no weights in other files.
    pub fn whole(&self) -> Option<&[u8]> {
        (!self.has_weights_elsewhere).then_some(self.content.as_slice())
    }

    /// Size of the file.
    pub fn bytes(&self) -> u64 {
        self.content.len() as u64
    }

    /// SHA-256 of the file, hexadecimal.
    pub fn sha256(&self) -> String {
        hexadecimal(&Sha256::digest(&self.content))
    }
}

/// What a file is that is certainly no model.
fn not_a_model(content: &[u8]) -> Option<Cause> {
    if content.is_empty() {
        return Some(Cause::Empty);
    }
    if content.starts_with(b"version https://git-lfs.github.com/") {
        return Some(Cause::LfsPointer);
    }
    let start = content[..content.len().min(1024)].trim_ascii_start();
    let begins = |tag: &[u8]| {
        start
            .get(..tag.len())
            .is_some_and(|text| text.eq_ignore_ascii_case(tag))
    };
    if begins(b"<!doctype") || begins(b"<html") || begins(b"<?xml") {
        return Some(Cause::Html);
    }
    // An ONNX file begins with the byte 8, the key of its version.
    let printable = |&byte: &u8| byte >= b' ' || byte.is_ascii_whitespace();
    start.iter().all(printable).then_some(Cause::Text)
}

fn inputs(graph: &GraphProto) -> Vec<DeclaredTensor> {
    // Before IR version 4 every weight was an input, too.
    let held: HashSet<&str> = graph.held().collect();
    let inputs = graph.input.iter();
    inputs
        .filter(|input| !held.contains(input.name.as_str()))
        .map(DeclaredTensor::new)
        .collect()
}

fn metadata(model: &ModelProto) -> BTreeMap<String, String> {
    let producer = format!("{} {}", model.producer_name, model.producer_version);
    let of_the_file = [
        ("producer", producer.trim()),
        ("domain", &model.domain),
        ("description", &model.doc_string),
    ];
    let mut metadata: BTreeMap<String, String> = of_the_file
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let properties = model.metadata_props.iter();
    metadata.extend(properties.map(|entry| (entry.key.clone(), entry.value.clone())));
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(name: &str) -> Result<ModelFile, Cause> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data")
            .join(name);
        ModelFile::open(&path).map_err(|error| error.cause)
    }

    #[test]
    fn what_is_no_model_is_told_apart() {
        for (name, code, words) in [
            ("synthetic/broken_empty.onnx", "model_not_onnx", "empty"),
            ("cases/empty.onnx", "model_not_onnx", "empty"),
            ("synthetic/broken_text.onnx", "model_not_onnx", "text file"),
            ("synthetic/broken_html.onnx", "model_not_onnx", "HTML"),
            (
                "synthetic/broken_lfs_pointer.onnx",
                "model_not_onnx",
                "Git LFS",
            ),
            ("cases/lfs.onnx", "model_not_onnx", "Git LFS"),
            (
                "synthetic/broken_truncated.onnx",
                "model_not_onnx",
                "cut off",
            ),
            ("cases/grey200.png", "model_not_onnx", "not an ONNX file"),
            ("synthetic/nowhere.onnx", "model_missing", "No such file"),
            ("synthetic", "model_missing", "no file"),
            (
                "synthetic/broken_external_missing.onnx",
                "model_weights",
                "missing_weights.bin",
            ),
            (
                "synthetic/broken_external_escape.onnx",
                "model_weights",
                "`../../../../etc/hostname`, outside",
            ),
        ] {
            let cause = open(name).expect_err(name);
            assert_eq!(cause.code(), code, "{name}");
            assert!(cause.to_string().contains(words), "{name}: {cause}");
        }
    }

    #[test]
    fn short_weights_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/synthetic");
        let model = folder.path().join("external_ok.onnx");
        fs::copy(data.join("external_ok.onnx"), &model).expect("a copy");
        let weights = fs::read(data.join("external_ok.bin")).expect("weights");
        let short = folder.path().join("external_ok.bin");
        fs::write(&short, &weights[..weights.len() - 1]).expect("a file");
        let cause = ModelFile::open(&model).expect_err("too short").cause;
        assert!(
            matches!(&cause, Cause::ExternalShort { path, .. } if *path == short),
            "{cause}"
        );
        fs::write(&short, &weights).expect("a file");
        assert!(ModelFile::open(&model).is_ok());
    }

    #[test]
    fn metadata_and_digest_are_read() {
        let file = open("synthetic/gray1.onnx").expect("a model");
        assert_eq!(file.metadata["task"], "classify");
        assert_eq!(file.metadata["names"], "{0: 'dark', 1: 'bright'}");
        assert_eq!(file.bytes(), 425);
        // sha256sum tests/data/cases/mean.onnx
        let digest = open("cases/mean.onnx").expect("a model").sha256();
        assert_eq!(
            digest,
            "de93fae89a3b6e37f4e5f731e40cc9fe319855b5cc043116dc7b5e5ddac8054f"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(content: Vec<u8>) {
            drop(not_a_model(&content));
            drop(ModelProto::decode(content.as_slice()));
        }
    }
}
