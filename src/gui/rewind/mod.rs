//! Looking back: the frames that were shown last, reduced and as JPEG, with what the models said
//! about them. It needs nothing of the source, so it works for cameras too.

mod bar;
mod buffer;
mod recorder;
mod save;

pub(super) use bar::{LookBack, bar_ui};
pub(super) use buffer::{Index, Kept, KeptFrame, SharedBuffer};
pub(super) use recorder::{Recorder, decode};
pub(super) use save::{SavedFrames, prediction_row, save_frames};
