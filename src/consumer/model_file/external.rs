use std::path::{Component, Path, PathBuf};

use super::proto::{DATA_LOCATION_EXTERNAL, ModelProto, TensorProto};
use super::{Cause, ModelError};

/// Checks that the weights that the model keeps in other files are there, whole, and below the
/// model's folder; whether there are any.
pub(super) fn check(path: &Path, model: &ModelProto) -> Result<bool, ModelError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut result = Ok(());
    let mut any = false;
    model.for_each_tensor(&mut |tensor| {
        if result.is_ok() && tensor.data_location == DATA_LOCATION_EXTERNAL {
            any = true;
            result = check_tensor(folder, tensor);
        }
    });
    result
        .map(|()| any)
        .map_err(|cause| ModelError::new(path, cause))
}

fn check_tensor(folder: &Path, tensor: &TensorProto) -> Result<(), Cause> {
    let entry = |key: &str| {
        let mut entries = tensor.external_data.iter();
        entries
            .find(|entry| entry.key == key)
            .map(|entry| entry.value.as_str())
    };
    let location = entry("location").unwrap_or_default();
    let number = |key: &str| entry(key).and_then(|text| text.parse::<u64>().ok());
    let needed = number("offset")
        .unwrap_or(0)
        .saturating_add(number("length").unwrap_or(0));
    if leaves_folder(Path::new(location)) {
        return Err(Cause::ExternalEscapes {
            tensor: tensor.name.clone(),
            location: location.to_owned(),
        });
    }
    let path: PathBuf = folder.join(location);
    match path.metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() >= needed => Ok(()),
        Ok(metadata) if metadata.is_file() => Err(Cause::ExternalShort {
            path,
            bytes: metadata.len(),
            needed,
        }),
        Ok(_) => Err(Cause::ExternalMissing {
            path,
            reason: "it is no file".to_owned(),
        }),
        Err(error) => Err(Cause::ExternalMissing {
            path,
            reason: error.to_string(),
        }),
    }
}

/// Whether a relative path leads out of the folder that it starts from, by its own words.
fn leaves_folder(location: &Path) -> bool {
    let mut depth: i32 = 0;
    for component in location.components() {
        depth += match component {
            Component::Normal(_) => 1,
            Component::ParentDir => -1,
            Component::CurDir => 0,
            Component::RootDir | Component::Prefix(_) => return true,
        };
        if depth < 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::model_file::proto::{
        AttributeProto, FunctionProto, GraphProto, NodeProto, SparseTensorProto,
        StringStringEntryProto,
    };

    /// A tensor whose data are in a file that is not there.
    fn missing() -> TensorProto {
        TensorProto {
            name: "w".to_owned(),
            data_location: DATA_LOCATION_EXTERNAL,
            external_data: vec![StringStringEntryProto {
                key: "location".to_owned(),
                value: "nowhere.bin".to_owned(),
            }],
        }
    }

    #[test]
    fn weights_elsewhere_are_found_wherever_a_model_can_hold_a_tensor() {
        let sparse = || SparseTensorProto {
            values: Some(missing()),
            indices: None,
        };
        let node = |attribute| NodeProto {
            attribute: vec![attribute],
            ..NodeProto::default()
        };
        let constant = || {
            node(AttributeProto {
                t: Some(missing()),
                ..AttributeProto::default()
            })
        };
        let graph = |graph| ModelProto {
            graph: Some(graph),
            ..ModelProto::default()
        };
        let models = [
            graph(GraphProto {
                initializer: vec![missing()],
                ..GraphProto::default()
            }),
            graph(GraphProto {
                sparse_initializer: vec![sparse()],
                ..GraphProto::default()
            }),
            graph(GraphProto {
                sparse_initializer: vec![SparseTensorProto {
                    values: None,
                    indices: Some(missing()),
                }],
                ..GraphProto::default()
            }),
            graph(GraphProto {
                node: vec![node(AttributeProto {
                    sparse_tensor: Some(sparse()),
                    ..AttributeProto::default()
                })],
                ..GraphProto::default()
            }),
            graph(GraphProto {
                node: vec![node(AttributeProto {
                    g: Some(GraphProto {
                        node: vec![constant()],
                        ..GraphProto::default()
                    }),
                    ..AttributeProto::default()
                })],
                ..GraphProto::default()
            }),
            ModelProto {
                functions: vec![FunctionProto {
                    node: vec![constant()],
                }],
                ..ModelProto::default()
            },
        ];
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model.onnx");
        for (index, model) in models.iter().enumerate() {
            let error = check(&path, model).expect_err("nothing is there");
            assert!(
                matches!(error.cause, Cause::ExternalMissing { .. }),
                "model {index}: {error}"
            );
        }
        std::fs::write(folder.path().join("nowhere.bin"), "").expect("a file");
        for model in &models {
            assert!(check(&path, model).expect("it is there now"));
        }
        assert!(!check(&path, &ModelProto::default()).expect("nothing is needed"));
    }

    #[test]
    fn a_path_is_followed_by_its_own_words() {
        for (location, leaves) in [
            ("weights.bin", false),
            ("./a/../weights.bin", false),
            ("../weights.bin", true),
            ("a/../../weights.bin", true),
            ("/etc/hostname", true),
        ] {
            assert_eq!(leaves_folder(Path::new(location)), leaves, "{location}");
        }
    }
}
