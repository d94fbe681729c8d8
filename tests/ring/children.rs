//! Runs functions of this binary in processes of their own.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Generous: it only ends what hangs.
pub(crate) const HANG: Duration = Duration::from_secs(60);

/// A function that runs in a process of its own, with its arguments.
pub(crate) type Role = fn(&[&str]);

const ROLE: &str = "RINGSIDE_TEST_ROLE";
const MARK: &str = "> ";

/// Is this process a child? Then be it. It ends when its parent does.
pub(crate) fn run_child(roles: &[(&str, Role)]) {
    let Ok(line) = std::env::var(ROLE) else {
        return;
    };
    std::thread::spawn(|| {
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        std::process::exit(0);
    });
    let words: Vec<&str> = line.split('\t').collect();
    let (_, role) = roles
        .iter()
        .find(|(name, _)| *name == words[0])
        .unwrap_or_else(|| panic!("no role is called {}", words[0]));
    role(&words[1..]);
}

/// A line to the parent.
pub(crate) fn tell(line: impl std::fmt::Display) {
    // The test harness may have printed half a line.
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "\n{MARK}{line}").unwrap();
    stdout.flush().unwrap();
}

/// A process that is killed when the test ends.
pub(crate) struct ChildProcess {
    child: Child,
    lines: BufReader<ChildStdout>,
}

/// This binary as `role`.
pub(crate) fn command(role: &[&str]) -> Command {
    prefixed(&[], role)
}

/// This binary as `role`, run by another program.
pub(crate) fn prefixed(prefix: &[&str], role: &[&str]) -> Command {
    let exe = std::env::current_exe().unwrap();
    let mut words: Vec<PathBuf> = prefix.iter().map(PathBuf::from).collect();
    words.push(exe);
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role.join("\t"));
    command
}

impl ChildProcess {
    /// Starts `role` (its name, then its arguments).
    pub(crate) fn start(role: &[&str]) -> Self {
        Self::spawn(command(role))
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it tells; `None` when it has ended.
    pub(crate) fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(told) = line.strip_prefix(MARK) {
                return Some(told.trim_end().to_owned());
            }
        }
    }

    /// All lines until it ends by itself, in success.
    pub(crate) fn finish(mut self) -> Vec<String> {
        let lines = std::iter::from_fn(|| self.line()).collect();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "a child ended with {status}: {lines:?}");
        lines
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid().cast_signed()), signal).unwrap();
    }

    /// `kill -9`, and waits for its end.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether it still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Processor time that it has used, in clock ticks (hundredths of a second).
    pub(crate) fn processor_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .unwrap()
            .1
            .split_whitespace()
            .collect();
        // utime and stime are fields 14 and 15; the list starts at field 3.
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // It may have ended already.
        if self.child.kill().is_ok() {
            self.child.wait().unwrap();
        }
    }
}

/// Waits until `condition` holds; fails after [`HANG`].
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < HANG, "waited {HANG:?} until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// How often to repeat something: a few times, or `soak` times under `RINGSIDE_SOAK=1`.
pub(crate) fn rounds(short: u32, soak: u32) -> u32 {
    match std::env::var("RINGSIDE_SOAK") {
        Ok(value) if value == "1" => soak,
        _ => short,
    }
}
