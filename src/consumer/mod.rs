//! Ring → preprocessing → ONNX Runtime → decoding → event: the `ringside consume` child process.

mod assignment;
mod device;
mod model_file;
mod profile;
mod python_literal;
mod tensor;
mod threads;
