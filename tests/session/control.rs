//! What the user asks of a running session.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ringside::protocol::Delivery;
use ringside::recording::Row;
use ringside::session::{ChildState, SessionCommand, SessionExit, SessionPhase, SessionSpec};
use rustix::process::{Pid, Signal, kill_process};

use super::harness::{interactive, model, spec, start};
use super::{PATTERN, answers, frames, is_alive};

#[test]
fn a_session_is_held_stepped_and_goes_on() {
    let mut session = spec(PATTERN, vec![model("m", "frameid.onnx")]);
    session.delivery = Some(Delivery::Every);
    let run = start(
        session,
        |_| None,
        |options| {
            options.interactive = true;
            options.start_paused = true;
        },
    );
    run.session.send(SessionCommand::Step { frames: 3 });
    run.until_model("m", "three answers", |model| {
        (model.predicted == 3).then_some(())
    });
    run.until("it is held", |view| {
        (view.phase == SessionPhase::Paused).then_some(())
    });
    run.session.send(SessionCommand::Step { frames: 1 });
    run.until_model("m", "one more", |model| {
        (model.predicted == 4).then_some(())
    });
    let published = run.session.view().source.published;
    assert_eq!(published, 4);
    run.session.send(SessionCommand::Play);
    run.until_more_answers("m", 10);
    run.session.send(SessionCommand::Pause);
    run.until("it is held again", |view| {
        (view.phase == SessionPhase::Paused).then_some(())
    });
}

#[test]
fn another_source_keeps_the_models_and_the_sequence() {
    let mut session = spec(
        "pattern:stamp?size=64x48&fps=30",
        vec![model("m", "mean.onnx")],
    );
    session.delivery = Some(Delivery::Every);
    let run = interactive(session);
    run.until_more_answers("m", 5);
    let pid = run.until_model("m", "a process", |model| model.pid);
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples");
    run.session.send(SessionCommand::SetSource {
        uri: format!("folder:{}", samples.display()),
    });
    run.until("the folder ends", |view| {
        (view.phase == SessionPhase::Ended && view.source.uri.contains("samples")).then_some(())
    });
    let view = run.session.view();
    assert_eq!(
        view.models[0].pid,
        Some(pid),
        "the process with the loaded model"
    );
    assert_eq!(view.models[0].predicted, view.source.published);
    assert!(
        view.ring.as_ref().is_some_and(|ring| ring.generation >= 2),
        "{:?}",
        view.ring
    );
    drop(view);
    run.session.send(SessionCommand::Stop);
    run.session.wait();
    let rows = run.rows.all();
    let sequence: Vec<u64> = frames(&rows).iter().map(|frame| frame.0).collect();
    assert!(
        sequence.iter().copied().eq(1..=sequence.len() as u64),
        "{sequence:?}"
    );
    assert_eq!(
        answers(&rows, "m"),
        sequence,
        "every frame of both sources was answered"
    );
}

#[test]
fn a_stopped_consumer_is_stale_and_named_as_the_cause_of_the_wait() {
    let mut session = spec(
        PATTERN,
        vec![
            model("good", "frameid.onnx"),
            model("stopped", "frameid.onnx"),
        ],
    );
    session.delivery = Some(Delivery::Every);
    let run = interactive(session);
    run.until_more_answers("stopped", 10);
    let pid = run.until_model("stopped", "a process", |model| model.pid);
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process");
    kill_process(pid, Signal::STOP).expect("a child of ours");
    let stopped = Instant::now();
    run.until_model("stopped", "it is stale", |model| {
        matches!(model.child, ChildState::Stale { .. }).then_some(())
    });
    println!("stale after {:.1} s", stopped.elapsed().as_secs_f64());
    run.until("the wait is explained", |view| {
        (view.source.waits_for.as_deref() == Some("stopped")).then_some(())
    });
    kill_process(pid, Signal::CONT).expect("a child of ours");
    run.until_more_answers("stopped", 10);
    run.until_model("stopped", "it runs", |model| {
        (model.child == ChildState::Running).then_some(())
    });
    run.session.send(SessionCommand::Stop);
    assert_eq!(run.session.wait().exit, SessionExit::Done);
    let rows = run.rows.all();
    let good = answers(&rows, "good");
    assert!(good.iter().copied().eq(1..=good.len() as u64), "{good:?}");
    let notice = |row: &Row| matches!(row, Row::Notice(notice) if notice.code == "stale" && notice.about == "stopped");
    assert_eq!(rows.iter().filter(|row| notice(row)).count(), 1);
}

#[test]
fn models_come_and_go_and_late_ones_are_marked() {
    let mut session = spec(PATTERN, vec![model("first", "frameid.onnx")]);
    session.delivery = Some(Delivery::Every);
    let run = interactive(session);
    run.until_more_answers("first", 10);
    for name in ["second", "third"] {
        run.session.send(SessionCommand::AddModel(Box::new(model(
            name,
            "frameid.onnx",
        ))));
    }
    for name in ["second", "third"] {
        let joined_at = run.until_model(name, "it joins", |model| model.joined_at);
        assert!(joined_at >= 10, "{name} joined at {joined_at}");
        run.until_more_answers(name, 5);
    }
    run.session.send(SessionCommand::PauseModel {
        name: "second".to_owned(),
    });
    run.until_model("second", "it is held", |model| {
        (model.child == ChildState::Paused).then_some(())
    });
    run.until_more_answers("first", 10);
    run.session.send(SessionCommand::ResumeModel {
        name: "second".to_owned(),
    });
    run.until_more_answers("second", 5);
    let pid = run.until_model("third", "a process", |model| model.pid);
    run.session.send(SessionCommand::RemoveModel {
        name: "third".to_owned(),
    });
    run.until("it is gone", |view| (view.models.len() == 2).then_some(()));
    assert!(!is_alive(pid));
    run.until_more_answers("first", 10);
    run.session.send(SessionCommand::Stop);
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::Done, "{outcome:?}");
    assert_eq!(outcome.summary.comparison.len(), 1);
    let rows = run.rows.all();
    let sequence: Vec<u64> = frames(&rows).iter().map(|frame| frame.0).collect();
    assert!(
        sequence.iter().copied().eq(1..=sequence.len() as u64),
        "{sequence:?}"
    );
    let first = answers(&rows, "first");
    assert!(
        first.iter().copied().eq(1..=first.len() as u64),
        "{first:?}"
    );
    let unique: BTreeSet<u64> = answers(&rows, "second").into_iter().collect();
    assert_eq!(unique.len(), answers(&rows, "second").len());
}

#[test]
fn a_captured_frame_gives_the_same_answer_again() {
    let cat = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples/cat.jpg");
    let run = start(
        spec(
            &format!("image:{}", cat.display()),
            vec![model("m", "mean.onnx")],
        ),
        |_| None,
        |options| {
            options.interactive = true;
            options.repro = Some(Arc::new(|capture, folder| {
                Ok(ringside::report::write_repro(capture, folder)?)
            }));
        },
    );
    let answer = run.until_model("m", "an answer", |model| model.shown.clone());
    let folder = run.folder.path().join("repro");
    run.session.send(SessionCommand::CaptureRepro {
        model: "m".to_owned(),
        folder: folder.clone(),
    });
    let session = folder.join("m-000001/session.toml");
    run.until("the folder is written", |_| {
        folder.join("m-000001/README.txt").exists().then_some(())
    });
    run.until("it is said", |_| {
        let rows = run.rows.all();
        let notice = rows.iter().find_map(|row| match row {
            Row::Notice(row) if row.code == "repro_saved" => Some(row),
            _ => None,
        })?;
        assert_eq!(notice.about, "m");
        assert!(notice.message.contains("m-000001"), "{notice:?}");
        Some(())
    });
    let again = start(
        SessionSpec::load(&session).expect("a session file"),
        |_| None,
        |_| {},
    );
    assert_eq!(again.session.wait().exit, SessionExit::Done);
    let rows = again.rows.all();
    let output = rows.iter().find_map(|row| match row {
        Row::Prediction(row) => Some(row.output.clone()),
        _ => None,
    });
    assert_eq!(output.as_ref(), Some(&answer.event.output));
}

#[test]
fn a_name_changes_without_a_restart_and_other_options_with_one() {
    let session = SessionSpec {
        delivery: Some(Delivery::Every),
        ..spec(PATTERN, vec![model("before", "frameid.onnx")])
    };
    let run = interactive(session);
    run.until_more_answers("before", 5);
    let first = run.until_model("before", "a process", |model| model.pid);
    let mut changed = model("after", "frameid.onnx");
    run.session.send(SessionCommand::ChangeModel {
        name: "before".to_owned(),
        spec: Box::new(changed.clone()),
    });
    run.until_more_answers("after", 5);
    let pid = run.until_model("after", "a process", |model| model.pid);
    assert_eq!(pid, first, "the same process");
    changed.threads = 2;
    run.session.send(SessionCommand::ChangeModel {
        name: "after".to_owned(),
        spec: Box::new(changed),
    });
    run.session.send(SessionCommand::ChangeModel {
        name: "after".to_owned(),
        spec: Box::new(model("", "frameid.onnx")),
    });
    let threads = run.until_model("after", "it is loaded anew", |model| {
        let card = model.card.as_ref()?;
        (model.pid != Some(first)).then_some(card.threads)
    });
    assert_eq!(threads, 2);
    run.until_more_answers("after", 5);
    let usage = run.until_model("after", "what it uses", |model| model.usage);
    assert!(usage.resident_bytes > 1_000_000, "{usage:?}");
    run.session.send(SessionCommand::Stop);
    assert_eq!(run.session.wait().exit, SessionExit::Done);
    let rows = run.rows.all();
    let mut seqs = answers(&rows, "before");
    seqs.extend(answers(&rows, "after"));
    seqs.extend(rows.iter().filter_map(|row| match row {
        Row::Lost(lost) => Some(lost.seq),
        _ => None,
    }));
    seqs.sort_unstable();
    assert!(
        seqs.iter().copied().eq(1..=seqs.len() as u64),
        "every frame is accounted for: {seqs:?}"
    );
}

#[test]
fn a_session_without_a_source_waits_for_one_with_its_models_loading() {
    let run = interactive(spec("", vec![model("m", "frameid.onnx")]));
    run.until_model("m", "its process", |model| model.pid);
    // There is nothing to start.
    run.session.send(SessionCommand::Restart { model: None });
    run.session
        .send(SessionCommand::SetSource { uri: String::new() });
    run.until("it is said", |view| {
        let mut lines = view.log.iter();
        lines
            .find(|line| line.message.contains("no address"))
            .map(|_| ())
    });
    let view = run.session.view();
    assert_eq!(view.source.uri, "");
    assert_eq!(view.source.child, ChildState::Waiting);
    assert_eq!(view.source.pid, None);
    let uri = "pattern:stamp?size=64x48&fps=30".to_owned();
    run.session.send(SessionCommand::SetSource { uri });
    run.until_more_answers("m", 3);
    run.session.send(SessionCommand::Stop);
    run.session.wait();
}
