//! Front ends and readers that end, whatever way.

use super::*;

#[test]
fn c07_a_front_end_that_ends_takes_everything_with_it() {
    for how in [Signal::TERM, Signal::INT, Signal::KILL] {
        let folder = tempfile::tempdir().expect("a folder");
        let report = folder.path().join("report");
        let session = session_file(
            folder.path(),
            "source = \"pattern:stamp?size=320x240&fps=30\"\ndelivery = \"live\"",
            &[("a", "cases/frameid.onnx"), ("b", "cases/slow.onnx")],
        );
        let child = run_in_background(&session, &["--report", report.to_str().expect("UTF-8")]);
        let pid = child.id();
        eventually("answers", || (predictions_in(&report) > 10).then_some(()));
        let below = descendants(pid);
        assert!(below.len() >= 3, "a producer and two consumers: {below:?}");
        let mine: Vec<String> = ringside::ring::list()
            .expect("rings")
            .into_iter()
            .filter(|ring| ring.owner_pid == Some(pid))
            .map(|ring| ring.name)
            .collect();
        assert_eq!(mine.len(), 1);
        signal(pid, how);
        let told = Instant::now();
        if how == Signal::KILL {
            child.wait();
        } else {
            let finished = child.wait();
            assert_eq!(finished.code(), 130, "{}", finished.stderr);
            summary(&finished.rows());
            let report_rows =
                std::fs::read_to_string(report.join("rows.jsonl")).expect("the report");
            assert_eq!(
                report_rows, finished.stdout,
                "report and stdout hold the same rows"
            );
            assert!(
                !segments().contains(&mine[0].trim_start_matches('/').to_owned()),
                "the segment is gone"
            );
        }
        eventually("children gone", || {
            below
                .iter()
                .all(|pid| stat(*pid).is_none_or(|stat| stat.state == 'Z' && stat.parent == 1))
                .then_some(())
        });
        println!(
            "{how:?}: all gone after {:.2} s",
            told.elapsed().as_secs_f64()
        );
        if how == Signal::KILL {
            // Reclaimed by the next start.
            let cat = support::image(&root().join("assets/samples/cat.jpg"));
            assert_eq!(
                run_json(&cat, &[&data("cases/mean.onnx")], &["--device", "cpu"]).code(),
                0
            );
            assert!(
                !segments().contains(&mine[0].trim_start_matches('/').to_owned()),
                "swept"
            );
        }
    }
}

#[test]
fn c02_a_killed_tree_leaves_nothing_that_stops_the_next_start() {
    let folder_ = tempfile::tempdir().expect("a folder");
    let session = session_file(
        folder_.path(),
        "source = \"pattern:stamp?size=320x240&fps=30\"\ndelivery = \"live\"",
        &[("a", "cases/frameid.onnx")],
    );
    let mut names = Vec::new();
    for round in 0..rounds(3, 20) {
        let report = folder_.path().join(format!("report{round}"));
        let child = run_in_background(&session, &["--report", report.to_str().expect("UTF-8")]);
        let started = Instant::now();
        eventually("answers", || (predictions_in(&report) > 0).then_some(()));
        println!(
            "round {round}: first answer after {:.2} s",
            started.elapsed().as_secs_f64()
        );
        let rings = ringside::ring::list().expect("rings");
        let mine = rings
            .into_iter()
            .filter(|ring| ring.owner_pid == Some(child.id()));
        names.extend(mine.map(|ring| ring.name));
        let tree = descendants(child.id());
        signal(child.id(), Signal::KILL);
        for pid in tree {
            // It may have ended with its parent already.
            if stat(pid).is_some() {
                let process = rustix::process::Pid::from_raw(pid as i32).expect("a process");
                rustix::process::kill_process(process, Signal::KILL).ok();
            }
        }
        child.wait();
    }
    let samples = folder(&root().join("assets/samples"));
    assert_eq!(
        run_json(&samples, &[&data("cases/mean.onnx")], &["--device", "cpu"]).code(),
        0
    );
    assert_eq!(names.len(), rounds(3, 20) as usize);
    let left = ringside::ring::list().expect("rings");
    assert!(
        left.iter().all(|ring| !names.contains(&ring.name)),
        "{left:?}"
    );
}

#[test]
fn a_late_reader_of_a_closed_pipe_ends_it_quietly() {
    let mut command = ringside([
        "run",
        "--json",
        "--source",
        "pattern:stamp?size=320x240&fps=30",
        "--device",
        "cpu",
        "--model",
    ]);
    command.arg(data("cases/frameid.onnx"));
    let (child, stdout) = start_unread(&mut command);
    let mut lines = BufReader::new(stdout).lines();
    lines.next().expect("a row").expect("a readable pipe");
    drop(lines);
    let finished = child.wait();
    assert_eq!((finished.code(), finished.stderr.as_str()), (0, ""));
}
