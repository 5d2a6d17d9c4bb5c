//! Events about extensions in the cluster: edits that were denied, or allowed with a warning.
//!
//! Mirrors client-go's broadcaster, [`tools/events/event_broadcaster.go`]: a repeated Event is one object, whose
//! `series` counts. Unlike client-go, the write rate of the whole process is limited too.
//!
//! Invariants: no answer to an edit waits for Events; a process writes two Events per second in the long run, at most
//! 50 in a burst, and remembers at most 512 series.
//!
//! [`tools/events/event_broadcaster.go`]: https://github.com/kubernetes/client-go/blob/v0.35.4/tools/events/event_broadcaster.go

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::{Event, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep_until};
use tracing::{info, warn};

use crate::cluster::{fault_words, lease, line};
use olmguard_server::restart::unless_lost;
use olmguard_server::telemetry::metrics::{EventFate, EventMetrics};
use olmguard_server::telemetry::{EditEvent, OncePerChange};
use olmguard_server::tls::Clock;

/// Writes Events until the sender of the queue is dropped.
pub async fn write(
    client: Client,
    clock: Arc<dyn Clock>,
    metrics: Arc<EventMetrics>,
    mut queue: Receiver<EditEvent>,
) {
    let (client, _) = line::open(client);
    let mut writer = EventWriter {
        api: Api::namespaced(client, NAMESPACE),
        clock,
        metrics,
        instance: lease::holder(),
        series: KnownSeries::default(),
        budget: WriteBudget::full(Instant::now()),
        fault: OncePerChange::default(),
    };
    while unless_lost("Event writer", writer.run(&mut queue))
        .await
        .is_none()
    {}
}

struct EventWriter {
    api: Api<Event>,
    clock: Arc<dyn Clock>,
    metrics: Arc<EventMetrics>,
    instance: String,
    series: KnownSeries,
    budget: WriteBudget,
    /// The error of the last write, if it failed.
    fault: OncePerChange,
}

impl EventWriter {
    async fn run(&mut self, queue: &mut Receiver<EditEvent>) {
        loop {
            let due = self.series.due();
            let due = due.map(|due| due.max(self.budget.ready()));
            tokio::select! {
                event = queue.recv() => match event {
                    Some(event) => self.take(event).await,
                    None => return,
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    self.finish().await;
                }
            }
        }
    }

    async fn take(&mut self, event: EditEvent) {
        let now = Instant::now();
        let repeat = self.series.repeat(&event, now);
        if matches!(repeat, Some(Repeat::Counted)) {
            return self.metrics.count(EventFate::Repeated);
        }
        if !self.budget.spend(now) {
            return self.metrics.count(EventFate::Dropped);
        }
        let written = match repeat {
            Some(Repeat::Due { name, count }) => match self.recount(&name, count).await {
                Err(error) if is_gone(&error) => self.create(&event, now).await,
                written => written,
            },
            _ => self.create(&event, now).await,
        };
        self.told(written, &key(&event), now);
    }

    /// Writes the counts of series that do not repeat now, as far as the budget allows.
    async fn finish(&mut self) {
        let now = Instant::now();
        for (key, name, count) in self.series.unfinished(now) {
            if !self.budget.spend(now) {
                return;
            }
            match self.recount(&name, count).await {
                Err(error) if is_gone(&error) => self.series.forget(&key),
                written => self.told(written, &key, now),
            }
        }
    }

    async fn create(&mut self, event: &EditEvent, now: Instant) -> Result<(), kube::Error> {
        let made = self.event(event, self.clock.now());
        self.api.create(&PostParams::default(), &made).await?;
        let name = made.metadata.name.unwrap_or_default();
        self.series.begin(event, name, now);
        Ok(())
    }

    /// Writes the count of a repeated Event.
    async fn recount(&self, name: &str, count: i32) -> Result<(), kube::Error> {
        let series = EventSeries {
            count,
            last_observed_time: time(self.clock.now()),
        };
        let patch = Patch::Merge(json!({"series": series}));
        self.api
            .patch(name, &PatchParams::default(), &patch)
            .await?;
        Ok(())
    }

    fn event(&self, event: &EditEvent, now: SystemTime) -> Event {
        let object = &event.object;
        let begin: String = object.name.chars().take(NAME_LIMIT).collect();
        let number = Timestamp::try_from(now).unwrap_or_default().as_nanosecond();
        Event {
            metadata: ObjectMeta {
                name: Some(format!("{begin}.{number:x}")),
                namespace: Some(NAMESPACE.to_owned()),
                ..ObjectMeta::default()
            },
            action: Some(ACTION.to_owned()),
            event_time: Some(time(now)),
            note: Some(event.note.clone()),
            reason: Some(event.reason.as_str().to_owned()),
            regarding: Some(ObjectReference {
                api_version: Some(object.api_version.clone()),
                kind: Some(object.kind.clone()),
                name: Some(object.name.clone()),
                uid: Some(object.uid.clone()),
                ..ObjectReference::default()
            }),
            reporting_controller: Some(CONTROLLER.to_owned()),
            reporting_instance: Some(self.instance.clone()),
            type_: Some("Warning".to_owned()),
            ..Event::default()
        }
    }

    fn told(&mut self, written: Result<(), kube::Error>, key: &Key, now: Instant) {
        let Err(error) = written else {
            if self.fault.is_gone() {
                info!("Writing Events again");
            }
            self.series.wrote(key, now);
            return self.metrics.count(EventFate::Written);
        };
        self.metrics.count(EventFate::Failed);
        // An Event that no longer exists is created again at its next repetition.
        self.series.forget(key);
        let error = fault_words(&error);
        if self.fault.is_new(&error) {
            warn!(error, "Failed to write an Event of a ClusterExtension");
        }
    }
}

/// Whether the API server has deleted the Event, as it does after an hour.
fn is_gone(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.is_not_found())
}

fn time(at: SystemTime) -> MicroTime {
    MicroTime(Timestamp::try_from(at).unwrap_or_default())
}

/// The Events of the last minutes.
#[derive(Debug, Default)]
struct KnownSeries {
    known: BTreeMap<Key, Series>,
    /// The keys, oldest first.
    order: VecDeque<Key>,
}

/// The identity of a series: the uid of the object, the reason and the note.
type Key = (String, &'static str, String);

#[derive(Debug)]
struct Series {
    name: String,
    count: i32,
    /// Whether the Event has this count.
    is_counted: bool,
    written: Instant,
}

/// The effect of a repeated Event.
#[derive(Debug, Eq, PartialEq)]
enum Repeat {
    /// The Event was written recently, so the repetition is only counted.
    Counted,
    /// The count of the Event must be written.
    Due { name: String, count: i32 },
}

impl KnownSeries {
    /// Counts an Event that repeats a known one; none if it repeats no known one.
    fn repeat(&mut self, event: &EditEvent, now: Instant) -> Option<Repeat> {
        let series = self.known.get_mut(&key(event))?;
        series.count = series.count.saturating_add(1);
        series.is_counted = false;
        if now.duration_since(series.written) < WRITTEN_EVERY {
            return Some(Repeat::Counted);
        }
        Some(Repeat::Due {
            name: series.name.clone(),
            count: series.count,
        })
    }

    /// Returns the time at which the next count must be written; none if all are.
    fn due(&self) -> Option<Instant> {
        let open = self.known.values().filter(|series| !series.is_counted);
        open.map(|series| series.written + WRITTEN_EVERY).min()
    }

    /// Returns the name and the count of each Event whose count must be written by now.
    fn unfinished(&self, now: Instant) -> Vec<(Key, String, i32)> {
        let open = self.known.iter().filter(|(_, series)| {
            !series.is_counted && now.duration_since(series.written) >= WRITTEN_EVERY
        });
        open.map(|(key, series)| (key.clone(), series.name.clone(), series.count))
            .collect()
    }

    /// Records that the Event has the count of its series.
    fn wrote(&mut self, key: &Key, now: Instant) {
        if let Some(series) = self.known.get_mut(key) {
            series.is_counted = true;
            series.written = now;
        }
    }

    /// Records that an Event of this name was written. If there are too many, the oldest is forgotten.
    fn begin(&mut self, event: &EditEvent, name: String, now: Instant) {
        let key = key(event);
        let series = Series {
            name,
            count: 1,
            is_counted: true,
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

    /// Forgets an Event that could not be written, so the next one is created.
    fn forget(&mut self, key: &Key) {
        self.known.remove(key);
        self.order.retain(|known| known != key);
    }
}

fn key(event: &EditEvent) -> Key {
    (
        event.object.uid.clone(),
        event.reason.as_str(),
        event.note.clone(),
    )
}

/// A token bucket of writes.
#[derive(Debug)]
struct WriteBudget {
    left: u32,
    filled: Instant,
}

impl WriteBudget {
    /// Returns the initial budget of a process.
    fn full(now: Instant) -> Self {
        Self {
            left: AT_ONCE,
            filled: now,
        }
    }

    /// Returns a time at which the budget has a write.
    fn ready(&self) -> Instant {
        if self.left > 0 {
            self.filled
        } else {
            self.filled + EVERY
        }
    }

    /// Takes one write from the budget, if one is left.
    fn spend(&mut self, now: Instant) -> bool {
        let earned = now.duration_since(self.filled).as_millis() / EVERY.as_millis();
        let earned = u32::try_from(earned).unwrap_or(u32::MAX);
        self.filled += EVERY * earned;
        self.left = self.left.saturating_add(earned).min(AT_ONCE);
        let can = self.left > 0;
        self.left = self.left.saturating_sub(1);
        can
    }
}

/// The namespace in which the API server expects Events of objects without a namespace.
const NAMESPACE: &str = "default";
const CONTROLLER: &str = "olmguard.dev/webhook";
const ACTION: &str = "Admission";
/// The longest part of an object name in the name of an Event. With the number after it, a name has at most 253
/// characters.
const NAME_LIMIT: usize = 200;
/// The shortest interval between two writes of a count, as long as client-go's `finishTime`.
const WRITTEN_EVERY: Duration = Duration::from_mins(6);
/// The most series that are remembered: with their notes, some 600 KB.
const KNOWN: usize = 512;
/// The time that earns one write: [`PER_SECOND`] of them per second.
const EVERY: Duration = Duration::from_millis(1_000 / PER_SECOND);
/// The writes per second in the long run.
const PER_SECOND: u64 = 2;
/// The writes in a burst: enough for a sync of many extensions.
const AT_ONCE: u32 = 50;
