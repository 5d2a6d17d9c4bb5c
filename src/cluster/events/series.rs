//! Which Events were written lately, so that a repeated one is counted and not written again.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use crate::telemetry::EditEvent;

/// The Events of the last minutes.
#[derive(Debug, Default)]
pub(super) struct KnownSeries {
    known: BTreeMap<Key, Series>,
    /// The oldest first.
    order: VecDeque<Key>,
}

/// What makes two Events one: the object by its uid, the reason and the note.
type Key = (String, &'static str, String);

#[derive(Debug)]
struct Series {
    name: String,
    count: i32,
    written: Instant,
}

/// What an Event repeats.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Repeat {
    /// One that was written lately: it is only counted.
    Counted,
    /// One whose count is to be written.
    Due { name: String, count: i32 },
}

impl KnownSeries {
    /// Counts an Event that repeats a known one.
    pub(super) fn repeat(&mut self, event: &EditEvent, now: Instant) -> Option<Repeat> {
        let series = self.known.get_mut(&key(event))?;
        series.count = series.count.saturating_add(1);
        if now.duration_since(series.written) < WRITTEN_EVERY {
            return Some(Repeat::Counted);
        }
        series.written = now;
        Some(Repeat::Due {
            name: series.name.clone(),
            count: series.count,
        })
    }

    /// An Event of this name was written; of very many the oldest is forgotten.
    pub(super) fn begin(&mut self, event: &EditEvent, name: String, now: Instant) {
        let key = key(event);
        let series = Series {
            name,
            count: 1,
            written: now,
        };
        if self.known.insert(key.clone(), series).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > KNOWN {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }

    /// An Event could not be written: the next one is a new one.
    pub(super) fn forget(&mut self, event: &EditEvent) {
        let key = key(event);
        self.known.remove(&key);
        self.order.retain(|known| *known != key);
    }
}

fn key(event: &EditEvent) -> Key {
    (
        event.object.uid.clone(),
        event.reason.as_str(),
        event.note.clone(),
    )
}

/// How often the count of a series is written at most: client-go's refresh time.
pub(super) const WRITTEN_EVERY: Duration = Duration::from_mins(6);
/// How many series are remembered: with their notes, some 600 KB.
pub(super) const KNOWN: usize = 512;
