//! Ring → preprocessing → ONNX Runtime → decoding → event: the `ringside consume` child process.
//!
//! [`run`] is the process. It attaches to the ring, then loads ONNX Runtime ([`Library`]), then the
//! model ([`Model`]): only this process ever maps ONNX Runtime or CUDA. A [`Runner`] answers frames;
//! it needs no ring.
//!
//! ```text
//! process ─ commands, rings           model_file, labels, sidecar ─┐
//!    └─ pipeline ─ take, batch, report      preprocess::resolve ───┤
//!         ├─ workers ─ preprocess           decode::Known ─────────┼─ model ─ card
//!         └─ runner ─ turn, run, decode     engine ─ device ───────┘
//! ```

mod assignment;
mod connection;
mod decode;
mod device;
mod engine;
mod failure;
mod input;
mod job;
mod labels;
mod library;
mod model;
mod model_file;
mod pipeline;
pub mod preprocess;
mod process;
mod profile;
mod profile_folder;
mod python_literal;
mod reading;
mod runner;
mod sidecar;
mod tensor;
mod threads;
mod workers;

pub use decode::{Decoder, Tuning};
pub use device::Target;
pub use engine::{Engine, EngineError, EngineRequest};
pub use failure::Failure;
pub use input::{ImageInput, InputBuffer};
pub use job::Job;
pub use library::{Library, LibraryError};
pub use model::Model;
pub use model_file::{Cause, DeclaredTensor, LastOperator, Makes, ModelError, ModelFile};
pub use process::run;
pub use reading::{Hashing, Reading};
pub use runner::{Answers, Runner};
pub use tensor::{OutputView, Values};
