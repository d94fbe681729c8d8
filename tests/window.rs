//! The window over a fake session: every state is drawn, every command can be reached.

#[path = "window/fake.rs"]
mod fake;

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use fake::FakeSession;
use ringside::base::monotonic_nanos;
use ringside::gui::App;
use ringside::prediction::{Output, TensorSummary};
use ringside::session::{ChildState, SessionCommand, SessionPhase, SessionView, ShownPrediction};

/// A guard against a hang, not a limit on speed.
const LONG: Duration = Duration::from_secs(60);

fn window(view: SessionView) -> (Harness<'static, App>, FakeSession) {
    window_of_size(view, [1280.0, 820.0])
}

fn window_of_size(view: SessionView, size: [f32; 2]) -> (Harness<'static, App>, FakeSession) {
    let fake = FakeSession::new(view);
    let session = fake.clone();
    let harness = Harness::builder()
        .with_size(size)
        .with_max_steps(20)
        .build_eframe(move |creation| {
            App::new(&creation.egui_ctx, fake::photographs(), move |wake| {
                session.set_wake(wake);
                Ok(Box::new(session))
            })
            .expect("a window without a display")
        });
    (harness, fake)
}

/// Runs passes until a label is there: previews come from another thread.
fn wait_for(harness: &mut Harness<'_, App>, label: &str) {
    let begin = Instant::now();
    while harness.query_all_by_label(label).next().is_none() {
        assert!(begin.elapsed() < LONG, "`{label}` never came");
        std::thread::sleep(Duration::from_millis(5));
        harness.step();
    }
}

fn has(harness: &Harness<'_, App>, label: &str) -> bool {
    harness.query_all_by_label(label).next().is_some()
}

fn has_part(harness: &Harness<'_, App>, part: &str) -> bool {
    harness.query_all_by_label_contains(part).next().is_some()
}

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
fn a_model_that_was_given_up_says_why_and_what_to_do_and_can_be_restarted() {
    let (mut harness, fake) = window(fake::failing(154));
    assert!(has_part(&harness, "opset 99"));
    assert!(has_part(&harness, "Export the model with opset 26"));
    assert!(has_part(&harness, "Unsupported model opset"));
    harness.get_by_label("Restart").click();
    harness.step();
    harness.step();
    let model = Some("lite0-int8".to_owned());
    assert_eq!(fake.take_sent(), [SessionCommand::Restart { model }]);
}

#[test]
fn frames_are_shown_in_the_place_of_a_model_that_was_given_up() {
    let (mut harness, fake) = window(fake::failing(154));
    let newest = "Source frame 154";
    wait_for(&mut harness, newest);
    assert!(has_part(&harness, "opset 99"));
    // The picture of one is beside, not below, the words of the other.
    let picture = harness.get_by_label(newest).rect();
    let error = harness.get_by_label_contains("opset 99").rect();
    assert!(!picture.intersects(error), "{picture} and {error}");
    harness.get_by_label("Show log").click();
    harness.run_ok();
    assert!(has_part(&harness, "killed by signal 9"));
    assert!(
        !has_part(&harness, "ring /ringside-fake"),
        "another process"
    );
    assert_eq!(fake.take_sent(), []);
}

#[test]
fn frames_are_shown_when_all_models_have_failed() {
    for size in [[900.0, 600.0], [1280.0, 820.0]] {
        let (mut harness, _) = window_of_size(fake::all_failed(154), size);
        let newest = format!("Source frame {}", fake::NEWEST);
        wait_for(&mut harness, &newest);
        assert_eq!(harness.query_all_by_label(&newest).count(), 2);
        assert_eq!(
            harness
                .query_all_by_label_contains("is not ONNX Runtime")
                .count(),
            2
        );
        assert_eq!(harness.query_all_by_label("Restart").count(), 2);
        for picture in harness.query_all_by_label(&newest) {
            let rect = picture.rect();
            assert!(rect.width() > 100.0 && rect.height() > 60.0, "{rect}");
        }
    }
}

#[test]
fn a_source_that_waits_for_a_model_says_for_whom() {
    let mut view = fake::running(154);
    view.source.waits_for = Some("lite0-int8".to_owned());
    let (harness, _) = window(view);
    assert!(has(&harness, "Source: WAITS FOR lite0-int8"));
    assert!(!has(&harness, "Source: LIVE"));
}

#[test]
fn models_without_a_source_say_so() {
    let mut view = fake::no_source();
    for model in &mut view.models {
        model.child = ChildState::Starting {
            step: "starting".to_owned(),
        };
    }
    let (harness, _) = window(view);
    assert_eq!(harness.query_all_by_label("No source").count(), 2);
    assert!(!has(&harness, "Starting"));
    let mut view = fake::loading();
    view.ring = None;
    view.models[0].child = ChildState::Starting {
        step: "starting".to_owned(),
    };
    let (harness, _) = window(view);
    assert!(has(&harness, "Waits for the source"));
}

#[test]
fn a_crashed_model_says_how_it_died_and_can_be_restarted_at_once() {
    let (mut harness, fake) = window(fake::failing(154));
    assert!(has_part(&harness, "killed by signal 9"));
    assert!(has(&harness, "1 lost"));
    harness.get_by_label("Restart now").click();
    harness.step();
    harness.step();
    let model = Some("lite0".to_owned());
    assert_eq!(fake.take_sent(), [SessionCommand::Restart { model }]);
}

#[test]
fn a_stale_source_and_a_stale_model_show_their_age() {
    let mut view = fake::running(154);
    let now = monotonic_nanos();
    view.source.stale_since = Some(now - 125_000_000_000);
    view.models[0].child = ChildState::Stale {
        since_nanos: now - 125_000_000_000,
    };
    let (harness, _) = window(view);
    assert!(has_part(&harness, "Source: STALE 2 min"));
    assert!(has_part(&harness, "No answer for 2 min"));
}

#[test]
fn a_paused_model_can_be_resumed() {
    let mut view = fake::running(154);
    view.models[1].child = ChildState::Paused;
    let (mut harness, fake) = window(view);
    harness.get_by_label("Resume").click();
    harness.step();
    harness.step();
    let name = "lite0-int8".to_owned();
    assert_eq!(fake.take_sent(), [SessionCommand::ResumeModel { name }]);
}

#[test]
fn a_model_can_be_paused_and_restarted_from_its_menu() {
    let (mut harness, fake) = window(fake::running(154));
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
        harness.step();
        harness.step();
        harness.get_by_label(item).click();
        harness.step();
        harness.step();
        assert_eq!(fake.take_sent(), [command]);
        harness.run_ok();
    }
}

#[test]
fn a_source_that_cannot_be_opened_says_why_and_can_be_restarted() {
    let (mut harness, fake) = window(fake::no_source());
    assert!(has(&harness, "Source: FAILED"));
    assert!(has_part(&harness, "/data/pictures: no such folder"));
    assert!(has_part(&harness, "Name a folder that exists"));
    harness.get_by_label("Restart source").click();
    harness.step();
    harness.step();
    assert_eq!(fake.take_sent(), [SessionCommand::Restart { model: None }]);
}

#[test]
fn a_session_without_models_says_how_to_name_one() {
    let (harness, _) = window(fake::empty());
    assert!(has(&harness, "No model yet"));
    assert!(has_part(&harness, "--model MODEL.onnx"));
}

#[test]
fn frames_are_shown_while_there_is_no_model() {
    let mut view = fake::running(154);
    view.models.clear();
    let (mut harness, _) = window(view);
    let newest = format!("Source frame {}", fake::NEWEST);
    wait_for(&mut harness, &newest);
    let picture = harness.get_by_label(&newest).rect();
    let words = harness.get_by_label("No model yet").rect();
    assert!(picture.bottom() <= words.top(), "{picture} and {words}");
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
        harness.step();
        harness.step();
        assert_eq!(fake.take_sent(), commands, "{button}");
    }
    view.phase = SessionPhase::Paused;
    fake.set(view.clone());
    harness.run_ok();
    harness.get_by_label("Play").click();
    harness.step();
    harness.step();
    assert_eq!(fake.take_sent(), [SessionCommand::Play]);
    view.phase = SessionPhase::Ended;
    fake.set(view);
    harness.run_ok();
    assert!(has(&harness, "Source: ENDED"));
    harness.get_by_label("Play again").click();
    harness.step();
    harness.step();
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
    harness.step();
    harness.step();
    let copied = harness
        .output()
        .platform_output
        .commands
        .iter()
        .any(|command| {
            matches!(command, egui::OutputCommand::CopyText(text)
                if text.contains("killed by signal 9; 1 frame lost"))
        });
    assert!(copied);
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
    harness.run();
    let delay = harness.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay;
    assert_eq!(delay, Duration::MAX);
}

#[test]
fn tiles_of_many_models_keep_their_size_and_show_name_age_and_badge() {
    for size in [[900.0, 600.0], [1280.0, 820.0], [3840.0, 2160.0]] {
        for models in [1, 2, 3, 4, 6, 8, 12] {
            let view = fake::many(models, 333);
            let names: Vec<String> = view
                .models
                .iter()
                .map(|model| model.spec.name.clone())
                .collect();
            let (mut harness, _) = window_of_size(view, size);
            let what = format!("{models} models at {size:?}");
            let begin = Instant::now();
            while harness.query_all_by_label_contains("frame age ").count() < models {
                assert!(begin.elapsed() < LONG, "{what}: answers never came");
                std::thread::sleep(Duration::from_millis(5));
                harness.step();
            }
            let menus: Vec<egui::Rect> = names
                .iter()
                .map(|name| harness.get_by_label(&format!("Menu of {name}")).rect())
                .collect();
            let ages: Vec<egui::Rect> = harness
                .query_all_by_label_contains("frame age ")
                .map(|age| age.rect())
                .collect();
            assert_eq!(ages.len(), models, "{what}");
            for (place, name) in names.iter().enumerate() {
                let title = harness.get_by_label(name).rect();
                assert!(title.width() > 20.0, "{what}: {name} at {title}");
                for age in &ages {
                    assert!(!title.intersects(*age), "{what}: {name} and {age}");
                }
                for other in &menus[place + 1..] {
                    assert!(!menus[place].intersects(*other), "{what}");
                }
            }
            let badges: Vec<egui::Rect> = harness
                .query_all_by_label(fake::GPU_BADGE)
                .map(|badge| badge.rect())
                .collect();
            assert_eq!(badges.len(), models / 3, "{what}");
            for badge in badges {
                // Its words take about 250 points; shortened, it would be narrower.
                assert!(badge.width() > 230.0, "{what}: {badge}");
                assert!(badge.right() <= size[0], "{what}: {badge}");
                for menu in &menus {
                    assert!(!badge.intersects(*menu), "{what}: {badge} and {menu}");
                }
            }
        }
    }
}

#[test]
fn everything_fits_a_small_window_and_a_scaled_one() {
    for (size, scale) in [
        ([720.0, 480.0], 1.0),
        ([900.0, 600.0], 2.0),
        ([3840.0, 2160.0], 1.0),
    ] {
        let (mut harness, _) = window_of_size(fake::running(154), size);
        harness.set_pixels_per_point(scale);
        harness.run_ok();
        wait_for(&mut harness, "tiger cat 61.2 %");
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, size.into());
        for control in ["Pause", "Step", "Loop", "Theme", "Keys", "Latency"] {
            let rect = harness.get_by_label(control).rect();
            assert!(
                screen.contains_rect(rect),
                "{control} at {rect:?} of {size:?}"
            );
        }
    }
}
