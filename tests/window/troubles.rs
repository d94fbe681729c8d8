//! What the window shows when a source or a model does not work.

use egui_kittest::kittest::Queryable;
use ringside::base::monotonic_nanos;
use ringside::session::{ChildState, SessionCommand};

use crate::fake;
use crate::harness::{has, has_part, wait_for, window, window_of_size};

#[test]
fn a_model_that_was_given_up_says_why_and_what_to_do_and_can_be_restarted() {
    let (mut harness, fake) = window(fake::failing(154));
    // Its arrival moves what stands below it.
    wait_for(&mut harness, "Source frame 154");
    assert!(has_part(&harness, "opset 99"));
    assert!(has_part(&harness, "Export the model with opset 26"));
    assert!(has_part(&harness, "Unsupported model opset"));
    harness.get_by_label("Restart").click();
    harness.run_ok();
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
    // It goes on.
    fake.set(fake::failing(155));
    wait_for(&mut harness, "Source frame 155");
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
    wait_for(&mut harness, "Source frame 154");
    assert!(has_part(&harness, "killed by signal 9"));
    assert!(has(&harness, "1 lost"));
    harness.get_by_label("Restart now").click();
    harness.run_ok();
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
fn a_source_that_cannot_be_opened_says_why_and_can_be_restarted() {
    let (mut harness, fake) = window(fake::no_source());
    assert!(has(&harness, "Source: FAILED"));
    assert!(has_part(&harness, "/data/pictures: no such folder"));
    assert!(has_part(&harness, "Name a folder that exists"));
    harness.get_by_label("Restart source").click();
    harness.run_ok();
    assert_eq!(fake.take_sent(), [SessionCommand::Restart { model: None }]);
}

#[test]
fn a_session_without_models_offers_to_add_one() {
    let (harness, _) = window(fake::empty());
    assert!(has(&harness, "No model yet"));
    assert!(has(&harness, "Add a model"));
    assert!(!has(&harness, "Choose a source"));
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
