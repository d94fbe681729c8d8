//! Libraries, wheels, `pip` and `uv` that are small, wrong or slow on purpose.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ringside::runtime::{Flavour, Installer, Member, Wheel};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Compiles a shared library at `path` that exports the function `symbol`, with the symbol version
/// `version` if given. Whoever builds Rust has a C compiler: it is the linker.
pub(crate) fn compile_library(path: &Path, symbol: &str, version: Option<&str>) {
    let script = path.with_extension("map");
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o"])
        .arg(path);
    if let Some(version) = version {
        fs::write(
            &script,
            format!("{version} {{ global: {symbol}; local: *; }};\n"),
        )
        .expect("a version script");
        let option = format!("-Wl,--version-script={}", script.display());
        command.arg("-Wl,-soname,libonnxruntime.so.1").arg(option);
    }
    let mut compiler = command.stdin(Stdio::piped()).spawn().expect("cc");
    let source = format!("int {symbol}(void) {{ return 0; }}\n");
    compiler
        .stdin
        .take()
        .expect("a pipe")
        .write_all(source.as_bytes())
        .expect("a reading compiler");
    assert!(compiler.wait().expect("cc").success(), "cc fails");
    fs::remove_file(script).ok();
}

/// A library that passes for this release of ONNX Runtime.
pub(crate) fn compile_onnxruntime(path: &Path, version: &str) {
    compile_library(path, "OrtGetApiBase", Some(&format!("VERS_{version}")));
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A temporary place with a wheel, an installer that knows it, and no tools yet.
pub(crate) struct Place {
    directory: TempDir,
    pub(crate) installer: Installer,
    pub(crate) wheel_file: PathBuf,
    /// Path in the wheel and content, as pinned.
    pub(crate) members: Vec<(String, Vec<u8>)>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let library = directory.path().join("library.so");
        compile_onnxruntime(&library, "1.31.1");
        let members = vec![
            (
                "onnxruntime/capi/libonnxruntime.so.1.31.1".to_owned(),
                fs::read(&library).expect("the library"),
            ),
            (
                "onnxruntime/capi/libonnxruntime_providers_shared.so".to_owned(),
                b"a provider".to_vec(),
            ),
            ("onnxruntime/LICENSE".to_owned(), b"a licence".to_vec()),
        ];
        let platform = format!("manylinux_2_28_{}", std::env::consts::ARCH);
        let name = format!("onnxruntime-1.31.1-cp313-cp313-{platform}.whl");
        let wheel_file = directory.path().join(&name);
        let mut content = members.clone();
        content.push((
            "onnxruntime/__init__.py".to_owned(),
            b"import something".to_vec(),
        ));
        content.push(("../escaped.txt".to_owned(), b"outside".to_vec()));
        write_wheel(&wheel_file, &content);
        let bytes = fs::read(&wheel_file).expect("the wheel");
        let wheel = Wheel {
            flavour: Flavour::Cpu,
            architecture: std::env::consts::ARCH.to_owned(),
            file: name,
            bytes: bytes.len() as u64,
            unpacked_bytes: content
                .iter()
                .map(|(_, content)| content.len() as u64)
                .sum(),
            sha256: sha256(&bytes),
            members: members
                .iter()
                .map(|(path, content)| Member {
                    path: path.clone(),
                    bytes: content.len() as u64,
                    sha256: sha256(content),
                })
                .collect(),
        };
        let tools = directory.path().join("tools");
        fs::create_dir(&tools).expect("a directory");
        let installer = Installer {
            version: "1.31.1".parse().expect("a version"),
            wheels: vec![wheel],
            architecture: std::env::consts::ARCH.to_owned(),
            root: directory.path().join("data").join("onnxruntime"),
            path: tools.into_os_string(),
            offline: false,
        };
        Self {
            directory,
            installer,
            wheel_file,
            members,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Where the release belongs.
    pub(crate) fn destination(&self) -> PathBuf {
        self.installer.root.join("1.31.1-cpu")
    }

    /// Puts a program on the installer's path: a shell script. `$log` is [`Self::calls`]'s file,
    /// `$wheel` the wheel, `$unpacked` a directory for [`Self::unpack_wheel`].
    pub(crate) fn add_tool(&self, name: &str, script: &str) {
        let preamble = format!(
            "#!/bin/sh\nPATH=/usr/bin:/bin\nlog='{}'\nwheel='{}'\nunpacked='{}'\necho \"{name} $*\" >> \"$log\"\n",
            self.path("calls").display(),
            self.wheel_file.display(),
            self.path("unpacked").display(),
        );
        let file = Path::new(&self.installer.path).join(name);
        // Written under another name first: the system refuses to run a file that is open for
        // writing, also by a child of a concurrent test.
        let draft = self.path("draft");
        fs::write(&draft, preamble + script).expect("a script");
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755))
            .expect("an executable script");
        fs::rename(&draft, &file).expect("a script");
    }

    /// A `python3` whose `pip` is of this version and, asked for a download, does `action` with the
    /// directory `$dest`.
    pub(crate) fn add_pip(&self, version: &str, action: &str) {
        self.add_tool(
            "python3",
            &format!(
                "case \"$*\" in\n*--version*) echo 'pip {version} from /somewhere (python 3.6)'; exit;;\nesac\n\
                 while [ $# -gt 0 ]; do case $1 in --dest|--target) dest=$2;; esac; shift; done\n{action}\n"
            ),
        );
    }

    /// What tools were called with, one line for each call.
    pub(crate) fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Calls that download, not the ones that ask for a version.
    pub(crate) fn downloads(&self) -> usize {
        self.calls()
            .iter()
            .filter(|call| !call.contains("--version"))
            .count()
    }

    /// Lays the wheel's members out as `uv` would, in `$unpacked`.
    pub(crate) fn unpack_wheel(&self) {
        for (path, content) in &self.members {
            let path = self.path("unpacked").join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, content).expect("a file");
        }
    }

    /// Names below the root of installed releases, the lock file left out.
    pub(crate) fn root_entries(&self) -> Vec<String> {
        names_in(&self.installer.root)
            .into_iter()
            .filter(|name| name != ".lock")
            .collect()
    }

    /// Fails unless the release is installed whole and alone.
    pub(crate) fn assert_installed(&self) {
        assert_eq!(self.root_entries(), ["1.31.1-cpu"]);
        let names = names_in(&self.destination());
        assert_eq!(
            names,
            [
                "LICENSE",
                "libonnxruntime.so.1.31.1",
                "libonnxruntime_providers_shared.so"
            ]
        );
        for (path, content) in &self.members {
            let name = Path::new(path).file_name().expect("a name");
            assert_eq!(
                &fs::read(self.destination().join(name)).expect("an installed file"),
                content
            );
        }
    }
}

/// Sorted names in a directory; none when it is not there.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name: OsString| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

pub(crate) fn write_wheel(file: &Path, members: &[(String, Vec<u8>)]) {
    let mut writer = zip::ZipWriter::new(fs::File::create(file).expect("a file"));
    for (path, content) in members {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(path.as_str(), options).expect("a member");
        writer.write_all(content).expect("a member");
    }
    writer.finish().expect("a wheel");
}
