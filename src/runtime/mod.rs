//! Finds or installs ONNX Runtime.
