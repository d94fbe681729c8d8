//! Runs a program of the user that ends when we do, in whatever way we end.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::base::Worker;

/// How often the program is looked at.
const POLL: Duration = Duration::from_millis(50);
/// How much of what it says is kept.
const OUTPUT_BYTES: usize = 8192;

/// Runs the program `"$@"` in the shell's process group, and kills the group when standard input
/// ends: the other end of that pipe is held by us alone, so this happens also when we are killed.
/// The program itself reads nothing.
const GUARD: &str = r#"
exec 3<&0 </dev/null
{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &
exec 3<&-
"$@"
"#;

/// A program to run.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// Program and arguments.
    pub(super) command: &'a [OsString],
    /// Working directory.
    pub(super) directory: &'a Path,
    /// Variables on top of our own.
    pub(super) variables: &'a [(&'static str, &'a OsStr)],
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Its exit status.
    pub(super) status: ExitStatus,
    /// The end of what it wrote to its output and error streams.
    pub(super) output: String,
}

/// Runs `call` to its end. `on_wait` is called again and again meanwhile; when it returns
/// [`ControlFlow::Break`], the program and its children are killed and the result is `None`.
///
/// # Errors
/// The system cannot run it.
pub(super) fn run(
    call: &Call<'_>,
    on_wait: &mut dyn FnMut() -> ControlFlow<()>,
) -> io::Result<Option<Outcome>> {
    let (reader, writer) = io::pipe()?;
    // Holds one unit per run: the reader's result.
    let (output_sender, output) = mpsc::sync_channel(1);
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", GUARD, "ringside-guard"])
        .args(call.command)
        .current_dir(call.directory)
        .envs(call.variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    let mut group = Group(command.spawn()?);
    // The command holds the pipe's writing ends, without which the reader would never see an end.
    drop(command);
    // Declared after the group: joined when the group is gone and the pipe has ended.
    let _reader = Worker::spawn("tool-output", move || {
        // The receiver is there until the worker has been joined, or does not care any more.
        output_sender.send(read_end(reader)).ok();
    })?;

    while !group.has_ended()? {
        if on_wait().is_break() {
            group.kill();
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
    let status = group.kill_rest_and_reap()?;
    let output = output.recv().unwrap_or_default();
    Ok(Some(Outcome { status, output }))
}

/// The last [`OUTPUT_BYTES`] that come out of a pipe.
fn read_end(mut reader: PipeReader) -> String {
    let mut end = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => {
                end.extend_from_slice(&buffer[..length]);
                end.drain(..end.len().saturating_sub(OUTPUT_BYTES));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&end).into_owned()
}

/// A child that leads a process group; dropping it kills and reaps the group.
struct Group(Child);

impl Group {
    /// Whether the leader has ended. It is not reaped, so its number stays ours.
    fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(&self.0)), options)?.is_some())
    }

    /// Kills what the leader has left behind (the guard's watcher at least), then reaps it.
    fn kill_rest_and_reap(&mut self) -> io::Result<ExitStatus> {
        self.kill();
        self.0.wait()
    }

    fn kill(&self) {
        // Fails when nobody is left, which is what is wanted.
        kill_process_group(Pid::from_child(&self.0), Signal::KILL).ok();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            self.kill();
            self.0.wait().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shell(script: &str) -> Vec<OsString> {
        ["/bin/sh", "-c", script].map(OsString::from).to_vec()
    }

    fn run_script(script: &str, on_wait: &mut dyn FnMut() -> ControlFlow<()>) -> Option<Outcome> {
        let call = Call {
            command: &shell(script),
            directory: Path::new("/"),
            variables: &[("GREETING", OsStr::new("good day"))],
        };
        run(&call, on_wait).expect("a shell can be run")
    }

    #[test]
    fn status_and_the_end_of_the_output_come_back() {
        let mut go_on = || ControlFlow::Continue(());
        let outcome = run_script("cat; echo \"$GREETING\" >&2; exit 7", &mut go_on)
            .expect("it ends by itself");
        assert_eq!(outcome.status.code(), Some(7));
        assert_eq!(outcome.output, "good day\n");
        let outcome =
            run_script("yes | head -c 1000000; echo end", &mut go_on).expect("it ends by itself");
        assert!(outcome.status.success());
        assert_eq!(outcome.output.len(), OUTPUT_BYTES);
        assert!(outcome.output.ends_with("y\nend\n"));
    }

    #[test]
    fn a_stopped_run_leaves_no_process() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let note = directory.path().join("pids");
        let script = format!(
            "sleep 1000 & echo $! > {0}.part; mv {0}.part {0}; trap '' TERM INT; wait",
            note.display()
        );
        let mut until_noted = || match note.exists() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        assert!(run_script(&script, &mut until_noted).is_none());
        let pid = std::fs::read_to_string(&note).expect("a process number");
        let process = Path::new("/proc").join(pid.trim());
        // The orphan is reaped by somebody else: a moment, or never; then it is a zombie.
        let deadline = Instant::now() + Duration::from_secs(20);
        let is_gone = || {
            std::fs::read_to_string(process.join("stat")).map_or(true, |stat| stat.contains(") Z "))
        };
        while !is_gone() {
            assert!(Instant::now() < deadline, "process {pid} goes on");
            std::thread::sleep(POLL);
        }
    }
}
