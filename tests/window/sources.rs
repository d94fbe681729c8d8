//! The panel of source and models: what is typed and clicked becomes a command to the session.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use ringside::gui::App;
use ringside::protocol::{DeviceChoice, ModelSpec};
use ringside::session::{SessionCommand, SessionView};

use crate::fake::{self, FakeSession};
use crate::harness::{has, has_part, window};

/// The window with its panel open.
pub(crate) fn open_panel(view: SessionView) -> (Harness<'static, App>, FakeSession) {
    let (mut harness, fake) = window(view);
    assert!(!has(&harness, "Address of the source"));
    harness.key_press(egui::Key::B);
    harness.run_ok();
    assert!(has(&harness, "Address of the source"));
    (harness, fake)
}

pub(crate) fn click(harness: &mut Harness<'_, App>, label: &str) {
    harness.get_by_label(label).click();
    harness.run_ok();
}

fn type_into(harness: &mut Harness<'_, App>, field: &str, text: &str) {
    let field = harness.get_by_role_and_label(Role::TextInput, field);
    field.focus();
    field.type_text(text);
    harness.run_ok();
}

fn menu(harness: &mut Harness<'_, App>, item: &str) {
    click(harness, "Model menu of lite0");
    click(harness, item);
}

fn spec_of(name: &str, file: &str) -> ModelSpec {
    ModelSpec {
        name: name.to_owned(),
        path: std::path::Path::new("models").join(file),
        ..ModelSpec::default()
    }
}

#[test]
fn the_panel_opens_and_closes_by_key_and_button() {
    let (mut harness, _) = open_panel(fake::running(154));
    click(&mut harness, "Source and models");
    assert!(!has(&harness, "Address of the source"));
    click(&mut harness, "Source and models");
    assert!(has(&harness, "Address of the source"));
}

#[test]
fn a_typed_address_becomes_the_source() {
    let (mut harness, fake) = open_panel(fake::running(154));
    type_into(
        &mut harness,
        "Address of the source",
        " pattern:bars?fps=5 ",
    );
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    let uri = "pattern:bars?fps=5".to_owned();
    assert_eq!(fake.take_sent(), [SessionCommand::SetSource { uri }]);
    // Nothing typed is refused in place.
    click(&mut harness, "Use");
    assert_eq!(fake.take_sent(), []);
    assert!(has_part(&harness, "Name a folder, a picture"));
}

#[test]
fn a_recent_source_is_used_again() {
    let (mut harness, fake) = open_panel(fake::running(154));
    for address in ["pattern:bars", "pattern:stamp"] {
        type_into(&mut harness, "Address of the source", address);
        click(&mut harness, "Use");
    }
    fake.take_sent();
    click(&mut harness, "Recent sources");
    click(&mut harness, "pattern:bars");
    let uri = "pattern:bars".to_owned();
    assert_eq!(fake.take_sent(), [SessionCommand::SetSource { uri }]);
}

#[test]
fn a_typed_path_adds_a_model() {
    let (mut harness, fake) = open_panel(fake::running(154));
    type_into(&mut harness, "Path of a model", "/data/new.onnx");
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    let spec = ModelSpec {
        path: "/data/new.onnx".into(),
        ..ModelSpec::default()
    };
    assert_eq!(fake.take_sent(), [SessionCommand::AddModel(Box::new(spec))]);
}

#[test]
fn a_removed_model_can_be_brought_back() {
    let (mut harness, fake) = open_panel(fake::running(154));
    menu(&mut harness, "Remove");
    let name = "lite0".to_owned();
    assert_eq!(fake.take_sent(), [SessionCommand::RemoveModel { name }]);
    assert!(has(&harness, "lite0 was removed."));
    click(&mut harness, "Undo");
    let spec = spec_of("lite0", "efficientnet_lite0.onnx");
    assert_eq!(fake.take_sent(), [SessionCommand::AddModel(Box::new(spec))]);
    assert!(!has(&harness, "lite0 was removed."));
}

#[test]
fn a_model_is_renamed_in_place_and_a_taken_name_is_refused() {
    let (mut harness, fake) = open_panel(fake::running(154));
    menu(&mut harness, "Rename");
    type_into(&mut harness, "New name", "-int8");
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    assert_eq!(fake.take_sent(), []);
    assert!(has(&harness, "Another model has this name."));
    type_into(&mut harness, "New name", "-b");
    harness.key_press(egui::Key::Enter);
    harness.run_ok();
    assert_eq!(
        fake.take_sent(),
        [SessionCommand::ChangeModel {
            name: "lite0".to_owned(),
            spec: Box::new(spec_of("lite0-int8-b", "efficientnet_lite0.onnx")),
        }]
    );
    menu(&mut harness, "Rename");
    type_into(&mut harness, "New name", "x");
    harness.key_press(egui::Key::Escape);
    harness.run_ok();
    assert!(!has(&harness, "New name"));
    assert_eq!(fake.take_sent(), []);
}

#[test]
fn a_model_is_duplicated_paused_and_restarted_from_the_panel() {
    let (mut harness, fake) = open_panel(fake::running(154));
    menu(&mut harness, "Duplicate");
    let copy = spec_of("lite0-2", "efficientnet_lite0.onnx");
    assert_eq!(fake.take_sent(), [SessionCommand::AddModel(Box::new(copy))]);
    click(&mut harness, "Model menu of lite0");
    harness
        .get_all_by_label("Pause")
        .last()
        .expect("an item")
        .click();
    harness.run_ok();
    let name = "lite0".to_owned();
    assert_eq!(fake.take_sent(), [SessionCommand::PauseModel { name }]);
    menu(&mut harness, "Restart");
    let model = Some("lite0".to_owned());
    assert_eq!(fake.take_sent(), [SessionCommand::Restart { model }]);
}

#[test]
fn options_are_applied_together_and_wrong_ones_are_refused_in_place() {
    let (mut harness, fake) = open_panel(fake::running(154));
    click(&mut harness, "Model lite0");
    assert!(harness.get_by_label("Apply").accesskit_node().is_disabled());
    type_into(&mut harness, "batch", "0");
    assert!(has_part(&harness, "use 1 or more"));
    assert!(harness.get_by_label("Apply").accesskit_node().is_disabled());
    harness.key_press(egui::Key::Backspace);
    harness.run_ok();
    type_into(&mut harness, "batch", "4");
    harness
        .get_by_role_and_label(Role::ComboBox, "device")
        .click();
    harness.run_ok();
    click(&mut harness, "cpu");
    assert_eq!(fake.take_sent(), []);
    click(&mut harness, "Apply");
    let spec = ModelSpec {
        batch: 4,
        device: DeviceChoice::Cpu,
        ..spec_of("lite0", "efficientnet_lite0.onnx")
    };
    assert_eq!(
        fake.take_sent(),
        [SessionCommand::ChangeModel {
            name: "lite0".to_owned(),
            spec: Box::new(spec),
        }]
    );
    click(&mut harness, "Reset batch");
    click(&mut harness, "Reset device");
    assert!(harness.get_by_label("Apply").accesskit_node().is_disabled());
}

#[test]
fn threshold_and_top_act_at_once() {
    let (mut harness, fake) = open_panel(fake::running(154));
    click(&mut harness, "Model lite0");
    harness
        .get_by_role_and_label(Role::Slider, "threshold")
        .focus();
    harness.run_ok();
    harness.key_press(egui::Key::ArrowRight);
    harness.run_ok();
    let sent = fake.take_sent();
    let [
        SessionCommand::Tune {
            name,
            threshold,
            top,
        },
    ] = &sent[..]
    else {
        panic!("{sent:?}");
    };
    assert_eq!((name.as_str(), *top), ("lite0", None));
    assert!(threshold.is_some_and(|value| value > 0.25 && value < 0.3));
}

#[test]
fn the_card_tells_what_is_known_of_a_model() {
    let (mut harness, _) = open_panel(fake::running(154));
    click(&mut harness, "Model lite0");
    click(&mut harness, "What is known of it");
    assert!(has_part(&harness, "registered: CPU"));
    assert!(has_part(&harness, "assigned to CPU: 94 nodes"));
    assert!(has_part(&harness, "ran on CPU: 53 kernels"));
    assert!(has_part(&harness, "SHA-256 "));
    assert!(has_part(&harness, "Red, green and blue, in this order"));
}

#[test]
fn an_empty_window_offers_a_source_a_model_and_the_demo() {
    let mut view = fake::empty();
    view.source = ringside::session::SourceView::default();
    let (mut harness, fake) = window(view);
    for offer in ["Choose a source", "Add a model", "Open the demo"] {
        assert!(has(&harness, offer), "{offer}");
    }
    click(&mut harness, "Test pattern");
    let uri = "pattern:bars".to_owned();
    assert_eq!(fake.take_sent(), [SessionCommand::SetSource { uri }]);
}

#[test]
fn the_panel_leaves_room_for_the_rest_of_a_small_window() {
    for size in [[720.0, 480.0], [900.0, 600.0], [1280.0, 820.0]] {
        let (mut harness, _) = crate::harness::window_of_size(fake::running(154), size);
        harness.key_press(egui::Key::B);
        harness.run_ok();
        click(&mut harness, "Model lite0");
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, size.into());
        for name in [
            "Pause",
            "Latency",
            "Log · 3",
            "Use",
            "Model menu of lite0",
            "Apply",
        ] {
            let rect = harness.get_by_label(name).rect();
            assert!(
                screen.x_range().contains(rect.left()) && screen.x_range().contains(rect.right()),
                "{name} at {rect} of {size:?}"
            );
        }
        let panel = harness.get_by_label("Model menu of lite0").rect();
        let tile = harness.get_by_label("lite0").rect();
        assert!(
            panel.right() < tile.left(),
            "{panel} and {tile} of {size:?}"
        );
    }
}
