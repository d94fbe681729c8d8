//! Shows the window on a fake session, to be looked at: `cargo run --example window -- running`.

mod fake;

use std::time::Duration;

use fake::FakeSession;
use ringside::base::{Worker, monotonic_nanos};
use ringside::gui::{WindowOptions, run};
use ringside::session::{ChildState, LogLevel, LogLine, SessionPhase, SessionView};

fn main() -> Result<(), ringside::gui::GuiError> {
    let scene = std::env::args().nth(1).unwrap_or_else(|| "live".to_owned());
    let fake = FakeSession::new(view(&scene));
    let options = WindowOptions {
        title: format!("fake: {scene}"),
        open_preview: fake::photographs(),
        services: Default::default(),
    };
    run(options, move |wake| {
        let session = fake.clone();
        let other = fake.clone();
        session.set_wake(wake);
        if scene == "live" {
            // Lives as long as the process.
            std::mem::forget(Worker::spawn("fake", move || {
                for seq in 400.. {
                    std::thread::sleep(Duration::from_millis(33));
                    session.set(fake::running(seq));
                }
            })?);
        }
        if scene == "toasts" {
            // As above.
            std::mem::forget(Worker::spawn("fake", move || {
                std::thread::sleep(Duration::from_secs(2));
                let mut view = fake::running(333);
                let mut lines = view.log.to_vec();
                for (level, message) in [
                    (LogLevel::Warning, "gray.png was left out: no such file"),
                    (
                        LogLevel::Error,
                        "the ring cannot be made larger: /dev/shm is full",
                    ),
                ] {
                    lines.push(LogLine {
                        at_nanos: monotonic_nanos(),
                        level,
                        about: "source".to_owned(),
                        message: message.to_owned(),
                        hint: None,
                    });
                }
                view.log = lines.into();
                other.set(view);
            })?);
        }
        Ok(Box::new(fake))
    })
}

fn view(scene: &str) -> SessionView {
    match scene {
        "loading" => fake::loading(),
        "failing" => fake::failing(154),
        "empty" => fake::empty(),
        "no-model" => {
            let mut view = fake::running(154);
            view.models.clear();
            view.agreement.clear();
            view
        }
        "no-source" => fake::no_source(),
        "warmup" => fake::running(40),
        "paused" => {
            let mut view = fake::running(155);
            view.phase = SessionPhase::Paused;
            view
        }
        "stale" => {
            let mut view = fake::running(154);
            let now = monotonic_nanos();
            view.source.stale_since = Some(now - 4_100_000_000);
            view.models[0].child = ChildState::Stale {
                since_nanos: now - 3_000_000_000,
            };
            view.models[1].child = ChildState::Paused;
            view
        }
        "all-failed" => fake::all_failed(154),
        "waits" => {
            let mut view = fake::running(154);
            view.source.waits_for = Some("lite0-int8".to_owned());
            view.models[1].child = ChildState::Stale {
                since_nanos: monotonic_nanos() - 3_000_000_000,
            };
            view
        }
        number if number.parse::<usize>().is_ok() => {
            fake::many(number.parse().unwrap_or_default(), 333)
        }
        _ => {
            let mut view = fake::running(333);
            view.log = view
                .log
                .iter()
                .filter(|line| line.level >= LogLevel::Info)
                .cloned()
                .collect();
            view
        }
    }
}
