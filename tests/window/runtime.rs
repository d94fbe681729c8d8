//! ONNX Runtime is missing: it is installed from the window, and the models go on.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use ringside::gui::{App, InstallFailure, InstallRuntime, InstallStep, WindowServices};
use ringside::session::SessionCommand;

use crate::fake::{self, FakeSession};
use crate::harness::{has, has_part, wait_for, window_with};
use crate::sources::click;

fn without_runtime(
    install: InstallRuntime,
    install_at_once: bool,
) -> (Harness<'static, App>, FakeSession) {
    let services = WindowServices {
        install_runtime: Some(install),
        install_at_once,
        ..WindowServices::default()
    };
    window_with(fake::all_failed(154), services)
}

fn restarts() -> Vec<SessionCommand> {
    ["lite0", "lite0-int8"]
        .map(|name| SessionCommand::Restart {
            model: Some(name.to_owned()),
        })
        .to_vec()
}

/// Passes until commands have come.
fn sent(harness: &mut Harness<'_, App>, fake: &FakeSession) -> Vec<SessionCommand> {
    loop {
        harness.step();
        let sent = fake.take_sent();
        if !sent.is_empty() {
            return sent;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_missing_runtime_is_installed_by_a_button_and_the_models_start_anew() {
    let install: InstallRuntime = Arc::new(|tell| {
        let step = InstallStep {
            what: "downloading with pip".to_owned(),
            share: Some(0.5),
        };
        match tell(step) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => panic!("nobody cancelled"),
        }
    });
    let (mut harness, fake) = without_runtime(install, false);
    harness.run_ok();
    assert!(has(&harness, "ONNX Runtime is missing"));
    assert_eq!(fake.take_sent(), []);
    harness.get_by_label("Install").click();
    assert_eq!(sent(&mut harness, &fake), restarts());
}

#[test]
fn an_installation_shows_its_progress_and_can_be_cancelled() {
    let install: InstallRuntime = Arc::new(|tell| {
        let step = InstallStep {
            what: "downloading with pip".to_owned(),
            share: Some(0.5),
        };
        while tell(step.clone()).is_continue() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(InstallFailure {
            message: "the installation was cancelled".to_owned(),
            hint: Some("name a library with --onnxruntime".to_owned()),
        })
    });
    let (mut harness, fake) = without_runtime(install, true);
    // Nobody had to ask.
    wait_for(&mut harness, "ONNX Runtime is being installed");
    let begin = std::time::Instant::now();
    while !has_part(&harness, "Downloading with pip") {
        assert!(begin.elapsed() < crate::harness::LONG);
        harness.step();
    }
    harness.get_by_label("Cancel").click();
    harness.step();
    wait_for(&mut harness, "ONNX Runtime could not be installed");
    assert!(has(&harness, "the installation was cancelled"));
    assert!(has_part(&harness, "name a library with --onnxruntime"));
    assert_eq!(fake.take_sent(), []);
}

#[test]
fn an_installation_that_failed_can_be_tried_again() {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let install: InstallRuntime = Arc::new(move |_| {
        if counted.fetch_add(1, Ordering::SeqCst) == 1 {
            return Ok(());
        }
        Err(InstallFailure {
            message: "neither pip nor uv was found".to_owned(),
            hint: None,
        })
    });
    let (mut harness, fake) = without_runtime(install, true);
    wait_for(&mut harness, "neither pip nor uv was found");
    // It is not tried again by itself.
    harness.run_ok();
    assert_eq!(tries.load(Ordering::SeqCst), 1);
    click(&mut harness, "Try again");
    assert_eq!(sent(&mut harness, &fake), restarts());
    assert_eq!(tries.load(Ordering::SeqCst), 2);
}
