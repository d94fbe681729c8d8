use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::protocol::{Delivery, DeviceChoice};

/// A desktop live-inference monitor: what ONNX models really do on live frames, and how long every
/// stage takes. Without a command it opens the window on the bundled demo session.
#[derive(Debug, Parser)]
#[command(name = "ringside", version, propagate_version = true)]
#[command(
    after_help = "Exit status: 0 done; 1 a model, the source or the ring gave up while running, or came to nothing; 2 wrong usage or session file, or one without a model; 3 the source cannot be opened; 4 no model could be loaded; 5 ONNX Runtime or device missing; 130 interrupted."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// ONNX Runtime library to use (default: `ORT_DYLIB_PATH`, else one that is found)
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) onnxruntime: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Open the window on a session
    Gui(SessionArguments),
    /// Run a session in the terminal
    Run(RunArguments),
    /// List or install ONNX Runtime
    #[command(subcommand)]
    Runtime(RuntimeCommand),
    /// Look at the shared-memory rings of this machine
    #[command(subcommand)]
    Ring(RingCommand),
    /// Be the process that writes frames (JSON lines on stdin and stdout)
    Produce,
    /// Be the process that runs a model (JSON lines on stdin and stdout)
    Consume,
}

/// A session file, and what overrides it.
#[derive(Debug, Args)]
pub(super) struct SessionArguments {
    /// Session file (TOML); options below override it, for all models
    pub(super) session: Option<PathBuf>,
    /// Source of frames: folder:DIR, image:FILE, pattern:…, or a path
    #[arg(long, value_name = "URI")]
    pub(super) source: Option<String>,
    /// ONNX model; may be given several times
    #[arg(long = "model", value_name = "FILE")]
    pub(super) models: Vec<PathBuf>,
    /// Where models run: auto, cpu, cuda:N or tensorrt:N
    #[arg(long, value_name = "DEVICE")]
    pub(super) device: Option<DeviceChoice>,
    /// Refuse to run elsewhere than on the device asked for
    #[arg(long)]
    pub(super) strict: bool,
    /// Preprocessing: auto, raw, imagenet, yolo or yolox
    #[arg(long, value_name = "PRESET")]
    pub(super) preset: Option<String>,
    /// Lowest score of a reported detection (detectors only)
    #[arg(long, value_name = "SCORE")]
    pub(super) threshold: Option<f32>,
    /// Number of classes reported
    #[arg(long, value_name = "N")]
    pub(super) top: Option<u32>,
    /// Threads of inference of each model; 0 shares the cores fairly
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<u32>,
    /// Frames inferred at once
    #[arg(long, value_name = "N")]
    pub(super) batch: Option<u32>,
    /// Preprocessing threads beside the inference thread; 0 is inline
    #[arg(long, value_name = "N")]
    pub(super) workers: Option<u32>,
    /// Which frames models get
    #[arg(long, value_enum)]
    pub(super) delivery: Option<DeliveryArgument>,
    /// How models share a device
    #[arg(long, value_enum)]
    pub(super) schedule: Option<ScheduleArgument>,
    /// End after this many frames (live: predictions of each model)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) frames: Option<u64>,
    /// Begin again at the end of the source
    #[arg(long = "loop")]
    pub(super) looping: bool,
    /// Frames per second; 0 is the source's own pace
    #[arg(long, value_name = "N")]
    pub(super) fps: Option<f64>,
}

#[derive(Debug, Args)]
pub(super) struct RunArguments {
    #[command(flatten)]
    pub(super) session: SessionArguments,
    /// Write rows.jsonl into this folder
    #[arg(long, value_name = "DIR")]
    pub(super) report: Option<PathBuf>,
    /// Print rows as JSON lines
    #[arg(long)]
    pub(super) json: bool,
    /// Print the summary only
    #[arg(long, conflicts_with = "json")]
    pub(super) quiet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum DeliveryArgument {
    /// The newest frame; the rest is counted
    Live,
    /// Every frame, the same for all models
    Every,
}

impl From<DeliveryArgument> for Delivery {
    fn from(delivery: DeliveryArgument) -> Self {
        match delivery {
            DeliveryArgument::Live => Self::Live,
            DeliveryArgument::Every => Self::Every,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ScheduleArgument {
    /// One inference at a time per device
    Turns,
    /// All at once
    Together,
}

impl From<ScheduleArgument> for crate::protocol::Schedule {
    fn from(schedule: ScheduleArgument) -> Self {
        match schedule {
            ScheduleArgument::Turns => Self::Turns,
            ScheduleArgument::Together => Self::Together,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum RuntimeCommand {
    /// Show every ONNX Runtime that is found, and which one is used
    List,
    /// Fetch ONNX Runtime with pip or uv and unpack its libraries
    Install {
        /// Which build
        #[arg(long, value_enum, default_value = "cpu")]
        flavour: FlavourArgument,
        /// A wheel that has been downloaded already
        #[arg(long, value_name = "WHEEL")]
        from: Option<PathBuf>,
        /// Install again, even if it is there
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum FlavourArgument {
    /// For the CPU
    Cpu,
    /// With CUDA and TensorRT
    Cuda,
}

#[derive(Debug, Subcommand)]
pub(super) enum RingCommand {
    /// List the rings
    List,
    /// Save a frame of a ring as a picture
    Snapshot {
        /// Name of the ring, as `ring list` shows it
        name: String,
        /// Sequence of the frame; default: the newest
        #[arg(long)]
        seq: Option<u64>,
        /// Picture to write, in the format that its name says: .png, .jpg, .bmp, .tiff
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Remove rings that nobody owns any more
    Clean,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_library_can_be_named_for_every_command() {
        for words in [
            &["ringside", "--onnxruntime", "lib.so"][..],
            &["ringside", "run", "s.toml", "--onnxruntime", "lib.so"],
            &["ringside", "runtime", "list", "--onnxruntime", "lib.so"],
        ] {
            let arguments = Arguments::try_parse_from(words).expect("a valid command line");
            assert_eq!(
                arguments.onnxruntime,
                Some(PathBuf::from("lib.so")),
                "{words:?}"
            );
        }
    }
}
