//! Preprocessing of a 1080p frame on one thread, against OpenCV + NumPy and Pillow + NumPy in the
//! same run: `RINGSIDE_PYTHON=python3 cargo bench --bench preprocess`.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use ringside::consumer::preprocess::{InputTensor, InputType, Layout, Preprocessor, TensorSlice};
use ringside::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use ringside::protocol::{Filter, Preprocess, Resize};
use serde::Deserialize;

const WIDTH: u32 = 1920;
const HEIGHT: u32 = 1080;
const RUNS: usize = 400;
/// The other pipelines, and how many times faster than each this one is to be, if it is to be.
const PEERS: [(&str, Option<f64>); 3] = [
    ("opencv", Some(2.0)),
    ("opencv tuned", None),
    ("pillow", Some(9.0)),
];

#[derive(Deserialize)]
struct Peers {
    versions: String,
    /// Job → library → milliseconds.
    millis: BTreeMap<String, BTreeMap<String, f64>>,
}

fn main() -> Result<()> {
    let frame = frame()?;
    let jobs = [("classify", classify()), ("letterbox", letterbox())];
    let before = jobs.each_ref().map(|(_, job)| median(job, &frame));
    let peers = peers(&frame);
    let after = jobs.each_ref().map(|(_, job)| median(job, &frame));
    println!("1080p RGB → normalised CHW f32, one thread, median of {RUNS} runs");
    match &peers {
        Ok(peers) => println!("against {}", peers.versions),
        Err(reason) => println!("peers skipped: {reason:#}"),
    }
    for (index, (name, job)) in jobs.iter().enumerate() {
        let ours = before[index].min(after[index]).as_secs_f64() * 1e3;
        let [height, width] = job.size.unwrap_or_default();
        print!("{name} {width}x{height}: ringside {ours:.3} ms");
        if let Ok(peers) = &peers {
            let millis = peers.millis.get(*name).context("a job without peers")?;
            for (peer, target) in PEERS {
                let theirs = millis.get(peer).context("a peer without a time")?;
                let ratio = theirs / ours;
                print!(" | {peer} {theirs:.3} ms = {ratio:.1}x");
                if let Some(target) = target {
                    print!(" (target {target}x)");
                }
            }
        }
        println!();
    }
    Ok(())
}

/// EfficientNet-Lite's: a centre square, bicubic, antialiased.
fn classify() -> Preprocess {
    Preprocess {
        resize: Resize::ShortestCrop,
        filter: Filter::PilBicubic,
        size: Some([224, 224]),
        crop_pct: 0.875,
        order: "rgb".to_owned(),
        scale: 1.0,
        mean: [127.0; 3],
        std: [128.0; 3],
        pad: 0,
    }
}

/// Ultralytics'.
fn letterbox() -> Preprocess {
    Preprocess {
        resize: Resize::Letterbox,
        filter: Filter::CvLinear,
        size: Some([640, 640]),
        scale: 1.0 / 255.0,
        mean: [0.0; 3],
        std: [1.0; 3],
        pad: 114,
        ..classify()
    }
}

/// A photograph, enlarged.
fn frame() -> Result<Frame> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/samples/hubble.jpg");
    let image = image::open(path).with_context(|| format!("cannot read {path}"))?;
    let filter = image::imageops::FilterType::Triangle;
    let image = image.resize_exact(WIDTH, HEIGHT, filter).into_rgb8();
    Ok(Frame {
        description: FrameDescription::packed(WIDTH, HEIGHT, SampleType::U8, PixelOrder::Rgb)?,
        position: FramePosition::default(),
        pixels: image.into_raw(),
    })
}

fn median(preprocess: &Preprocess, frame: &Frame) -> Duration {
    let [height, width] = preprocess.size.unwrap_or_default();
    let input = InputTensor {
        layout: Layout::Nchw,
        dtype: InputType::F32,
        channels: 3,
        height: Some(height),
        width: Some(width),
    };
    let mut preprocessor = Preprocessor::new(preprocess, &input);
    let mut out = vec![0.0; input.image_len(height, width)];
    let mut times = Vec::with_capacity(RUNS);
    for run in 0..RUNS + RUNS / 10 {
        let start = Instant::now();
        preprocessor
            .run(frame, &mut TensorSlice::F32(&mut out))
            .expect("a whole frame and a tensor of its size");
        let time = start.elapsed();
        std::hint::black_box(&out);
        if run >= RUNS / 10 {
            times.push(time);
        }
    }
    times.sort();
    times[RUNS / 2]
}

fn peers(frame: &Frame) -> Result<Peers> {
    let python = std::env::var("RINGSIDE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("frame.rgb");
    std::fs::write(&path, &frame.pixels)?;
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/bench/preprocess_peers.py"
    );
    let output = Command::new(&python)
        .arg(script)
        .arg(&path)
        .args([WIDTH, HEIGHT].map(|side| side.to_string()))
        .arg(RUNS.to_string())
        .output()
        .with_context(|| format!("cannot run {python} (set RINGSIDE_PYTHON)"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().last().unwrap_or("no message");
    ensure!(
        output.status.success(),
        "{python} with numpy, opencv-python and pillow is needed: {last}"
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}
