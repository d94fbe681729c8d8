//! Processes that are killed or stopped, and what they cost the others.

use super::*;

#[test]
fn c05_a_stopped_consumer_costs_the_others_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report");
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=640x480&fps=30\"\ndelivery = \"live\"\nschedule = \"together\"",
        &[
            ("fast", "cases/frameid.onnx"),
            ("slow", "cases/slow.onnx"),
            ("stopped", "cases/frameid.onnx"),
        ],
    );
    let child = run_in_background(&session, &["--report", report.to_str().expect("UTF-8")]);
    let pid = child.id();
    eventually("answers", || (predictions_in(&report) > 100).then_some(()));
    let consumers = children(pid, "consume");
    assert_eq!(consumers.len(), 3);
    // Children are started in the session's order.
    let stopped = *consumers.iter().max().expect("three");
    signal(stopped, Signal::STOP);
    std::thread::sleep(Duration::from_secs(rounds(5, 20).into()));
    signal(stopped, Signal::CONT);
    std::thread::sleep(Duration::from_secs(2));
    signal(pid, Signal::TERM);
    let finished = child.wait();
    assert_eq!(finished.code(), 130, "{}", finished.stderr);
    let rows = finished.rows();
    let published: BTreeMap<u64, i64> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Frame(frame) => Some((frame.seq, frame.at_nanos.published)),
            _ => None,
        })
        .collect();
    let (first, last) = (
        published.first_key_value().expect("frames"),
        published.last_key_value().expect("frames"),
    );
    let fps = (last.0 - first.0) as f64 / ((last.1 - first.1) as f64 / 1e9);
    // Times are hang guards: a loaded machine gets five times as much.
    println!("{fps:.2} frames/s while a consumer was stopped (30 asked for)");
    assert!(fps >= 29.0 / 5.0, "{fps} frames a second");
    let total = summary(&rows).frames.published;
    assert_eq!(total, published.len() as u64);
    for model in &summary(&rows).models {
        let taken = model.predicted + model.invalid + model.lost + model.unreported;
        assert_eq!(
            model.dropped,
            total - model.joined_at - taken,
            "{}: {model:?}",
            model.name
        );
    }
    let fast = totals(&rows, "fast");
    let share = fast.predicted as f64 / (total - fast.joined_at) as f64;
    println!(
        "the fast model answered {:.1} % of the frames",
        share * 100.0
    );
    assert!(share >= 1.0 - 5.0 * 0.05, "{fast:?} of {total}");
    // No backlog: after a gap the stopped one went on with frames that were new then.
    let seqs: Vec<u64> = predictions(&rows)
        .iter()
        .filter(|row| row.model == "stopped")
        .map(|row| row.seq)
        .collect();
    let gap = seqs
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .max()
        .expect("answers");
    assert!(
        gap as f64 > f64::from(rounds(5, 20)) * 30.0 * 0.8,
        "the largest gap is {gap} frames"
    );
}

#[test]
fn a_killed_consumer_loses_the_frame_it_held_and_goes_on_at_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report");
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=320x240&frames=40\"\ndelivery = \"every\"",
        &[
            ("slow", "cases/slow.onnx"),
            ("frameid", "cases/frameid.onnx"),
        ],
    );
    let child = run_in_background(&session, &["--report", report.to_str().expect("UTF-8")]);
    eventually("answers", || (predictions_in(&report) > 10).then_some(()));
    let consumers = children(child.id(), "consume");
    let slow = *consumers.iter().min().expect("two");
    signal(slow, Signal::KILL);
    let finished = child.wait();
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    let lost: Vec<(u64, String)> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Lost(row) => Some((row.seq, row.reason.clone())),
            _ => None,
        })
        .collect();
    assert!(lost.len() <= 1, "{lost:?}");
    assert!(
        lost.iter().all(|(_, reason)| reason.contains("signal 9")),
        "{lost:?}"
    );
    for model in ["slow", "frameid"] {
        let mut seqs: Vec<u64> = predictions(&rows)
            .iter()
            .filter(|row| row.model == model)
            .map(|row| row.seq)
            .collect();
        if model == "slow" {
            seqs.extend(lost.iter().map(|(seq, _)| seq));
        }
        seqs.sort_unstable();
        assert_eq!(seqs, (1..=40).collect::<Vec<u64>>(), "{model}");
    }
    assert_eq!(totals(&rows, "slow").restarts, 1);
}

#[test]
fn a_killed_producer_is_restarted_and_the_sequence_goes_on() {
    let folder_ = tempfile::tempdir().expect("a folder");
    let report = folder_.path().join("report");
    let pictures = folder_.path().join("pictures");
    std::fs::create_dir(&pictures).expect("a folder");
    for number in 0..60 {
        std::fs::copy(
            data("cases/grey200.png"),
            pictures.join(format!("{number}.png")),
        )
        .expect("a copy");
    }
    let session = session_file(
        folder_.path(),
        "source = \"folder:pictures\"\ndelivery = \"every\"",
        &[("slow", "cases/slow.onnx")],
    );
    let child = run_in_background(&session, &["--report", report.to_str().expect("UTF-8")]);
    eventually("answers", || (predictions_in(&report) > 10).then_some(()));
    signal(children(child.id(), "produce")[0], Signal::KILL);
    let finished = child.wait();
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    let frames: Vec<(u64, String)> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Frame(frame) => Some((frame.seq, frame.path.clone().expect("a file"))),
            _ => None,
        })
        .collect();
    let expected: Vec<(u64, String)> = (0..60)
        .map(|number| (number + 1, format!("{number}.png")))
        .collect();
    assert_eq!(frames, expected);
    assert_eq!(predictions(&rows).len(), 60);
}

#[test]
fn two_sessions_run_beside_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=320x240&fps=30&frames=60\"\ndelivery = \"every\"",
        &[("a", "cases/frameid.onnx")],
    );
    let both = [
        run_in_background(&session, &[]),
        run_in_background(&session, &[]),
    ];
    for child in both {
        let finished = child.wait();
        assert_eq!(finished.code(), 0, "{}", finished.stderr);
        let rows = finished.rows();
        let labels: Vec<&str> = predictions(&rows).into_iter().map(top).collect();
        let expected: Vec<String> = (0..60).map(label).collect();
        assert_eq!(labels, expected);
    }
}

#[test]
fn only_consumers_map_onnx_runtime() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report");
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=320x240&fps=30\"\ndelivery = \"live\"",
        &[("a", "cases/frameid.onnx")],
    );
    let child = run_in_background(&session, &["--report", report.to_str().expect("UTF-8")]);
    let pid = child.id();
    eventually("answers", || (predictions_in(&report) > 5).then_some(()));
    let maps = |pid: u32| {
        std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("maps of a live process")
    };
    for pid in [pid, children(pid, "produce")[0]] {
        let maps = maps(pid);
        assert!(
            !maps.contains("libonnxruntime") && !maps.contains("libcuda"),
            "{maps}"
        );
    }
    assert!(maps(children(pid, "consume")[0]).contains("libonnxruntime"));
    signal(pid, Signal::TERM);
    assert_eq!(child.wait().code(), 130);
}
