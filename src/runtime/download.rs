//! Fetches a wheel with the user's own `pip` or `uv`, and so from the user's own package index.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::by_hand::{by_hand, pip_options, uv_options};
use super::error::at;
use super::tool::{Call, Outcome, run};
use super::{Progress, RuntimeError, Version, Wheel};

/// The first `pip` that goes by `--python-version` instead of its own Python.
const FIRST_FIT_PIP: Version = Version {
    major: 19,
    minor: 2,
    patch: 0,
};
/// A program that does not even say its version in this time is not used.
const PROBE_LIMIT: Duration = Duration::from_secs(60);
/// Lines of a tool's output that are shown when it fails.
const SHOWN_LINES: usize = 6;

/// A program that fetches packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `pip`.
    Pip,
    /// `uv`.
    Uv,
}

impl fmt::Display for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Pip => "pip",
            Self::Uv => "uv",
        })
    }
}

/// How a tool failed.
#[derive(Debug, thiserror::Error)]
#[error("`{command}`: {outcome}{}", if .output.is_empty() { String::new() } else { format!("\n{}", .output) })]
pub struct ToolFailure {
    /// The command line, shortened to the program.
    pub command: String,
    /// What became of it, as `exit status: 1`.
    pub outcome: String,
    /// The last lines that it wrote.
    pub output: String,
}

/// What a tool has fetched.
#[derive(Debug)]
pub(super) enum Fetched {
    /// The wheel, as a file that has yet to be checked.
    Wheel(PathBuf),
    /// The wheel, unpacked into a directory.
    Directory(PathBuf),
}

/// One download: what, where, with which programs.
pub(super) struct Download<'a> {
    pub(super) wheel: &'a Wheel,
    /// An empty directory for everything that tools write; removed by the caller.
    pub(super) work: &'a Path,
    /// Where installed releases lie, for advice.
    pub(super) root: &'a Path,
    /// Directories of programs, as `PATH`.
    pub(super) path: &'a OsStr,
    pub(super) progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
}

/// Why one tool brought nothing.
enum Failure {
    /// It failed; another one may do.
    Tool(ToolFailure),
    /// Nothing more is to be tried.
    Final(RuntimeError),
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        Self::Final(error)
    }
}

impl Download<'_> {
    /// Tries every `pip`, then `uv`.
    pub(super) fn fetch(&mut self) -> Result<Fetched, RuntimeError> {
        let mut failures = Vec::new();
        let mut tried = HashSet::new();
        for command in self.pip_commands() {
            let Some((version, banner)) = self.probe(&command)? else {
                continue;
            };
            // `pip3` and `python3 -m pip` mostly are the same one.
            if !tried.insert(banner) {
                continue;
            }
            match self.fetch_with_pip(&command, version) {
                Ok(fetched) => return Ok(fetched),
                Err(Failure::Tool(failure)) => failures.push(failure),
                Err(Failure::Final(error)) => return Err(error),
            }
        }
        if let Some(uv) = self.program("uv") {
            match self.fetch_with_uv(&uv) {
                Ok(fetched) => return Ok(fetched),
                Err(Failure::Tool(failure)) => failures.push(failure),
                Err(Failure::Final(error)) => return Err(error),
            }
        }
        let by_hand = by_hand(self.wheel, self.root);
        Err(match failures.is_empty() {
            true => RuntimeError::NoTool { by_hand },
            false => RuntimeError::Download { failures, by_hand },
        })
    }

    fn pip_commands(&self) -> Vec<Vec<OsString>> {
        let module = self
            .program("python3")
            .map(|python| vec![python.into(), "-m".into(), "pip".into()]);
        let scripts = ["pip3", "pip"].map(|name| self.program(name).map(|pip| vec![pip.into()]));
        module
            .into_iter()
            .chain(scripts.into_iter().flatten())
            .collect()
    }

    /// The first executable file called `name` on the path.
    fn program(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(self.path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|file| {
                file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
            })
    }

    /// Version and full self-description of a `pip`; `None` if it does not work.
    fn probe(&mut self, command: &[OsString]) -> Result<Option<(Version, String)>, RuntimeError> {
        let command = with_arguments(command, ["--version"]);
        let deadline = Instant::now() + PROBE_LIMIT;
        let empty = self.make_directory("empty")?;
        let mut cancelled = false;
        let progress = &mut *self.progress;
        let call = Call {
            command: &command,
            directory: &empty,
            variables: &[("PATH", self.path)],
        };
        let outcome = run(&call, &mut || {
            cancelled = progress(Progress::Asking { tool: Tool::Pip }).is_break();
            match cancelled || Instant::now() > deadline {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        if cancelled {
            return Err(RuntimeError::Cancelled);
        }
        let answer = match outcome {
            Ok(Some(outcome)) if outcome.status.success() => outcome.output,
            other => {
                tracing::debug!("`{}` does not work: {other:?}", shown(&command));
                return Ok(None);
            }
        };
        // "pip 23.2.1 from /usr/lib/python3/dist-packages/pip (python 3.11)", after warnings if any.
        let banner = answer.lines().find(|line| line.starts_with("pip "));
        let version = banner.and_then(|line| line.split(' ').nth(1)?.parse().ok());
        Ok(version.zip(banner.map(str::to_owned)))
    }

    fn fetch_with_pip(
        &mut self,
        command: &[OsString],
        version: Version,
    ) -> Result<Fetched, Failure> {
        let own_pip = match version < FIRST_FIT_PIP {
            true => Some(self.fetch_newer_pip(command)?),
            false => None,
        };
        let target = self.make_directory("wheel")?;
        let wheel = self.wheel;
        let mut command = with_arguments(command, ["download"]);
        command.extend(pip_options(wheel).into_iter().map(OsString::from));
        command.extend(["--dest".into(), target.clone().into_os_string()]);
        command.push(wheel.tags().requirement().into());
        let progress = Measure::LargestFile {
            total_bytes: wheel.bytes,
        };
        self.run_tool(Tool::Pip, &command, own_pip.as_deref(), progress)?;
        let file = target.join(&wheel.file);
        if file.is_file() {
            return Ok(Fetched::Wheel(file));
        }
        Err(Failure::Tool(ToolFailure {
            command: shown(&command),
            outcome: format!("brought another file than {}", wheel.file),
            output: String::new(),
        }))
    }

    /// A `pip` that is too old for the download can still fetch a newer one, for this once.
    fn fetch_newer_pip(&mut self, command: &[OsString]) -> Result<PathBuf, Failure> {
        if command.len() == 1 {
            return Err(Failure::Tool(ToolFailure {
                command: shown(command),
                outcome: format!("older than pip {FIRST_FIT_PIP}"),
                output: String::new(),
            }));
        }
        let target = self.make_directory("newer-pip")?;
        let mut command = with_arguments(command, ["install", "--no-deps", "--target"]);
        command.push(target.clone().into_os_string());
        command.push(format!("pip>={}.{}", FIRST_FIT_PIP.major, FIRST_FIT_PIP.minor).into());
        self.run_tool(Tool::Pip, &command, None, Measure::Nothing)?;
        Ok(target)
    }

    fn fetch_with_uv(&mut self, uv: &Path) -> Result<Fetched, Failure> {
        let target = self.make_directory("unpacked")?;
        let requirements = self.work.join("requirements.txt");
        let pinned = format!(
            "{} --hash=sha256:{}\n",
            self.wheel.tags().requirement(),
            self.wheel.sha256
        );
        std::fs::write(&requirements, pinned).map_err(at("write", &requirements))?;
        let mut command = with_arguments(&[uv.into()], ["pip", "install"]);
        command.extend(uv_options(self.wheel).into_iter().map(OsString::from));
        // Without a cache everything is written below `work`, where it can be measured; the Python
        // that uv may want to fetch is not needed for anything.
        command.extend(
            [
                "--no-cache",
                "--no-progress",
                "--no-python-downloads",
                "--require-hashes",
                "--requirement",
            ]
            .map(OsString::from),
        );
        command.extend([requirements.into_os_string(), "--target".into()]);
        command.push(target.clone().into_os_string());
        let progress = Measure::AllFiles {
            total_bytes: self.wheel.unpacked_bytes,
        };
        self.run_tool(Tool::Uv, &command, None, progress)?;
        Ok(Fetched::Directory(target))
    }

    fn make_directory(&self, name: &str) -> Result<PathBuf, RuntimeError> {
        let directory = self.work.join(name);
        std::fs::create_dir_all(&directory).map_err(at("create", &directory))?;
        Ok(directory)
    }

    /// Runs a tool in the empty working directory (Python would import modules that lie in
    /// another), with its temporary files there as well.
    fn run_tool(
        &mut self,
        tool: Tool,
        command: &[OsString],
        python_path: Option<&Path>,
        measure: Measure,
    ) -> Result<(), Failure> {
        let temporary = self.make_directory("tmp")?;
        let empty = self.make_directory("empty")?;
        let mut variables = vec![
            ("PATH", self.path),
            ("TMPDIR", temporary.as_os_str()),
            ("PIP_NO_INPUT", OsStr::new("1")),
            ("PIP_DISABLE_PIP_VERSION_CHECK", OsStr::new("1")),
            ("PIP_REQUIRE_VIRTUALENV", OsStr::new("0")),
        ];
        variables.extend(python_path.map(|path| ("PYTHONPATH", path.as_os_str())));
        let call = Call {
            command,
            directory: &empty,
            variables: &variables,
        };
        let (work, progress) = (self.work, &mut *self.progress);
        let outcome = run(&call, &mut || {
            progress(match measure {
                Measure::Nothing => Progress::Asking { tool },
                Measure::LargestFile { total_bytes } => Progress::Downloading {
                    tool,
                    done_bytes: sizes_below(work).max().unwrap_or(0).min(total_bytes),
                    total_bytes,
                },
                Measure::AllFiles { total_bytes } => Progress::Downloading {
                    tool,
                    done_bytes: sizes_below(work).sum::<u64>().min(total_bytes),
                    total_bytes,
                },
            })
        });
        let (outcome, output) = match outcome {
            Ok(None) => return Err(Failure::Final(RuntimeError::Cancelled)),
            Ok(Some(Outcome { status, .. })) if status.success() => return Ok(()),
            Ok(Some(Outcome { status, output })) => (status.to_string(), output),
            Err(error) => (format!("cannot be run: {error}"), String::new()),
        };
        Err(Failure::Tool(ToolFailure {
            command: shown(command),
            outcome,
            output: last_lines(&output),
        }))
    }
}

/// What tells how far a tool is.
#[derive(Debug, Clone, Copy)]
enum Measure {
    Nothing,
    /// The growing file; pip keeps a second copy for its cache.
    LargestFile {
        total_bytes: u64,
    },
    /// Everything that has been unpacked so far.
    AllFiles {
        total_bytes: u64,
    },
}

fn with_arguments<const N: usize>(command: &[OsString], arguments: [&str; N]) -> Vec<OsString> {
    let mut command = command.to_vec();
    command.extend(arguments.map(OsString::from));
    command
}

/// The command up to its first option, for messages.
fn shown(command: &[OsString]) -> String {
    let words: Vec<_> = command
        .iter()
        .map(|word| word.to_string_lossy())
        .take_while(|word| !word.starts_with("--"))
        .collect();
    words.join(" ")
}

fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

/// The sizes of all files below a directory; what vanishes meanwhile is left out.
fn sizes_below(directory: &Path) -> Box<dyn Iterator<Item = u64>> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    Box::new(entries.flat_map(|entry| {
        let sizes: Box<dyn Iterator<Item = u64>> = match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => sizes_below(&entry.path()),
            Ok(metadata) if metadata.is_file() => Box::new(std::iter::once(metadata.len())),
            _ => Box::new(std::iter::empty()),
        };
        sizes
    }))
}
