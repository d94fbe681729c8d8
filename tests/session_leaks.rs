//! Children that come and go leave nothing in the session's process. One test, as it counts what the
//! whole process has.

#[path = "session/harness.rs"]
#[allow(dead_code, reason = "shared with the other tests of sessions")]
mod harness;

use std::fs;

use harness::{interactive, model, spec};
use ringside::session::SessionCommand;
use rustix::process::{Pid, Signal, kill_process};

/// Entries of a folder of `/proc/self`.
fn count(what: &str) -> usize {
    fs::read_dir(format!("/proc/self/{what}"))
        .expect("/proc")
        .count()
}

/// Ended children of this process that were not reaped.
fn zombies() -> Vec<String> {
    let own = std::process::id().to_string();
    let stats = fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| {
            let mut fields = stat.rsplit(") ").next().unwrap_or("").split_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(&own)
        })
        .collect()
}

#[test]
fn c08_fifty_starts_and_twenty_kills_leave_no_zombie_no_descriptor_and_no_thread() {
    let soak = std::env::var_os("RINGSIDE_SOAK").is_some();
    let (starts, kills) = if soak { (50, 20) } else { (6, 4) };
    let run = interactive(spec(
        "pattern:stamp?size=64x48&fps=30",
        vec![model("stays", "frameid.onnx")],
    ));
    run.until_more_answers("stays", 3);
    let (descriptors, threads) = (count("fd"), count("task"));
    for _ in 0..starts {
        run.session.send(SessionCommand::AddModel(Box::new(model(
            "comes",
            "frameid.onnx",
        ))));
        run.until_model("comes", "it answers", |model| {
            (model.predicted > 0).then_some(())
        });
        run.session.send(SessionCommand::RemoveModel {
            name: "comes".to_owned(),
        });
        run.until("it is gone", |view| (view.models.len() == 1).then_some(()));
        assert_eq!(zombies(), [""; 0]);
    }
    for _ in 0..kills {
        let pid = run.until_model("stays", "a process", |model| model.pid);
        let target = Pid::from_raw(pid.cast_signed()).expect("a process");
        kill_process(target, Signal::KILL).expect("a child of ours");
        run.until_model("stays", "its death is seen", |model| {
            (model.pid != Some(pid)).then_some(())
        });
        assert_eq!(zombies(), [""; 0]);
        run.session.send(SessionCommand::Restart {
            model: Some("stays".to_owned()),
        });
        run.until_more_answers("stays", 1);
    }
    let (descriptors_after, threads_after) = (count("fd"), count("task"));
    assert!(
        descriptors_after <= descriptors + 2,
        "{descriptors} descriptors became {descriptors_after}"
    );
    assert!(
        threads_after <= threads + 2,
        "{threads} threads became {threads_after}"
    );
}
