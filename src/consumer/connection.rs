use super::device::Target;
use crate::protocol::{Attachment, Delivery, Event, EventSender, Schedule};
use crate::ring::{Reader, Reporter, RingError, Turn};

/// A consumer's place in a ring.
pub(super) struct Connection {
    /// Takes frames.
    pub reader: Reader,
    /// Gives them back.
    pub reporter: Reporter,
    /// The device's turns, where models take turns.
    pub turn: Option<Turn>,
    attachment: Attachment,
    /// All frames have been taken and there will be no more.
    pub drained: bool,
}

impl Connection {
    /// Attaches to a ring and says so.
    ///
    /// # Errors
    /// What [`Reader::attach`] gives.
    pub(super) fn open(attachment: Attachment, events: &EventSender) -> Result<Self, RingError> {
        // A consumer without a place in the table would be a fault of the session; the ring says
        // what is wrong with the number.
        let member = attachment.member.unwrap_or(u32::MAX);
        let reader = Reader::attach(&attachment.ring, member)?;
        events.send(&Event::Attached {
            attachment: attachment.clone(),
            joined_at: reader.joined_at(),
        });
        Ok(Self {
            reporter: reader.reporter(),
            reader,
            turn: None,
            attachment,
            drained: false,
        })
    }

    /// Takes turns on the device of `target`, if models are to.
    ///
    /// In `live` nobody waits for anybody: a stopped model would hold up the others.
    ///
    /// # Errors
    /// The system refuses another descriptor.
    pub(super) fn take_turns(
        &mut self,
        target: Target,
        schedule: Schedule,
        delivery: Delivery,
    ) -> Result<(), RingError> {
        self.turn = match (schedule, delivery) {
            (Schedule::Turns, Delivery::Every) => Some(self.reader.turns(target.turn_key())?),
            _ => None,
        };
        Ok(())
    }

    /// Leaves the ring and says so.
    pub(super) fn leave(&mut self, events: &EventSender) {
        self.reader.leave();
        self.turn = None;
        events.send(&Event::Detached {
            generation: self.attachment.generation,
        });
    }
}
