//! Children that die, hang, lie or are not there.

use std::fs;
use std::path::Path;

use ringside::protocol::Delivery;
use ringside::recording::Row;
use ringside::session::{SessionCommand, SessionExit};

use super::harness::{model, spec, start};
use super::{PATTERN, answers, failure, is_alive};

#[test]
fn c10_a_consumer_that_always_dies_is_given_up_and_can_be_restarted_by_hand() {
    let mut session = spec(
        PATTERN,
        vec![
            model("broken", "frameid.onnx"),
            model("good", "frameid.onnx"),
        ],
    );
    session.delivery = Some(Delivery::Every);
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
