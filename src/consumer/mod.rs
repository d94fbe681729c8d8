//! Ring → preprocessing → ONNX Runtime → decoding → event: the `ringside consume` child process.

mod assignment;
mod decode;
mod device;
mod engine;
mod failure;
mod input;
mod labels;
mod library;
mod model;
mod model_file;
pub mod preprocess;
mod profile;
mod python_literal;
mod sidecar;
mod tensor;
mod threads;
