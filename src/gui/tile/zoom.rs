//! Which part of a frame a panel shows, and how large.

use egui::{Pos2, Rect, Vec2, pos2};

/// Pixels of the screen for each of the frame, at most.
const HIGHEST_SCALE: f32 = 64.0;
/// From this scale on, in pixels of the screen for each of the picture, pixels are squares.
const SQUARES_FROM: f32 = 4.0;
/// The part that is ordered ends at multiples of this many pixels, so that not each movement of the
/// pointer needs another one.
const CROP_STEP: f32 = 32.0;

/// What is shown of a frame, in terms that fit frames of any size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::gui) struct Zoom {
    /// Pixels of the screen for each of the frame; `None`: the whole frame.
    scale: Option<f32>,
    /// What is in the middle, in widths and heights of the frame.
    center: Vec2,
}

impl Default for Zoom {
    fn default() -> Self {
        Self {
            scale: None,
            center: Vec2::splat(0.5),
        }
    }
}

/// A panel and the frame in it.
#[derive(Debug, Clone, Copy)]
pub(in crate::gui) struct Place {
    /// In points.
    pub(in crate::gui) panel: Rect,
    /// Width and height, in pixels.
    pub(in crate::gui) frame: Vec2,
    /// Of the screen.
    pub(in crate::gui) pixels_per_point: f32,
}

impl Place {
    /// The scale at which the whole frame fills the panel, in pixels of the screen for each of the
    /// frame.
    fn fit(&self) -> f32 {
        (self.panel.size() / self.frame).min_elem().max(1e-6) * self.pixels_per_point
    }
}

impl Zoom {
    /// Whether only a part is shown, or may be.
    pub(in crate::gui) fn is_zoomed(&self) -> bool {
        self.scale.is_some()
    }

    /// Pixels of the screen for each of the frame.
    pub(in crate::gui) fn scale(&self, place: &Place) -> f32 {
        self.scale.unwrap_or_else(|| place.fit())
    }

    /// Where the whole frame would be drawn, in points; what is beyond the panel is not seen.
    pub(in crate::gui) fn frame_rect(&self, place: &Place) -> Rect {
        let size = place.frame * (self.scale(place) / place.pixels_per_point);
        let panel = place.panel;
        let axis = |panel: egui::Rangef, size: f32, center: f32| {
            if size <= panel.span() {
                return panel.center() - size / 2.0;
            }
            // No margin on one side while there is something to see on the other.
            let from = panel.center() - size * center;
            from.clamp(panel.max - size, panel.min)
        };
        let min = pos2(
            axis(panel.x_range(), size.x, self.center.x),
            axis(panel.y_range(), size.y, self.center.y),
        );
        Rect::from_min_size(min, size)
    }

    /// The pixel of the frame at a point, as a fraction of it; `None` beside the frame.
    pub(in crate::gui) fn pixel_at(&self, place: &Place, at: Pos2) -> Option<[u32; 2]> {
        let rect = self.frame_rect(place);
        let inside = rect.contains(at) && place.panel.contains(at);
        let part = (at - rect.min) / rect.size() * place.frame;
        let last = place.frame - Vec2::splat(1.0);
        inside.then(|| [part.x.min(last.x) as u32, part.y.min(last.y) as u32])
    }

    /// Multiplies the scale; what is at the point `at` stays there.
    pub(in crate::gui) fn zoom(&mut self, factor: f32, at: Pos2, place: &Place) {
        let scale = self.scale(place) * factor;
        self.set_scale(scale, at, place);
    }

    /// One pixel of the frame on one of the screen.
    pub(in crate::gui) fn one_to_one(&mut self, place: &Place) {
        self.set_scale(1.0, place.panel.center(), place);
    }

    fn set_scale(&mut self, scale: f32, at: Pos2, place: &Place) {
        let rect = self.frame_rect(place);
        let fixed = (at - rect.min) / rect.size();
        let fit = place.fit();
        let highest = (HIGHEST_SCALE * place.pixels_per_point).max(fit);
        let scale = scale.clamp(fit.min(1.0), highest);
        // A scale a hair from the whole frame is the whole frame.
        if (scale / fit - 1.0).abs() < 0.01 {
            *self = Self::default();
            return;
        }
        self.scale = Some(scale);
        let size = place.frame * (scale / place.pixels_per_point);
        self.center = fixed + (place.panel.center() - at) / size;
        self.keep_in(place);
    }

    /// Moves the frame by a distance in points.
    pub(in crate::gui) fn pan(&mut self, by: Vec2, place: &Place) {
        let size = place.frame * (self.scale(place) / place.pixels_per_point);
        self.center -= by / size;
        self.keep_in(place);
    }

    /// The centre is what is really in the middle, so that panning back begins at once.
    fn keep_in(&mut self, place: &Place) {
        let rect = self.frame_rect(place);
        self.center = (place.panel.center() - rect.min) / rect.size();
    }

    /// The part of the frame that is needed, in its pixels (x, y, width, height), a quarter of the
    /// panel more on each side.
    pub(in crate::gui) fn crop(&self, place: &Place) -> Option<[u32; 4]> {
        self.scale?;
        let rect = self.frame_rect(place);
        let seen = place
            .panel
            .expand2(place.panel.size() * 0.25)
            .intersect(rect);
        let axis = |from: f32, to: f32, start: f32, size: f32, frame: f32| {
            let pixel = |point: f32| (point - start) / size * frame;
            let from = (pixel(from) / CROP_STEP).floor() * CROP_STEP;
            let to = ((pixel(to) / CROP_STEP).ceil() * CROP_STEP).min(frame);
            let from = from.clamp(0.0, (frame - 1.0).max(0.0));
            (from as u32, (to - from).max(1.0) as u32)
        };
        let (x, width) = axis(
            seen.left(),
            seen.right(),
            rect.left(),
            rect.width(),
            place.frame.x,
        );
        let (y, height) = axis(
            seen.top(),
            seen.bottom(),
            rect.top(),
            rect.height(),
            place.frame.y,
        );
        Some([x, y, width, height])
    }
}

/// Whether the pixels of a picture are drawn as squares, at this scale in pixels of the screen for
/// each of its own.
pub(in crate::gui) fn draws_squares(scale: f32) -> bool {
    scale >= SQUARES_FROM
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::vec2;

    fn place(frame: [f32; 2], pixels_per_point: f32) -> Place {
        Place {
            panel: Rect::from_min_size(pos2(10.0, 20.0), vec2(400.0, 300.0)),
            frame: frame.into(),
            pixels_per_point,
        }
    }

    #[test]
    fn a_whole_frame_is_centred_and_fills_one_side() {
        let rect = Zoom::default().frame_rect(&place([800.0, 300.0], 2.0));
        assert_eq!(
            rect,
            Rect::from_min_size(pos2(10.0, 95.0), vec2(400.0, 150.0))
        );
        assert_eq!(Zoom::default().crop(&place([800.0, 300.0], 2.0)), None);
    }

    #[test]
    fn one_to_one_is_one_pixel_of_the_screen() {
        for pixels_per_point in [1.0, 2.0] {
            let place = place([4000.0, 3000.0], pixels_per_point);
            let mut zoom = Zoom::default();
            zoom.one_to_one(&place);
            let rect = zoom.frame_rect(&place);
            assert_eq!(rect.width() * pixels_per_point, 4000.0);
            // 400 points and a quarter of them on each side, in whole steps of 32 pixels.
            let [_, _, width, _] = zoom.crop(&place).expect("a part");
            let least = 600.0 * pixels_per_point;
            assert!(
                (width as f32) >= least && (width as f32) <= least + 64.0,
                "{width}"
            );
        }
    }

    #[test]
    fn what_is_under_the_pointer_stays_there() {
        let place = place([4000.0, 3000.0], 1.0);
        let mut zoom = Zoom::default();
        let at = pos2(110.0, 220.0);
        let before = zoom.pixel_at(&place, at).expect("inside");
        assert_eq!(before, [1000, 2000]);
        for _ in 0..10 {
            zoom.zoom(1.5, at, &place);
        }
        let after = zoom.pixel_at(&place, at).expect("inside");
        assert!(
            before[0].abs_diff(after[0]) <= 1 && before[1].abs_diff(after[1]) <= 1,
            "{after:?}"
        );
        assert!(draws_squares(zoom.scale(&place)));
        for _ in 0..10 {
            zoom.zoom(1.0 / 1.5, at, &place);
        }
        assert!(!zoom.is_zoomed(), "back to the whole frame: {zoom:?}");
    }

    #[test]
    fn panning_ends_at_the_edge_and_turns_at_once() {
        let place = place([4000.0, 3000.0], 1.0);
        let mut zoom = Zoom::default();
        zoom.one_to_one(&place);
        for _ in 0..100 {
            zoom.pan(vec2(90.0, 90.0), &place);
        }
        assert_eq!(zoom.frame_rect(&place).min, place.panel.min);
        assert_eq!(zoom.pixel_at(&place, pos2(10.5, 20.5)), Some([0, 0]));
        zoom.pan(vec2(-7.0, 0.0), &place);
        assert_eq!(zoom.pixel_at(&place, pos2(10.5, 20.5)), Some([7, 0]));
    }

    #[test]
    fn frames_of_a_single_pixel_and_very_long_ones_can_be_zoomed() {
        for frame in [[1.0, 1.0], [20_000.0, 50.0]] {
            let place = place(frame, 1.0);
            let mut zoom = Zoom::default();
            for _ in 0..40 {
                zoom.zoom(1.3, place.panel.center(), &place);
                let rect = zoom.frame_rect(&place);
                assert!(rect.is_finite() && rect.intersects(place.panel), "{rect}");
                if let Some([x, y, width, height]) = zoom.crop(&place) {
                    assert!(width >= 1 && x + width <= frame[0] as u32);
                    assert!(height >= 1 && y + height <= frame[1] as u32);
                }
            }
        }
    }
}
