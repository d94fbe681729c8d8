use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Version;

/// What an ONNX Runtime can compute on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    /// The CPU.
    #[default]
    Cpu,
    /// NVIDIA GPUs, through CUDA or TensorRT, and the CPU.
    Cuda,
}

impl fmt::Display for Flavour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        })
    }
}

impl FromStr for Flavour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda),
            _ => Err(format!("unknown flavour `{text}`: use cpu or cuda")),
        }
    }
}

/// A wheel with ONNX Runtime in it, pinned by digest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// What it computes on.
    pub flavour: Flavour,
    /// The processor, as [`std::env::consts::ARCH`].
    pub architecture: String,
    /// File name: `package-version-python-abi-platform.whl`.
    pub file: String,
    /// Size of the file.
    pub bytes: u64,
    /// Size of everything in it.
    pub unpacked_bytes: u64,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// What is taken out of it; the first one is the library itself.
    pub members: Vec<Member>,
}

/// A file in a wheel, pinned by digest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Path in the wheel.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
}

impl Member {
    /// What the file is called once installed: the last part of its path, so that no name in a
    /// wheel can lead out of the directory that it is unpacked to.
    pub fn file_name(&self) -> &str {
        let name = Path::new(&self.path).file_name();
        name.and_then(|name| name.to_str()).unwrap_or("unnamed")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    version: Version,
    wheel: Vec<Wheel>,
}

/// The pinned release and its wheels.
///
/// # Panics
/// Never: the table is part of the program, and a test reads it.
pub(super) fn pinned() -> (Version, Vec<Wheel>) {
    let table: Table =
        toml::from_str(include_str!("wheels.toml")).expect("the bundled table of wheels is valid");
    (table.version, table.wheel)
}

/// The parts of a wheel's file name that choose it in a package index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tags<'wheel> {
    /// Name of the package, as `onnxruntime_gpu`.
    pub(super) package: &'wheel str,
    /// Its version.
    pub(super) version: &'wheel str,
    /// Python, as `cp313`.
    pub(super) python: &'wheel str,
    /// Binary interface of Python, as `cp313`.
    pub(super) abi: &'wheel str,
    /// System and processor, as `manylinux_2_28_x86_64`.
    pub(super) platform: &'wheel str,
}

impl Wheel {
    /// The parts of the file name; missing ones are empty.
    pub(super) fn tags(&self) -> Tags<'_> {
        let stem = self.file.strip_suffix(".whl").unwrap_or(&self.file);
        let mut parts = stem.splitn(5, '-');
        let mut part = || parts.next().unwrap_or_default();
        Tags {
            package: part(),
            version: part(),
            python: part(),
            abi: part(),
            platform: part(),
        }
    }
}

impl Tags<'_> {
    /// What to ask a package index for, as `onnxruntime-gpu==1.31.1`.
    pub(super) fn requirement(&self) -> String {
        format!("{}=={}", self.package.replace('_', "-"), self.version)
    }

    /// Python's version without dots, as `313`: the one spelling that every pip reads.
    pub(super) fn python_digits(&self) -> &str {
        self.python
            .trim_start_matches(|c: char| !c.is_ascii_digit())
    }

    /// Python's version with a dot, as `3.13`.
    pub(super) fn python_dotted(&self) -> String {
        let (major, minor) = self.python_digits().split_at_checked(1).unwrap_or_default();
        format!("{major}.{minor}")
    }

    /// The platform as uv spells it, as `x86_64-manylinux_2_28`.
    pub(super) fn uv_platform(&self, architecture: &str) -> String {
        let system = self
            .platform
            .strip_suffix(architecture)
            .map_or(self.platform, |system| system.trim_end_matches('_'));
        format!("{architecture}-{system}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::library::is_library_name;

    #[test]
    fn the_pinned_table_is_complete_and_of_one_release() {
        let (version, wheels) = pinned();
        assert!(version >= Version::NEEDED);
        for wheel in &wheels {
            assert_eq!(wheel.tags().version, version.to_string(), "{}", wheel.file);
            assert!(
                wheel
                    .file
                    .ends_with(&format!("_{}.whl", wheel.architecture))
            );
            assert!(is_library_name(wheel.members[0].file_name()));
            let sum: u64 = wheel.members.iter().map(|member| member.bytes).sum();
            assert!(sum < wheel.unpacked_bytes && wheel.bytes < wheel.unpacked_bytes);
            let digests = wheel.members.iter().map(|member| &member.sha256);
            for digest in digests.chain([&wheel.sha256]) {
                assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()));
            }
        }
        for (flavour, architecture) in [
            (Flavour::Cpu, "x86_64"),
            (Flavour::Cpu, "aarch64"),
            (Flavour::Cuda, "x86_64"),
        ] {
            let fits =
                |wheel: &&Wheel| wheel.flavour == flavour && wheel.architecture == architecture;
            assert_eq!(wheels.iter().filter(fits).count(), 1, "{architecture}");
        }
    }

    #[test]
    fn tags_are_spelled_as_pip_and_uv_want_them() {
        let (_, wheels) = pinned();
        let gpu = wheels
            .iter()
            .find(|wheel| wheel.flavour == Flavour::Cuda)
            .expect("a CUDA wheel");
        let tags = gpu.tags();
        assert_eq!(tags.requirement(), "onnxruntime-gpu==1.31.1");
        assert_eq!(tags.python_digits(), "313");
        assert_eq!(tags.python_dotted(), "3.13");
        assert_eq!(tags.abi, "cp313");
        assert_eq!(tags.uv_platform("x86_64"), "x86_64-manylinux_2_28");
    }

    #[test]
    fn a_member_cannot_leave_its_directory() {
        let member = |path: &str| Member {
            path: path.to_owned(),
            bytes: 0,
            sha256: String::new(),
        };
        assert_eq!(member("../../etc/passwd").file_name(), "passwd");
        assert_eq!(member("..").file_name(), "unnamed");
    }
}
