//! The session engine with real children, and with children that misbehave.

mod harness;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use harness::{data, interactive, model, spec, start};
use ringside::recording::Row;
use ringside::session::{
    ChildState, RingSpec, SessionCommand, SessionExit, SessionPhase, SessionSpec,
};
use rustix::process::{Pid, Signal, kill_process};

const PATTERN: &str = "pattern:stamp?size=320x240&fps=30";

fn failure(state: &ChildState) -> Option<ringside::protocol::Problem> {
    match state {
        ChildState::Failed(problem) => Some(problem.clone()),
        _ => None,
    }
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Sequence and position of every frame row, in order.
fn frames(rows: &[Row]) -> Vec<(u64, u64)> {
    let frame = |row: &Row| match row {
        Row::Frame(frame) => Some((frame.seq, frame.source_index)),
        _ => None,
    };
    rows.iter().filter_map(frame).collect()
}

/// Sequences that a model answered, in order.
fn answers(rows: &[Row], name: &str) -> Vec<u64> {
    let answer = |row: &Row| match row {
        Row::Prediction(answer) if answer.model == name => Some(answer.seq),
        _ => None,
    };
    rows.iter().filter_map(answer).collect()
}

#[test]
fn c10_a_consumer_that_always_dies_is_given_up_and_can_be_restarted_by_hand() {
    let mut session = spec(
        PATTERN,
        vec![
            model("broken", "frameid.onnx"),
            model("good", "frameid.onnx"),
        ],
    );
    session.delivery = Some(ringside::protocol::Delivery::Every);
    let script = |folder: &Path| {
        let starts = folder.join("starts");
        Some(format!(
            r#"case "$first" in *'"name":"broken"'*) date +%s%N >> {}; sleep 0.3; echo "out of luck" >&2; exit 1;; esac"#,
            starts.display()
        ))
    };
    let run = start(session, script, |options| options.interactive = true);
    let starts = || {
        let text = fs::read_to_string(run.folder.path().join("starts")).unwrap_or_default();
        text.lines()
            .map(|line| line.parse().expect("nanoseconds"))
            .collect::<Vec<u64>>()
    };
    let problem = run.until_model("broken", "it is given up", |model| failure(&model.child));
    assert_eq!(problem.code, "gave_up");
    assert!(
        problem.message.contains("exit code 1") && problem.message.contains("out of luck"),
        "{problem:?}"
    );
    let times = starts();
    assert_eq!(times.len(), 6);
    let pauses: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // 50, 100, … 800 ms between lives: the last is longer than the first by more than any life.
    assert!(pauses[4] > pauses[0] + 500_000_000, "{pauses:?}");
    run.until_more_answers("good", 10);
    run.session.send(SessionCommand::Restart {
        model: Some("broken".to_owned()),
    });
    run.until_model("broken", "it is started by hand, and again", |_| {
        (starts().len() == 12).then_some(())
    });
    run.until_model("broken", "it is given up again", |model| {
        failure(&model.child)
    });
    assert_eq!(starts().len(), 12);
    run.session.send(SessionCommand::Stop);
    assert_eq!(run.session.wait().exit, SessionExit::GaveUp);
    let good = answers(&run.rows.all(), "good");
    assert!(
        good.iter().copied().eq(1..=good.len() as u64),
        "every frame, once: {good:?}"
    );
}

#[test]
fn a_child_of_another_protocol_is_refused() {
    let script = |_: &Path| {
        Some(r#"case "$1" in consume) echo '{"event":"hello","protocol":99,"pid":1,"role":"consumer"}'; sleep 1000;; esac"#.to_owned())
    };
    let run = start(
        spec(PATTERN, vec![model("m", "frameid.onnx")]),
        script,
        |_| {},
    );
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::NoModelLoaded);
    let [(about, problem)] = &outcome.failures[..] else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (about.as_str(), problem.code.as_str()),
        ("m", "protocol_version")
    );
    assert!(problem.message.contains("99"), "{problem:?}");
}

#[test]
fn lines_that_are_no_events_do_no_harm() {
    let script = |_: &Path| {
        Some(r#"echo garbage; echo '{"event":"unheard_of"}'; head -c 100000 /dev/urandom; echo; yes noise | head -n 100000 >&2"#.to_owned())
    };
    let run = start(
        spec(
            &format!("{PATTERN}&frames=20"),
            vec![model("m", "frameid.onnx")],
        ),
        script,
        |_| {},
    );
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::Done, "{outcome:?}");
    assert_eq!(
        answers(&run.rows.all(), "m"),
        (1..=20).collect::<Vec<u64>>()
    );
}

#[test]
fn a_child_that_closes_its_stdout_and_lives_on_is_ended() {
    let script = |_: &Path| Some(r#"case "$1" in consume) exec >&-; sleep 1000;; esac"#.to_owned());
    let run = start(
        spec(PATTERN, vec![model("m", "frameid.onnx")]),
        script,
        |options| options.interactive = true,
    );
    let pid = run.until_model("m", "it starts", |model| model.pid);
    run.until_model("m", "it is restarted", |model| {
        (model.restarts > 0).then_some(())
    });
    assert!(!is_alive(pid));
}

#[test]
fn a_hanging_child_that_ignores_signals_does_not_keep_the_session() {
    let script = |_: &Path| Some("trap '' TERM INT HUP; while :; do sleep 1; done".to_owned());
    let run = start(
        spec(PATTERN, vec![model("m", "frameid.onnx")]),
        script,
        |_| {},
    );
    let pids = run.until("both start", |view| {
        Some([view.source.pid?, view.models.first()?.pid?])
    });
    run.session.send(SessionCommand::Stop);
    assert_eq!(run.session.wait().exit, SessionExit::Interrupted);
    for pid in pids {
        assert!(!is_alive(pid));
    }
}

#[test]
fn a_program_that_is_not_there_is_a_failure_and_not_a_hang() {
    let run = start(
        spec(PATTERN, vec![model("m", "frameid.onnx")]),
        |_| None,
        |options| {
            options.program = "/nonexistent/ringside".into();
        },
    );
    let outcome = run.session.wait();
    assert_ne!(outcome.exit, SessionExit::Done);
    assert!(
        outcome
            .failures
            .iter()
            .all(|(_, problem)| problem.code == "spawn_failed"),
        "{outcome:?}"
    );
    assert!(matches!(run.rows.all().last(), Some(Row::Summary(_))));
}

/// Plays a folder of twelve pictures of which number `killer` ends the producer whenever it is
/// decoded.
fn play_with_a_killer(killer: u64) {
    let pictures = tempfile::tempdir().expect("a folder");
    for number in 0..12 {
        let picture = pictures.path().join(format!("{number}.png"));
        fs::copy(data("cases/grey200.png"), picture).expect("a copy");
    }
    let script = |folder: &Path| {
        let library = folder.join("killer.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/session/killer.c");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .args([source, "-ldl"])
            .status();
        assert!(
            built.is_ok_and(|status| status.success()),
            "cc, with which Rust links"
        );
        Some(format!(
            r#"case "$1" in produce) export KILLER=/{killer}.png LD_PRELOAD={};; esac"#,
            library.display()
        ))
    };
    let source = format!("folder:{}", pictures.path().display());
    let run = start(spec(&source, vec![model("m", "mean.onnx")]), script, |_| {});
    let outcome = run.session.wait();
    assert_eq!(outcome.exit, SessionExit::Done, "{outcome:?}");
    let rows = run.rows.all();
    let expected: Vec<(u64, u64)> = (1..)
        .zip((0..12).filter(|&index| index != killer))
        .collect();
    assert_eq!(frames(&rows), expected);
    assert_eq!(answers(&rows, "m"), (1..=11).collect::<Vec<u64>>());
    let skipped: Vec<_> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Skipped(skipped) => Some((
                skipped.source_index,
                skipped.path.clone(),
                skipped.reason.clone(),
            )),
            _ => None,
        })
        .collect();
    let [(index, Some(path), reason)] = &skipped[..] else {
        panic!("{skipped:?}")
    };
    assert_eq!((*index, path.as_str()), (killer, &*format!("{killer}.png")));
    // abort() raises signal 6.
    assert!(reason.contains("signal 6"), "{reason}");
}

#[test]
fn a_file_that_kills_the_decoder_is_left_out_and_everything_else_is_shown_once() {
    play_with_a_killer(5);
}

#[test]
fn the_first_file_may_kill_the_decoder_as_well() {
    play_with_a_killer(0);
}

#[test]
fn a_session_is_held_stepped_and_goes_on() {
    let mut session = spec(PATTERN, vec![model("m", "frameid.onnx")]);
    session.delivery = Some(ringside::protocol::Delivery::Every);
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
    session.delivery = Some(ringside::protocol::Delivery::Every);
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
    session.delivery = Some(ringside::protocol::Delivery::Every);
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
fn a_ring_whose_name_a_foreign_program_removed_is_replaced_for_newcomers() {
    let mut session = spec(PATTERN, vec![model("first", "frameid.onnx")]);
    session.delivery = Some(ringside::protocol::Delivery::Every);
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
fn models_come_and_go_and_late_ones_are_marked() {
    let mut session = spec(PATTERN, vec![model("first", "frameid.onnx")]);
    session.delivery = Some(ringside::protocol::Delivery::Every);
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
