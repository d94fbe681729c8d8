//! A producer's end: resumption where it ended, what killed it left out, another source.

use super::Engine;
use super::source_side::Source;
use crate::protocol::{Resume, Role, Skipped};
use crate::session::journal::problem;
use crate::session::managed::{Consequence, Death, Managed};
use crate::session::view::{ChildState, LogLevel};

/// Positions that a restarted producer opens one at a time: as many as may have been open at once
/// when its predecessor died.
pub(super) const CAREFUL_POSITIONS: u32 = 16;

impl Engine {
    /// Reacts to the producer's end.
    pub(super) fn producer_died(&mut self, death: &Death, now: u64) {
        self.dirty = true;
        self.source.attached = false;
        self.fill_in_frames(self.rings.head());
        if !death.asked {
            self.skip_what_killed(&death.cause, now);
        }
        match self.source.managed.judge(death, now) {
            Consequence::StartNow => {
                if let Some(address) = self.source.next_address.take() {
                    self.take_source(address);
                    self.start_producer(None);
                } else {
                    self.resume_producer(0);
                }
            }
            // It has done its work; another would publish everything again.
            Consequence::Restarts { .. } if self.source.ended => {
                self.source.managed.cancel_restart();
                self.source.managed.state = ChildState::Stopped;
            }
            Consequence::Restarts { delay_millis } => {
                let words = self.source.managed.last_words(&death.cause);
                let message =
                    format!("its process ended by {words}; starting again in {delay_millis} ms");
                let what = problem("restarting", message, None);
                self.journal.notice(now, LogLevel::Warning, "source", what);
            }
            Consequence::GivenUp(problem) => self.failed(now, "source", problem),
            Consequence::Stopped => {}
        }
    }

    /// What a careful producer was opening when it died has killed it: it is left out.
    fn skip_what_killed(&mut self, cause: &str, now: u64) {
        if let Some(((_, source_index), path)) = self.source.opening.take() {
            let reason = format!("the producer ended by {cause} while it read this");
            self.entry_skipped(
                Skipped {
                    source_index,
                    path,
                    reason,
                },
                now,
            );
            // The culprit is known and out of the way.
            self.source.managed.supervisor.forgive();
        }
    }

    /// Starts a producer that goes on where the last one ended, opening the first positions one at a
    /// time.
    pub(super) fn resume_producer(&mut self, careful: u32) {
        let published = self
            .rings
            .head()
            .saturating_sub(self.source.published_before);
        let is_new = self.source.info.is_none();
        let (pass, source_index) = self.source.next_place();
        // A source that was never opened, and one that has been played to its end, start anew.
        let resume = (!is_new && !self.source.ended).then_some(Resume {
            source_index,
            pass,
            published,
            careful,
        });
        self.source.ended = false;
        self.start_producer(resume);
    }

    /// Changes to another source; models stay loaded.
    pub(super) fn set_source(&mut self, address: String, now: u64) {
        if self.source.managed.is_alive() {
            self.source.next_address = Some(address);
            self.source.managed.start_again = true;
            self.source.managed.stop(now);
        } else {
            self.take_source(address);
            self.start_producer(None);
        }
    }

    fn take_source(&mut self, address: String) {
        let skipped = self.source.skipped;
        let looping = self.source.looping;
        let managed = std::mem::replace(
            &mut self.source.managed,
            Managed::new(Role::Producer, self.options.restart.clone()),
        );
        self.source = Source {
            skipped,
            looping,
            published_before: self.rings.head(),
            ..Source::new(address, self.options.restart.clone())
        };
        self.source.managed = managed;
        self.source.managed.supervisor.forgive();
    }
}
