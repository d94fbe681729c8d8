//! Frames for tiles: copied from the ring, or brought back from the rewind buffer, and reduced on a
//! thread of their own.

mod board;
mod copier;
mod order;
mod pool;
mod reduce;

pub(super) use board::{Board, Previews};
pub(super) use order::{Arrival, Grabbed, Panels, Picture, SourceArrival, TileOrder, Zoomed};
pub(super) use reduce::{Reducer, fitting};
