//! What a frame is: its description, pixel formats, conversion to RGB, rotation.

mod description;
mod orientation;
mod rgb;

pub use description::{
    CapturedFrom, Frame, FrameDescription, FrameError, FramePosition, PixelOrder, SampleType,
};
pub use orientation::Orientation;
pub use rgb::{rgb8_into, rgb8_row_into};
