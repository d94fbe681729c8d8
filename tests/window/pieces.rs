//! Models and answers of the fake session.

use std::path::Path;
use std::sync::Arc;

use ringside::base::{LatencyStats, monotonic_nanos};
use ringside::frame::FramePosition;
use ringside::prediction::{Class, Output, ScoreKind};
use ringside::protocol::{
    Chosen, ExecutedKernels, Filter, ModelCard, ModelSpec, Origin, PredictionEvent, Preprocess,
    ProviderReport, ReportTimes, Resize,
};
use ringside::recording::Micros;
use ringside::session::{
    ChildState, LogLevel, LogLine, ModelView, ProcessUsage, ShownPrediction, StageStats,
};

use super::{PHOTOGRAPHS, SIZES, place};

pub(super) fn position(seq: u64) -> FramePosition {
    let (name, _) = PHOTOGRAPHS[place(seq)];
    FramePosition {
        source_index: seq.saturating_sub(1) % 13,
        path: Some(name.to_owned()),
        captured_nanos: monotonic_nanos().saturating_sub(14_200_000),
        stored: SIZES[place(seq)],
        ..Default::default()
    }
}

/// A model whose inference takes `scale` times 9 ms.
pub(crate) fn model(name: &str, file: &str, seq: u64, scale: f64) -> ModelView {
    let provider = ProviderReport {
        asked: "auto".to_owned(),
        device: None,
        provider: "CPU".to_owned(),
        reason: Some("libcuda.so.1 not found".to_owned()),
        assigned: [("CPU".to_owned(), 94)].into(),
        executed: [(
            "CPU".to_owned(),
            ExecutedKernels {
                kernels: 53,
                micros: 9000,
            },
        )]
        .into(),
        copies: 0,
    };
    let first = seq.saturating_sub(400).max(1);
    let timeline: Vec<(u64, bool, Micros)> = (first..=seq)
        .filter(|at| at % 97 != 50)
        .map(|at| (at, at <= 3, micros(at, scale)))
        .collect();
    ModelView {
        spec: Arc::new(ModelSpec {
            name: name.to_owned(),
            path: Path::new("models").join(file),
            ..Default::default()
        }),
        child: ChildState::Running,
        pid: Some(4712),
        usage: Some(ProcessUsage {
            cores: 1.02,
            resident_bytes: 214_000_000,
        }),
        card: Some(Arc::new(card(file, provider))),
        shown: (seq > 0).then(|| Arc::new(answer(seq, scale))),
        stages: stages(scale),
        timeline: timeline.into(),
        frames_per_second: Some(29.8),
        predicted: seq,
        ..Default::default()
    }
}

fn answer(seq: u64, scale: f64) -> ShownPrediction {
    let (_, classes) = PHOTOGRAPHS[place(seq)];
    let classes = classes
        .iter()
        .enumerate()
        .map(|(id, (name, score))| Class {
            id: id as u32,
            name: (*name).to_owned(),
            score: if scale < 1.0 { score * 0.93 } else { *score },
            value: *score,
        })
        .collect();
    ShownPrediction {
        event: PredictionEvent {
            seq,
            width: SIZES[place(seq)][0],
            height: SIZES[place(seq)][1],
            position: position(seq),
            provider: "CPU".to_owned(),
            warmup: seq <= 3,
            batch: 1,
            at_nanos: ReportTimes::default(),
            output: Output::Classes {
                scores: ScoreKind::Probability,
                classes,
            },
        },
        received_nanos: monotonic_nanos(),
        micros: micros(seq, scale),
    }
}

fn micros(seq: u64, scale: f64) -> Micros {
    // A repeatable unevenness.
    let noise = (seq.wrapping_mul(2_654_435_761) >> 7) % 1000;
    let slow = if seq.is_multiple_of(61) { 6_000 } else { 0 };
    let warm = if seq <= 3 { 40_000 / seq } else { 0 };
    let inference = (8_700.0 * scale) as u64 + noise + slow + warm;
    let (wait, copy, preprocess, queue, decode) = (60, 110 + noise / 20, 890 + noise / 4, 1400, 70);
    Micros {
        wait,
        copy,
        preprocess,
        queue,
        inference,
        decode,
        age: wait + copy + preprocess + queue + inference + decode + 900,
    }
}

fn stages(scale: f64) -> Vec<StageStats> {
    let typical = micros(5, scale);
    typical
        .stages()
        .into_iter()
        .map(|(stage, p50)| {
            let stats = LatencyStats {
                p50,
                p90: p50 * 11 / 10,
                p99: p50 * 13 / 10,
                max: p50 * 2,
            };
            StageStats {
                stage,
                recent: Some(stats),
                session: Some(stats),
            }
        })
        .collect()
}

fn card(file: &str, provider: ProviderReport) -> ModelCard {
    ModelCard {
        path: Path::new("models").join(file),
        sha256: "0".repeat(64),
        bytes: 18_600_000,
        onnxruntime: "1.31.1".to_owned(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        metadata: Default::default(),
        provider,
        threads: 1,
        batch: 1,
        task: Chosen {
            value: "classify".to_owned(),
            origin: Origin::Shape,
        },
        layout: "classes".to_owned(),
        scores: None,
        labels: "models/imagenet1k_labels.txt".to_owned(),
        label_count: 1000,
        preprocess: Preprocess {
            resize: Resize::ShortestCrop,
            filter: Filter::PilBicubic,
            size: Some([224, 224]),
            crop_pct: 0.875,
            order: "rgb".to_owned(),
            scale: 1.0,
            mean: [127.0; 3],
            std: [128.0; 3],
            pad: 114,
        },
        preprocess_origins: Default::default(),
        load_micros: Default::default(),
    }
}

pub(super) fn log(now: u64) -> Vec<LogLine> {
    let start = now.saturating_sub(12_000_000_000);
    let line = |at: u64, level, about: &str, message: &str, hint: Option<&str>| LogLine {
        at_nanos: start + at * 1_000_000,
        level,
        about: about.to_owned(),
        message: message.to_owned(),
        hint: hint.map(str::to_owned),
    };
    vec![
        line(
            3,
            LogLevel::Info,
            "session",
            "ring /ringside-fake: 7 slots of 6.0 MB",
            None,
        ),
        line(
            190,
            LogLevel::Info,
            "lite0",
            "ONNX Runtime 1.31.1 loaded",
            None,
        ),
        line(
            260,
            LogLevel::Warning,
            "lite0",
            "runs on the CPU: libcuda.so.1 not found",
            Some("Install the NVIDIA driver, or set device = \"cpu\" to silence this."),
        ),
        line(
            1404,
            LogLevel::Warning,
            "source",
            "broken.jpg was left out: JPEG ends after 1 234 bytes",
            None,
        ),
        line(
            5_120,
            LogLevel::Error,
            "lite0-int8",
            "killed by signal 9; 1 frame lost",
            Some("See the last lines of its process in the tile."),
        ),
        line(
            5_630,
            LogLevel::Info,
            "lite0-int8",
            "restarted, attempt 1",
            None,
        ),
    ]
}

/// The same on a GPU that says much of itself.
pub(super) fn on_gpu(mut model: ModelView) -> ModelView {
    let mut card = (**model.card.as_ref().expect("a card")).clone();
    let provider = &mut card.provider;
    provider.asked = "cuda:0".to_owned();
    provider.provider = "CUDA".to_owned();
    provider.reason = None;
    provider.assigned = [("CUDA".to_owned(), 91), ("CPU".to_owned(), 3)].into();
    let ran = |kernels, micros| ExecutedKernels { kernels, micros };
    provider.executed = [
        ("CUDA".to_owned(), ran(90, 9_700)),
        ("CPU".to_owned(), ran(3, 300)),
    ]
    .into();
    provider.copies = 2;
    model.card = Some(Arc::new(card));
    model
}
