//! Ringside: a desktop live-inference monitor.
//!
//! A front end launches one producer process and one consumer process per model. The producer
//! writes frames to a shared-memory ring, each consumer runs its model on them with ONNX Runtime,
//! and the front end shows what every model says about the same frames and how long each stage
//! takes.
//!
//! ```text
//!             commands (stdin, JSON lines)              events (JSON lines)
//!   ┌──────────────────────────── ringside (window or `run`) ────────────────────────────┐
//!   │  session: owns the ring, spawns and restarts children, pairs results, statistics   │
//!   │  gui: a view of the session; previews frames by snapshot copies from the ring      │
//!   └───────┬───────────────────────────┬────────────────────────────┬───────────────────┘
//!           │                           │                            │
//!    ringside produce             ringside consume A           ringside consume B …
//!    folder/image/pattern  ──►  shared-memory ring (/dev/shm)  ──►  ONNX Runtime, CUDA
//! ```
//!
//! # Map
//!
//! Data flows down this table; a module imports only what stands above it, transitively
//! (`tests/architecture.rs` checks that).
//!
//! | module | is |
//! |---|---|
//! | [`base`] | monotonic clock, latency histograms, named worker threads, paths and addresses as text, hexadecimal text, nearest words, exit codes |
//! | [`frame`] | frame description, pixel formats, conversion to RGB, rotation |
//! | [`prediction`] | what a model says |
//! | [`protocol`] | events and commands between processes, and their wire form |
//! | [`recording`] | the rows of a run, written and read |
//! | [`ring`] | the shared-memory ring: layout, mapping, locks, writer, reader |
//! | [`runtime`] | finds or installs ONNX Runtime |
//! | [`source`] | where frames come from: folder, image, pattern |
//! | [`producer`] | source → ring |
//! | [`consumer`] | ring → preprocessing → ONNX Runtime → decoding → event |
//! | [`session`] | session file, children, supervision, statistics, comparison |
//! | [`report`] | exports of a run: `repro/` folders |
//! | [`gui`] | the window |
//! | [`cli`] | commands and exit codes |
//!
//! The two halves meet only in the ring and the protocol: `session`, `report` and `gui`
//! import none of `source`, `producer`, `consumer`, and the other way round.

pub mod base;
pub mod cli;
pub mod consumer;
pub mod frame;
pub mod gui;
pub mod prediction;
pub mod producer;
pub mod protocol;
pub mod recording;
pub mod report;
pub mod ring;
pub mod runtime;
pub mod session;
pub mod source;
