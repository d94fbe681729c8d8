use std::path::Path;

use super::{Version, Wheel};

/// The three ways to get ONNX Runtime without this program's help, as lines of text with commands
/// to copy.
pub(super) fn by_hand(wheel: &Wheel, root: &Path) -> String {
    let tags = wheel.tags();
    let requirement = tags.requirement();
    let target = root.join("by-hand");
    let member = &wheel.members.first().map_or("", |member| &member.path);
    format!(
        "three ways to do it by hand:
  1. with pip, on any machine with a network, then here:
       python3 -m pip download {pip} {requirement}
       ringside runtime install --from {file}
  2. with uv:
       uv pip install {uv} --target {target} {requirement}
       ringside --onnxruntime {library}
  3. with a libonnxruntime.so of {needed} or newer that you have already:
       ringside --onnxruntime FILE
     or, for good, set ORT_DYLIB_PATH=FILE",
        pip = pip_options(wheel).join(" "),
        file = wheel.file,
        uv = uv_options(wheel).join(" "),
        target = quoted(&target),
        library = quoted(&target.join(member)),
        needed = Version::NEEDED,
    )
}

/// Options of `pip download` that choose the wheel whatever Python pip itself runs on.
pub(super) fn pip_options(wheel: &Wheel) -> Vec<String> {
    let tags = wheel.tags();
    let options = [
        ("--platform", tags.platform),
        ("--python-version", tags.python_digits()),
        ("--implementation", "cp"),
        ("--abi", tags.abi),
    ];
    ["--no-deps", "--only-binary=:all:"]
        .into_iter()
        .chain(options.into_iter().flat_map(|(name, value)| [name, value]))
        .map(str::to_owned)
        .collect()
}

/// Options of `uv pip install` that choose the wheel whatever Python there is.
pub(super) fn uv_options(wheel: &Wheel) -> Vec<String> {
    let tags = wheel.tags();
    vec![
        "--no-deps".to_owned(),
        "--only-binary=:all:".to_owned(),
        "--python-version".to_owned(),
        tags.python_dotted(),
        "--python-platform".to_owned(),
        tags.uv_platform(&wheel.architecture),
    ]
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+".contains(character);
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_wheel_and_quote_paths() {
        let (_, wheels) = crate::runtime::wheel::pinned();
        let text = by_hand(&wheels[0], Path::new("/home/it's me/onnxruntime"));
        for part in [
            "python3 -m pip download --no-deps --only-binary=:all: --platform manylinux_2_28_x86_64 \
             --python-version 313 --implementation cp --abi cp313 onnxruntime==1.31.1\n",
            "--python-version 3.13 --python-platform x86_64-manylinux_2_28",
            r"--target '/home/it'\''s me/onnxruntime/by-hand' onnxruntime==1.31.1",
            "runtime install --from onnxruntime-1.31.1-cp313-cp313-manylinux_2_28_x86_64.whl\n",
            "by-hand/onnxruntime/capi/libonnxruntime.so.1.31.1'\n",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }
}
