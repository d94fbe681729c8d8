use egui::Color32;

use crate::gui::format;
use crate::gui::text::text;
use crate::gui::theme::Palette;
use crate::protocol::SourceState;
use crate::session::{ChildState, SessionPhase, SessionView};

/// What the chip says about the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SourceStatus {
    /// There is none yet.
    NoSource,
    Connecting,
    Live,
    /// Held up by this model, which takes no frame.
    WaitsFor(String),
    Paused,
    /// Delivers nothing although it should, since this monotonic time.
    Stale(u64),
    Ended,
    Lost,
    Restarting,
    Failed,
    Stopped,
}

impl SourceStatus {
    pub(super) fn of(view: &SessionView) -> Self {
        let source = &view.source;
        if source.uri.is_empty() && source.child == ChildState::Waiting {
            return Self::NoSource;
        }
        match source.child {
            ChildState::Failed(_) => return Self::Failed,
            ChildState::Restarting { .. } => return Self::Restarting,
            ChildState::Stale { since_nanos } => return Self::Stale(since_nanos),
            _ => {}
        }
        match (view.phase, source.state) {
            (SessionPhase::Stopping | SessionPhase::Stopped, _) => Self::Stopped,
            (SessionPhase::Ended, _) | (_, Some(SourceState::Ended)) => Self::Ended,
            (_, Some(SourceState::Lost)) => Self::Lost,
            (SessionPhase::Paused, _) | (_, Some(SourceState::Paused)) => Self::Paused,
            (_, Some(SourceState::Live)) => match (&source.waits_for, source.stale_since) {
                (Some(name), _) => Self::WaitsFor(name.clone()),
                (None, Some(since)) => Self::Stale(since),
                (None, None) => Self::Live,
            },
            (_, Some(SourceState::Connecting) | None) => Self::Connecting,
        }
    }

    /// The word on the chip, with the age of a stale source.
    pub(super) fn text(&self) -> String {
        let words = &text().status;
        match self {
            Self::NoSource => text().side.no_source_chip.to_owned(),
            Self::Connecting => words.connecting.to_owned(),
            Self::Live => words.live.to_owned(),
            Self::Paused => words.paused.to_owned(),
            Self::WaitsFor(name) => (words.waits_for)(&format::elide_middle(name, NAME_LETTERS)),
            Self::Stale(since) => (words.stale)(&format::since(*since)),
            Self::Ended => words.ended.to_owned(),
            Self::Lost => words.lost.to_owned(),
            Self::Restarting => words.restarting.to_owned(),
            Self::Failed => words.failed.to_owned(),
            Self::Stopped => words.stopped.to_owned(),
        }
    }

    pub(super) fn color(&self, palette: &Palette) -> Color32 {
        match self {
            Self::Live => palette.good,
            Self::Connecting => palette.accent,
            Self::Paused | Self::WaitsFor(_) | Self::Stale(_) | Self::Restarting => palette.warning,
            Self::Lost | Self::Failed => palette.bad,
            Self::Ended | Self::Stopped | Self::NoSource => palette.weak,
        }
    }
}

/// Letters of a model's name on the chip.
const NAME_LETTERS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Problem;

    #[test]
    fn the_chip_says_what_matters_most() {
        let mut view = SessionView::default();
        assert_eq!(SourceStatus::of(&view), SourceStatus::NoSource);
        view.source.uri = "pattern:bars".to_owned();
        assert_eq!(SourceStatus::of(&view), SourceStatus::Connecting);
        view.phase = SessionPhase::Running;
        view.source.state = Some(SourceState::Live);
        assert_eq!(SourceStatus::of(&view), SourceStatus::Live);
        view.source.waits_for = Some("lite0".to_owned());
        let waits = SourceStatus::of(&view);
        assert_eq!(waits.text(), "WAITS FOR lite0");
        let palette = Palette::for_theme(egui::Theme::Dark);
        assert_eq!(waits.color(palette), palette.warning);
        view.source.waits_for = None;
        view.source.stale_since = Some(7);
        assert_eq!(SourceStatus::of(&view), SourceStatus::Stale(7));
        view.phase = SessionPhase::Paused;
        assert_eq!(SourceStatus::of(&view), SourceStatus::Paused);
        view.source.state = Some(SourceState::Ended);
        assert_eq!(SourceStatus::of(&view), SourceStatus::Ended);
        view.source.child = ChildState::Failed(Problem {
            code: "source_open".to_owned(),
            message: "no such folder".to_owned(),
            hint: None,
        });
        assert_eq!(SourceStatus::of(&view), SourceStatus::Failed);
    }
}
