//! What a session that ends by itself says of itself: runs that come to nothing, and slow starts.

use ringside::protocol::Delivery;
use ringside::recording::{ProblemRow, Row};
use ringside::session::{SessionExit, SessionSpec, SlotUse};
use rustix::process::{Pid, Signal, kill_process};

use super::harness::{Rows, data, model, spec, start};

fn said(rows: &Rows, code: &str) -> Option<ProblemRow> {
    rows.all().into_iter().find_map(|row| match row {
        Row::Failed(row) | Row::Notice(row) if row.code == code => Some(row),
        _ => None,
    })
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process");
    kill_process(pid, Signal::KILL).expect("a child of ours");
}

#[test]
fn a_model_that_loses_its_only_frame_fails_the_run() {
    let picture = data("cases/grey200.png");
    let source = format!("image:{}", picture.display());
    let run = start(
        spec(&source, vec![model("slow", "slow.onnx")]),
        |_| None,
        |_| {},
    );
    let pid = run.until_model("slow", "a process", |model| model.pid);
    let published = |row: &Row| matches!(row, Row::Frame(_));
    run.until("a frame", |_| {
        run.rows.all().iter().any(published).then_some(())
    });
    // It takes half a second for a frame, and holds it.
    run.until("the frame is held", |view| {
        let ring = view.ring.as_ref()?;
        let mut slots = ring.slots.iter();
        slots
            .any(|slot| slot.seq == 1 && slot.used == SlotUse::Pinned)
            .then_some(())
    });
    kill(pid);
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::GaveUp, "{outcome:?}");
    let summary = &outcome.summary.models[0];
    assert_eq!((summary.predicted, summary.lost), (0, 1));
    let failure = said(&run.rows, "no_answer").expect("a row");
    assert_eq!(failure.about, "slow");
    assert!(failure.message.contains("1 lost"), "{failure:?}");
}

#[test]
fn a_start_that_takes_long_says_what_it_does() {
    let script = |_: &std::path::Path| {
        Some(r#"case "$1" in consume) echo '{"event":"loading","step":"loading m"}'; sleep 6;; esac"#.to_owned())
    };
    let run = start(
        spec("pattern:stamp?frames=1", vec![model("m", "frameid.onnx")]),
        script,
        |_| {},
    );
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::Done, "{outcome:?}");
    let notice = said(&run.rows, "still_loading").expect("a row");
    assert_eq!(notice.about, "m");
    assert!(
        notice.message.starts_with("still loading m, for "),
        "{notice:?}"
    );
}

#[test]
fn a_live_run_ends_with_its_source_although_one_model_has_enough_frames() {
    let session = SessionSpec {
        delivery: Some(Delivery::Live),
        frames: Some(5),
        ..spec(
            "pattern:stamp?size=64x48&fps=20&frames=13",
            vec![model("fast", "frameid.onnx"), model("slow", "slow.onnx")],
        )
    };
    let run = start(session, |_| None, |_| {});
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::Done, "{outcome:?}");
    let [fast, slow] = &outcome.summary.models[..] else {
        panic!("{outcome:?}");
    };
    assert_eq!((fast.predicted, outcome.summary.frames.published), (5, 13));
    assert!((1..5).contains(&slow.predicted), "{slow:?}");
}
