//! Exit codes of the program and of its children, which are part of its interface.

/// Everything was done, or a child was asked to end.
pub const DONE: u8 = 0;
/// A model, the source or the ring gave up, or came to nothing; another start may work.
pub const FAILED: u8 = 1;
/// Wrong usage or session file.
pub const USAGE: u8 = 2;
/// The source cannot be opened.
pub const SOURCE: u8 = 3;
/// No model could be loaded.
pub const MODEL: u8 = 4;
/// ONNX Runtime or a device is missing.
pub const RUNTIME: u8 = 5;
/// Interrupted by a signal.
pub const INTERRUPTED: u8 = 130;
