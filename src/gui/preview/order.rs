//! What the window asks the preview thread for, and what it gets.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::ColorImage;

use crate::frame::Frame;
use crate::session::ShownPrediction;

/// The picture that a tile needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::gui) struct TileOrder {
    /// Width and height of the picture at most, in pixels.
    pub(in crate::gui) most: [u32; 2],
    /// The part of the frame that is shown, in its pixels (x, y, width, height); `None`: all of it.
    pub(in crate::gui) crop: Option<[u32; 4]>,
    /// Whether the frame itself is wanted, to read its values.
    pub(in crate::gui) inspect: bool,
    /// The newest frame of the source, not the one that the shown answer belongs to.
    pub(in crate::gui) newest: bool,
}

/// How large the panels are that pictures are for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::gui) struct Panels {
    /// By the model's name.
    pub(in crate::gui) tiles: BTreeMap<String, TileOrder>,
    /// Pixels of the largest one that shows the source; `None` where none does.
    pub(in crate::gui) source: Option<[u32; 2]>,
    /// The kept frame that all tiles show in place of the present.
    pub(in crate::gui) look_back: Option<u64>,
}

/// A picture for a tile.
pub(in crate::gui) struct Picture {
    /// Its pixels, reduced to the panel.
    pub(in crate::gui) image: ColorImage,
    /// The frame's sequence.
    pub(in crate::gui) seq: u64,
    /// Monotonic time at which the frame was captured, in nanoseconds.
    pub(in crate::gui) captured_nanos: u64,
    /// Width and height of the frame itself.
    pub(in crate::gui) frame_size: [u32; 2],
    /// The part of the frame that is in `image`, in the frame's pixels.
    pub(in crate::gui) part: egui::Rect,
    /// The frame, where its values were asked for.
    pub(in crate::gui) frame: Option<Arc<Frame>>,
}

/// What a tile shows next.
pub(in crate::gui) struct Arrival {
    /// The answer; `None` where the model has none for the frame looked back at.
    pub(in crate::gui) prediction: Option<Arc<ShownPrediction>>,
    /// Its frame; `None` when it cannot be had (any more).
    pub(in crate::gui) picture: Option<Picture>,
    /// The kept frame that it is; `None`: the present.
    pub(in crate::gui) looked_back: Option<u64>,
}

/// The newest frame of the source, for tiles whose model has no answer to show.
pub(in crate::gui) struct SourceArrival {
    /// Its path in the source.
    pub(in crate::gui) path: Option<String>,
    /// Its pixels.
    pub(in crate::gui) picture: Picture,
}

/// A frame with its exact pixels, as it was asked for.
pub(in crate::gui) struct Grabbed {
    /// The sequence asked for.
    pub(in crate::gui) seq: u64,
    /// `None` when it has left the ring.
    pub(in crate::gui) frame: Option<Arc<Frame>>,
}

/// What has arrived for the window.
#[derive(Default)]
pub(in crate::gui) struct Arrivals {
    /// By the model's name.
    pub(in crate::gui) tiles: BTreeMap<String, Arrival>,
    /// For all tiles without an answer.
    pub(in crate::gui) source: Option<SourceArrival>,
    /// Frames that were asked for.
    pub(in crate::gui) grabbed: Vec<Grabbed>,
}

impl Arrivals {
    pub(super) fn is_empty(&self) -> bool {
        self.tiles.is_empty() && self.source.is_none() && self.grabbed.is_empty()
    }

    /// Newer arrivals take the place of older ones.
    pub(super) fn extend(&mut self, newer: Self) {
        self.tiles.extend(newer.tiles);
        self.source = newer.source.or(self.source.take());
        self.grabbed.extend(newer.grabbed);
    }
}
