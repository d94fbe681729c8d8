//! The whole pipeline against a bare ONNX Runtime loop and against the Python pipeline of the
//! original question, all in one run. `cargo bench --bench pipeline`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::Tensor;
use ringside::recording::Row;

/// Frames of a measurement; the first ten are left out everywhere.
const FRAMES: u64 = 400;
/// Each figure is the median of as many measurements.
const ROUNDS: usize = 5;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn python() -> String {
    std::env::var("RINGSIDE_PYTHON").unwrap_or_else(|_unset| "python3".to_owned())
}

/// Frames per second of ONNX Runtime on a ready tensor.
fn bare(environment: &ort::environment::Environment, model: &Path, threads: usize) -> f64 {
    let mut session = Session::builder(environment)
        .expect("a builder")
        .with_optimization_level(GraphOptimizationLevel::All)
        .expect("an option")
        .with_intra_threads(threads)
        .expect("an option")
        .commit_from_file(model)
        .expect("the bundled model");
    let tensor =
        Tensor::from_array(([1usize, 3, 224, 224], vec![0.1f32; 3 * 224 * 224])).expect("a tensor");
    let mut run = || {
        session.run(ort::inputs![&tensor]).expect("a run");
    };
    (0..10).for_each(|_| run());
    let started = Instant::now();
    (10..FRAMES).for_each(|_| run());
    (FRAMES - 10) as f64 / started.elapsed().as_secs_f64()
}

/// Frames per second of `ringside run`, from its own rows: the first ten answers are left out.
fn ringside_run(model: &Path, folder: &Path, threads: usize) -> f64 {
    let output = Command::new(env!("CARGO_BIN_EXE_ringside"))
        .args([
            "run",
            "--json",
            "--loop",
            "--delivery",
            "every",
            "--device",
            "cpu",
        ])
        .args([
            "--frames",
            &FRAMES.to_string(),
            "--threads",
            &threads.to_string(),
        ])
        .arg("--source")
        .arg(format!("folder:{}", folder.display()))
        .arg("--model")
        .arg(model)
        .stderr(Stdio::inherit())
        .output()
        .expect("ringside runs");
    let text = String::from_utf8(output.stdout).expect("JSON lines");
    let mut published = std::collections::BTreeMap::new();
    let mut answered = Vec::new();
    for line in text.lines() {
        match serde_json::from_str(line).expect("a row") {
            Row::Frame(frame) => {
                published.insert(frame.seq, frame.at_nanos.captured);
            }
            Row::Prediction(row) => {
                answered.push(published[&row.seq] as f64 / 1e9 + row.micros.age as f64 / 1e6);
            }
            _ => {}
        }
    }
    assert_eq!(answered.len() as u64, FRAMES);
    (answered.len() - 10) as f64 / (answered[answered.len() - 1] - answered[9])
}

/// Frames per second of the question's pipeline; `None` where Python or a package is missing.
fn question(model: &Path, folder: &Path, typecode: &str, threads: usize) -> Option<f64> {
    let output = Command::new(python())
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/bench/question_peer.py"
        ))
        .arg(model)
        .arg(folder)
        .args([typecode, &threads.to_string(), &FRAMES.to_string()])
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// Seconds from the start of a process to the first line with `mark` on its stdout, and to its end.
fn seconds(command: &mut Command, mark: &str) -> Option<[f64; 2]> {
    let started = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut first = None;
    for line in BufReader::new(child.stdout.take()?).lines() {
        if line.ok()?.contains(mark) {
            first.get_or_insert_with(|| started.elapsed().as_secs_f64());
        }
    }
    let status = child.wait().ok()?;
    Some([
        first.filter(|_| status.success())?,
        started.elapsed().as_secs_f64(),
    ])
}

fn main() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let model = root.join("models/efficientnet_lite0.onnx");
    let folder = root.join("assets/samples");
    let named = std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    let library = ringside::runtime::find(named.as_deref())
        .expect("ONNX Runtime: `ringside runtime install`");
    let environment = ort::init_from(&library.path)
        .expect("a library")
        .with_telemetry(false)
        .build()
        .expect("an environment");

    for threads in [1, 2] {
        let (mut bare_fps, mut ringside_fps) = (Vec::new(), Vec::new());
        let (mut bytes_fps, mut ints_fps) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            bare_fps.push(bare(&environment, &model, threads));
            ringside_fps.push(ringside_run(&model, &folder, threads));
            bytes_fps.extend(question(&model, &folder, "B", threads));
            ints_fps.extend(question(&model, &folder, "I", threads));
        }
        let (bare, ours) = (median(bare_fps), median(ringside_fps));
        println!(
            "{threads} threads: bare ONNX Runtime {bare:.1} frames/s, ringside {ours:.1}: ratio {:.3}",
            ours / bare
        );
        for (kind, fps) in [("B", bytes_fps), ("I", ints_fps)] {
            if fps.is_empty() {
                println!(
                    "  skipped: Array('{kind}') needs Python with numpy, pillow and onnxruntime (RINGSIDE_PYTHON)"
                );
            } else {
                let peer = median(fps);
                println!(
                    "  the question's pipeline with Array('{kind}') {peer:.1} frames/s: ringside is {:.2} times as fast",
                    ours / peer
                );
            }
        }
    }

    let picture = folder.join("cat.jpg");
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    for _ in 0..2 * ROUNDS + 1 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringside"));
        command
            .args(["run", "--json", "--device", "cpu", "--source"])
            .arg(&picture)
            .arg("--model")
            .arg(&model);
        ours.extend(seconds(&mut command, r#""type":"prediction""#));
        let mut command = Command::new(python());
        command
            .arg(root.join("tests/bench/first_run_peer.py"))
            .arg(&model)
            .arg(&picture);
        peer.extend(seconds(&mut command, ""));
    }
    if peer.is_empty() {
        println!("skipped: Python with numpy, pillow and onnxruntime is missing (RINGSIDE_PYTHON)");
    }
    for (until, what) in ["process start to first prediction", "process start to end"]
        .into_iter()
        .enumerate()
    {
        let at = |times: &[[f64; 2]]| median(times.iter().map(|time| time[until]).collect());
        println!("{what}: ringside {:.0} ms", at(&ours) * 1e3);
        if !peer.is_empty() {
            println!(
                "  Python {:.0} ms: ringside is {:.2} times as fast",
                at(&peer) * 1e3,
                at(&peer) / at(&ours)
            );
        }
    }
}
