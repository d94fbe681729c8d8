//! Frames for tiles: copied from the ring and reduced on a thread of their own.

mod reduce;
mod worker;

pub(super) use worker::{Arrival, Board, Panels, Picture, Previews, SourceArrival};
