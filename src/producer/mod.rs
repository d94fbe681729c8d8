//! Source → ring: the `ringside produce` child process.
