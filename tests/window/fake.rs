//! A session without processes: scenes for the window, and what it was told.

#![allow(
    dead_code,
    reason = "each of the two programs that include this uses a part"
)]

#[path = "pieces.rs"]
mod pieces;

use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use pieces::{log, model, on_gpu, position};
use ringside::base::monotonic_nanos;
use ringside::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use ringside::gui::{FramePreview, OpenPreview, SessionHandle, Wake};
use ringside::protocol::{Delivery, FrameEvent, Problem, SourceInfo, SourceState};
use ringside::session::{
    AgreementView, ChildState, ProcessUsage, RingView, SessionCommand, SessionPhase, SessionSpec,
    SessionView, SlotUse, SlotView, SourceView,
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

/// When all scenes began: they are of one session.
static STARTED: LazyLock<u64> = LazyLock::new(|| monotonic_nanos().saturating_sub(12_000_000_000));

fn place(seq: u64) -> usize {
    (seq as usize).saturating_sub(1) % PHOTOGRAPHS.len()
}

/// A session that shows what it is given and remembers what it is told.
#[derive(Clone, Default)]
pub(crate) struct FakeSession {
    wake: Arc<Mutex<Option<Wake>>>,
    view: Arc<Mutex<Arc<SessionView>>>,
    sent: Arc<Mutex<Vec<SessionCommand>>>,
    opened: Arc<Mutex<Vec<SessionSpec>>>,
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

    /// The sessions that were opened since the last call.
    pub(crate) fn take_opened(&self) -> Vec<SessionSpec> {
        std::mem::take(&mut *self.opened.lock().expect("the fake's lock"))
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

    fn open(&self, spec: SessionSpec) {
        self.opened.lock().expect("the fake's lock").push(spec);
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
        frame.position = position(seq);
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
        started_nanos: *STARTED,
        source: SourceView {
            uri: "folder:assets/samples".to_owned(),
            child: ChildState::Running,
            pid: Some(4711),
            usage: Some(ProcessUsage {
                cores: 0.31,
                resident_bytes: 61_000_000,
            }),
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
            bytes: 42_000_000,
            head: seq,
            pins: true,
            slots: slots(seq),
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

/// Seven slots: the newest frame, one that is kept, one that is being written.
fn slots(seq: u64) -> Vec<SlotView> {
    let slot = |seq, used| SlotView { seq, used };
    vec![
        slot(seq.saturating_sub(2), SlotUse::Free),
        slot(seq.saturating_sub(1), SlotUse::Pinned),
        slot(seq, SlotUse::Free),
        slot(0, SlotUse::Writing),
        slot(0, SlotUse::Free),
        slot(0, SlotUse::Free),
        slot(0, SlotUse::Free),
    ]
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
