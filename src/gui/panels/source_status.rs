use egui::Color32;

use crate::gui::format;
use crate::gui::theme::Palette;
use crate::protocol::SourceState;
use crate::session::{ChildState, SessionPhase, SessionView};

/// What the chip says about the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceStatus {
    Connecting,
    Live,
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
            (_, Some(SourceState::Live)) => match source.stale_since {
                Some(since) => Self::Stale(since),
                None => Self::Live,
            },
            (_, Some(SourceState::Connecting) | None) => Self::Connecting,
        }
    }

    /// The word on the chip, with the age of a stale source.
    pub(super) fn text(self) -> String {
        match self {
            Self::Connecting => "CONNECTING".to_owned(),
            Self::Live => "LIVE".to_owned(),
            Self::Paused => "PAUSED".to_owned(),
            Self::Stale(since) => format!("STALE {}", format::since(since)),
            Self::Ended => "ENDED".to_owned(),
            Self::Lost => "LOST".to_owned(),
            Self::Restarting => "RESTARTING".to_owned(),
            Self::Failed => "FAILED".to_owned(),
            Self::Stopped => "STOPPED".to_owned(),
        }
    }

    pub(super) fn color(self, palette: &Palette) -> Color32 {
        match self {
            Self::Live => palette.good,
            Self::Connecting => palette.accent,
            Self::Paused | Self::Stale(_) | Self::Restarting => palette.warning,
            Self::Lost | Self::Failed => palette.bad,
            Self::Ended | Self::Stopped => palette.weak,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Problem;

    #[test]
    fn the_chip_says_what_matters_most() {
        let mut view = SessionView::default();
        assert_eq!(SourceStatus::of(&view), SourceStatus::Connecting);
        view.phase = SessionPhase::Running;
        view.source.state = Some(SourceState::Live);
        assert_eq!(SourceStatus::of(&view), SourceStatus::Live);
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
