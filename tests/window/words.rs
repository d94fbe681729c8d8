//! All that the window says: in both languages, and to assistive technology.

use std::collections::BTreeSet;

use egui::{Key, Shape};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use ringside::gui::{App, Language};
use ringside::session::{ChildState, SessionPhase, SessionView};

use crate::fake;
use crate::harness::{has, has_part, wait_for, window};

/// Everything that is drawn or told to assistive technology.
fn words(harness: &Harness<'_, App>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for node in harness.root().children_recursive() {
        let node = node.accesskit_node();
        // What is typed is the user's.
        words.extend(node.label().filter(|label| !label.is_empty()));
        words.extend(node.value().filter(|value| !value.is_empty()));
    }
    for clipped in &harness.output().shapes {
        drawn(&clipped.shape, &mut words);
    }
    words
}

fn drawn(shape: &Shape, words: &mut BTreeSet<String>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| drawn(shape, words)),
        Shape::Text(text) => {
            words.insert(text.galley.text().to_owned());
        }
        _ => {}
    }
}

fn scenes() -> Vec<(&'static str, SessionView)> {
    let mut paused = fake::running(155);
    paused.phase = SessionPhase::Paused;
    paused.models[1].child = ChildState::Paused;
    let mut stale = fake::running(154);
    let now = ringside::base::monotonic_nanos();
    stale.source.stale_since = Some(now - 125_000_000_000);
    stale.models[0].child = ChildState::Stale {
        since_nanos: now - 3_000_000_000,
    };
    stale.models[1].child = ChildState::Stopped;
    let mut ended = fake::running(154);
    ended.phase = SessionPhase::Ended;
    let mut no_model = fake::running(154);
    no_model.models.clear();
    no_model.ring = None;
    no_model.log = [].into();
    vec![
        ("running", fake::running(154)),
        ("loading", fake::loading()),
        ("failing", fake::failing(154)),
        ("all failed", fake::all_failed(154)),
        ("many", fake::many(4, 333)),
        ("no source", fake::no_source()),
        ("paused", paused),
        ("stale", stale),
        ("ended", ended),
        ("no model", no_model),
    ]
}

/// Shows each scene with each tab and sheet, in `language`.
fn walk(language: Language, mut look: impl FnMut(&str, &SessionView, &Harness<'_, App>)) {
    for (scene, view) in scenes() {
        let (mut harness, _) = window(view.clone());
        harness.state_mut().set_language(language);
        for key in [
            Key::F2,
            Key::F3,
            Key::F4,
            Key::Questionmark,
            Key::Escape,
            Key::Num1,
            Key::F9,
        ] {
            match key {
                // The palette, with each of its entries.
                Key::F9 => harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::K),
                key => harness.key_press(key),
            }
            // A pass for the key, others for previews, which another thread makes.
            for _ in 0..4 {
                harness.step();
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            look(&format!("{scene}, {key:?}"), &view, &harness);
        }
    }
}

/// Words of two letters and more of the Latin alphabet.
fn latin(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphabetic())
        .filter(|word| word.len() > 1)
}

#[test]
fn the_window_in_chinese_has_no_english_word_of_its_own() {
    let pairs: Vec<_> = Language::English
        .texts()
        .into_iter()
        .zip(Language::Chinese.texts())
        .filter(|((_, english), (_, chinese))| english != chinese)
        .map(|((name, english), _)| (name, english))
        .collect();
    assert!(pairs.len() > 100, "the table is there");
    let signs = "ms fps MB GB kB Space Ctrl Home End Esc PNG JPEG JSON PID CPU CUDA TensorRT ONNX Runtime English live \
                 ringside gui source model folder PICTURES MODEL onnx NaN min max";
    walk(Language::Chinese, |scene, view, harness| {
        if scene.ends_with("F9") {
            // The palette has the names of commands in every language.
            return;
        }
        let shown = words(harness);
        assert!(shown.contains("日志") || shown.iter().any(|word| word.starts_with("日志")));
        for (name, english) in &pairs {
            assert!(!shown.contains(*english), "{scene}: {name}: {english}");
        }
        // What the session says is shown as it is: it is in quotes in the view's debug form.
        let view = format!("{view:?}").to_lowercase();
        let signs = signs.to_lowercase();
        let said: BTreeSet<&str> = view
            .split('"')
            .flat_map(latin)
            .chain(latin(&signs))
            .chain(
                Language::Chinese
                    .texts()
                    .into_iter()
                    .flat_map(|(_, text)| latin(text)),
            )
            .collect();
        for text in &shown {
            for word in latin(text) {
                assert!(
                    said.contains(word.to_lowercase().as_str()),
                    "{scene}: {word} in {text}"
                );
            }
        }
    });
}

#[test]
fn the_language_changes_at_run_time_and_back() {
    let (mut harness, _) = window(fake::running(154));
    wait_for(&mut harness, "Frame 154");
    harness.get_by_label("Language").click();
    harness.run_ok();
    assert!(has(&harness, "图像源：运行中"));
    assert!(has(&harness, "第 154 帧"));
    assert!(!has(&harness, "Frame 154"));
    assert!(has_part(&harness, "tiger cat"), "labels of models stay");
    harness.key_press(Key::F8);
    harness.run_ok();
    assert!(has(&harness, "Source: LIVE"));
}

#[test]
fn every_control_has_a_name_for_assistive_technology() {
    use egui::accesskit::Role;
    let mut controls = 0;
    for language in Language::ALL {
        walk(language, |scene, _, harness| {
            for node in harness.root().children_recursive() {
                let node = node.accesskit_node();
                let is_control = matches!(
                    node.role(),
                    Role::Button
                        | Role::CheckBox
                        | Role::ComboBox
                        | Role::Link
                        | Role::MenuItem
                        | Role::RadioButton
                        | Role::Slider
                        | Role::SpinButton
                        | Role::TextInput
                        | Role::Image
                );
                if is_control {
                    controls += 1;
                    let name = node.label().unwrap_or_default();
                    assert!(!name.trim().is_empty(), "{scene}: {node:?}");
                }
            }
        });
    }
    assert!(controls > 500, "{controls}");
}
