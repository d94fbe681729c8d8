//! Rings that are removed, replaced or too small.

use std::fs;
use std::path::Path;

use ringside::protocol::{Delivery, SourceState};
use ringside::recording::Row;
use ringside::session::{RingSpec, SessionCommand, SessionExit, SessionPhase, SessionSpec};
use rustix::process::{Pid, Signal, kill_process};

use super::harness::{data, interactive, model, spec, start};
use super::{PATTERN, answers, frames};

#[test]
fn a_ring_whose_name_a_foreign_program_removed_is_replaced_for_newcomers() {
    let mut session = spec(PATTERN, vec![model("first", "frameid.onnx")]);
    session.delivery = Some(Delivery::Every);
    let run = interactive(session);
    run.until_more_answers("first", 5);
    let ring = run.until("a ring", |view| view.ring.clone());
    fs::remove_file(Path::new("/dev/shm").join(ring.name.trim_start_matches('/')))
        .expect("the segment");
    run.until_more_answers("first", 5);
    run.session.send(SessionCommand::AddModel(Box::new(model(
        "second",
        "frameid.onnx",
    ))));
    run.until_more_answers("second", 5);
    run.session.send(SessionCommand::Stop);
    assert_eq!(run.session.wait().exit, SessionExit::Done);
    let rows = run.rows.all();
    let first = answers(&rows, "first");
    assert!(
        first.iter().copied().eq(1..=first.len() as u64),
        "{first:?}"
    );
}

#[test]
fn a_frame_beyond_the_limit_is_left_out_with_the_reason() {
    let pictures = tempfile::tempdir().expect("a folder");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples");
    for (name, from) in [
        ("1.png", data("cases/grey200.png")),
        ("2.jpg", samples.join("cat.jpg")),
        ("3.png", data("cases/grey127.png")),
    ] {
        fs::copy(from, pictures.path().join(name)).expect("a copy");
    }
    let session = SessionSpec {
        ring: RingSpec {
            slots: 0,
            max_bytes: 400_000,
        },
        ..spec(
            &format!("folder:{}", pictures.path().display()),
            vec![model("m", "mean.onnx")],
        )
    };
    let run = start(session, |_| None, |_| {});
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::Done, "{outcome:?}");
    let rows = run.rows.all();
    assert_eq!(frames(&rows), [(1, 0), (2, 2)]);
    let reasons: Vec<&str> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Skipped(skipped) => Some(skipped.reason.as_str()),
            _ => None,
        })
        .collect();
    assert!(
        matches!(reasons[..], [reason] if reason.contains("max_bytes")),
        "{reasons:?}"
    );
}

#[test]
fn frames_of_a_removed_ring_are_lost_to_a_consumer_that_restarts_and_the_run_ends() {
    let session = SessionSpec {
        frames: Some(2),
        delivery: Some(Delivery::Every),
        ..spec(PATTERN, vec![model("m", "frameid.onnx")])
    };
    let run = start(session, |_| None, |options| options.start_paused = true);
    let pid = run.until_model("m", "it is ready", |model| {
        model.card.as_ref()?;
        model.pid
    });
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process");
    kill_process(pid, Signal::STOP).expect("a child of ours");
    run.session.send(SessionCommand::Play);
    let ring = run.until("the source ends", |view| {
        let ring = view.ring.clone()?;
        (view.source.published == 2 && view.source.state == Some(SourceState::Ended))
            .then_some(ring)
    });
    fs::remove_file(Path::new("/dev/shm").join(ring.name.trim_start_matches('/')))
        .expect("the segment");
    kill_process(pid, Signal::KILL).expect("a child of ours");
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::GaveUp, "{outcome:?}");
    let summary = &outcome.summary.models[0];
    assert_eq!(
        (summary.predicted, summary.lost, summary.dropped),
        (0, 2, 0)
    );
    let lost: Vec<u64> = run
        .rows
        .all()
        .iter()
        .filter_map(|row| match row {
            Row::Lost(lost) => Some(lost.seq),
            _ => None,
        })
        .collect();
    assert_eq!(lost, [1, 2]);
}

#[test]
fn the_next_source_may_have_frames_beyond_the_limit() {
    let pictures = tempfile::tempdir().expect("a folder");
    let cat = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples/cat.jpg");
    fs::copy(cat, pictures.path().join("1.jpg")).expect("a copy");
    fs::copy(data("cases/grey127.png"), pictures.path().join("2.png")).expect("a copy");
    let session = SessionSpec {
        ring: RingSpec {
            slots: 0,
            max_bytes: 400_000,
        },
        delivery: Some(Delivery::Every),
        ..spec(
            "pattern:stamp?size=64x48&fps=30",
            vec![model("m", "mean.onnx")],
        )
    };
    let run = interactive(session);
    run.until_more_answers("m", 3);
    run.session.send(SessionCommand::SetSource {
        uri: format!("folder:{}", pictures.path().display()),
    });
    run.until("the folder ends", |view| {
        (view.phase == SessionPhase::Ended && view.source.skipped == 1).then_some(())
    });
    run.session.send(SessionCommand::Stop);
    assert_eq!(run.session.wait().exit, SessionExit::Done);
    let rows = run.rows.all();
    assert_eq!(frames(&rows).last().map(|frame| frame.1), Some(1));
}

#[test]
fn an_endless_source_whose_frames_fit_no_ring_is_refused() {
    let session = SessionSpec {
        ring: RingSpec {
            slots: 0,
            max_bytes: 400_000,
        },
        ..spec(
            "pattern:stamp?size=4000x3000&fps=30",
            vec![model("m", "mean.onnx")],
        )
    };
    let run = start(session, |_| None, |_| {});
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::SourceCannotOpen, "{outcome:?}");
    let (about, problem) = &outcome.failures[0];
    assert_eq!(
        (about.as_str(), problem.code.as_str()),
        ("source", "frame_too_large")
    );
    // 4000 x 3000 RGB.
    assert!(problem.message.contains("36000000"), "{problem:?}");
    assert!(
        problem
            .hint
            .as_ref()
            .is_some_and(|hint| hint.contains("max_bytes"))
    );
}

#[test]
fn fewer_slots_than_wanted_are_a_row_with_the_reason() {
    for (slots, max_bytes, reason) in [
        (300, 1 << 30, "no ring has more"),
        (20, 400_000, "max_bytes"),
    ] {
        let session = SessionSpec {
            ring: RingSpec { slots, max_bytes },
            frames: Some(2),
            ..spec("pattern:stamp?size=160x120", vec![model("m", "mean.onnx")])
        };
        let run = start(session, |_| None, |_| {});
        assert_eq!(run.session.wait().exit, SessionExit::Done);
        let rows = run.rows.all();
        let notice = rows.iter().find_map(|row| match row {
            Row::Notice(notice) if notice.code == "few_slots" => Some(notice.message.clone()),
            _ => None,
        });
        let notice = notice.expect("a notice");
        assert!(
            notice.contains(reason) && notice.contains(&slots.to_string()),
            "{notice}"
        );
    }
}
