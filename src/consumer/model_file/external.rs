use std::path::{Component, Path, PathBuf};

use super::proto::{DATA_LOCATION_EXTERNAL, GraphProto, TensorProto};
use super::{Cause, ModelError};

/// Checks that the weights that the graph keeps in other files are there, whole, and below the
/// model's folder; whether there are any.
pub(super) fn check(model: &Path, graph: &GraphProto) -> Result<bool, ModelError> {
    let folder = model.parent().unwrap_or(Path::new(""));
    let mut result = Ok(());
    let mut any = false;
    graph.for_each_tensor(&mut |tensor| {
        if result.is_ok() && tensor.data_location == DATA_LOCATION_EXTERNAL {
            any = true;
            result = check_tensor(folder, tensor);
        }
    });
    result
        .map(|()| any)
        .map_err(|cause| ModelError::new(model, cause))
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
