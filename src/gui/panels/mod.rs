//! The parts of the window around the tiles.

mod agreement;
mod bottom;
mod center;
mod columns;
mod histogram;
mod keys;
mod log;
mod processes;
mod ring_strip;
mod source_status;
mod timeline;
mod top_bar;

pub(super) use bottom::bottom_ui;
pub(super) use center::center_ui;
pub(super) use keys::keys_ui;
pub(super) use log::{about_word, log_text};
pub(super) use timeline::{stage_meaning, stage_name};
pub(super) use top_bar::top_bar_ui;
