//! Processes that are killed, stopped, slow or gone, through the real binary.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ringside::recording::Row;
use rustix::process::Signal;
use support::{
    Running, children, data, descendants, eventually, finish, folder, predictions, ringside, root,
    run_json, segments, signal, start, start_unread, stat, summary, top, totals,
};

/// Seconds that long forms take more; the soak run sets `RINGSIDE_SOAK`.
fn rounds(short: u32, soak: u32) -> u32 {
    if std::env::var_os("RINGSIDE_SOAK").is_some() {
        soak
    } else {
        short
    }
}

/// A session file with these models (name, file below `tests/data`).
fn session_file(folder: &Path, head: &str, models: &[(&str, &str)]) -> std::path::PathBuf {
    let mut text = format!("{head}\n");
    for (name, file) in models {
        text += &format!(
            "[[model]]\nname = {name:?}\npath = {:?}\ndevice = \"cpu\"\nthreads = 1\n[model.preprocess]\npreset = \"raw\"\n",
            data(file)
        );
    }
    let path = folder.join("session.toml");
    std::fs::write(&path, text).expect("a session file");
    path
}

fn run_in_background(session: &Path, more: &[&str]) -> Running {
    let mut command = ringside(["run", "--json"]);
    start(command.arg(session).args(more))
}

/// Number of prediction rows in a report that is being written.
fn predictions_in(report: &Path) -> usize {
    let text = std::fs::read_to_string(report.join("rows.jsonl")).unwrap_or_default();
    text.matches("\"type\":\"prediction\"").count()
}

fn label(source_index: u64) -> String {
    format!("f{:02}", source_index % 60)
}

#[test]
fn c49_every_answer_belongs_to_the_frame_it_was_computed_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=320x240&fps=20&frames=60\"\ndelivery = \"every\"",
        &[
            ("frameid", "cases/frameid.onnx"),
            ("slow", "cases/slow.onnx"),
        ],
    );
    let finished = finish(ringside(["run", "--json"]).arg(session));
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    let frames: BTreeMap<u64, u64> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Frame(frame) => Some((frame.seq, frame.source_index)),
            _ => None,
        })
        .collect();
    assert_eq!(frames.len(), 60);
    let answers = predictions(&rows);
    assert_eq!(answers.len(), 120);
    for row in answers {
        assert_eq!(
            top(row),
            label(frames[&row.seq]),
            "{} on frame {}",
            row.model,
            row.seq
        );
    }
    let [pair] = &summary(&rows).comparison[..] else {
        panic!("one pair")
    };
    assert_eq!((pair.frames, pair.agreement), (60, Some(1.0)));
}

#[test]
fn c01_no_torn_frame_is_ever_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (frames, snapshots_wanted) = (rounds(1_000, 100_000).into(), rounds(200, 500));
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=1920x1080\"\ndelivery = \"live\"",
        &[("tear", "cases/tear.onnx"), ("slow", "cases/slow.onnx")],
    );
    let child = run_in_background(&session, &[]);
    let pid = child.id();
    let name = eventually("a ring", || {
        let rings = ringside::ring::list().expect("a list of rings");
        rings
            .into_iter()
            .find(|ring| ring.owner_pid == Some(pid))
            .map(|ring| ring.name)
    });
    let (mut snapshots, mut head) = (0, 0);
    {
        let mut preview = ringside::ring::Preview::attach(&name).expect("the ring");
        let mut frame = ringside::frame::Frame {
            description: ringside::frame::FrameDescription::packed(
                1,
                1,
                ringside::frame::SampleType::U8,
                ringside::frame::PixelOrder::Rgb,
            )
            .expect("a pixel"),
            position: ringside::frame::FramePosition::default(),
            pixels: Vec::new(),
        };
        while snapshots < snapshots_wanted || head < frames {
            let running = stat(pid).is_some_and(|stat| stat.state != 'Z');
            assert!(running, "the session ended by itself");
            if let Ok(Some(seq)) = preview.copy(None, &mut frame) {
                head = seq;
                let bytes = &frame.pixels[..frame.description.pixel_bytes()];
                let first = bytes[0];
                assert!(
                    bytes.iter().all(|&byte| byte == first),
                    "a snapshot is half old, half new"
                );
                assert_eq!(u64::from(first), 8 + 4 * (frame.position.source_index % 60));
                snapshots += 1;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    signal(pid, Signal::TERM);
    let finished = child.wait();
    assert_eq!(finished.code(), 130, "{}", finished.stderr);
    println!("{snapshots} snapshots of {head} frames");
    let rows = finished.rows();
    for model in ["tear", "slow"] {
        let mut answers = predictions(&rows).into_iter();
        assert!(answers.any(|row| row.model == model), "{model}");
    }
    let frames: BTreeMap<u64, u64> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Frame(frame) => Some((frame.seq, frame.source_index)),
            _ => None,
        })
        .collect();
    for row in predictions(&rows) {
        let expected = if row.model == "tear" {
            "whole".to_owned()
        } else {
            label(frames[&row.seq])
        };
        assert_eq!(top(row), expected, "{} on frame {}", row.model, row.seq);
    }
}

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

#[test]
fn c51_a_step_of_the_wall_clock_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("clk.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(data("cases/clk.c"))
        .args(["-ldl"])
        .status();
    assert!(
        built.is_ok_and(|status| status.success()),
        "the C compiler that Rust links with builds the clock"
    );
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=320x240&fps=60&frames=300\"\ndelivery = \"every\"",
        &[("frameid", "cases/frameid.onnx")],
    );
    let finished = finish(
        ringside(["run", "--json"])
            .arg(session)
            .env("LD_PRELOAD", library),
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    let longest = (finished.seconds * 1e6) as u64;
    let answers = predictions(&rows);
    assert_eq!(answers.len(), 300);
    for row in answers {
        for (stage, micros) in row.micros.stages() {
            assert!(
                micros < longest,
                "{stage} took {micros} µs in a run of {longest}"
            );
        }
    }
    assert!(summary(&rows).seconds < finished.seconds);
}

#[test]
fn c51_the_first_run_is_marked_and_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session_file(
        folder.path(),
        "source = \"pattern:stamp?size=320x240&frames=20\"\ndelivery = \"every\"",
        &[("slow", "cases/slow.onnx")],
    );
    let finished = finish(ringside(["run", "--json"]).arg(session));
    let rows = finished.rows();
    let answers = predictions(&rows);
    let mut inference: Vec<u64> = answers
        .iter()
        .filter(|row| !row.warmup)
        .map(|row| row.micros.inference)
        .collect();
    assert!(
        inference.len() < answers.len(),
        "no run is marked as warm-up"
    );
    inference.sort_unstable();
    let stats = totals(&rows, "slow").micros["inference"];
    let max = *inference.last().expect("answers");
    // The histogram keeps three significant digits.
    assert!(
        stats.max.abs_diff(max) <= max / 500,
        "{} is not {max}",
        stats.max
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

#[test]
fn names_of_models_are_unique() {
    let cat = support::image(&root().join("assets/samples/cat.jpg"));
    let finished = run_json(
        &cat,
        &[&data("cases/mean.onnx"), &data("cases/mean.onnx")],
        &["--device", "cpu"],
    );
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    let rows = finished.rows();
    let names: BTreeSet<&str> = summary(&rows)
        .models
        .iter()
        .map(|model| model.name.as_str())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
