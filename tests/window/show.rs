//! Shows the window on a fake session, to be looked at: `cargo run --example window -- running`.

mod fake;

use std::sync::Arc;
use std::time::Duration;

use fake::FakeSession;
use ringside::base::{Worker, monotonic_nanos};
use ringside::gui::{WindowOptions, run};
use ringside::session::{ChildState, LogLevel, SessionPhase, SessionView};

fn main() -> Result<(), ringside::gui::GuiError> {
    let scene = std::env::args().nth(1).unwrap_or_else(|| "live".to_owned());
    let fake = FakeSession::new(view(&scene));
    let options = WindowOptions {
        title: format!("fake: {scene}"),
        open_preview: fake::photographs(),
    };
    run(options, move |wake| {
        let session = fake.clone();
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
        Ok(Box::new(fake))
    })
}

fn view(scene: &str) -> SessionView {
    match scene {
        "loading" => fake::loading(),
        "failing" => fake::failing(154),
        "empty" => fake::empty(),
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
        "four" => {
            let mut view = fake::running(333);
            let mut third = fake::model("movenet on a GPU", "movenet.onnx", 333, 0.2);
            let mut card = (**third.card.as_ref().expect("a card")).clone();
            card.provider.asked = "cuda:0".to_owned();
            card.provider.reason = Some("libcublas.so.12 not found".to_owned());
            third.card = Some(Arc::new(card));
            third.invalid = 3;
            third.dropped = 1250;
            view.models.push(third);
            let mut fourth = fake::model("centernet", "centernet_mbv3_coco.onnx", 333, 2.1);
            let mut card = (**fourth.card.as_ref().expect("a card")).clone();
            card.provider.provider = "CUDA".to_owned();
            card.provider.assigned.insert("CPU".to_owned(), 3);
            card.provider.executed.insert(
                "CUDA".to_owned(),
                ringside::protocol::ExecutedKernels {
                    kernels: 90,
                    micros: 291_000,
                },
            );
            card.provider.copies = 2;
            fourth.card = Some(Arc::new(card));
            view.models.push(fourth);
            view
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
