//! A session without processes: scenes for the window, and what it was told.

#![allow(
    dead_code,
    reason = "each of the two programs that include this uses a part"
)]

use std::path::Path;
use std::sync::{Arc, Mutex};

use ringside::base::{LatencyStats, monotonic_nanos};
use ringside::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use ringside::gui::{FramePreview, OpenPreview, SessionHandle, Wake};
use ringside::prediction::{Class, Output, ScoreKind};
use ringside::protocol::{
    Chosen, Delivery, ExecutedKernels, Filter, FrameEvent, ModelCard, ModelSpec, Origin,
    PredictionEvent, Preprocess, Problem, ProviderReport, ReportTimes, Resize, SourceInfo,
    SourceState,
};
use ringside::recording::Micros;
use ringside::session::{
    AgreementView, ChildState, LogLevel, LogLine, ModelView, RingView, SessionCommand,
    SessionPhase, SessionView, ShownPrediction, SourceView, StageStats,
};

/// The photographs that the scenes show, with what a model might say about them.
pub(crate) const PHOTOGRAPHS: [(&str, [(&str, f32); 5]); 3] = [
    (
        "cat.jpg",
        [
            ("tiger cat", 0.612),
            ("tabby", 0.241),
            ("Egyptian cat", 0.083),
            ("lynx", 0.021),
            ("window screen", 0.004),
        ],
    ),
    (
        "coffee.jpg",
        [
            ("espresso", 0.894),
            ("cup", 0.052),
            ("coffee mug", 0.031),
            ("eggnog", 0.006),
            ("soup bowl", 0.003),
        ],
    ),
    (
        "astronaut.jpg",
        [
            ("space shuttle", 0.402),
            ("military uniform", 0.188),
            ("missile", 0.057),
            ("bulletproof vest", 0.043),
            ("projectile", 0.029),
        ],
    ),
];

/// Width and height of each photograph.
const SIZES: [[u32; 2]; 3] = [[451, 300], [600, 400], [512, 512]];

/// Sequence of the newest photograph, where no sequence is asked for.
pub(crate) const NEWEST: u64 = 157;

fn place(seq: u64) -> usize {
    (seq as usize).saturating_sub(1) % PHOTOGRAPHS.len()
}

/// A session that shows what it is given and remembers what it is told.
#[derive(Clone, Default)]
pub(crate) struct FakeSession {
    wake: Arc<Mutex<Option<Wake>>>,
    view: Arc<Mutex<Arc<SessionView>>>,
    sent: Arc<Mutex<Vec<SessionCommand>>>,
}

impl FakeSession {
    pub(crate) fn new(view: SessionView) -> Self {
        let fake = Self::default();
        fake.set(view);
        fake
    }

    pub(crate) fn set(&self, view: SessionView) {
        *self.view.lock().expect("the fake's lock") = Arc::new(view);
        if let Some(wake) = &*self.wake.lock().expect("the fake's lock") {
            wake();
        }
    }

    /// As a session does, it calls `wake` at each new view.
    pub(crate) fn set_wake(&self, wake: Wake) {
        *self.wake.lock().expect("the fake's lock") = Some(wake);
    }

    /// The commands since the last call.
    pub(crate) fn take_sent(&self) -> Vec<SessionCommand> {
        std::mem::take(&mut *self.sent.lock().expect("the fake's lock"))
    }
}

impl SessionHandle for FakeSession {
    fn view(&self) -> Arc<SessionView> {
        Arc::clone(&self.view.lock().expect("the fake's lock"))
    }

    fn send(&self, command: SessionCommand) {
        self.sent.lock().expect("the fake's lock").push(command);
    }

    fn end(&self) {}
}

/// Photographs instead of a ring: sequence N is photograph N, from 1, over and over.
pub(crate) fn photographs() -> OpenPreview {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples");
    let frames: Arc<Vec<Frame>> = Arc::new(
        PHOTOGRAPHS
            .iter()
            .map(|(name, _)| photograph(&samples.join(name)))
            .collect(),
    );
    Box::new(move |_| Ok(Box::new(Photographs(Arc::clone(&frames)))))
}

struct Photographs(Arc<Vec<Frame>>);

impl FramePreview for Photographs {
    fn copy(&mut self, seq: Option<u64>, frame: &mut Frame) -> Result<Option<u64>, String> {
        let seq = seq.unwrap_or(NEWEST);
        frame.clone_from(&self.0[place(seq)]);
        Ok(Some(seq))
    }
}

fn photograph(path: &Path) -> Frame {
    let rgb = image::open(path).expect("a photograph").into_rgb8();
    let (width, height) = rgb.dimensions();
    Frame {
        description: FrameDescription::packed(width, height, SampleType::U8, PixelOrder::Rgb)
            .expect("a photograph has pixels"),
        position: FramePosition::default(),
        pixels: rgb.into_raw(),
    }
}

/// A session that has published `seq` photographs, with two models that answer.
pub(crate) fn running(seq: u64) -> SessionView {
    let now = monotonic_nanos();
    SessionView {
        version: seq,
        phase: SessionPhase::Running,
        at_nanos: now,
        started_nanos: now.saturating_sub(12_000_000_000),
        source: SourceView {
            uri: "folder:assets/samples".to_owned(),
            child: ChildState::Running,
            pid: Some(4711),
            info: Some(SourceInfo {
                uri: "folder:assets/samples".to_owned(),
                entries: Some(13),
                largest: FrameDescription::packed(1411, 1411, SampleType::U8, PixelOrder::Rgb)
                    .expect("a size"),
                live: false,
                fps: None,
            }),
            state: Some(SourceState::Live),
            delivery: Some(Delivery::Every),
            looping: true,
            published: seq,
            skipped: 1,
            newest: Some(Arc::new(FrameEvent {
                seq,
                description: FrameDescription::packed(451, 300, SampleType::U8, PixelOrder::Rgb)
                    .expect("a size"),
                position: position(seq),
                published_nanos: now,
                xxh3: None,
            })),
            frames_per_second: Some(29.8),
            ..Default::default()
        },
        models: vec![
            model("lite0", "efficientnet_lite0.onnx", seq, 1.0),
            model("lite0-int8", "efficientnet_lite0_int8.onnx", seq, 0.55),
        ],
        ring: Some(RingView {
            name: "/ringside-fake".to_owned(),
            generation: 1,
            pins: true,
            ..Default::default()
        }),
        agreement: vec![AgreementView {
            a: "lite0".to_owned(),
            b: "lite0-int8".to_owned(),
            frames: seq,
            same: seq * 19 / 20,
        }],
        log: log(now).into(),
    }
}

/// The same before any model is ready.
pub(crate) fn loading() -> SessionView {
    let mut view = running(0);
    view.phase = SessionPhase::Starting;
    view.source.state = Some(SourceState::Connecting);
    view.source.newest = None;
    view.source.frames_per_second = None;
    view.source.skipped = 0;
    view.agreement.clear();
    view.log = Arc::default();
    view.ring = Some(RingView::default());
    for (model, step) in view.models.iter_mut().zip([
        "Loading ONNX Runtime 1.31.1",
        "Loading efficientnet_lite0_int8.onnx",
    ]) {
        model.child = ChildState::Starting {
            step: step.to_owned(),
        };
        model.card = None;
        model.shown = None;
        model.timeline = Arc::default();
        model.stages.clear();
        model.frames_per_second = None;
        model.predicted = 0;
    }
    view
}

/// The second model has been given up, the first one is being restarted.
pub(crate) fn failing(seq: u64) -> SessionView {
    let mut view = running(seq);
    view.models[0].child = ChildState::Restarting {
        attempt: 2,
        at_nanos: monotonic_nanos() + 2_400_000_000,
        cause: "killed by signal 9".to_owned(),
    };
    view.models[0].lost = 1;
    view.models[0].restarts = 1;
    view.models[1].child = ChildState::Failed(Problem {
        code: "model_opset".to_owned(),
        message: "models/efficientnet_lite0_int8.onnx: opset 99 is newer than ONNX Runtime 1.31.1 supports (26)".to_owned(),
        hint: Some("Export the model with opset 26 or lower, or install a newer ONNX Runtime with `ringside runtime install`.".to_owned()),
    });
    view.models[1].shown = None;
    view.models[1].card = None;
    view.models[1].timeline = Arc::default();
    view.models[1].stderr = vec![
        "[E:onnxruntime] Load model failed: Unsupported model opset".to_owned(),
        "consumer: exiting with code 4".to_owned(),
    ]
    .into();
    view
}

/// ONNX Runtime is broken: both models have been given up, and frames flow all the same.
pub(crate) fn all_failed(seq: u64) -> SessionView {
    let mut view = failing(seq);
    let problem = Problem {
        code: "runtime_missing".to_owned(),
        message: "/opt/lib/libm.so.6 is not ONNX Runtime: it has no OrtGetApiBase".to_owned(),
        hint: Some(
            "Name libonnxruntime.so of version 1.24 or newer with --onnxruntime, or run `ringside runtime install`.".to_owned(),
        ),
    };
    for model in &mut view.models {
        model.child = ChildState::Failed(problem.clone());
        model.shown = None;
        model.card = None;
        model.timeline = Arc::default();
        model.frames_per_second = None;
        model.stages.clear();
        model.predicted = 0;
        model.lost = 0;
    }
    view.agreement.clear();
    view
}

/// As many models as asked for; each third has a long name, and a GPU that says much.
pub(crate) fn many(models: usize, seq: u64) -> SessionView {
    let mut view = running(seq);
    view.models = (0..models)
        .map(|place| {
            let scale = 0.4 + place as f64 * 0.2;
            match place % 3 {
                2 => {
                    let name = format!("segmentation large {place}");
                    on_gpu(model(&name, "segmentation_large.onnx", seq, scale))
                }
                1 => model(
                    &format!("lite0-int8-{place}"),
                    "lite0_int8.onnx",
                    seq,
                    scale,
                ),
                _ => model(&format!("lite{place}"), "lite.onnx", seq, scale),
            }
        })
        .collect();
    view
}

/// The badge that such a model has.
pub(crate) const GPU_BADGE: &str = "CUDA 97 % of time · 3 nodes on CPU · 2 copies";

fn on_gpu(mut model: ModelView) -> ModelView {
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

/// Nothing to run.
pub(crate) fn empty() -> SessionView {
    let mut view = loading();
    view.models.clear();
    view
}

/// The source cannot be opened.
pub(crate) fn no_source() -> SessionView {
    let mut view = loading();
    view.source.uri = "folder:/data/pictures".to_owned();
    view.source.child = ChildState::Failed(Problem {
        code: "source_open".to_owned(),
        message: "folder:/data/pictures: no such folder".to_owned(),
        hint: Some(
            "Name a folder that exists; relative paths begin at the session file.".to_owned(),
        ),
    });
    for model in &mut view.models {
        model.child = ChildState::Running;
    }
    view
}

fn position(seq: u64) -> FramePosition {
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

fn log(now: u64) -> Vec<LogLine> {
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
