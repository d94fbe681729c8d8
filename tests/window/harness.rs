//! The window over a fake session, and what it shows.

use std::time::{Duration, Instant};

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use ringside::gui::{App, WindowServices};
use ringside::session::SessionView;

use crate::fake::{self, FakeSession};

/// A guard against a hang, not a limit on speed.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn window(view: SessionView) -> (Harness<'static, App>, FakeSession) {
    window_of_size(view, [1280.0, 820.0])
}

pub(crate) fn window_of_size(
    view: SessionView,
    size: [f32; 2],
) -> (Harness<'static, App>, FakeSession) {
    build(view, size, None)
}

/// The window with what the program gives it beside a session.
pub(crate) fn window_with(
    view: SessionView,
    services: WindowServices,
) -> (Harness<'static, App>, FakeSession) {
    build(view, [1280.0, 820.0], Some(services))
}

fn build(
    view: SessionView,
    size: [f32; 2],
    services: Option<WindowServices>,
) -> (Harness<'static, App>, FakeSession) {
    let fake = FakeSession::new(view);
    let session = fake.clone();
    let harness = Harness::builder()
        .with_size(size)
        .with_max_steps(20)
        .build_eframe(move |creation| {
            let app = App::new(&creation.egui_ctx, fake::photographs(), move |wake| {
                session.set_wake(wake);
                Ok(Box::new(session))
            })
            .expect("a window without a display");
            match services {
                Some(services) => app.with_services(&creation.egui_ctx, services),
                None => app,
            }
        });
    (harness, fake)
}

/// Runs passes until a label is there: previews come from another thread.
pub(crate) fn wait_for(harness: &mut Harness<'_, App>, label: &str) {
    let begin = Instant::now();
    while harness.query_all_by_label(label).next().is_none() {
        assert!(begin.elapsed() < LONG, "`{label}` never came");
        std::thread::sleep(Duration::from_millis(5));
        harness.step();
    }
}

/// Runs passes until one of them copies a text: each has its own output.
pub(crate) fn copied(harness: &mut Harness<'_, App>) -> String {
    let begin = Instant::now();
    loop {
        harness.step();
        let mut commands = harness.output().platform_output.commands.iter();
        let text = commands.find_map(|command| match command {
            egui::OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        });
        if let Some(text) = text {
            return text;
        }
        assert!(begin.elapsed() < LONG, "nothing is copied");
    }
}

pub(crate) fn has(harness: &Harness<'_, App>, label: &str) -> bool {
    harness.query_all_by_label(label).next().is_some()
}

pub(crate) fn has_part(harness: &Harness<'_, App>, part: &str) -> bool {
    harness.query_all_by_label_contains(part).next().is_some()
}

/// How the bar of kept frames says how many there are.
pub(crate) fn kept_text(frames: u64) -> String {
    let word = if frames == 1 { "frame" } else { "frames" };
    format!("{frames} {word} · ")
}
