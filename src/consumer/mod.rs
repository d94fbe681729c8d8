//! Ring → preprocessing → ONNX Runtime → decoding → event: the `ringside consume` child process.

pub mod preprocess;
