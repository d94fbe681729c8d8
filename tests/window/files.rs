//! Choosing, dropping, opening and saving files in the window.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use ringside::gui::{App, Language, WindowServices};
use ringside::protocol::ModelSpec;
use ringside::session::{SessionCommand, SessionSpec};

use crate::fake::{self, FakeSession};
use crate::harness::{LONG, has, has_part, wait_for, window, window_with};
use crate::sources::{click, open_panel};

/// Pictures in natural order, a model, a session file, and what is left out.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples");
    for name in ["10.jpg", "9.jpg"] {
        fs::copy(samples.join("cat.jpg"), folder.path().join(name)).expect("a picture");
    }
    fs::create_dir(folder.path().join("inner")).expect("a folder");
    fs::write(folder.path().join("m.onnx"), b"").expect("a file");
    fs::write(folder.path().join(".hidden.jpg"), b"").expect("a file");
    fs::write(
        folder.path().join("s.toml"),
        "source = \"pattern:bars\"\n[[model]]\npath = \"m.onnx\"\n",
    )
    .expect("a file");
    folder
}

/// Writes over what stands in a text field.
fn write_in(harness: &mut Harness<'_, App>, field: &str, text: &str) {
    harness
        .get_by_role_and_label(Role::TextInput, field)
        .focus();
    harness.run_ok();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_ok();
    harness
        .get_by_role_and_label(Role::TextInput, field)
        .type_text(text);
    harness.run_ok();
}

/// Passes until something has arrived from another thread.
fn wait_until(harness: &mut Harness<'_, App>, what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONG, "{what} never came");
        std::thread::sleep(Duration::from_millis(5));
        harness.step();
    }
}

fn wait_sent(harness: &mut Harness<'_, App>, fake: &FakeSession) -> Vec<SessionCommand> {
    let mut sent = Vec::new();
    wait_until(harness, "a command", || {
        sent.extend(fake.take_sent());
        !sent.is_empty()
    });
    sent
}

fn rows(harness: &Harness<'_, App>) -> Vec<String> {
    let rows = harness.get_all_by_role(Role::ListItem);
    let mut rows: Vec<(i32, String)> = rows
        .filter_map(|row| {
            use egui_kittest::kittest::NodeT;
            Some((row.rect().top() as i32, row.accesskit_node().label()?))
        })
        .collect();
    rows.sort();
    rows.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn a_picture_is_chosen_in_the_window_by_keyboard_alone() {
    let folder = folder();
    let (mut harness, fake) = window(fake::running(154));
    harness.key_press_modifiers(Modifiers::COMMAND, Key::O);
    harness.run_ok();
    write_in(
        &mut harness,
        "Path",
        &format!("{}/", folder.path().display()),
    );
    wait_for(&mut harness, "9.jpg");
    assert_eq!(rows(&harness), ["inner", "9.jpg", "10.jpg"]);
    // Keys of the window are the picker's now.
    for _ in 0..3 {
        harness.key_press(Key::ArrowDown);
    }
    harness.run_ok();
    harness.key_press(Key::Enter);
    harness.run_ok();
    let uri = format!("image:{}/10.jpg", folder.path().display());
    assert_eq!(
        wait_sent(&mut harness, &fake),
        [SessionCommand::SetSource { uri }]
    );
    harness.run_ok();
    assert!(!has(&harness, "Use this folder"), "the picker is closed");
}

#[test]
fn a_folder_is_chosen_and_one_that_is_not_there_says_why() {
    let folder = folder();
    let (mut harness, fake) = open_panel(fake::running(154));
    click(&mut harness, "Open…");
    write_in(&mut harness, "Path", "/no/such/folder/");
    let begin = Instant::now();
    while !has_part(&harness, "/no/such/folder cannot be read: No such file") {
        assert!(begin.elapsed() < LONG);
        harness.step();
    }
    write_in(&mut harness, "Path", &folder.path().display().to_string());
    harness.key_press(Key::Enter);
    wait_for(&mut harness, "inner");
    click(&mut harness, "Use this folder");
    let uri = format!("folder:{}", folder.path().display());
    assert_eq!(
        wait_sent(&mut harness, &fake),
        [SessionCommand::SetSource { uri }]
    );
    // The place is remembered.
    click(&mut harness, "Open…");
    wait_for(&mut harness, "9.jpg");
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert!(!has(&harness, "Use this folder"));
    assert_eq!(fake.take_sent(), []);
}

#[test]
fn a_model_is_chosen_among_models_only() {
    let folder = folder();
    let (mut harness, fake) = open_panel(fake::running(154));
    click(&mut harness, "Add a model");
    write_in(
        &mut harness,
        "Path",
        &format!("{}/", folder.path().display()),
    );
    wait_for(&mut harness, "m.onnx");
    assert_eq!(rows(&harness), ["inner", "m.onnx"]);
    click(&mut harness, "m.onnx");
    click(&mut harness, "Open");
    let spec = ModelSpec {
        path: folder.path().join("m.onnx"),
        ..ModelSpec::default()
    };
    assert_eq!(
        wait_sent(&mut harness, &fake),
        [SessionCommand::AddModel(Box::new(spec))]
    );
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("nobody reads it here".to_owned())
    }
}

fn drop_files(harness: &mut Harness<'_, App>, files: &[PathBuf]) {
    for file in files {
        let file = Arc::new(Dropped(file.clone()));
        harness.input_mut().dropped_files.push(file);
    }
    harness.step();
}

#[test]
fn dropped_files_become_models_sources_and_sessions() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let (mut harness, fake) = window(fake::running(154));
    drop_files(&mut harness, &[at("m.onnx")]);
    let spec = ModelSpec {
        path: at("m.onnx"),
        ..ModelSpec::default()
    };
    assert_eq!(
        wait_sent(&mut harness, &fake),
        [SessionCommand::AddModel(Box::new(spec))]
    );
    drop_files(&mut harness, &[folder.path().to_owned()]);
    let uri = format!("folder:{}", folder.path().display());
    assert_eq!(
        wait_sent(&mut harness, &fake),
        [SessionCommand::SetSource { uri }]
    );
    drop_files(&mut harness, &[at("s.toml")]);
    let mut opened = Vec::new();
    wait_until(&mut harness, "the session", || {
        opened.extend(fake.take_opened());
        !opened.is_empty()
    });
    assert_eq!(
        opened,
        [SessionSpec::load(&at("s.toml")).expect("a session")]
    );
    assert_eq!(opened[0].models[0].path, at("m.onnx"));
}

#[test]
fn a_session_file_that_is_wrong_changes_nothing_and_says_where() {
    let folder = folder();
    let file = folder.path().join("bad.toml");
    fs::write(&file, "sorce = \"pattern:\"\n").expect("a file");
    let (mut harness, fake) = window(fake::running(154));
    drop_files(&mut harness, &[file]);
    let begin = Instant::now();
    while !has_part(&harness, "did you mean `source`?") {
        assert!(begin.elapsed() < LONG);
        harness.step();
    }
    assert_eq!(fake.take_opened(), []);
    click(&mut harness, "Dismiss");
    assert!(!has_part(&harness, "did you mean"));
}

/// The window with settings in a file.
fn with_settings(settings: &Path, spec: SessionSpec) -> (Harness<'static, App>, FakeSession) {
    let services = WindowServices {
        settings: Some(settings.to_owned()),
        spec,
        ..WindowServices::default()
    };
    window_with(fake::running(154), services)
}

#[test]
fn a_session_is_saved_as_it_is_now_with_paths_relative_to_its_file() {
    let folder = folder();
    let spec = SessionSpec {
        source: format!("folder:{}", folder.path().display()),
        fps: 2.0,
        ..SessionSpec::default()
    };
    let settings = folder.path().join("settings/settings.toml");
    let (mut harness, _) = with_settings(&settings, spec);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
    harness.run_ok();
    write_in(
        &mut harness,
        "Path",
        &format!("{}/", folder.path().display()),
    );
    wait_for(&mut harness, "s.toml");
    write_in(&mut harness, "File name", "now");
    click(&mut harness, "Save here");
    let file = folder.path().join("now.toml");
    wait_until(&mut harness, "the file", || file.exists());
    let text = fs::read_to_string(&file).expect("a file");
    assert!(text.contains("source = \"folder:.\""), "{text}");
    let saved = SessionSpec::load(&file).expect("a session");
    assert!((saved.fps - 2.0).abs() < f64::EPSILON);
    assert!(saved.looping);
    let names: Vec<&str> = saved
        .models
        .iter()
        .map(|model| model.name.as_str())
        .collect();
    assert_eq!(names, ["lite0", "lite0-int8"]);
}

#[test]
fn what_was_chosen_is_there_again_in_the_next_window() {
    let folder = folder();
    let settings = folder.path().join("settings.toml");
    let (mut harness, _) = with_settings(&settings, SessionSpec::default());
    assert!(has(&harness, "Address of the source"), "open at first");
    write_in(&mut harness, "Address of the source", "pattern:stamp");
    click(&mut harness, "Use");
    // The harness begins dark: as the system, then light.
    click(&mut harness, "Theme");
    click(&mut harness, "Theme");
    let theme = harness.ctx.options(|options| options.theme_preference);
    assert_eq!(theme, egui::ThemePreference::Light);
    click(&mut harness, "Source and models");
    drop(harness);
    let context = egui::Context::default();
    let fake = FakeSession::new(fake::running(154));
    let services = WindowServices {
        settings: Some(settings.clone()),
        ..WindowServices::default()
    };
    let app = App::new(&context, fake::photographs(), move |_| Ok(Box::new(fake)))
        .expect("a window without a display")
        .with_services(&context, services);
    let again = context.options(|options| options.theme_preference);
    assert_eq!(again, theme);
    drop(app);
    let (mut harness, _) = with_settings(&settings, SessionSpec::default());
    assert!(!has(&harness, "Address of the source"), "closed as it was");
    click(&mut harness, "Source and models");
    click(&mut harness, "Recent sources");
    assert!(has(&harness, "pattern:stamp"));
}

#[test]
fn broken_settings_are_put_aside_with_a_notice() {
    let folder = folder();
    let settings = folder.path().join("settings.toml");
    fs::write(&settings, "theme = [").expect("a file");
    let (mut harness, _) = with_settings(&settings, SessionSpec::default());
    harness.run_ok();
    assert!(has_part(&harness, "settings.toml.broken"));
}

#[test]
fn a_chosen_language_is_spoken_again_in_the_next_window() {
    let folder = folder();
    let settings = folder.path().join("settings.toml");
    let (mut harness, _) = with_settings(&settings, SessionSpec::default());
    assert!(has(&harness, "Source and models"));
    harness.state_mut().set_language(Language::Chinese);
    harness.run_ok();
    drop(harness);
    let (harness, _) = with_settings(&settings, SessionSpec::default());
    assert!(!has(&harness, "Source and models"));
    assert!(has(&harness, "图像源与模型"));
}
