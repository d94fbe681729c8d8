//! What the window asks the preview thread for, and what it gets.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{ColorImage, Pos2, Rect, Vec2, vec2};

use crate::frame::Frame;
use crate::gui::tile::{Place, Zoom};
use crate::session::ShownPrediction;

/// The picture that a tile needs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::gui) struct TileOrder {
    /// Width and height of a picture of the whole frame at most, in pixels.
    pub(in crate::gui) most: [u32; 2],
    /// Which part of the frame is shown; `None`: all of it.
    pub(in crate::gui) zoomed: Option<Zoomed>,
    /// Whether the frame itself is wanted, to read its values.
    pub(in crate::gui) inspect: bool,
    /// The newest frame of the source, not the one that the shown answer belongs to.
    pub(in crate::gui) newest: bool,
}

/// A panel that shows a part of a frame. The part follows from the frame's size, which may be
/// another one than that of the frame before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::gui) struct Zoomed {
    /// Which part.
    pub(in crate::gui) zoom: Zoom,
    /// Size of the panel, in points.
    pub(in crate::gui) panel: Vec2,
    /// Of the screen.
    pub(in crate::gui) pixels_per_point: f32,
    /// Longest side of a picture, in pixels.
    pub(in crate::gui) longest: u32,
}

impl Zoomed {
    /// The part of a frame of `size` that is needed (x, y, width, height), and the size of its
    /// picture at most, both in pixels.
    pub(super) fn part(&self, size: [u32; 2]) -> Option<([u32; 4], [u32; 2])> {
        let place = Place {
            panel: Rect::from_min_size(Pos2::ZERO, self.panel),
            frame: vec2(size[0].max(1) as f32, size[1].max(1) as f32),
            pixels_per_point: self.pixels_per_point,
        };
        let crop = self.zoom.crop(&place)?;
        let scale = self.zoom.scale(&place);
        let pixels =
            |side: u32| ((side as f32 * scale).ceil() as u32).clamp(1, self.longest.max(1));
        Some((crop, [pixels(crop[2]), pixels(crop[3])]))
    }
}

/// How large the panels are that pictures are for.
#[derive(Debug, Clone, Default, PartialEq)]
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
    pub(in crate::gui) part: Rect,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_a_frame_of_another_size_is_what_its_panel_shows() {
        let panel = vec2(200.0, 100.0);
        let mut zoom = Zoom::default();
        let place = |frame: [f32; 2]| Place {
            panel: Rect::from_min_size(Pos2::ZERO, panel),
            frame: frame.into(),
            pixels_per_point: 1.0,
        };
        for _ in 0..8 {
            zoom.zoom(2.0, Pos2::new(150.0, 50.0), &place([600.0, 400.0]));
        }
        let zoomed = Zoomed {
            zoom,
            panel,
            pixels_per_point: 1.0,
            longest: 4096,
        };
        for size in [[600, 400], [451, 300], [5120, 2880], [40, 30]] {
            let ([x, y, width, height], most) = zoomed.part(size).expect("a part");
            let frame = size.map(|side| side as f32);
            let shown = place(frame);
            let middle = zoom.pixel_at(&shown, Pos2::new(100.0, 50.0));
            if let Some([at_x, at_y]) = middle {
                assert!((x..x + width).contains(&at_x), "{size:?}");
                assert!((y..y + height).contains(&at_y), "{size:?}");
            }
            assert!(x + width <= size[0] && y + height <= size[1], "{size:?}");
            assert!(most[0] <= 4096 && most[1] <= 4096);
        }
    }
}
