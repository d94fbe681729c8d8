//! Processes, log, toasts and the command palette.

use std::path::Path;
use std::sync::Arc;

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use ringside::base::monotonic_nanos;
use ringside::gui::App;
use ringside::session::{LogLevel, LogLine, SessionCommand, SessionView};

use crate::fake;
use crate::harness::{copied, has, has_part, wait_for, window, window_of_size};

/// A line of the log that has just come.
fn line(level: LogLevel, about: &str, message: &str) -> LogLine {
    LogLine {
        at_nanos: monotonic_nanos(),
        level,
        about: about.to_owned(),
        message: message.to_owned(),
        hint: None,
    }
}

fn with_lines(mut view: SessionView, lines: Vec<LogLine>) -> SessionView {
    view.log = view
        .log
        .iter()
        .cloned()
        .chain(lines)
        .collect::<Vec<_>>()
        .into();
    view
}

fn click(harness: &mut Harness<'_, App>, name: &str) {
    harness.get_by_label(name).click();
    harness.run_ok();
}

fn alerts(harness: &Harness<'_, App>) -> Vec<String> {
    harness
        .root()
        .children_recursive()
        .filter(|node| node.accesskit_node().role() == egui::accesskit::Role::Alert)
        .filter_map(|node| node.accesskit_node().label())
        .collect()
}

#[test]
fn the_process_view_says_what_each_process_uses_and_can_steer_it() {
    let (mut harness, fake) = window_of_size(fake::running(154), [1600.0, 900.0]);
    harness.key_press(Key::F4);
    harness.run_ok();
    for words in ["4711", "0.31 cores", "61.0 MB", "1.02 cores", "214.0 MB"] {
        assert!(has(&harness, words), "{words}");
    }
    assert!(has(&harness, "generation 1 · 42.0 MB · 7 slots"));
    assert!(has(
        &harness,
        "Slots of the ring: 5 free, 1 pinned, 1 being written"
    ));
    let name = || "lite0".to_owned();
    for (button, command) in [
        ("Pause: lite0", SessionCommand::PauseModel { name: name() }),
        (
            "Restart: lite0",
            SessionCommand::Restart {
                model: Some(name()),
            },
        ),
        ("Restart: producer", SessionCommand::Restart { model: None }),
        (
            "Remove: lite0",
            SessionCommand::RemoveModel { name: name() },
        ),
        (
            "Save repro: lite0",
            SessionCommand::CaptureRepro {
                model: name(),
                folder: Path::new("repro").to_owned(),
            },
        ),
    ] {
        click(&mut harness, button);
        assert_eq!(fake.take_sent(), [command], "{button}");
    }
    let saved = line(
        LogLevel::Info,
        "lite0",
        "frame 154 is saved in /home/a/repro/lite0-000154",
    );
    fake.set(with_lines(fake::running(154), vec![saved]));
    wait_for(
        &mut harness,
        "lite0: frame 154 is saved in /home/a/repro/lite0-000154",
    );
}

#[test]
fn the_process_view_shows_the_last_words_of_a_crashed_process() {
    let (mut harness, _) = window(fake::failing(154));
    harness.key_press(Key::F4);
    harness.run_ok();
    assert!(has(&harness, "Last lines of lite0-int8"));
    assert_eq!(
        harness
            .query_all_by_label("consumer: exiting with code 4")
            .count(),
        2,
        "in the tile and in the view"
    );
}

#[test]
fn the_log_is_filtered_by_process_and_a_line_is_copied() {
    let (mut harness, _) = window(fake::running(154));
    harness.key_press(Key::F3);
    harness.run_ok();
    assert!(has_part(&harness, "7 slots of 6.0 MB"));
    assert!(has_part(&harness, "broken.jpg was left out"));
    harness.get_by_label("Lines of this process").click();
    harness.run_ok();
    let sources: Vec<_> = harness.query_all_by_label("source").collect();
    let choice = sources
        .iter()
        .find(|node| node.accesskit_node().role() == egui::accesskit::Role::Button)
        .expect("a choice");
    choice.click();
    harness.run_ok();
    assert!(!has_part(&harness, "7 slots of 6.0 MB"));
    let copy = "Copy this line: broken.jpg was left out: JPEG ends after 1 234 bytes";
    harness.get_by_label(copy).click();
    let copied = copied(&mut harness);
    let line = "warning source: broken.jpg was left out: JPEG ends after 1 234 bytes";
    assert!(copied.ends_with(line), "{copied}");
}

#[test]
fn the_log_follows_its_end_unless_it_is_scrolled_away() {
    let lines = |number: usize| {
        (0..number)
            .map(|place| line(LogLevel::Info, "session", &format!("line {place}")))
            .collect::<Vec<_>>()
    };
    let (mut harness, fake) = window(with_lines(fake::running(154), lines(100)));
    harness.key_press(Key::F3);
    harness.run_ok();
    assert!(has(&harness, "line 99"));
    fake.set(with_lines(fake::running(154), lines(120)));
    wait_for(&mut harness, "line 119");
    let at = harness.get_by_label("line 119").rect().center();
    harness.event(egui::Event::PointerMoved(at));
    harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, 800.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    });
    wait_for(&mut harness, "To the newest line");
    for _ in 0..60 {
        harness.step();
    }
    assert!(!has(&harness, "line 119"));
    fake.set(with_lines(fake::running(154), lines(140)));
    for _ in 0..10 {
        std::thread::sleep(std::time::Duration::from_millis(30));
        harness.step();
    }
    assert!(!has(&harness, "line 139"));
    click(&mut harness, "To the newest line");
    wait_for(&mut harness, "line 139");
}

#[test]
fn new_warnings_are_shown_beside_everything_and_no_more_than_three() {
    let (mut harness, fake) = window(fake::running(154));
    wait_for(&mut harness, "Frame 154");
    assert_eq!(
        alerts(&harness),
        [""; 0],
        "what was there before is in the log"
    );
    let lines = (1..=5)
        .map(|place| line(LogLevel::Warning, "source", &format!("trouble {place}")))
        .chain([line(LogLevel::Info, "source", "no trouble")])
        .collect();
    fake.set(with_lines(fake::running(154), lines));
    wait_for(&mut harness, "Dismiss: trouble 5");
    assert_eq!(
        alerts(&harness),
        [
            "warning: trouble 3",
            "warning: trouble 4",
            "warning: trouble 5"
        ]
    );
    let dismiss: Vec<egui::Rect> = harness
        .query_all_by_label_contains("Dismiss: ")
        .map(|button| button.rect())
        .collect();
    // One line each, one below the other.
    for pair in dismiss.windows(2) {
        let step = (pair[1].top() - pair[0].top()).abs();
        assert!((20.0..40.0).contains(&step), "{dismiss:?}");
    }
    for control in [
        "Menu of lite0",
        "Menu of lite0-int8",
        "Latency",
        "Log · 8",
        "Pause",
    ] {
        let control = harness.get_by_label(control).rect();
        assert!(dismiss.iter().all(|toast| !toast.intersects(control)));
    }
    // The strip has its height from its second pass on.
    harness.step();
    click(&mut harness, "Dismiss: trouble 4");
    assert_eq!(alerts(&harness).len(), 2);
    harness.key_press(Key::F3);
    harness.run_ok();
    assert_eq!(alerts(&harness), [""; 0], "the log is on screen");
}

#[test]
fn a_command_is_found_and_run_without_a_mouse() {
    let (mut harness, fake) = window(fake::running(154));
    for (key, query, command) in [
        (Key::K, "step", SessionCommand::Step { frames: 1 }),
        (Key::P, "单步", SessionCommand::Step { frames: 1 }),
        (
            Key::P,
            "rslt8",
            SessionCommand::Restart {
                model: Some("lite0-int8".to_owned()),
            },
        ),
    ] {
        harness.key_press_modifiers(Modifiers::COMMAND, key);
        harness.run_ok();
        let field = harness.get_by_label("Find a command");
        assert!(field.accesskit_node().is_focused());
        harness.event(egui::Event::Text(query.to_owned()));
        harness.run_ok();
        harness.key_press(Key::Enter);
        harness.run_ok();
        assert_eq!(fake.take_sent(), [command], "{query}");
        assert!(!has(&harness, "Find a command"), "it is closed");
    }
    harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    harness.run_ok();
    harness.event(egui::Event::Text("lite0".to_owned()));
    harness.run_ok();
    harness.key_press(Key::ArrowDown);
    harness.run_ok();
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert!(!has(&harness, "Find a command"));
    assert_eq!(fake.take_sent(), []);
}

#[test]
fn nothing_moves_where_motion_is_reduced() {
    let (mut harness, _) = window(fake::running(154));
    let style = |harness: &Harness<'_, App>| Arc::clone(&harness.ctx.global_style());
    let mut seen = Vec::new();
    for _ in 0..2 {
        harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
        harness.run_ok();
        harness.event(egui::Event::Text("reduce motion".to_owned()));
        harness.run_ok();
        harness.key_press(Key::Enter);
        harness.run_ok();
        seen.push(style(&harness));
    }
    // Which of both comes first depends on the desktop.
    seen.sort_by(|a, b| a.animation_time.total_cmp(&b.animation_time));
    assert_eq!(seen[0].animation_time, 0.0);
    assert!(!seen[0].visuals.text_cursor.blink);
    assert!(seen[1].animation_time > 0.0);
}
