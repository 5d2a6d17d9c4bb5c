//! The objects of one kind, maintained from the events of its watch.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::Instant;
use tracing::{error, info, warn};

use super::read::{ObjectState, PolicyContent, ReadObject};
use crate::cluster::WatchFault;
use crate::cluster::object::name;
use crate::cluster::watch::WatchEvent;
use olmguard_server::telemetry::OncePerChange;

/// Every object of a kind, by name.
#[derive(Debug)]
pub(super) struct ObjectTable<T> {
    objects: BTreeMap<Box<str>, ReadObject<T>>,
    pub(super) presence: Presence,
    /// The current fault of the watch.
    fault: OncePerChange<WatchFault>,
}

/// Whether the kind and its objects are known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Presence {
    /// No answer yet.
    #[default]
    Unknown,
    /// The cluster does not serve the kind.
    Absent,
    /// The objects are listed.
    Listed,
    /// The objects were listed. Since this time, every answer was that the cluster does not serve the kind.
    Doubted {
        /// The time of the first of these answers.
        since: Instant,
    },
}

/// The effect of an event.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum EventEffect {
    /// Only the connection of the watch may have changed.
    Nothing,
    /// The status of an object, which affects no verdict.
    Status,
    /// The rules that edits are judged by.
    Verdicts,
}

impl<T> Default for ObjectTable<T> {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            presence: Presence::Unknown,
            fault: OncePerChange::default(),
        }
    }
}

impl<T: PolicyContent> ObjectTable<T> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &ReadObject<T>> {
        self.objects.values()
    }

    /// Whether all objects are known.
    pub(super) fn is_known(&self) -> bool {
        matches!(self.presence, Presence::Absent | Presence::Listed)
    }

    pub(super) fn fault(&self) -> Option<&WatchFault> {
        self.fault.last()
    }

    /// Processes an event. Objects are not read on threads that serve connections. If the reader panics, nothing
    /// changes.
    pub(super) async fn take(&mut self, event: WatchEvent<Value>, now: Instant) -> EventEffect {
        if !matches!(event, WatchEvent::Lost(_)) && self.fault.is_gone() {
            info!(kind = T::KIND, "Watch works again");
        }
        let taken = match event {
            WatchEvent::Listed(objects) => self.list(objects).await,
            WatchEvent::Applied(object) => self.apply(object).await,
            WatchEvent::Deleted(object) => Ok(self.delete(name(&object))),
            WatchEvent::Alive => Ok(EventEffect::Nothing),
            WatchEvent::Found => Ok(self.find(now)),
            WatchEvent::Absent => Ok(self.absent(now)),
            WatchEvent::Lost(fault) => {
                self.lose(&fault, now);
                Ok(EventEffect::Nothing)
            }
        };
        taken.unwrap_or_else(|fault| {
            error!(%fault, kind = T::KIND, "Failed to read objects, keeping the last good ones; please report this");
            EventEffect::Nothing
        })
    }

    async fn list(&mut self, objects: Vec<Value>) -> Result<EventEffect, JoinError> {
        let (known, new): (Vec<_>, Vec<_>) =
            objects.into_iter().partition(|object| self.has(object));
        let is_whole = known.len() == self.objects.len() && new.is_empty();
        let read = read_all(new).await?;
        let mut before = std::mem::take(&mut self.objects);
        for object in known {
            if let Some((name, mut one)) = before.remove_entry(name(&object)) {
                one.object.status = ObjectState::of(&object).status;
                self.objects.insert(name, one);
            }
        }
        self.insert(read);
        let was = std::mem::replace(&mut self.presence, Presence::Listed);
        Ok(match (is_whole, was) {
            (true, Presence::Listed | Presence::Doubted { .. }) => EventEffect::Status,
            _ => EventEffect::Verdicts,
        })
    }

    async fn apply(&mut self, object: Value) -> Result<EventEffect, JoinError> {
        if self.has(&object) {
            if let Some(one) = self.objects.get_mut(name(&object)) {
                one.object.status = ObjectState::of(&object).status;
            }
            return Ok(EventEffect::Status);
        }
        let read = read_all(vec![object]).await?;
        self.insert(read);
        Ok(EventEffect::Verdicts)
    }

    fn insert(&mut self, read: Vec<ReadObject<T>>) {
        for one in read {
            if let Some(fault) = one.content.fault() {
                error!(
                    kind = T::KIND,
                    name = &*one.object.name,
                    fault,
                    "Failed to read object, denying the upgrades that it applies to"
                );
            }
            self.objects.insert(one.object.name.clone(), one);
        }
    }

    fn delete(&mut self, name: &str) -> EventEffect {
        match self.objects.remove(name) {
            Some(_) => EventEffect::Verdicts,
            None => EventEffect::Nothing,
        }
    }

    /// Records that the cluster serves the kind. If it was absent before, its objects are unknown now.
    fn find(&mut self, now: Instant) -> EventEffect {
        self.doubt_from(now);
        if self.presence != Presence::Absent {
            return EventEffect::Nothing;
        }
        self.presence = Presence::Unknown;
        EventEffect::Verdicts
    }

    /// Restarts the time of doubt. Only an unbroken sequence of answers counts.
    fn doubt_from(&mut self, now: Instant) {
        if let Presence::Doubted { since } = &mut self.presence {
            *since = now;
        }
    }

    /// Records that the cluster does not serve the kind. A starting API server can report this of a kind that it serves
    /// a moment later, and a definition that was deleted by mistake is soon restored.
    fn absent(&mut self, now: Instant) -> EventEffect {
        match self.presence {
            Presence::Absent => EventEffect::Nothing,
            Presence::Listed if !self.objects.is_empty() => {
                warn!(
                    kind = T::KIND,
                    objects = self.objects.len(),
                    keep = ?DOUBT,
                    "Found no such kind in the cluster any more, keeping its last objects for now"
                );
                self.presence = Presence::Doubted { since: now };
                EventEffect::Nothing
            }
            Presence::Doubted { since } if now.duration_since(since) < DOUBT => {
                EventEffect::Nothing
            }
            Presence::Unknown | Presence::Listed | Presence::Doubted { .. } => self.drop_all(),
        }
    }

    fn drop_all(&mut self) -> EventEffect {
        let objects = std::mem::take(&mut self.objects).len();
        self.presence = Presence::Absent;
        if objects > 0 {
            warn!(
                kind = T::KIND,
                objects, "Kind is gone from the cluster, checking edits without its objects"
            );
        } else {
            info!(
                kind = T::KIND,
                "Found no such kind in the cluster, checking edits without it"
            );
        }
        EventEffect::Verdicts
    }

    /// Records that the watch is lost. The same fault is logged only once.
    fn lose(&mut self, fault: &WatchFault, now: Instant) {
        self.doubt_from(now);
        if !self.fault.is_new(fault) {
            return;
        }
        if self.presence == Presence::Unknown {
            warn!(
                kind = T::KIND,
                fault = fault.words,
                "Failed to list objects, leaving edits undecided that they can forbid"
            );
        } else {
            warn!(
                kind = T::KIND,
                fault = fault.words,
                "Lost the watch, keeping the last good objects"
            );
        }
    }

    /// Whether the object is already known with this spec.
    fn has(&self, object: &Value) -> bool {
        let now = ObjectState::of(object);
        let known = self.objects.get(&now.name).map(|one| &one.object);
        known.is_some_and(|known| known.is_same_spec(&now))
    }
}

async fn read_all<T: PolicyContent>(objects: Vec<Value>) -> Result<Vec<ReadObject<T>>, JoinError> {
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    spawn_blocking(move || objects.iter().map(ReadObject::of).collect()).await
}

/// The time for which objects stay in force after the cluster has stopped serving their kind.
pub(super) const DOUBT: Duration = Duration::from_mins(5);
