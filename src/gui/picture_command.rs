//! What the user can ask for of pictures: looking back, zooming, layouts, snapshots.

use egui::{Key, KeyboardShortcut, Modifiers};

use super::text::{Strings, text};

/// A wish about pictures, of all tiles unless the pointer is over one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PictureCommand {
    /// Look at the frame before.
    Back,
    /// Look at the next frame kept; to the present after the last one.
    Forward,
    /// Look at this frame.
    LookAt(u64),
    /// Return to the present.
    Live,
    /// Save the frames of the last seconds, or all that are kept.
    SaveLast(Option<u32>),
    /// Larger.
    ZoomIn,
    /// Smaller.
    ZoomOut,
    /// One pixel of the frame on one of the screen.
    ZoomOne,
    /// The whole frame.
    ZoomFit,
    /// Pictures of all tiles move together, or not.
    ToggleLinked,
    /// Show the newest frame, or the frame of the shown answer.
    ToggleNewest,
    /// One picture for all models, or a tile for each.
    ToggleShared,
    /// Grid, side by side, stacked.
    NextLayout,
    /// The layout that fits best, whatever was dragged.
    ResetLayout,
    /// Save the shown frame's exact pixels; of this model.
    SaveFrame(Option<String>),
    /// Save a tile as it is drawn; of this model.
    SaveTile(String),
    /// Save the window as it is drawn.
    SaveWindow,
    /// Copy the shown answer's row; of this model.
    CopyRow(Option<String>),
}

impl PictureCommand {
    /// The commands that have a key, in the order of the keys' sheet.
    pub(super) const WITH_KEYS: [Self; 15] = [
        Self::Back,
        Self::Live,
        Self::SaveLast(Some(10)),
        Self::ZoomIn,
        Self::ZoomOut,
        Self::ZoomOne,
        Self::ZoomFit,
        Self::ToggleLinked,
        Self::ToggleNewest,
        Self::ToggleShared,
        Self::NextLayout,
        Self::ResetLayout,
        Self::SaveFrame(None),
        Self::SaveWindow,
        Self::CopyRow(None),
    ];

    /// What it is called, and what it does.
    fn words(&self, strings: &'static Strings) -> (&'static str, &'static str) {
        let words = &strings.picture;
        match self {
            Self::Back => (words.back, words.back_tip),
            Self::Forward => (words.forward, words.forward_tip),
            Self::LookAt(_) => (words.look_at, words.look_at_tip),
            Self::Live => (words.live, words.live_tip),
            Self::SaveLast(_) => (words.save_last, words.save_last_tip),
            Self::ZoomIn => (words.zoom_in, words.zoom_in_tip),
            Self::ZoomOut => (words.zoom_out, words.zoom_out_tip),
            Self::ZoomOne => (words.one, words.one_tip),
            Self::ZoomFit => (words.fit, words.fit_tip),
            Self::ToggleLinked => (words.linked, words.linked_tip),
            Self::ToggleNewest => (words.newest, words.newest_tip),
            Self::ToggleShared => (words.shared, words.shared_tip),
            Self::NextLayout => (words.layout, words.layout_tip),
            Self::ResetLayout => (words.reset, words.reset_tip),
            Self::SaveFrame(_) => (words.save_frame, words.save_frame_tip),
            Self::SaveTile(_) => (words.save_tile, words.save_tile_tip),
            Self::SaveWindow => (words.save_window, words.save_window_tip),
            Self::CopyRow(_) => (words.copy_row, words.copy_row_tip),
        }
    }

    /// What it is called on buttons, in menus and for assistive technology.
    pub(super) fn text_in(&self, strings: &'static Strings) -> &'static str {
        self.words(strings).0
    }

    /// What it does.
    pub(super) fn tooltip(&self) -> &'static str {
        self.words(text()).1
    }

    /// The keys that do it, the first one being shown.
    pub(super) fn shortcuts(&self) -> &'static [KeyboardShortcut] {
        const fn plain(key: Key) -> KeyboardShortcut {
            KeyboardShortcut::new(Modifiers::NONE, key)
        }
        match self {
            Self::Back => const { &[plain(Key::Comma), plain(Key::ArrowLeft)] },
            Self::Live => const { &[plain(Key::End)] },
            Self::SaveLast(Some(10)) => const { &[plain(Key::W)] },
            Self::ZoomIn => const { &[plain(Key::Plus), plain(Key::Equals)] },
            Self::ZoomOut => const { &[plain(Key::Minus)] },
            Self::ZoomOne => const { &[plain(Key::X)] },
            Self::ZoomFit => const { &[plain(Key::F)] },
            Self::ToggleLinked => const { &[plain(Key::K)] },
            Self::ToggleNewest => const { &[plain(Key::N)] },
            Self::ToggleShared => const { &[plain(Key::S)] },
            Self::NextLayout => const { &[plain(Key::G)] },
            Self::ResetLayout => const { &[plain(Key::R)] },
            Self::SaveFrame(None) => const { &[plain(Key::P)] },
            Self::SaveWindow => const { &[plain(Key::F12)] },
            Self::CopyRow(None) => const { &[plain(Key::C)] },
            _ => &[],
        }
    }
}
