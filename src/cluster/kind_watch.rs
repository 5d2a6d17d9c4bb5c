//! The objects of one kind, as JSON, watched for good.
//!
//! Rounds, pauses and signs of life are those of the watch of catalogs (`catalogs::watch`): any fault ends a round.
//! Unlike there, the kind can be missing for good. That is an answer like any other, asked for again every
//! [`ABSENT`], so a definition that is created later is found.

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use kube::core::ApiResource;
use kube::runtime::watcher::{self, DefaultBackoff, Event, watcher};
use kube::{Api, Client};
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use crate::cluster::fault::WatchFault;
use crate::cluster::line::{self, SECONDS, WatchSignal};
use crate::cluster::object::WatchedObject;
use crate::cluster::served::{Names, served};

/// What is watched.
#[derive(Clone, Copy, Debug)]
pub(super) struct WatchedKind {
    /// The kind under all names that it had.
    pub(super) names: &'static Names,
    /// The one object that is meant; none means all.
    pub(super) only: Option<&'static str>,
}

/// What happens to the objects of a kind.
///
/// Each but `Lost` also reports that the watch is alive.
#[derive(Clone, Debug)]
pub(super) enum KindEvent {
    /// There are these, and no others.
    Listed(Vec<Value>),
    /// This one is new, or has changed.
    Applied(Value),
    /// This one is gone.
    Deleted(Value),
    /// Nothing has changed.
    Alive,
    /// The cluster serves the kind, which was `Absent`; its objects are listed next.
    Found,
    /// The cluster does not serve the kind: reported for each time that it is looked for.
    Absent,
    /// Nothing is heard any more, for this reason: reported for each try that fails.
    Lost(WatchFault),
}

/// How a round ends.
enum RoundEnd {
    Fault(WatchFault),
    Absent,
    /// The kind is served elsewhere by now, or nowhere.
    Moved,
}

/// Nobody receives the events any more.
struct NobodyListens;

/// Reports what happens to the objects, for as long as somebody listens.
pub(super) async fn watch(client: Client, kind: WatchedKind, events: Sender<KindEvent>) {
    let listener = events.clone();
    let (client, heard) = line::open(client);
    let watch = KindWatch {
        client,
        heard,
        kind,
        events,
        listing: Vec::new(),
        is_absent: false,
    };
    tokio::select! {
        () = listener.closed() => {}
        NobodyListens = watch.go_on() => {}
    }
}

struct KindWatch {
    client: Client,
    heard: WatchSignal,
    kind: WatchedKind,
    events: Sender<KindEvent>,
    /// What was listed of a list that is not complete yet.
    listing: Vec<Value>,
    /// Whether the kind was not found when it was looked for last.
    is_absent: bool,
}

impl KindWatch {
    async fn go_on(mut self) -> NobodyListens {
        let mut pauses = DefaultBackoff::default();
        loop {
            let (told, pause) = match self.round().await {
                Ok(RoundEnd::Moved) => continue,
                Ok(RoundEnd::Absent) => (self.tell(KindEvent::Absent).await, ABSENT),
                Ok(RoundEnd::Fault(fault)) => {
                    let pause = pauses.next().unwrap_or(LONGEST_PAUSE);
                    (self.tell(KindEvent::Lost(fault)).await, pause)
                }
                Err(nobody) => return nobody,
            };
            if let Err(nobody) = told {
                return nobody;
            }
            sleep(pause).await;
        }
    }

    /// Finds the API and watches it, until a fault ends that.
    async fn round(&mut self) -> Result<RoundEnd, NobodyListens> {
        match served(&self.client, self.kind.names).await {
            Ok(Some(resource)) => {
                if std::mem::take(&mut self.is_absent) {
                    self.tell(KindEvent::Found).await?;
                }
                self.follow(&resource).await
            }
            Ok(None) => {
                self.is_absent = true;
                Ok(RoundEnd::Absent)
            }
            Err(error) => Ok(RoundEnd::Fault(WatchFault::from(&error))),
        }
    }

    async fn follow(&mut self, resource: &ApiResource) -> Result<RoundEnd, NobodyListens> {
        let api: Api<WatchedObject> = Api::all_with(self.client.clone(), resource);
        let mut objects = pin!(watcher(api, self.config()));
        let mut recheck = pin!(sleep(FIRST_RECHECK));
        self.heard.forget();
        loop {
            tokio::select! {
                biased;
                Some(event) = objects.next() => {
                    self.heard.forget();
                    match event {
                        Ok(event) => self.take(event).await?,
                        Err(error) => return Ok(RoundEnd::Fault(error.into())),
                    }
                }
                () = self.heard.sign() => self.tell(KindEvent::Alive).await?,
                () = &mut recheck => {
                    if self.has_moved(resource).await {
                        return Ok(RoundEnd::Moved);
                    }
                    recheck.set(sleep(RECHECK));
                }
            }
        }
    }

    fn config(&self) -> watcher::Config {
        let all = watcher::Config::default().timeout(SECONDS).page_size(PAGE);
        match self.kind.only {
            Some(name) => all.fields(&format!("metadata.name={name}")),
            None => all,
        }
    }

    async fn take(&mut self, event: Event<WatchedObject>) -> Result<(), NobodyListens> {
        match event {
            Event::Init => self.listing.clear(),
            Event::InitApply(object) => self.listing.push(trimmed(object.content)),
            Event::InitDone => {
                let listed = std::mem::take(&mut self.listing);
                self.tell(KindEvent::Listed(listed)).await?;
            }
            Event::Apply(object) => {
                let applied = trimmed(object.content);
                self.tell(KindEvent::Applied(applied)).await?;
            }
            Event::Delete(object) => {
                let deleted = trimmed(object.content);
                self.tell(KindEvent::Deleted(deleted)).await?;
            }
        }
        Ok(())
    }

    /// Whether the kind is served under a better name by now, or under none: a definition that was just deleted can
    /// be watched for a moment more.
    async fn has_moved(&self, watched: &ApiResource) -> bool {
        let now = served(&self.client, self.kind.names).await;
        now.is_ok_and(|now| now.as_ref() != Some(watched))
    }

    async fn tell(&self, event: KindEvent) -> Result<(), NobodyListens> {
        self.events.send(event).await.map_err(|_| NobodyListens)
    }
}

/// The name of an object; API servers have none without.
pub(super) fn name(object: &Value) -> &str {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default()
}

/// Without what nobody reads, which can be most of an object.
fn trimmed(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        metadata.remove("annotations");
    }
    object
}

/// How long after it was not found the kind is looked for again.
pub(super) const ABSENT: Duration = Duration::from_secs(5);
/// How soon after a list the question comes whether the API has moved, and how often then.
const FIRST_RECHECK: Duration = Duration::from_secs(5);
const RECHECK: Duration = Duration::from_mins(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How many objects are asked for at once.
const PAGE: u32 = 100;
