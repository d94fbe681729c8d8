//! What the user tells the session.

use std::path::PathBuf;
use std::sync::Arc;

use super::Engine;
use crate::base::{Worker, monotonic_nanos};
use crate::protocol::{Command, ModelSpec};
use crate::session::journal::problem;
use crate::session::repro::ReproCapture;
use crate::session::spec::unique_model_name;
use crate::session::spec_check::check_model;
use crate::session::spec_paths::resolve_source;
use crate::session::view::{ChildState, LogLevel, SessionCommand};

impl Engine {
    /// Does what the user says.
    pub(super) fn obey(&mut self, command: SessionCommand) {
        let now = monotonic_nanos();
        self.dirty = true;
        self.next_tick = 0;
        if self.stopping.is_some() {
            return;
        }
        match command {
            SessionCommand::Play => {
                self.paused = false;
                self.play_producer();
            }
            SessionCommand::Pause => {
                self.paused = true;
                self.steps = 0;
                self.source.managed.send(Command::Pause);
            }
            SessionCommand::Step { frames } => {
                self.paused = true;
                self.steps = self.steps.saturating_add(frames);
                self.play_producer();
            }
            SessionCommand::Seek { source_index } => {
                self.source.ended = false;
                self.source.sought(source_index, self.rings.head());
                self.source.managed.send(Command::Seek { source_index });
            }
            SessionCommand::Loop { on } => {
                self.source.looping = on;
                self.source.managed.send(Command::Loop { on });
            }
            SessionCommand::SetSource { uri } if uri.is_empty() => {
                let message = "a source has no address";
                self.journal
                    .log(now, LogLevel::Warning, "session", message, None);
            }
            SessionCommand::SetSource { uri } => {
                let folder = std::env::current_dir().unwrap_or_default();
                self.set_source(resolve_source(&uri, &folder), now);
            }
            SessionCommand::AddModel(spec) => self.add_model(*spec, now),
            SessionCommand::ChangeModel { name, spec } => {
                if let Some(index) = self.find(&name, now) {
                    self.change_model(index, *spec, now);
                }
            }
            SessionCommand::RemoveModel { name } => {
                if let Some(index) = self.find(&name, now) {
                    self.remove_model(index, now);
                }
            }
            SessionCommand::PauseModel { name } => {
                if let Some(index) = self.find(&name, now) {
                    self.pause_model(index);
                }
            }
            SessionCommand::ResumeModel { name } => {
                if let Some(index) = self.find(&name, now) {
                    self.models[index].paused = false;
                    self.play_model(index);
                }
            }
            SessionCommand::Tune {
                name,
                threshold,
                top,
            } => {
                if let Some(index) = self.find(&name, now) {
                    self.tune(index, threshold, top);
                }
            }
            SessionCommand::Restart { model: None } => self.restart_producer(now),
            SessionCommand::Restart { model: Some(name) } => {
                if let Some(index) = self.find(&name, now) {
                    self.restart_model(index, now);
                }
            }
            SessionCommand::CaptureRepro { model, folder } => {
                if let Some(index) = self.find(&model, now) {
                    self.capture(index, folder, now);
                }
            }
            SessionCommand::Stop => self.stop(),
        }
    }

    fn find(&mut self, name: &str, now: u64) -> Option<usize> {
        let found = self.models.iter().position(|model| model.spec.name == name);
        if found.is_none() {
            let message = format!("there is no model `{name}`");
            self.journal
                .log(now, LogLevel::Warning, "session", &message, None);
        }
        found
    }

    fn add_model(&mut self, mut spec: ModelSpec, now: u64) {
        let taken = |name: &str| self.models.iter().any(|model| model.spec.name == name);
        if spec.name.is_empty() || taken(&spec.name) {
            spec.name = unique_model_name(&spec.path, taken);
        }
        let about = spec.name.clone();
        if let Err(error) = check_model(&spec) {
            let what = problem("model_options", error.to_string(), None);
            self.journal.notice(now, LogLevel::Error, &about, what);
            return;
        }
        match self.new_model(spec) {
            Some(index) => self.start_model(index),
            None => {
                let what = problem(
                    "too_many_models",
                    "the session has no place for another model".to_owned(),
                    Some("remove one first"),
                );
                self.journal.notice(now, LogLevel::Error, &about, what);
            }
        }
    }

    fn change_model(&mut self, index: usize, spec: ModelSpec, now: u64) {
        let about = self.models[index].spec.name.clone();
        let mut others = self.models.iter().enumerate();
        let is_taken = others.any(|(other, model)| {
            let next = model.next_spec.as_ref();
            other != index
                && (model.spec.name == spec.name || next.is_some_and(|next| next.name == spec.name))
        });
        let fault = if spec.name.is_empty() {
            Some("a model needs a name".to_owned())
        } else if is_taken {
            Some(format!("another model is called `{}`", spec.name))
        } else {
            check_model(&spec).err().map(|error| error.to_string())
        };
        if let Some(fault) = fault {
            let what = problem("model_options", fault, Some("it goes on as it was"));
            self.journal.notice(now, LogLevel::Error, &about, what);
            return;
        }
        let model = &mut self.models[index];
        let at_once = ModelSpec {
            name: spec.name.clone(),
            threshold: spec.threshold,
            top: spec.top,
            ..(*model.spec).clone()
        };
        if model.next_spec.is_some() || at_once != spec {
            // Until its process has ended, what it says is about the model before.
            model.next_spec = Some(Arc::new(spec));
            let what = problem(
                "model_changed",
                "its options were changed: it is started anew, and counted anew".to_owned(),
                None,
            );
            self.journal.notice(now, LogLevel::Info, &about, what);
            self.restart_model(index, now);
            return;
        }
        self.tune(index, Some(spec.threshold), Some(spec.top));
        if spec.name != about {
            let model = &mut self.models[index];
            model.spec = Arc::new(spec);
            if model.card.is_some() {
                // Rows have another name from here.
                self.write_session_row();
            }
        }
    }

    fn remove_model(&mut self, index: usize, now: u64) {
        let model = &mut self.models[index];
        model.removed = true;
        model.counted = false;
        model.managed.start_again = false;
        self.rings.count_out(model.member);
        if model.managed.is_alive() {
            model.managed.stop(now);
        } else {
            self.rings.forget(model.member);
            let key = model.key;
            self.models.remove(index);
            self.pairing.remove(key);
        }
        self.flow_if_ready();
    }

    fn pause_model(&mut self, index: usize) {
        let model = &mut self.models[index];
        model.paused = true;
        if model.managed.is_alive() {
            if model.ready {
                model.managed.state = ChildState::Paused;
            }
            if model.counted {
                model.managed.send(Command::Pause);
            }
        }
        model.counted = false;
        self.rings.count_out(model.member);
        self.flow_if_ready();
    }

    fn tune(&mut self, index: usize, threshold: Option<f32>, top: Option<u32>) {
        let model = &mut self.models[index];
        let mut spec = (*model.spec).clone();
        spec.threshold = threshold.unwrap_or(spec.threshold);
        spec.top = top.unwrap_or(spec.top);
        model.spec = Arc::new(spec);
        model.managed.send(Command::Tune { threshold, top });
    }

    fn restart_producer(&mut self, now: u64) {
        if !self.source.is_named() {
            return;
        }
        let managed = &mut self.source.managed;
        managed.supervisor.forgive();
        if managed.is_alive() {
            managed.start_again = true;
            managed.stop(now);
        } else {
            self.resume_producer(0);
        }
    }

    fn restart_model(&mut self, index: usize, now: u64) {
        let managed = &mut self.models[index].managed;
        managed.supervisor.forgive();
        if managed.is_alive() {
            managed.start_again = true;
            managed.stop(now);
        } else {
            self.start_model(index);
        }
    }

    /// Saves the frame that a model died on, or else that of its shown answer.
    fn capture(&mut self, index: usize, folder: PathBuf, now: u64) {
        let model = &self.models[index];
        let about = model.spec.name.clone();
        let shown = model.stats.shown.clone();
        let lost = model.lost_last.filter(|_| model.died_of.is_some());
        let seqs = lost
            .into_iter()
            .chain(shown.as_ref().map(|shown| shown.event.seq));
        let found = seqs
            .into_iter()
            .find_map(|seq| Some((seq, self.rings.copy(seq)?)));
        let (Some((seq, frame)), Some(write)) = (found, self.options.repro.clone()) else {
            let what = problem(
                "repro_failed",
                "there is no frame to save: it is no longer in the ring".to_owned(),
                Some("pause the source before, or give the ring more slots"),
            );
            self.journal.notice(now, LogLevel::Error, &about, what);
            return;
        };
        let model = &self.models[index];
        let capture = ReproCapture {
            seq,
            frame,
            model: (*model.spec).clone(),
            card: model.card.as_deref().cloned(),
            prediction: shown
                .map(|shown| shown.event.clone())
                .filter(|event| event.seq == seq),
            death: model.died_of.clone().filter(|_| lost == Some(seq)),
        };
        // Compressing a picture takes longer than the session's thread may be away.
        let saved = self.to_saved.clone();
        let name = about.clone();
        let started = Worker::spawn("repro", move || {
            let what = match write(&capture, &folder) {
                Ok(path) => problem(
                    "repro_saved",
                    format!("frame {seq} is saved in {}", path.display()),
                    Some("its README.txt says how to repeat the answer"),
                ),
                Err(error) => problem(
                    "repro_failed",
                    format!("cannot save to {}: {error}", folder.display()),
                    Some("choose another folder, or free space"),
                ),
            };
            // A session that has ended has no log any more.
            drop(saved.send((name, what)));
        });
        match started {
            Ok(worker) => {
                self.helpers.push(worker);
                let message = format!("frame {seq} is being saved");
                self.journal
                    .log(now, LogLevel::Info, &about, &message, None);
            }
            Err(error) => {
                let message = format!("frame {seq} cannot be saved: {error}");
                self.journal
                    .log(now, LogLevel::Error, &about, &message, None);
            }
        }
    }

    /// Says what has been saved, and what could not be.
    pub(super) fn note_saved(&mut self, now: u64) {
        for (about, what) in self.saved.try_iter() {
            let level = match what.code.as_str() {
                "repro_saved" => LogLevel::Info,
                _ => LogLevel::Error,
            };
            self.journal.notice(now, level, &about, what);
            self.dirty = true;
        }
    }
}
