//! The window over a fake session: every state is drawn, every command can be reached.

#[path = "window/fake.rs"]
mod fake;
#[path = "window/files.rs"]
mod files;
#[path = "window/harness.rs"]
mod harness;
#[path = "window/layout.rs"]
mod layout;
#[path = "window/layouts.rs"]
mod layouts;
#[path = "window/panels.rs"]
mod panels;
#[path = "window/rewind.rs"]
mod rewind;
#[path = "window/runtime.rs"]
mod runtime;
#[path = "window/sources.rs"]
mod sources;
#[path = "window/timeline.rs"]
mod timeline;
#[path = "window/troubles.rs"]
mod troubles;
#[path = "window/words.rs"]
mod words;

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui_kittest::kittest::Queryable;
use harness::{copied, has, has_part, wait_for, window};
use ringside::prediction::{Output, TensorSummary};
use ringside::session::{ChildState, SessionCommand, SessionPhase, ShownPrediction};

#[test]
fn a_running_session_shows_each_model_with_its_frame_and_answer() {
    let (mut harness, _) = window(fake::running(154));
    wait_for(&mut harness, "tiger cat 61.2 %");
    assert!(has(&harness, "Source: LIVE"));
    assert!(has(&harness, "lite0"));
    assert!(has(&harness, "lite0-int8"));
    // Photograph 154 is the cat; the second model is 7 % less sure.
    assert_eq!(harness.query_all_by_label("Frame 154").count(), 2);
    assert!(has(&harness, "tiger cat 56.9 %"));
    assert!(has(&harness, "154 predicted"));
    assert!(has(&harness, "0 dropped"));
    assert!(has_part(&harness, "Agreement  lite0 ↔ lite0-int8"));
    assert!(has_part(&harness, "frame age"));
}

#[test]
fn an_answer_appears_together_with_its_own_frame() {
    let (mut harness, fake) = window(fake::running(154));
    wait_for(&mut harness, "Frame 154");
    fake.set(fake::running(155));
    wait_for(&mut harness, "Frame 155");
    assert!(has(&harness, "espresso 89.4 %"));
    assert!(!has(&harness, "Frame 154"));
    assert!(!has(&harness, "tiger cat 61.2 %"));
}

#[test]
fn models_say_what_they_are_doing_before_the_first_answer() {
    let (harness, _) = window(fake::loading());
    assert!(has(&harness, "Source: CONNECTING"));
    assert!(has(&harness, "Loading ONNX Runtime 1.31.1"));
    assert!(has(&harness, "Loading efficientnet_lite0_int8.onnx"));
}

#[test]
fn a_paused_model_can_be_resumed() {
    let mut view = fake::running(154);
    view.models[1].child = ChildState::Paused;
    let (mut harness, fake) = window(view);
    // Its arrival moves what stands below it.
    wait_for(&mut harness, "Frame 154");
    harness.get_by_label("Resume").click();
    harness.run_ok();
    let name = "lite0-int8".to_owned();
    assert_eq!(fake.take_sent(), [SessionCommand::ResumeModel { name }]);
}

#[test]
fn a_model_can_be_paused_and_restarted_from_its_menu() {
    let (mut harness, fake) = window(fake::running(154));
    wait_for(&mut harness, "Frame 154");
    for (item, command) in [
        (
            "Pause model",
            SessionCommand::PauseModel {
                name: "lite0".to_owned(),
            },
        ),
        (
            "Restart",
            SessionCommand::Restart {
                model: Some("lite0".to_owned()),
            },
        ),
    ] {
        harness.get_by_label("Menu of lite0").click();
        harness.run_ok();
        harness.get_by_label(item).click();
        harness.run_ok();
        assert_eq!(fake.take_sent(), [command]);
    }
}

#[test]
fn outputs_without_a_decoder_and_unusable_ones_are_shown_as_such() {
    let mut view = fake::running(154);
    let with_output = |shown: &Option<Arc<ShownPrediction>>, output| {
        let mut shown = (**shown.as_ref().expect("an answer")).clone();
        shown.event.output = output;
        Some(Arc::new(shown))
    };
    let tensor = TensorSummary {
        name: "boxes".to_owned(),
        dtype: "f32".to_owned(),
        shape: vec![1, 8],
        min: Some(-0.5),
        max: Some(2.25),
        mean: Some(0.125),
        nan: 0,
        values: None,
    };
    let raw = Output::Raw {
        tensors: vec![tensor],
    };
    view.models[0].shown = with_output(&view.models[0].shown, raw);
    let invalid = Output::Invalid {
        reason: "3 NaN in output0".to_owned(),
    };
    view.models[1].shown = with_output(&view.models[1].shown, invalid);
    let (mut harness, _) = window(view);
    wait_for(&mut harness, "boxes  f32 [1 × 8]");
    assert!(has(&harness, "min -0.5000   mean 0.1250   max 2.2500"));
    assert!(has(&harness, "3 NaN in output0"));
}

#[test]
fn buttons_play_pause_step_rewind_and_loop() {
    let mut view = fake::running(154);
    view.source.looping = false;
    let (mut harness, fake) = window(view.clone());
    for (button, commands) in [
        ("Pause", vec![SessionCommand::Pause]),
        ("Step", vec![SessionCommand::Step { frames: 1 }]),
        (
            "To the start",
            vec![SessionCommand::Seek { source_index: 0 }],
        ),
        ("Loop", vec![SessionCommand::Loop { on: true }]),
    ] {
        harness.get_by_label(button).click();
        harness.run_ok();
        assert_eq!(fake.take_sent(), commands, "{button}");
    }
    view.phase = SessionPhase::Paused;
    fake.set(view.clone());
    harness.run_ok();
    harness.get_by_label("Play").click();
    harness.run_ok();
    assert_eq!(fake.take_sent(), [SessionCommand::Play]);
    view.phase = SessionPhase::Ended;
    fake.set(view);
    harness.run_ok();
    assert!(has(&harness, "Source: ENDED"));
    harness.get_by_label("Play again").click();
    harness.run_ok();
    assert_eq!(
        fake.take_sent(),
        [
            SessionCommand::Seek { source_index: 0 },
            SessionCommand::Play
        ]
    );
}

#[test]
fn keys_do_what_buttons_do() {
    let (mut harness, fake) = window(fake::running(154));
    for (key, command) in [
        (egui::Key::Space, SessionCommand::Pause),
        (egui::Key::Period, SessionCommand::Step { frames: 1 }),
        (egui::Key::ArrowRight, SessionCommand::Step { frames: 1 }),
        (egui::Key::Home, SessionCommand::Seek { source_index: 0 }),
        (egui::Key::L, SessionCommand::Loop { on: false }),
    ] {
        harness.key_press(key);
        harness.step();
        assert_eq!(fake.take_sent(), [command], "{key:?}");
        harness.run_ok();
    }
}

#[test]
fn keys_belong_to_the_text_field_while_one_types() {
    let (mut harness, fake) = window(fake::running(154));
    harness.key_press(egui::Key::F3);
    harness.run_ok();
    harness
        .get_by_role(egui::accesskit::Role::TextInput)
        .click();
    harness.run_ok();
    harness.key_press(egui::Key::L);
    harness.key_press(egui::Key::Space);
    harness.run_ok();
    assert_eq!(fake.take_sent(), []);
}

#[test]
fn number_keys_show_one_model_alone() {
    let (mut harness, _) = window(fake::running(154));
    assert!(has(&harness, "Menu of lite0"));
    harness.key_press(egui::Key::Num2);
    harness.run_ok();
    assert!(!has(&harness, "Menu of lite0"));
    assert!(has(&harness, "Menu of lite0-int8"));
    harness.key_press(egui::Key::Num2);
    harness.run_ok();
    assert!(has(&harness, "Menu of lite0"));
    harness.key_press(egui::Key::Num1);
    harness.run_ok();
    assert!(!has(&harness, "Menu of lite0-int8"));
    harness.key_press(egui::Key::Num0);
    harness.run_ok();
    assert!(has(&harness, "Menu of lite0-int8"));
}

#[test]
fn the_log_shows_lines_with_hints_and_can_be_copied() {
    let (mut harness, _) = window(fake::running(154));
    harness.get_by_label("Log · 3").click();
    harness.run_ok();
    assert!(has_part(&harness, "restarted, attempt 1"));
    assert!(has_part(&harness, "→ See the last lines"));
    harness.get_by_label("Copy").click();
    let copied = copied(&mut harness);
    assert!(
        copied.contains("killed by signal 9; 1 frame lost"),
        "{copied}"
    );
}

#[test]
fn the_theme_can_be_switched() {
    let (mut harness, _) = window(fake::running(154));
    let before = harness.ctx.theme();
    harness.get_by_label("Theme").click();
    harness.run_ok();
    let first = harness.ctx.theme();
    harness.key_press(egui::Key::T);
    harness.run_ok();
    let second = harness.ctx.theme();
    assert!(first != before || second != before);
}

#[test]
fn the_sheet_of_keys_opens_and_closes() {
    let (mut harness, _) = window(fake::running(154));
    harness.key_press(egui::Key::Questionmark);
    harness.run_ok();
    assert!(has(&harness, "Q or Ctrl+Q"));
    harness.key_press(egui::Key::Escape);
    harness.run_ok();
    assert!(!has(&harness, "Q or Ctrl+Q"));
}

#[test]
fn a_paused_window_asks_for_no_repaint() {
    let mut view = fake::running(154);
    view.phase = SessionPhase::Paused;
    let (mut harness, _) = window(view);
    wait_for(&mut harness, "Frame 154");
    // The preview's thread may still be at the size of the panels.
    let begin = Instant::now();
    loop {
        harness.run();
        let delay = harness.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay;
        if delay == Duration::MAX {
            break;
        }
        assert!(begin.elapsed() < harness::LONG, "repaints in {delay:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
