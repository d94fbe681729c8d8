//! Frame → input tensor: what a model wants ([`resolve`]), and doing it ([`Preprocessor`]).
//!
//! A frame is read in place where it is 8-bit RGB, BGR or grey, and converted to 8-bit RGB
//! otherwise. The wanted part is resized on 8 bits, exactly as Pillow or OpenCV would do it, and the
//! result is normalised into the tensor's layout and type row by row, through one table of 256
//! values per channel.

mod error;
mod geometry;
mod input;
mod metadata;
mod normalise;
mod pixels;
mod preprocessor;
mod preset;
mod resample;
mod resolve;

pub use error::PreprocessError;
pub use geometry::{Placement, Rect};
pub use input::{InputTensor, InputType, Layout, TensorSlice};
pub use preprocessor::Preprocessor;
pub use resolve::{Hints, Resolved, resolve};
