use super::TileContext;
use crate::gui::format;
use crate::gui::text::text;
use crate::protocol::SourceState;
use crate::session::{ChildState, SessionPhase, SessionView};

/// The step that a session names while a process has said nothing yet.
const FIRST_STEP: &str = "starting";

/// What a model waits for that has given no answer yet, in a few words.
pub(super) fn waiting_text(context: &TileContext<'_>) -> String {
    let words = &text().wait;
    let (view, child) = (context.view, &context.model.child);
    match child {
        ChildState::Stopped => return words.stopped.to_owned(),
        ChildState::Paused => return words.paused.to_owned(),
        ChildState::Failed(_) => return words.failed.to_owned(),
        ChildState::Stale { .. } | ChildState::Restarting { .. } => {
            return words.no_answer.to_owned();
        }
        ChildState::Waiting | ChildState::Starting { .. } | ChildState::Running => {}
    }
    if let Some(words) = source_text(view) {
        return words.to_owned();
    }
    match child {
        ChildState::Waiting => words.to_start.to_owned(),
        ChildState::Starting { step } if step == FIRST_STEP => words.starting.to_owned(),
        ChildState::Starting { step } => format::sentence(step),
        _ if view.phase == SessionPhase::Paused => words.ready_paused.to_owned(),
        _ => match loading_model(view) {
            Some(name) => (words.ready_waits_for)(name),
            None => words.ready_for_a_frame.to_owned(),
        },
    }
}

/// What is the matter with the source, where a model cannot go on because of it.
fn source_text(view: &SessionView) -> Option<&'static str> {
    let words = &text().wait;
    let source = &view.source;
    if source.uri.is_empty() && source.child == ChildState::Waiting {
        return Some(text().side.no_source_yet);
    }
    if matches!(source.child, ChildState::Failed(_)) {
        return Some(words.no_source);
    }
    if view.phase == SessionPhase::Ended || source.state == Some(SourceState::Ended) {
        return (source.published == 0).then_some(words.source_ended);
    }
    // Models attach to the ring, which is made when the source has been opened.
    (view.ring.is_none() && view.phase == SessionPhase::Starting).then_some(words.for_source)
}

/// The first model for which the others wait before frames flow.
fn loading_model(view: &SessionView) -> Option<&str> {
    let is_loading = |child: &ChildState| {
        matches!(
            child,
            ChildState::Waiting | ChildState::Starting { .. } | ChildState::Restarting { .. }
        )
    };
    let mut models = view.models.iter();
    (view.phase == SessionPhase::Starting)
        .then(|| models.find(|model| is_loading(&model.child)))
        .flatten()
        .map(|model| model.spec.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Problem;
    use crate::session::{ModelView, RingView};

    fn starting(step: &str) -> ModelView {
        ModelView {
            child: ChildState::Starting {
                step: step.to_owned(),
            },
            ..Default::default()
        }
    }

    fn waits(view: &SessionView, model: &ModelView) -> String {
        waiting_text(&TileContext {
            number: 0,
            model,
            view,
            source: None,
            newest: false,
            wheel_zooms: false,
        })
    }

    #[test]
    fn a_model_says_what_it_really_waits_for() {
        let mut view = SessionView::default();
        assert_eq!(waits(&view, &starting("starting")), "No source yet");
        view.source.uri = "pattern:bars".to_owned();
        assert_eq!(waits(&view, &starting("starting")), "Waits for the source");
        view.source.child = ChildState::Failed(Problem {
            code: "source_open".to_owned(),
            message: "no such folder".to_owned(),
            hint: None,
        });
        assert_eq!(waits(&view, &starting("starting")), "No source");
        view.source.child = ChildState::Running;
        view.ring = Some(RingView::default());
        assert_eq!(waits(&view, &starting("starting")), "Starting");
        assert_eq!(
            waits(&view, &starting("loading the model")),
            "Loading the model"
        );
        let ready = ModelView {
            child: ChildState::Running,
            ..Default::default()
        };
        view.models = vec![ready.clone(), starting("loading the model")];
        let spec = crate::protocol::ModelSpec {
            name: "large".to_owned(),
            ..Default::default()
        };
        view.models[1].spec = std::sync::Arc::new(spec);
        assert_eq!(waits(&view, &ready), "Ready; waits for large");
        view.phase = SessionPhase::Running;
        assert_eq!(waits(&view, &ready), "Ready; waits for a frame");
    }
}
