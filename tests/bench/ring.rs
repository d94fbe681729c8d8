//! The ring between two processes, against memcpy in one and against Python's shared arrays, all in
//! the same run: `RINGSIDE_PYTHON=python3 cargo bench --bench ring`. `lossless`, `live` and `paced` as
//! arguments run a part.
//!
//! The limit is copying each frame twice in one process, as the ring's writer and reader do in two.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use ringside::base::{monotonic_nanos, sleep_until};
use ringside::frame::{Frame, FrameDescription, FramePosition, PixelOrder, SampleType};
use ringside::protocol::Delivery;
use ringside::ring::{Reader, Ring, RingRequest, Take, Writer};

const ROLE: &str = "RINGSIDE_BENCH_ROLE";
const FULL_HD: (u32, u32) = (1920, 1080);
const SIZES: [(u32, u32); 4] = [(320, 240), (1280, 720), FULL_HD, (3840, 2160)];
/// Measurements of each kind, alternating; their median counts.
const ROUNDS: usize = 7;
/// Bytes copied per measurement, about: enough frames of every size to time them well.
const BYTES: u64 = 2_500_000_000;
/// Frames before the first that is timed: all pages are mapped by then.
const WARM_UP: u64 = 20;
const PACED_FPS: u64 = 60;
const PACED_FRAMES: u64 = 300;
/// As [`ROUNDS`], for paced measurements, which take long.
const PACED_ROUNDS: usize = 5;
/// What a reader sends when nothing comes.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> Result<()> {
    if let Ok(role) = std::env::var(ROLE) {
        let words: Vec<&str> = role.split(' ').collect();
        return match words[..] {
            ["write", name, width, height, frames, fps] => write(
                name,
                width.parse()?,
                height.parse()?,
                frames.parse()?,
                fps.parse()?,
            ),
            ["read", name] => read(name),
            _ => bail!("no role is called {role:?}"),
        };
    }
    // `cargo bench` adds an option of its own.
    let sections: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wanted = |section: &str| sections.is_empty() || sections.iter().any(|word| word == section);
    if wanted("lossless") {
        lossless()?;
    }
    if wanted("live") {
        live()?;
    }
    if wanted("paced") {
        paced()?;
    }
    Ok(())
}

fn lossless() -> Result<()> {
    println!("lossless (`every`), frames per second, median of {ROUNDS}");
    println!("  size        limit     ring   ratio");
    for size in SIZES {
        let mut limits = Vec::new();
        let mut rings = Vec::new();
        for _ in 0..ROUNDS {
            limits.push(twice_copied(size, frames(size))?);
            rings.push(run(Delivery::Every, size, frames(size), 0)?.frames_per_second);
        }
        let (limit, ring) = (median(limits), median(rings));
        println!(
            "  {:>4}x{:<4} {limit:>8.0} {ring:>8.0}   {:>5.2}",
            size.0,
            size.1,
            ring / limit
        );
    }
    Ok(())
}

fn live() -> Result<()> {
    let mut lossless = Vec::new();
    let mut live = Vec::new();
    for _ in 0..ROUNDS {
        lossless.push(run(Delivery::Every, FULL_HD, frames(FULL_HD), 0)?.frames_per_second);
        live.push(run(Delivery::Live, FULL_HD, frames(FULL_HD), 0)?.frames_per_second);
    }
    let (lossless, live) = (median(lossless), median(live));
    println!("live, free-running, 1920x1080: {live:.0} frames per second received");
    println!(
        "  {:.2} times as many as lossless ({lossless:.0})",
        live / lossless
    );
    Ok(())
}

fn paced() -> Result<()> {
    println!(
        "paced at {PACED_FPS} frames per second, 1920x1080: publish to private copy, p50, median of {PACED_ROUNDS}"
    );
    let mut limits = Vec::new();
    let mut rings = Vec::new();
    let mut peers = [("B", Vec::new()), ("I", Vec::new())];
    for _ in 0..PACED_ROUNDS {
        limits.push(micros(paced_copies(FULL_HD)?));
        let ring = run(Delivery::Every, FULL_HD, PACED_FRAMES, PACED_FPS)?;
        rings.push(micros(ring.latency_nanos));
        for (kind, times) in &mut peers {
            match python(FULL_HD, kind) {
                Ok(nanos) => times.push(micros(nanos)),
                Err(error) => println!("  Python Array('{kind}') skipped: {error:#}"),
            }
        }
    }
    let ring = median(rings);
    println!("  two copies in one process   {:>6.0} µs", median(limits));
    println!("  ring                        {ring:>6.0} µs");
    for (kind, times) in peers {
        if !times.is_empty() {
            let peer = median(times);
            let ratio = peer / ring;
            println!(
                "  Python Array('{kind}')          {peer:>6.0} µs, {ratio:.1} times the ring's"
            );
        }
    }
    Ok(())
}

/// What a reader measured.
struct Measured {
    frames_per_second: f64,
    /// Median from the call of the writer to the complete copy.
    latency_nanos: u64,
}

/// One writer and one reader, each a process of its own.
fn run(delivery: Delivery, (width, height): (u32, u32), frames: u64, fps: u64) -> Result<Measured> {
    let ring = Ring::create(&RingRequest {
        generation: 1,
        delivery,
        frame_bytes: u64::from(width) * u64::from(height) * 3,
        slots: 5,
        max_bytes: u64::MAX,
        first_seq: 1,
    })?;
    ring.expect_member(0);
    let mut reader = spawn(&format!("read {}", ring.name()))?;
    let mut lines = BufReader::new(reader.stdout.take().context("no output")?);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let mut writer = spawn(&format!(
        "write {} {width} {height} {frames} {fps}",
        ring.name()
    ))?;
    let written = writer.wait()?;
    ring.close();
    line.clear();
    lines.read_line(&mut line)?;
    let read = reader.wait()?;
    if !written.success() || !read.success() {
        bail!("a child ended with {written} or {read}");
    }
    let (rate, latency) = line.trim().split_once(' ').context("no measurement")?;
    Ok(Measured {
        frames_per_second: rate.parse()?,
        latency_nanos: latency.parse()?,
    })
}

fn spawn(role: &str) -> Result<Child> {
    Ok(Command::new(std::env::current_exe()?)
        .env(ROLE, role)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?)
}

fn write(name: &str, width: u32, height: u32, frames: u64, fps: u64) -> Result<()> {
    let mut writer = Writer::attach(name)?;
    let mut frame = frame((width, height))?;
    let start = monotonic_nanos();
    for number in 0..frames + WARM_UP {
        if let Some(offset_nanos) = (number * 1_000_000_000).checked_div(fps) {
            sleep_until(start + offset_nanos);
        }
        frame.position.captured_nanos = monotonic_nanos();
        writer.publish(&frame, &mut || false)?;
    }
    Ok(())
}

fn read(name: &str) -> Result<()> {
    let mut reader = Reader::attach(name, 0)?;
    let reporter = reader.reporter();
    reader.join();
    println!("joined");
    std::io::stdout().flush()?;
    let mut frame = frame((1, 1))?;
    let mut latencies = Vec::new();
    let mut times = Vec::new();
    loop {
        match reader.take(&mut frame, PATIENCE)? {
            Take::Frame {
                seq, copied_nanos, ..
            } => {
                reporter.reported(seq);
                if seq > WARM_UP {
                    times.push(copied_nanos);
                    latencies.push(copied_nanos.saturating_sub(frame.position.captured_nanos));
                }
            }
            Take::Closed => break,
            Take::TimedOut => bail!("no frame within {PATIENCE:?}"),
        }
    }
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        bail!("no frame was received");
    };
    latencies.sort_unstable();
    let rate = (times.len() - 1) as f64 * 1e9 / (last - first).max(1) as f64;
    println!("{rate} {}", latencies[latencies.len() / 2]);
    Ok(())
}

/// Frames per second when one process copies each twice.
fn twice_copied(size: (u32, u32), frames: u64) -> Result<f64> {
    let mut copies = Copies::new(size)?;
    for _ in 0..WARM_UP {
        copies.copy();
    }
    let start = monotonic_nanos();
    for _ in 0..frames {
        copies.copy();
    }
    Ok(frames as f64 * 1e9 / (monotonic_nanos() - start) as f64)
}

/// Median time of two copies, made at a pace.
fn paced_copies(size: (u32, u32)) -> Result<u64> {
    let mut copies = Copies::new(size)?;
    copies.copy();
    let start = monotonic_nanos();
    let mut times = Vec::new();
    for number in 0..PACED_FRAMES {
        sleep_until(start + number * 1_000_000_000 / PACED_FPS);
        let before = monotonic_nanos();
        copies.copy();
        times.push(monotonic_nanos() - before);
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// A frame, and two places to copy it to.
struct Copies {
    source: Vec<u8>,
    between: Vec<u8>,
    target: Vec<u8>,
}

impl Copies {
    fn new(size: (u32, u32)) -> Result<Self> {
        let source = frame(size)?.pixels;
        let (between, target) = (source.clone(), source.clone());
        Ok(Self {
            source,
            between,
            target,
        })
    }

    fn copy(&mut self) {
        self.between.copy_from_slice(&self.source);
        std::hint::black_box(&mut self.between);
        self.target.copy_from_slice(&self.between);
        std::hint::black_box(&mut self.target);
    }
}

/// The same hand-over by a `multiprocessing.Array` with its lock, in Python.
fn python((width, height): (u32, u32), kind: &str) -> Result<u64> {
    let python = std::env::var("RINGSIDE_PYTHON").unwrap_or_else(|_unset| "python3".to_owned());
    let mut child = Command::new(&python)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/bench/array_peer.py"
        ))
        .args([
            kind,
            &width.to_string(),
            &height.to_string(),
            &PACED_FRAMES.to_string(),
            &PACED_FPS.to_string(),
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run {python} (set RINGSIDE_PYTHON)"))?;
    let mut text = String::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_string(&mut text)?;
    }
    child.wait()?;
    text.trim()
        .parse()
        .with_context(|| format!("{python} with numpy is needed"))
}

fn frame((width, height): (u32, u32)) -> Result<Frame> {
    let description = FrameDescription::packed(width, height, SampleType::U8, PixelOrder::Rgb)?;
    Ok(Frame {
        description,
        position: FramePosition::default(),
        pixels: (0..description.pixel_bytes())
            .map(|index| (index % 251) as u8)
            .collect(),
    })
}

fn frames((width, height): (u32, u32)) -> u64 {
    (BYTES / (u64::from(width) * u64::from(height) * 3)).min(3000)
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
