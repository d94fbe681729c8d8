//! Preprocessing against Pillow, OpenCV and NumPy (fixtures made by
//! `tests/data/make_preprocess_fixtures.py`), and against the wants of known models.

#![allow(clippy::unwrap_used)]

mod fixtures;
mod formats;
mod odd_frames;
mod resizing;
mod resolving;
mod tensors;
