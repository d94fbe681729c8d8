use std::sync::PoisonError;
use std::time::Duration;

use egui::Context;

use super::App;
use crate::gui::command::UiCommand;
use crate::gui::preview::Panels;
use crate::gui::state::{TileState, WindowState};
use crate::gui::text::speak;
use crate::session::{ChildState, ModelView, SessionPhase};

/// How often times that run by themselves (an age, a countdown) are drawn anew.
const CLOCK: Duration = Duration::from_millis(500);

impl App {
    /// One pass without painting: takes the session's picture, runs commands, and takes
    /// pictures from the preview thread.
    pub(super) fn update(&mut self, context: &Context) {
        self.pulse.passed();
        speak(self.state.language);
        let hidden = self.pulse.is_hidden();
        if self.was_hidden && !hidden {
            self.previews.refresh();
        }
        self.was_hidden = hidden;
        self.view = self.session.view();
        let pressed = if self.side.takes_keys() {
            Vec::new()
        } else {
            UiCommand::pressed(context)
        };
        let sent: Vec<UiCommand> = self.pending.try_iter().collect();
        for command in pressed.into_iter().chain(sent) {
            self.run_command(context, command);
        }
        self.side.update(context, &self.session);
        self.side.follow_language(self.state.language);
        self.forget_removed_models();
        self.take_pictures(context);
        self.take_saved();
        self.state.kept = self.kept();
        let WindowState {
            toasts, tab, solo, ..
        } = &mut self.state;
        toasts.update(&self.view, *tab, solo.as_deref());
        if let Some(delay) = toasts.until_next() {
            self.pulse.request_after(delay);
        }
        if self.a_clock_runs() {
            self.pulse.request_after(CLOCK);
        }
    }

    fn forget_removed_models(&mut self) {
        if self.side.is_another_session(&self.view) {
            self.state.tiles.clear();
            self.state.source = None;
            self.state.look_back = None;
            // Sequences begin anew.
            *self.rewind.lock().unwrap_or_else(PoisonError::into_inner) = Default::default();
        }
        let models = &self.view.models;
        let known = |name: &str| models.iter().any(|model| model.spec.name == name);
        self.state.tiles.retain(|name, _| known(name));
        self.state.solo = self.state.solo.take().filter(|name| known(name));
    }

    fn take_pictures(&mut self, context: &Context) {
        let arrivals = self.previews.take();
        for grabbed in arrivals.grabbed {
            self.save_grabbed(grabbed);
        }
        if let Some(source) = arrivals.source {
            self.state.accept_source(context, source);
        }
        for (name, arrival) in arrivals.tiles {
            let mut models = self.view.models.iter();
            let Some(model) = models.find(|model| model.spec.name == name) else {
                continue;
            };
            // What was on its way while the user turned back, or returned.
            if arrival.looked_back != self.state.look_back.map(|look_back| look_back.seq) {
                continue;
            }
            let tile = self.state.tiles.entry(name.clone()).or_default();
            tile.accept(context, &name, arrival, model.shown.as_ref());
        }
    }

    /// Says how large the panels are that have just been painted.
    pub(super) fn order_pictures(&self) {
        let tiles = &self.state.tiles;
        let largest = |largest: [u32; 2], tile: &TileState| {
            let panel = tile.source_panel;
            [largest[0].max(panel[0]), largest[1].max(panel[1])]
        };
        let source = tiles.values().fold(self.state.source_panel, largest);
        self.previews.set_panels(Panels {
            tiles: tiles
                .iter()
                .filter(|(_, tile)| tile.order.most != [0, 0])
                .map(|(name, tile)| (name.clone(), tile.order))
                .collect(),
            source: Some(source).filter(|panel| *panel != [0, 0]),
            look_back: self.state.look_back.map(|look_back| look_back.seq),
        });
    }

    /// Whether something on screen changes with time alone.
    fn a_clock_runs(&self) -> bool {
        let over = matches!(
            self.view.phase,
            SessionPhase::Stopped | SessionPhase::Paused | SessionPhase::Ended
        );
        let runs = |child: &ChildState| {
            matches!(
                child,
                ChildState::Stale { .. } | ChildState::Restarting { .. }
            )
        };
        let source = &self.view.source;
        let models: &[ModelView] = &self.view.models;
        self.state.look_back.is_some()
            || self.state.said.is_some()
            || (!over && source.stale_since.is_some())
            || runs(&source.child)
            || models.iter().any(|model| runs(&model.child))
    }
}
