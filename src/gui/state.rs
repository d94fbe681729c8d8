use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{Context, Rect, TextureHandle, TextureOptions};
use serde::{Deserialize, Serialize};

use super::layout::TileLayout;
use super::palette::CommandPalette;
use super::preview::{Arrival, Picture, SourceArrival, TileOrder};
use super::rewind::{Index, LookBack};
use super::saving::Said;
use super::text::Language;
use super::tile::{Zoom, draws_squares};
use super::toasts::Toasts;
use crate::base::monotonic_nanos;
use crate::frame::Frame;
use crate::session::{LogLevel, LogLine, ShownPrediction};

/// What the window itself remembers: nothing of it concerns the session.
#[derive(Default)]
pub(super) struct WindowState {
    /// What the window is written in.
    pub(super) language: Language,
    /// Which tab is open below the tiles.
    pub(super) tab: Tab,
    /// The model that is shown alone, by name.
    pub(super) solo: Option<String>,
    /// Whether the keys' sheet is open.
    pub(super) keys_open: bool,
    /// The command palette, while it is open.
    pub(super) palette: Option<CommandPalette>,
    /// New warnings and errors that nothing else on screen says.
    pub(super) toasts: Toasts,
    /// Whether nothing moves by itself.
    pub(super) still: bool,
    /// Which log lines are shown.
    pub(super) log: LogFilter,
    /// Of which model a folder was asked for last, and when (monotonic nanoseconds).
    pub(super) repro: Option<(String, u64)>,
    /// What each tile shows, by the model's name.
    pub(super) tiles: BTreeMap<String, TileState>,
    /// The newest frame of the source, while something shows it.
    pub(super) source: Option<SourcePicture>,
    /// Pixels of the panel that shows it where there is no model; 0 where there is one.
    pub(super) source_panel: [u32; 2],
    /// What is looked back at, if the present is not shown.
    pub(super) look_back: Option<LookBack>,
    /// The frames that can be looked back at.
    pub(super) kept: Arc<Index>,
    /// What was saved or could not be, to be said for a while.
    pub(super) said: Option<Said>,
    /// Pictures of all tiles move together.
    pub(super) linked: bool,
    /// Tiles show the newest frame, not that of their answer.
    pub(super) newest: bool,
    /// How tiles are arranged.
    pub(super) layout: TileLayout,
    /// One picture with all models' answers, in place of a tile for each.
    pub(super) shared: bool,
    /// What the timeline shows.
    pub(super) timeline: TimelineView,
}

/// What the timeline shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TimelineView {
    /// Milliseconds that an answer may take.
    pub(super) budget_millis: u32,
    /// How durations are spread, not how they follow each other.
    pub(super) histogram: bool,
}

impl Default for TimelineView {
    fn default() -> Self {
        Self {
            // Thirty frames a second.
            budget_millis: 33,
            histogram: false,
        }
    }
}

/// The newest frame of the source, for tiles whose model has no answer to show.
pub(super) struct SourcePicture {
    /// The frame.
    pub(super) picture: ShownPicture,
    /// Its path in the source.
    pub(super) path: Option<String>,
}

impl WindowState {
    /// Shows a newer frame of the source.
    pub(super) fn accept_source(&mut self, context: &Context, arrival: SourceArrival) {
        let SourceArrival { path, picture } = arrival;
        let shown = self.source.take().map(|source| source.picture);
        let picture = put_picture(shown, context, "source", picture, 1.0);
        self.source = Some(SourcePicture { picture, path });
    }
}

/// The tabs below the tiles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Tab {
    #[default]
    Latency,
    Log,
    Processes,
}

/// Which log lines are shown.
pub(super) struct LogFilter {
    /// Lines below this level are left out.
    pub(super) lowest: LogLevel,
    /// Lines about anything else are left out: a model's name, `source` or `session`.
    pub(super) about: Option<String>,
    /// Lines without this text are left out; case does not matter.
    pub(super) text: String,
    /// Whether there are newer lines than those on screen, as somebody has scrolled up.
    pub(super) is_behind: bool,
    /// Scroll to the newest line at the next pass.
    pub(super) to_the_end: bool,
}

impl Default for LogFilter {
    fn default() -> Self {
        Self {
            lowest: LogLevel::Info,
            about: None,
            text: String::new(),
            is_behind: false,
            to_the_end: false,
        }
    }
}

impl LogFilter {
    /// Whether a line is shown.
    pub(super) fn passes(&self, line: &LogLine) -> bool {
        let wanted = self.text.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        line.level >= self.lowest
            && self.about.as_ref().is_none_or(|about| *about == line.about)
            && (wanted.is_empty()
                || has(&line.message)
                || has(&line.about)
                || line.hint.as_deref().is_some_and(has))
    }
}

/// What a tile shows: a prediction and the frame that it belongs to, always as a pair.
pub(super) struct TileState {
    /// The prediction on screen.
    pub(super) shown: Option<Arc<ShownPrediction>>,
    /// The picture on screen.
    pub(super) picture: Option<ShownPicture>,
    /// Time from the frame's capture to its first appearance here, in microseconds.
    pub(super) age_micros: u64,
    /// The picture that is needed, as of the last pass.
    pub(super) order: TileOrder,
    /// The kept frame that picture and prediction are of; `None`: the present.
    pub(super) looked_back: Option<u64>,
    /// Which part of the frame is shown.
    pub(super) zoom: Zoom,
    /// Pixels of the screen for each of the frame, at the last pass.
    pub(super) scale: f32,
    /// Where the picture's panel is, and the tile; in points.
    pub(super) picture_rect: Rect,
    /// See `picture_rect`.
    pub(super) rect: Rect,
    /// Pixels of the panel that shows the source instead, at the last pass; 0 where none does.
    pub(super) source_panel: [u32; 2],
    /// When the prediction on screen appeared.
    shown_nanos: u64,
    headline: Headline,
}

impl Default for TileState {
    fn default() -> Self {
        Self {
            shown: None,
            picture: None,
            age_micros: 0,
            order: TileOrder::default(),
            looked_back: None,
            zoom: Zoom::default(),
            scale: 1.0,
            picture_rect: Rect::NOTHING,
            rect: Rect::NOTHING,
            source_panel: [0, 0],
            shown_nanos: 0,
            headline: Headline::default(),
        }
    }
}

/// A picture on the graphics card.
pub(super) struct ShownPicture {
    /// One texture, updated in place.
    pub(super) texture: TextureHandle,
    /// Width and height of the frame itself.
    pub(super) frame_size: [u32; 2],
    /// The part of the frame that is in the texture, in the frame's pixels.
    pub(super) part: Rect,
    /// The frame's sequence.
    pub(super) seq: u64,
    /// Monotonic time of its capture, in nanoseconds.
    pub(super) captured_nanos: u64,
    /// The frame, where its values are read.
    pub(super) frame: Option<Arc<Frame>>,
}

/// A number that changes with every frame, held long enough to be read.
#[derive(Default)]
struct Headline {
    micros: u64,
    since_nanos: u64,
}

/// How long a headline number is held while frames flow.
const HEADLINE_NANOS: u64 = 250_000_000;

/// How long a pair is held while newer predictions come whose frames cannot be had.
const LONGEST_HOLD_NANOS: u64 = 500_000_000;

impl TileState {
    /// Whether the picture on screen is the frame of the prediction on screen.
    pub(super) fn is_matched(&self) -> bool {
        match (&self.shown, &self.picture) {
            (Some(shown), Some(picture)) => shown.event.seq == picture.seq,
            _ => false,
        }
    }

    /// Shows a prediction with its frame. When the frame cannot be had, the pair on screen stays,
    /// unless there is nothing newer to come (`newest`) or it has been there for long.
    pub(super) fn accept(
        &mut self,
        context: &Context,
        name: &str,
        arrival: Arrival,
        newest: Option<&Arc<ShownPrediction>>,
    ) {
        let came_back = self.looked_back.is_some() && arrival.looked_back.is_none();
        self.looked_back = arrival.looked_back;
        let has_picture = arrival.picture.is_some();
        if let Some(picture) = arrival.picture {
            let shown = self.picture.take();
            self.picture = Some(put_picture(shown, context, name, picture, self.scale));
        }
        let Some(prediction) = arrival.prediction else {
            self.shown = None;
            return;
        };
        let seq = prediction.event.seq;
        let last = newest.is_none_or(|newest| newest.event.seq == seq);
        let held = monotonic_nanos().saturating_sub(self.shown_nanos);
        let is_past = arrival.looked_back.is_some();
        if has_picture || last || is_past || came_back || held >= LONGEST_HOLD_NANOS {
            self.show(prediction);
        }
    }

    /// Shows a prediction, with whatever picture there is.
    pub(super) fn show(&mut self, prediction: Arc<ShownPrediction>) {
        let seq = prediction.event.seq;
        if self
            .shown
            .as_ref()
            .is_none_or(|shown| shown.event.seq != seq)
        {
            let captured = prediction.event.position.captured_nanos;
            self.shown_nanos = monotonic_nanos();
            self.age_micros = match self.looked_back {
                // It appeared in the window long ago, or never.
                Some(_) => prediction.micros.age,
                None => self.shown_nanos.saturating_sub(captured) / 1000,
            };
        }
        self.shown = Some(prediction);
    }

    /// The frame age for the headline: steady while frames flow, exact when they do not.
    pub(super) fn headline_micros(&mut self, flowing: bool) -> u64 {
        let now = monotonic_nanos();
        if !flowing || now.saturating_sub(self.headline.since_nanos) >= HEADLINE_NANOS {
            self.headline = Headline {
                micros: self.age_micros,
                since_nanos: now,
            };
        }
        self.headline.micros
    }
}

/// Writes a picture into the texture that is there, or into a new one. `scale` is that of the tile,
/// in pixels of the screen for each of the frame.
fn put_picture(
    shown: Option<ShownPicture>,
    context: &Context,
    name: &str,
    picture: Picture,
    scale: f32,
) -> ShownPicture {
    let Picture {
        image,
        seq,
        captured_nanos,
        frame_size,
        part,
        frame,
    } = picture;
    let enlarged = scale * part.width() / image.size[0].max(1) as f32;
    let options = if draws_squares(enlarged) {
        TextureOptions::NEAREST
    } else {
        TextureOptions::LINEAR
    };
    let texture = match shown.map(|shown| shown.texture) {
        Some(mut texture) => {
            if texture.size() == image.size {
                texture.set_partial([0, 0], image, options);
            } else {
                texture.set(image, options);
            }
            texture
        }
        None => context.load_texture(format!("preview of {name}"), image, options),
    };
    ShownPicture {
        texture,
        frame_size,
        part,
        seq,
        captured_nanos,
        frame,
    }
}
