//! Looking back, zooming, and saving what is shown.

use std::path::PathBuf;
use std::time::Instant;

use egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use ringside::gui::App;
use tempfile::TempDir;

use crate::fake::{self, FakeSession};
use crate::harness::{LONG, copied, has, has_part, kept_text, wait_for, window};

/// A window that has shown frames 151 to `last`, one after another, and keeps them all.
fn shown_up_to(last: u64) -> (Harness<'static, App>, FakeSession) {
    let (mut harness, fake) = window(fake::running(151));
    for seq in 151..=last {
        fake.set(fake::running(seq));
        wait_for(&mut harness, &format!("Frame {seq}"));
        let kept = kept_text(seq - 150);
        let begin = Instant::now();
        while !has_part(&harness, &kept) {
            assert!(begin.elapsed() < LONG, "frame {seq} was never kept");
            std::thread::sleep(std::time::Duration::from_millis(5));
            harness.step();
        }
    }
    (harness, fake)
}

#[test]
fn keys_step_back_and_forward_through_the_frames_shown_and_return_to_the_present() {
    let (mut harness, fake) = shown_up_to(155);
    assert!(has(&harness, "espresso 89.4 %"), "155 is the coffee");
    harness.key_press(Key::Comma);
    wait_for(&mut harness, "Frame 154");
    // Each model's own answer to that frame: the cat.
    assert!(has(&harness, "tiger cat 61.2 %"));
    assert!(has(&harness, "tiger cat 56.9 %"));
    assert!(has_part(&harness, "looking back, "));
    harness.key_press(Key::ArrowLeft);
    wait_for(&mut harness, "Frame 153");
    // The session goes on meanwhile, and its frames are kept.
    fake.set(fake::running(156));
    let begin = Instant::now();
    while !has_part(&harness, "6 frames · ") {
        assert!(begin.elapsed() < LONG, "frame 156 was never kept");
        std::thread::sleep(std::time::Duration::from_millis(5));
        harness.step();
    }
    assert!(has(&harness, "Frame 153"));
    harness.key_press(Key::Period);
    wait_for(&mut harness, "Frame 154");
    assert_eq!(
        fake.take_sent(),
        [],
        "a step among kept frames is none of the source"
    );
    harness.key_press(Key::End);
    wait_for(&mut harness, "Frame 156");
    assert!(!has_part(&harness, "looking back, "));
    assert!(has_part(&harness, "space shuttle 40.2 %"));
}

#[test]
fn stepping_beyond_the_last_kept_frame_is_the_present() {
    let (mut harness, _) = shown_up_to(152);
    harness.key_press(Key::Comma);
    wait_for(&mut harness, "Frame 151");
    harness.key_press(Key::Comma);
    harness.run_ok();
    assert!(has(&harness, "Frame 151"), "there is none before");
    harness.key_press(Key::Period);
    wait_for(&mut harness, "Frame 152");
    harness.key_press(Key::Period);
    harness.run_ok();
    assert!(!has_part(&harness, "looking back, "));
}

#[test]
fn a_model_without_an_answer_to_the_frame_looked_back_at_says_so() {
    let mut view = fake::running(154);
    view.models[1].shown = None;
    let (mut harness, fake) = window(view);
    wait_for(&mut harness, "Frame 154");
    let begin = Instant::now();
    while !has_part(&harness, "1 frame · ") {
        assert!(begin.elapsed() < LONG, "never kept");
        std::thread::sleep(std::time::Duration::from_millis(5));
        harness.step();
    }
    fake.set(fake::running(155));
    wait_for(&mut harness, "Frame 155");
    harness.key_press(Key::Comma);
    wait_for(&mut harness, "Frame 154");
    assert!(has(&harness, "tiger cat 61.2 %"));
    assert!(has(
        &harness,
        "No answer of this model is kept for this frame"
    ));
    assert!(!has(&harness, "tiger cat 56.9 %"));
}

/// The one thing that a key saves, and the folder that holds it while it is looked at; `said` is what
/// the window says then.
fn saved_by(harness: &mut Harness<'_, App>, key: Key, said: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    harness
        .state_mut()
        .set_save_folder(folder.path().to_owned());
    harness.key_press(key);
    let begin = Instant::now();
    while !has_part(harness, said) {
        assert!(begin.elapsed() < LONG, "never saved");
        std::thread::sleep(std::time::Duration::from_millis(5));
        harness.step();
    }
    let saved = std::fs::read_dir(folder.path()).expect("a folder");
    let mut saved = saved.map(|entry| entry.expect("an entry").path());
    let first = saved.next().expect("something saved");
    assert_eq!(saved.next(), None);
    (folder, first)
}

#[test]
fn the_last_frames_are_saved_with_the_rows_of_their_predictions() {
    let (mut harness, _) = shown_up_to(153);
    let (_folder, saved) = saved_by(&mut harness, Key::W, "Saved 3 frames");
    let picture = image::open(saved.join("000152.jpg")).expect("a JPEG");
    assert_eq!(
        (picture.width(), picture.height()),
        (600, 400),
        "the coffee"
    );
    let rows = std::fs::read_to_string(saved.join("rows.jsonl")).expect("rows");
    let predictions = rows
        .lines()
        .filter(|row| row.contains(r#""type":"prediction""#));
    assert_eq!(predictions.count(), 6, "three frames, two models");
}

#[test]
fn the_shown_frame_is_saved_with_its_exact_pixels() {
    let (mut harness, _) = shown_up_to(151);
    let (_folder, saved) = saved_by(&mut harness, Key::P, "Saved ");
    let picture = image::open(&saved).expect("a PNG").into_rgb8();
    let cat = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/samples/cat.jpg");
    let expected = image::open(cat).expect("the cat").into_rgb8();
    assert!(picture == expected, "frame 151 is the cat");
}

#[test]
fn the_shown_answer_is_copied_as_a_row() {
    let (mut harness, _) = shown_up_to(151);
    harness.key_down(Key::C);
    let row = copied(&mut harness);
    let row: serde_json::Value = serde_json::from_str(&row).expect("one JSON object");
    assert_eq!(row["type"], "prediction");
    assert_eq!(row["model"], "lite0");
    assert_eq!(row["seq"], 151);
    assert_eq!(row["output"]["classes"][0]["name"], "tiger cat");
}

#[test]
fn pictures_zoom_to_single_pixels_and_back_together_or_apart() {
    let (mut harness, _) = shown_up_to(151);
    harness.key_press(Key::X);
    harness.run_ok();
    let at_full_size = |harness: &Harness<'_, App>| {
        harness
            .query_all_by_label_contains("451 × 300   100 %")
            .count()
    };
    assert_eq!(at_full_size(&harness), 2);
    harness.key_press(Key::F);
    harness.run_ok();
    assert_eq!(at_full_size(&harness), 0);
    // The one under the pointer only.
    let pictures = harness.query_all_by_label("Frame 151");
    let first = pictures.map(|picture| picture.rect()).next().expect("two");
    harness.hover_at(first.center());
    harness.run_ok();
    harness.key_press(Key::X);
    harness.run_ok();
    assert_eq!(at_full_size(&harness), 1);
    // With the link, both.
    harness.key_press(Key::F);
    harness.key_press(Key::K);
    harness.run_ok();
    harness.key_press(Key::X);
    harness.run_ok();
    assert_eq!(at_full_size(&harness), 2);
}

#[test]
fn a_zoomed_tile_shows_its_part_of_frames_of_any_size() {
    // 151 is 451 x 300, 152 is 600 x 400, 153 is 512 x 512.
    let (mut harness, fake) = shown_up_to(151);
    harness.key_press(Key::X);
    harness.run_ok();
    for (seq, size) in [(152, "600 × 400"), (153, "512 × 512"), (154, "451 × 300")] {
        fake.set(fake::running(seq));
        wait_for(&mut harness, &format!("Frame {seq}"));
        assert!(has_part(&harness, &format!("{size}   100 %")), "{size}");
    }
}
