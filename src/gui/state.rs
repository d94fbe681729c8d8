use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{Context, TextureHandle, TextureOptions};

use super::palette::CommandPalette;
use super::preview::{Arrival, Picture, SourceArrival};
use super::text::Language;
use super::toasts::Toasts;
use crate::base::monotonic_nanos;
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
        let SourceArrival { seq, path, picture } = arrival;
        let shown = self.source.take().map(|source| source.picture);
        let picture = put_picture(shown, context, "source", picture, seq);
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
#[derive(Default)]
pub(super) struct TileState {
    /// The prediction on screen.
    pub(super) shown: Option<Arc<ShownPrediction>>,
    /// The picture on screen.
    pub(super) picture: Option<ShownPicture>,
    /// Time from the frame's capture to its first appearance here, in microseconds.
    pub(super) age_micros: u64,
    /// Pixels of the panel at the last pass.
    pub(super) panel: [u32; 2],
    /// Pixels of the panel that shows the source instead, at the last pass; 0 where none does.
    pub(super) source_panel: [u32; 2],
    /// When the prediction on screen appeared.
    shown_nanos: u64,
    headline: Headline,
}

/// A picture on the graphics card.
pub(super) struct ShownPicture {
    /// One texture, updated in place.
    pub(super) texture: TextureHandle,
    /// Width and height of the frame itself.
    pub(super) frame_size: [u32; 2],
    /// The frame's sequence.
    pub(super) seq: u64,
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

    /// Shows a prediction with its frame. When the ring no longer has the frame, the pair on screen
    /// stays, unless there is nothing newer to come (`newest`) or it has been there for long.
    pub(super) fn accept(
        &mut self,
        context: &Context,
        name: &str,
        arrival: Arrival,
        newest: Option<&Arc<ShownPrediction>>,
    ) {
        let seq = arrival.prediction.event.seq;
        match arrival.picture {
            Some(picture) => {
                let shown = self.picture.take();
                self.picture = Some(put_picture(shown, context, name, picture, seq));
                self.show(arrival.prediction);
            }
            None => {
                let last = newest.is_none_or(|newest| newest.event.seq == seq);
                let held = monotonic_nanos().saturating_sub(self.shown_nanos);
                if last || held >= LONGEST_HOLD_NANOS {
                    self.show(arrival.prediction);
                }
            }
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
            self.age_micros = self.shown_nanos.saturating_sub(captured) / 1000;
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

/// Writes a picture into the texture that is there, or into a new one.
fn put_picture(
    shown: Option<ShownPicture>,
    context: &Context,
    name: &str,
    picture: Picture,
    seq: u64,
) -> ShownPicture {
    let Picture { image, frame_size } = picture;
    let texture = match shown.map(|shown| shown.texture) {
        Some(mut texture) => {
            if texture.size() == image.size {
                texture.set_partial([0, 0], image, TextureOptions::LINEAR);
            } else {
                texture.set(image, TextureOptions::LINEAR);
            }
            texture
        }
        None => context.load_texture(format!("preview of {name}"), image, TextureOptions::LINEAR),
    };
    ShownPicture {
        texture,
        frame_size,
        seq,
    }
}
