//! Finding and installing ONNX Runtime.

mod fakes;
mod finding;
mod installing;
mod real;
