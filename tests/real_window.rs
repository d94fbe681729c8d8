//! The real window on a virtual display, and what happens where there is none.

#[path = "window/hidden.rs"]
mod hidden;
mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use support::{
    children, data, descendants, eventually, finish, ringside, root, signal, start, stat,
};

/// A virtual display that ends with the test.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// `None` where Xvfb is not installed, and the test says so.
    fn open(extra: &[&str]) -> Option<Self> {
        Self::open_at("1280x820x24", extra)
    }

    /// With another size and depth.
    fn open_at(screen: &str, extra: &[&str]) -> Option<Self> {
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", screen])
            .args(extra)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            println!("skipped: Xvfb is not installed");
            return None;
        };
        let stdout = server.stdout.take().expect("a pipe");
        let mut number = String::new();
        BufReader::new(stdout)
            .read_line(&mut number)
            .expect("a display number");
        let name = format!(":{}", number.trim());
        Some(Self { server, name })
    }

    fn window(&self, arguments: &[&str]) -> Command {
        let mut command = ringside(arguments);
        command
            .env("DISPLAY", &self.name)
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env_remove("WAYLAND_DISPLAY");
        command
    }

    /// Saves a picture of the display for people to look at, where ImageMagick is installed.
    fn picture(&self, name: &str) {
        let folder = root().join("target/pictures");
        std::fs::create_dir_all(&folder).expect("a folder");
        let taken = Command::new("import")
            .args(["-display", &self.name, "-window", "root"])
            .arg(folder.join(name))
            .status();
        if !taken.is_ok_and(|status| status.success()) {
            println!("no picture of the window: ImageMagick is not installed");
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

fn is_gone(pid: u32) -> bool {
    stat(pid).is_none_or(|stat| stat.state == 'Z')
}

/// A live session with one model, as arguments of `gui`.
fn live_session() -> Vec<String> {
    let model = data("cases/frameid.onnx");
    [
        "gui",
        "--device",
        "cpu",
        "--source",
        "pattern:stamp?size=320x240&fps=10",
        "--delivery",
        "live",
        "--model",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([model.to_str().expect("UTF-8").to_owned()])
    .collect()
}

#[test]
fn a_killed_model_comes_back_and_a_closed_window_leaves_nothing() {
    let Some(display) = Display::open(&[]) else {
        return;
    };
    for (how, picture) in [
        (Signal::TERM, "model_killed_then_closed.png"),
        (Signal::KILL, "model_killed_then_window_killed.png"),
    ] {
        let arguments = live_session();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let window = start(&mut display.window(&arguments));
        let pid = window.id();
        let consumer = eventually("a model's process", || {
            children(pid, "consume").first().copied()
        });
        let producer = eventually("a producer", || children(pid, "produce").first().copied());
        let maps =
            |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        eventually("ONNX Runtime in the model's process", || {
            maps(consumer).contains("libonnxruntime").then_some(())
        });
        for pid in [pid, producer] {
            let maps = maps(pid);
            assert!(
                !maps.is_empty() && !maps.contains("libonnxruntime") && !maps.contains("libcuda")
            );
        }
        signal(consumer, Signal::KILL);
        eventually("the model's process again", || {
            children(pid, "consume")
                .into_iter()
                .find(|&again| again != consumer)
        });
        display.picture(picture);
        let below = descendants(pid);
        signal(pid, how);
        window.wait();
        eventually("everything gone", || {
            below.iter().all(|&pid| is_gone(pid)).then_some(())
        });
    }
}

#[test]
fn the_demo_opens_in_a_window() {
    let Some(display) = Display::open(&[]) else {
        return;
    };
    let window = start(&mut display.window(&[]));
    let pid = window.id();
    eventually("two models' processes", || {
        (children(pid, "consume").len() == 2).then_some(())
    });
    std::thread::sleep(std::time::Duration::from_secs(3));
    display.picture("demo.png");
    assert!(!is_gone(pid), "the window is open");
    signal(pid, Signal::TERM);
    let finished = window.wait();
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

/// What a window is told to do by another program.
fn order_window(display: &Display, order: &str) -> bool {
    let xdotool = |arguments: &[&str]| {
        Command::new("xdotool")
            .args(arguments)
            .env("DISPLAY", &display.name)
            .output()
    };
    if xdotool(&["version"]).is_err() {
        println!("skipped: xdotool is not installed");
        return false;
    }
    let window = eventually("a window", || {
        let found = xdotool(&["search", "--name", "Ringside"]).ok()?;
        let found = String::from_utf8_lossy(&found.stdout).into_owned();
        found.lines().last().map(str::to_owned)
    });
    // On screen for a while, so that it paints when it is destroyed.
    std::thread::sleep(std::time::Duration::from_secs(2));
    xdotool(&[order, &window]).is_ok_and(|done| done.status.success())
}

#[test]
fn a_window_destroyed_from_outside_ends_in_order_and_leaves_nothing() {
    let Some(display) = Display::open(&["-noreset"]) else {
        return;
    };
    // XDestroyWindow, and XKillClient as `xkill` does it.
    for order in ["windowclose", "windowkill"] {
        let arguments = live_session();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let window = start(&mut display.window(&arguments));
        let pid = window.id();
        eventually("a model's process", || {
            children(pid, "consume").first().copied()
        });
        if !order_window(&display, order) {
            signal(pid, Signal::TERM);
            window.wait();
            return;
        }
        let below = descendants(pid);
        let finished = window.wait();
        // Both are gone before the program is, not after it.
        assert!(below.iter().all(|&pid| is_gone(pid)), "{order}: {below:?}");
        assert_eq!(finished.code(), 1, "{order}: {}", finished.stderr);
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
        let ours: Vec<&str> = finished
            .stderr
            .lines()
            .filter(|line| line.starts_with("ringside: "))
            .collect();
        assert_eq!(ours.len(), 1, "{order}: {}", finished.stderr);
        assert!(ours[0].contains("the window is gone"), "{}", ours[0]);
        assert!(ours[0].contains("ringside run"), "{}", ours[0]);
    }
}

/// Pixels of the display that have this colour, where ImageMagick is installed.
fn count_pixels(display: &Display, name: &str, wanted: impl Fn([u8; 3]) -> bool) -> Option<usize> {
    display.picture(name);
    let picture = image::open(root().join("target/pictures").join(name)).ok()?;
    let pixels = picture.into_rgb8();
    Some(pixels.pixels().filter(|pixel| wanted(pixel.0)).count())
}

#[test]
fn c12_frames_are_shown_when_onnx_runtime_is_broken() {
    let Some(display) = Display::open(&[]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join("magenta.png");
    image::RgbImage::from_pixel(320, 240, image::Rgb([255, 0, 255]))
        .save(&picture)
        .expect("a picture");
    let library = folder.path().join("libonnxruntime.so");
    std::fs::write(&library, "not a library").expect("a file");
    let model = data("cases/frameid.onnx");
    let source = support::image(&picture);
    let mut command = display.window(&["gui", "--device", "cpu", "--source", &source, "--model"]);
    command.arg(&model).env("ORT_DYLIB_PATH", &library);
    let window = start(&mut command);
    let pid = window.id();
    let is_magenta = |pixel: [u8; 3]| pixel[0] > 240 && pixel[1] < 16 && pixel[2] > 240;
    let seen = eventually("the source's picture, or nothing to see it with", || {
        assert!(!is_gone(pid), "the window is open");
        std::thread::sleep(std::time::Duration::from_millis(300));
        match count_pixels(&display, "runtime_broken.png", is_magenta) {
            Some(0..10_000) => None,
            seen => Some(seen),
        }
    });
    println!("{seen:?} pixels of the source");
    signal(pid, Signal::TERM);
    window.wait();
}

#[test]
fn a_display_without_a_usable_configuration_is_said_in_one_line() {
    let server = Display::open_at("1280x820x8", &[]);
    let Some(display) = server else {
        return;
    };
    let arguments = live_session();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let finished = finish(&mut display.window(&arguments));
    assert_eq!(finished.code(), 1, "{}", finished.stderr);
    let ours = finished
        .stderr
        .lines()
        .filter(|line| line.starts_with("ringside: "));
    assert_eq!(ours.count(), 1, "{}", finished.stderr);
    assert!(
        finished.stderr.contains(&display.name),
        "{}",
        finished.stderr
    );
    assert!(finished.stderr.contains("OpenGL"), "{}", finished.stderr);
}

#[test]
fn a_display_that_is_not_there_is_said_without_a_place_in_a_source_file() {
    let arguments = live_session();
    let finished = finish(
        ringside(arguments)
            .env("DISPLAY", ":6553")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET"),
    );
    assert_eq!(finished.code(), 1, "{}", finished.stderr);
    assert!(finished.stderr.contains(":6553"), "{}", finished.stderr);
    assert!(!finished.stderr.contains(".rs"), "{}", finished.stderr);
    assert_eq!(
        finished.stderr.trim_end().lines().count(),
        1,
        "{}",
        finished.stderr
    );
}

#[test]
fn bad_arguments_of_the_window_are_refused_before_it_opens() {
    let finished = finish(ringside(["gui", "--fps=-1"]).env("DISPLAY", ":6553"));
    assert_eq!(finished.code(), 2, "{}", finished.stderr);
    assert!(finished.stderr.contains("fps = -1 is not a rate"));
    assert!(!finished.stderr.contains("ringside run"));
}

#[test]
fn c46_without_a_display_the_window_says_so_in_one_line() {
    let arguments = live_session();
    let finished = finish(
        ringside(arguments)
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET"),
    );
    assert_ne!(finished.code(), 0);
    assert_eq!(
        finished.stderr.trim_end().lines().count(),
        1,
        "{}",
        finished.stderr
    );
    assert!(
        finished.stderr.contains("ringside run"),
        "{}",
        finished.stderr
    );
    println!("{:.2} s", finished.seconds);
}

#[test]
fn c46_a_display_without_opengl_is_drawn_in_software_or_said() {
    let Some(display) = Display::open(&["-extension", "GLX"]) else {
        return;
    };
    let arguments = live_session();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let window = start(&mut display.window(&arguments));
    let pid = window.id();
    let works = eventually("a window or an end", || {
        if is_gone(pid) {
            Some(false)
        } else {
            children(pid, "consume").first().map(|_| true)
        }
    });
    if works {
        signal(pid, Signal::TERM);
    }
    let finished = window.wait();
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    assert!(
        works || finished.stderr.contains("OpenGL"),
        "{}",
        finished.stderr
    );
}

#[test]
fn without_a_display_the_demo_runs_once_in_the_terminal() {
    let none: [&str; 0] = [];
    let finished = finish(
        ringside(none)
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET"),
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    assert!(finished.stderr.contains("terminal"), "{}", finished.stderr);
    assert!(
        finished.stdout.contains("13 frames published"),
        "{}",
        finished.stdout
    );
}
