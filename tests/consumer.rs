//! `ringside consume` as a process: commands in, a ring beside it, events out.
//!
//! Without ONNX Runtime every test here says so and passes.

use std::io::Write;
use std::process::{Child, ChildStdin, Command as Process, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, unbounded};
use ringside::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use ringside::prediction::Output;
use ringside::protocol::{
    Attachment, Command, ConsumerStart, Delivery, DeviceChoice, Event, Lines, ModelSpec,
    PredictionEvent, PreprocessSpec, Problem, Schedule,
};
use ringside::ring::{Ring, RingRequest, Writer};

/// A guard against hanging, far above what anything here takes.
const HANG_GUARD: Duration = Duration::from_secs(60);

struct Consumer {
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<Event>,
}

impl Consumer {
    fn start(model: ModelSpec) -> Option<Self> {
        Self::start_for(model, None)
    }

    /// A consumer that takes at most `frames` frames.
    fn start_for(model: ModelSpec, frames: Option<u64>) -> Option<Self> {
        if let Err(error) = ringside::runtime::find(None) {
            eprintln!("skipped: {error}");
            return None;
        }
        let mut child = Process::new(env!("CARGO_BIN_EXE_ringside"))
            .arg("consume")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let output = child.stdout.take().expect("a pipe");
        let (sender, events) = unbounded();
        thread::spawn(move || {
            let mut lines = Lines::new(output);
            while let Ok(Some(event)) = lines.next_message() {
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        let mut consumer = Self {
            stdin: child.stdin.take(),
            child,
            events,
        };
        consumer.tell(&Command::Consume(Box::new(ConsumerStart {
            model,
            delivery: Delivery::Every,
            schedule: Schedule::Turns,
            onnxruntime: None,
            models: 1,
            frames,
        })));
        assert!(matches!(consumer.next(), Event::Hello { .. }));
        Some(consumer)
    }

    fn tell(&mut self, command: &Command) {
        let mut line = serde_json::to_vec(command).expect("a command");
        line.push(b'\n');
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(&line).expect("the consumer reads");
    }

    fn attach(&mut self, ring: &Ring) {
        ring.expect_member(0);
        self.tell(&Command::Attach(Attachment {
            ring: ring.name().to_owned(),
            generation: ring.generation(),
            member: Some(0),
        }));
    }

    fn next(&self) -> Event {
        self.events.recv_timeout(HANG_GUARD).expect("an event")
    }

    /// Events up to and with the first that `wanted` is true of.
    fn until(&self, wanted: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            events.push(self.next());
            if events.last().is_some_and(&wanted) {
                return events;
            }
        }
    }

    fn prediction(&self) -> PredictionEvent {
        match self.next() {
            Event::Prediction(prediction) => *prediction,
            other => panic!("not a prediction: {other:?}"),
        }
    }

    fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(start.elapsed() < HANG_GUARD, "the consumer does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn proc(&self, file: &str) -> String {
        let path = format!("/proc/{}/{file}", self.child.id());
        std::fs::read_to_string(path).expect("the process lives")
    }

    /// User and system time used so far, in clock ticks.
    fn cpu_ticks(&self) -> u64 {
        let stat = self.proc("stat");
        // The fields after the name, which may hold blanks; utime and stime are 14 and 15.
        let fields = stat.rsplit(") ").next().expect("fields").split(' ');
        let times = fields.skip(11).take(2);
        times
            .map(|ticks| ticks.parse::<u64>().expect("ticks"))
            .sum()
    }

    fn resident_kib(&self) -> u64 {
        let status = self.proc("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let mut words = line.expect("VmRSS").split_whitespace();
        words.nth(1).expect("a number").parse().expect("a number")
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().unwrap_or_default();
        self.child.wait().expect("a child");
    }
}

fn model(path: &str) -> ModelSpec {
    ModelSpec {
        path: [env!("CARGO_MANIFEST_DIR"), "tests/data", path]
            .iter()
            .collect(),
        name: "m".to_owned(),
        device: DeviceChoice::Cpu,
        layout: "scores".to_owned(),
        preprocess: PreprocessSpec {
            preset: Some("raw".to_owned()),
            ..PreprocessSpec::default()
        },
        ..ModelSpec::default()
    }
}

fn ring(generation: u32, frame_bytes: u64, first_seq: u64) -> (Ring, Writer) {
    let ring = Ring::create(&RingRequest {
        generation,
        delivery: Delivery::Every,
        frame_bytes,
        slots: 10,
        max_bytes: 1 << 30,
        first_seq,
    })
    .expect("a ring");
    let writer = Writer::attach(ring.name()).expect("a writer");
    (ring, writer)
}

fn solid(width: u32, height: u32, grey: u8) -> Frame {
    let description = FrameDescription::packed(width, height, SampleType::U8, PixelOrder::Rgb)
        .expect("a picture has pixels");
    Frame {
        pixels: vec![grey; description.pixel_bytes()],
        description,
        position: FramePosition::default(),
    }
}

fn publish(writer: &mut Writer, frame: &Frame) -> u64 {
    let start = Instant::now();
    let published = writer.publish(frame, &mut || start.elapsed() > HANG_GUARD);
    published.expect("the consumer takes frames").seq
}

fn first_score(output: &Output) -> f32 {
    match output {
        Output::Classes { classes, .. } => classes[0].score,
        other => panic!("not classes: {other:?}"),
    }
}

#[test]
fn every_frame_is_answered_in_order_across_workers_batches_pauses_and_rings() {
    let spec = ModelSpec {
        batch: 4,
        workers: 2,
        ..model("synthetic/nhwc_f32.onnx")
    };
    let Some(mut consumer) = Consumer::start(spec) else {
        return;
    };
    let (first, mut writer) = ring(1, 12 * 12 * 3, 1);
    consumer.attach(&first);
    let events = consumer.until(|event| matches!(event, Event::Ready(_)));
    assert!(matches!(&events[0], Event::Attached { joined_at: 0, .. }));

    let answer_all = |consumer: &Consumer, writer: &mut Writer, count: u64| {
        let mut seqs = Vec::new();
        thread::scope(|scope| {
            let publishing = scope.spawn(|| {
                let grey = |n: u64| (n * 7 % 256) as u8;
                let frames = (1..=count).map(|n| (grey(n), solid(12, 12, grey(n))));
                frames
                    .map(|(grey, frame)| (publish(writer, &frame), grey))
                    .collect::<Vec<_>>()
            });
            for _ in 0..count {
                seqs.push(consumer.prediction());
            }
            let published = publishing.join().expect("all published");
            for ((seq, grey), prediction) in published.into_iter().zip(&seqs) {
                assert_eq!(prediction.seq, seq);
                let score = first_score(&prediction.output);
                assert!(
                    (score - f32::from(grey) / 255.0).abs() < 0.001,
                    "{prediction:?}"
                );
                let at = prediction.at_nanos;
                let stages = [
                    at.published,
                    at.taken,
                    at.copied,
                    at.preprocessed,
                    at.started,
                    at.inferred,
                    at.decoded,
                ];
                assert!(stages.is_sorted(), "{at:?}");
                assert!((1..=4).contains(&prediction.batch), "{prediction:?}");
            }
        });
        seqs
    };

    consumer.tell(&Command::Play);
    let predictions = answer_all(&consumer, &mut writer, 11);
    assert!(predictions[0].warmup, "the first run is marked");
    assert!(
        predictions.iter().any(|prediction| prediction.batch > 1),
        "frames are inferred together"
    );

    // Waiting for frames, then paused: no spinning. 100 ticks are a second of one core.
    for command in [None, Some(Command::Pause)] {
        if let Some(command) = &command {
            consumer.tell(command);
            thread::sleep(Duration::from_millis(300));
        }
        let before = consumer.cpu_ticks();
        thread::sleep(Duration::from_secs(1));
        let used = consumer.cpu_ticks() - before;
        println!("{command:?}: {used} ticks in a second");
        assert!(used < 30, "{command:?}: {used} ticks in a second");
    }
    // As a session does: from here frames are kept for it.
    first.expect_member(0);
    consumer.tell(&Command::Play);
    answer_all(&consumer, &mut writer, 5);

    // A larger ring takes over when the first is drained; the model stays loaded.
    let (second, mut larger) = ring(2, 64 * 64 * 3, writer.head() + 1);
    consumer.attach(&second);
    first.close();
    assert_eq!(consumer.next(), Event::Detached { generation: 1 });
    assert!(
        matches!(consumer.next(), Event::Attached { attachment, .. } if attachment.generation == 2)
    );
    let predictions = answer_all(&consumer, &mut larger, 3);
    assert_eq!(predictions[0].seq, 17);

    consumer.tell(&Command::Stop);
    assert_eq!(consumer.wait().code(), Some(0));
}

#[test]
fn a_consumer_that_has_enough_holds_nobody_up_when_it_is_resumed() {
    let Some(mut consumer) = Consumer::start_for(model("cases/mean.onnx"), Some(2)) else {
        return;
    };
    let (first, mut writer) = ring(1, 12 * 12 * 3, 1);
    consumer.attach(&first);
    consumer.until(|event| matches!(event, Event::Ready(_)));
    consumer.tell(&Command::Play);
    for _ in 0..2 {
        publish(&mut writer, &solid(12, 12, 200));
        consumer.prediction();
    }
    consumer.tell(&Command::Pause);
    // As a session does that resumes it: from here frames are kept for it.
    first.expect_member(0);
    consumer.tell(&Command::Play);
    // More than the ring has room for.
    for _ in 0..30 {
        publish(&mut writer, &solid(12, 12, 200));
    }
    consumer.tell(&Command::Stop);
    assert_eq!(consumer.wait().code(), Some(0));
    assert!(
        !consumer
            .events
            .iter()
            .any(|event| matches!(event, Event::Prediction(_))),
        "it has answered its two frames"
    );
}

#[test]
fn a_fixed_batch_that_is_not_full_is_padded() {
    let Some(mut consumer) = Consumer::start(model("synthetic/fixed_batch4.onnx")) else {
        return;
    };
    let (first, mut writer) = ring(1, 12 * 12 * 3, 1);
    consumer.attach(&first);
    consumer.until(|event| matches!(event, Event::Ready(_)));
    consumer.tell(&Command::Play);
    for n in 0..3_u8 {
        publish(&mut writer, &solid(12, 12, 51 * n));
    }
    for n in 0..3_u8 {
        let prediction = consumer.prediction();
        let expected = f32::from(n) / 5.0;
        assert!(
            (first_score(&prediction.output) - expected).abs() < 0.001,
            "{prediction:?}"
        );
    }
}

#[test]
fn persistent_workers_without_workers_is_a_notice() {
    let spec = ModelSpec {
        persistent_workers: true,
        ..model("cases/mean.onnx")
    };
    let Some(mut consumer) = Consumer::start(spec) else {
        return;
    };
    let (first, mut writer) = ring(1, 12 * 12 * 3, 1);
    consumer.attach(&first);
    let events = consumer.until(|event| matches!(event, Event::Ready(_)));
    assert!(events.iter().any(
        |event| matches!(event, Event::Notice(Problem { code, .. }) if code == "persistent_workers")
    ));
    consumer.tell(&Command::Play);
    publish(&mut writer, &solid(12, 12, 200));
    assert!((first_score(&consumer.prediction().output) - 0.784).abs() < 0.001);
}

#[test]
fn a_tuned_consumer_reports_as_many_classes_as_asked() {
    let Some(mut consumer) = Consumer::start(model("cases/mean.onnx")) else {
        return;
    };
    let (first, mut writer) = ring(1, 12 * 12 * 3, 1);
    consumer.attach(&first);
    consumer.until(|event| matches!(event, Event::Ready(_)));
    consumer.tell(&Command::Play);
    let classes = |consumer: &Consumer, writer: &mut Writer| {
        publish(writer, &solid(12, 12, 9));
        match consumer.prediction().output {
            Output::Classes { classes, .. } => classes.len(),
            other => panic!("not classes: {other:?}"),
        }
    };
    assert_eq!(classes(&consumer, &mut writer), 3);
    consumer.tell(&Command::Tune {
        threshold: None,
        top: Some(2),
    });
    // The command is obeyed between two frames, soon.
    let mut shown = 3;
    while shown == 3 {
        shown = classes(&consumer, &mut writer);
    }
    assert_eq!(shown, 2);
}

#[test]
fn memory_does_not_grow_with_the_number_of_sizes() {
    let Some(mut consumer) = Consumer::start(model("cases/meandyn.onnx")) else {
        return;
    };
    let (first, mut writer) = ring(1, 700 * 800 * 3, 1);
    consumer.attach(&first);
    consumer.until(|event| matches!(event, Event::Ready(_)));
    consumer.tell(&Command::Play);
    let mut at_100 = 0;
    for n in 1..=600 {
        publish(&mut writer, &solid(100 + n, 800 - n, 200));
        let prediction = consumer.prediction();
        assert!(
            (first_score(&prediction.output) - 0.784).abs() < 0.002,
            "{prediction:?}"
        );
        assert!(prediction.warmup, "every size is new");
        if n == 100 {
            at_100 = consumer.resident_kib();
        }
    }
    let at_600 = consumer.resident_kib();
    println!("resident: {at_100} KiB at 100 sizes, {at_600} KiB at 600");
    assert!(
        at_600 <= at_100 + 50 * 1024,
        "{at_100} KiB, then {at_600} KiB"
    );
}

#[test]
fn a_consumer_that_cannot_work_says_why_and_ends_with_its_code() {
    let Some(mut consumer) = Consumer::start(model("cases/lfs.onnx")) else {
        return;
    };
    let (first, _writer) = ring(1, 12 * 12 * 3, 1);
    consumer.attach(&first);
    let events = consumer.until(|event| matches!(event, Event::Failed(_)));
    let Some(Event::Failed(problem)) = events.last() else {
        panic!("it failed");
    };
    assert!(problem.message.contains("lfs.onnx"), "{}", problem.message);
    assert_eq!(consumer.wait().code(), Some(4));
}

#[test]
fn the_end_of_stdin_ends_the_process() {
    let Some(mut consumer) = Consumer::start(model("cases/mean.onnx")) else {
        return;
    };
    let (first, _writer) = ring(1, 12 * 12 * 3, 1);
    consumer.attach(&first);
    consumer.until(|event| matches!(event, Event::Ready(_)));
    consumer.tell(&Command::Play);
    consumer.stdin = None;
    assert_eq!(consumer.wait().code(), Some(0));
}
