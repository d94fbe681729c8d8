//! What a window costs that nobody sees (C47), that shows nothing new (C43), and that gets no input
//! (C44).

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::NamedTempFile;

use crate::support::{Running, children, eventually, signal, start};
use crate::{Display, live_session};

/// Processor time that a process has used, in seconds (proc(5), fields 14 and 15).
fn cpu_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process is there");
    let (_, rest) = stat.rsplit_once(')').expect("a name");
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |place: usize| fields[place].parse::<f64>().expect("a number");
    let ticks_per_second = rustix::param::clock_ticks_per_second() as f64;
    (ticks(11) + ticks(12)) / ticks_per_second
}

/// Share of a core over `seconds`, printed.
fn share(what: &str, pid: u32, seconds: u64) {
    let (begin, used) = (Instant::now(), cpu_seconds(pid));
    std::thread::sleep(Duration::from_secs(seconds));
    let share = (cpu_seconds(pid) - used) / begin.elapsed().as_secs_f64();
    println!("{what}: {:.1} % of a core", 100.0 * share);
}

/// Passes of the window that a log tells of.
fn painted(log: &str) -> usize {
    log.matches("painted").count()
}

fn xdotool(display: &Display, arguments: &[&str]) -> Option<String> {
    let done = Command::new("xdotool")
        .args(arguments)
        .env("DISPLAY", &display.name)
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The window on a live session, and what it says of its passes.
struct Traced {
    window: Running,
    log: NamedTempFile,
    pid: u32,
    consumer: u32,
}

fn traced_window(display: &Display) -> Traced {
    let arguments = live_session();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let log = NamedTempFile::new().expect("a file");
    let mut command = display.window(&arguments);
    let window = start(
        command
            .env("RINGSIDE_LOG", "ringside::gui=trace")
            .stderr(log.reopen().expect("the file")),
    );
    let pid = window.id();
    let consumer = eventually("a model's process", || {
        children(pid, "consume").first().copied()
    });
    Traced {
        window,
        log,
        pid,
        consumer,
    }
}

#[test]
fn c47_a_hidden_window_paints_nearly_nothing_and_its_session_goes_on() {
    let Some(display) = Display::open(&[]) else {
        return;
    };
    let Traced {
        window,
        log,
        pid,
        consumer,
    } = traced_window(&display);
    let Some(id) = eventually("a window, or no xdotool", || {
        match xdotool(&display, &["search", "--name", "Ringside"]) {
            None => Some(None),
            Some(found) => found.lines().last().map(|id| Some(id.to_owned())),
        }
    }) else {
        println!("skipped: xdotool is not installed");
        signal(pid, Signal::TERM);
        window.wait();
        return;
    };
    std::thread::sleep(Duration::from_secs(3));
    share("visible, 10 frames a second", pid, 4);
    xdotool(&display, &["windowunmap", &id]);
    std::thread::sleep(Duration::from_secs(1));
    share("hidden", pid, 4);
    signal(consumer, Signal::KILL);
    eventually("the model's process again, behind a hidden window", || {
        children(pid, "consume")
            .into_iter()
            .find(|&again| again != consumer)
    });
    xdotool(&display, &["windowmap", &id]);
    std::thread::sleep(Duration::from_secs(3));
    display.picture("shown_again.png");
    signal(pid, Signal::TERM);
    window.wait();
    let log = std::fs::read_to_string(log.path()).expect("the log");
    // It is hidden before its first frame, too.
    let hidden = log.rfind("hidden").expect("it was hidden");
    let shown = hidden + log[hidden..].find("visible").expect("it came back");
    let counts = [&log[..hidden], &log[hidden..shown], &log[shown..]].map(painted);
    println!("{counts:?} passes before, while hidden, and after");
    // Hidden for five seconds at least: at 10 frames a second that would be 50.
    assert!(counts[1] <= 20, "{counts:?}");
    assert!(counts[0] > 20 && counts[2] > 10, "{counts:?}");
}

#[test]
fn c43_c44_a_paused_window_paints_nothing_and_a_death_is_shown_without_input() {
    let Some(display) = Display::open(&[]) else {
        return;
    };
    let Traced {
        window,
        log,
        pid,
        consumer,
    } = traced_window(&display);
    std::thread::sleep(Duration::from_secs(3));
    let passes = || painted(&std::fs::read_to_string(log.path()).expect("the log"));
    let order = [
        "search",
        "--name",
        "Ringside",
        "windowfocus",
        "key",
        "space",
    ];
    let pauses = xdotool(&display, &order).is_some();
    std::thread::sleep(Duration::from_secs(2));
    let before = passes();
    share("paused", pid, 5);
    let while_paused = passes() - before;
    println!("{while_paused} passes in five paused seconds, {before} before");
    assert!(before > 20, "{before}");
    assert!(!pauses || while_paused <= 2, "{while_paused}");
    signal(consumer, Signal::KILL);
    eventually("the model's process again", || {
        children(pid, "consume")
            .into_iter()
            .find(|&again| again != consumer)
    });
    // No input: the restart is painted all the same.
    eventually("a pass", || {
        (passes() > before + while_paused).then_some(())
    });
    display.picture("killed_while_paused.png");
    signal(pid, Signal::TERM);
    window.wait();
}
