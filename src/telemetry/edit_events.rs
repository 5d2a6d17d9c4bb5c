//! What is reported in the cluster about an answer: an Event of the extension, for those who see no warnings.
//!
//! Answers put their events into a queue and wait for nothing: an event that finds it full is lost, and counted.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::admission::{Reply, Review};
use crate::telemetry::metrics::{EventFate, EventMetrics};
use olmguard_engine::judge::Token;

/// An event of one extension.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EditEvent {
    /// The extension.
    pub object: EditedObject,
    /// Why the edit was refused, or admitted with a warning.
    pub reason: Token,
    /// What the API server was told, at most 1,024 bytes.
    pub note: String,
}

/// The object that an event is about. Whoever lists the events of an object compares all of it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct EditedObject {
    /// `apiVersion`.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
}

/// The queue of events; by default nobody reads it.
#[derive(Clone, Debug, Default)]
pub struct EditEvents(Option<Queue>);

#[derive(Clone, Debug)]
struct Queue {
    sender: Sender<EditEvent>,
    metrics: Arc<EventMetrics>,
}

impl EditEvents {
    /// A queue of at most 256 events, and its end.
    pub fn queue(metrics: Arc<EventMetrics>) -> (Self, Receiver<EditEvent>) {
        let (sender, receiver) = channel(QUEUE_LIMIT);
        (Self(Some(Queue { sender, metrics })), receiver)
    }

    /// Reports what is refused, or admitted with warnings, of an object that the cluster has. A dry run has no effects.
    pub(crate) fn report(&self, review: &Review, token: Token, reply: &Reply<'_>) {
        let Some(queue) = self.0.as_ref().filter(|_| !review.is_dry_run()) else {
            return;
        };
        let event = EditedObject::of(review).zip(reply.note(NOTE_LIMIT));
        let event = event.map(|(object, note)| EditEvent {
            object,
            reason: token,
            note,
        });
        if event.is_some_and(|event| queue.sender.try_send(event).is_err()) {
            queue.metrics.count(EventFate::Dropped);
        }
    }
}

impl EditedObject {
    /// The object of a review; none where it has no name or no uid: a creation that is refused leaves no object.
    fn of(review: &Review) -> Option<Self> {
        let identity = review.identity();
        Some(Self {
            api_version: identity.api_version(),
            kind: identity.kind.clone(),
            name: identity.name.clone()?,
            uid: review.object_uid()?.to_owned(),
        })
    }
}

/// What an API server takes as the note of an Event.
const NOTE_LIMIT: usize = 1_024;
/// Some seconds of refusals at the rate that API servers ask at most.
const QUEUE_LIMIT: usize = 256;
