//! Installing ONNX Runtime from the window.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use egui::{
    Align, Frame, Label, Layout, Margin, Panel, ProgressBar, RichText, ScrollArea, Stroke, Ui,
};

use super::services::{InstallFailure, InstallStep};
use super::{Side, SideCommand, strings};
use crate::base::Worker;
use crate::gui::SessionHandle;
use crate::gui::command::{CommandSender, UiCommand};
use crate::gui::format;
use crate::gui::theme::{CARD_RADIUS, GAP, PADDING, Palette, strong};
use crate::session::{ChildState, ModelView, SessionCommand, SessionView};

/// Height of what to do by hand, which is long, in points.
const HINT_HEIGHT: f32 = 120.0;

/// What consumers report that have found no ONNX Runtime.
const MISSING: &str = "runtime_missing";

/// An installation of ONNX Runtime, running or ended.
#[derive(Default)]
pub(super) struct Installation {
    shared: Arc<Shared>,
    /// Joined at the end, after it has been told to cancel.
    worker: Option<Worker>,
    was_asked: bool,
    failure: Option<InstallFailure>,
}

#[derive(Default)]
struct Shared {
    step: Mutex<InstallStep>,
    cancelled: AtomicBool,
    result: Mutex<Option<Result<(), InstallFailure>>>,
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Installation {
    /// Asks it to stop and to undo what it has begun.
    pub(super) fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Whether a model has been given up for want of ONNX Runtime.
fn lacks_runtime(model: &ModelView) -> bool {
    matches!(&model.child, ChildState::Failed(problem) if problem.code == MISSING)
}

impl Side {
    /// Starts an installation, unless one runs.
    pub(super) fn install(&mut self) {
        let Some(install) = self.services.install_runtime.clone() else {
            return;
        };
        if self.installation.worker.is_some() {
            return;
        }
        let shared = Arc::<Shared>::default();
        let (told, context) = (Arc::clone(&shared), self.context.clone());
        let worker = Worker::spawn("install", move || {
            let result = install(&mut |step| {
                *lock(&told.step) = step;
                context.request_repaint();
                if told.cancelled.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            *lock(&told.result) = Some(result);
            context.request_repaint();
        });
        match worker {
            Ok(worker) => {
                self.installation = Installation {
                    shared,
                    worker: Some(worker),
                    was_asked: true,
                    failure: None,
                };
            }
            Err(error) => self.tell(error.to_string(), true),
        }
    }

    /// Starts an installation that nobody has to ask for, and the models anew when one has ended
    /// well.
    pub(super) fn look_for_runtime(&mut self, session: &Arc<dyn SessionHandle>) {
        let result = lock(&self.installation.shared.result).take();
        let view = session.view();
        match result {
            Some(Ok(())) => {
                self.installation.worker = None;
                for model in view.models.iter().filter(|model| lacks_runtime(model)) {
                    let model = Some(model.spec.name.clone());
                    session.send(SessionCommand::Restart { model });
                }
            }
            Some(Err(failure)) => {
                self.installation.worker = None;
                self.installation.failure = Some(failure);
            }
            None if self.services.install_at_once
                && !self.installation.was_asked
                && view.models.iter().any(lacks_runtime) =>
            {
                self.install();
            }
            None => {}
        }
    }

    /// Above the tiles while ONNX Runtime is missing: how to get it, how far that is, or why it
    /// did not work.
    pub(in crate::gui) fn runtime_ui(
        &self,
        ui: &mut Ui,
        view: &SessionView,
        commands: &CommandSender,
    ) {
        let installing = self.installation.worker.is_some();
        let is_missing = view.models.iter().any(lacks_runtime);
        if self.services.install_runtime.is_none() || !(installing || is_missing) {
            return;
        }
        let palette = Palette::of(ui);
        let color = if installing {
            palette.accent
        } else {
            palette.bad
        };
        let gap = GAP as i8;
        Panel::top("runtime")
            .show_separator_line(false)
            .frame(Frame::new().inner_margin(Margin {
                left: gap,
                right: gap,
                top: gap,
                bottom: 0,
            }))
            .show(ui, |ui| {
                Frame::new()
                    .fill(palette.card)
                    .stroke(Stroke::new(1.0, color))
                    .corner_radius(CARD_RADIUS)
                    .inner_margin(Margin::same(PADDING as i8))
                    .show(ui, |ui| {
                        if installing {
                            self.installing_ui(ui, commands);
                        } else {
                            self.missing_ui(ui, commands);
                        }
                    });
            });
    }

    fn installing_ui(&self, ui: &mut Ui, commands: &CommandSender) {
        let step = lock(&self.installation.shared.step).clone();
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let cancelled = self.installation.shared.cancelled.load(Ordering::Relaxed);
                let cancel = ui.add_enabled(!cancelled, egui::Button::new(strings::CANCEL));
                if cancel.clicked() {
                    commands.send(UiCommand::Side(SideCommand::CancelInstall));
                }
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.label(strong(strings::INSTALLING));
                    let share = step.share.unwrap_or(0.0);
                    let text = RichText::new(format::sentence(&step.what)).small();
                    ui.add(ProgressBar::new(share).desired_height(16.0).text(text));
                });
            });
        });
    }

    fn missing_ui(&self, ui: &mut Ui, commands: &CommandSender) {
        let palette = Palette::of(ui);
        let failure = self.installation.failure.as_ref();
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let word = if failure.is_some() {
                    strings::INSTALL_AGAIN
                } else {
                    strings::INSTALL
                };
                if ui.button(word).clicked() {
                    commands.send(UiCommand::Side(SideCommand::InstallRuntime));
                }
                ui.with_layout(Layout::top_down(Align::Min), |ui| match failure {
                    None => {
                        ui.label(strong(strings::NO_RUNTIME).color(palette.bad));
                        let text = RichText::new(strings::NO_RUNTIME_TEXT).color(palette.weak);
                        ui.add(Label::new(text).wrap());
                    }
                    Some(failure) => {
                        ui.label(strong(strings::NOT_INSTALLED).color(palette.bad));
                        ScrollArea::vertical()
                            .max_height(HINT_HEIGHT)
                            .min_scrolled_height(HINT_HEIGHT)
                            .show(ui, |ui| {
                                let shown = |text| Label::new(text).wrap().selectable(true);
                                ui.add(shown(RichText::new(&failure.message)));
                                if let Some(hint) = &failure.hint {
                                    let hint = RichText::new(hint).color(palette.weak);
                                    ui.add(shown(hint));
                                }
                            });
                    }
                });
            });
        });
    }
}
