//! A watch of all objects of one kind, until the program ends.
//!
//! ```text
//! discovery --> kube's watcher (list in pages, watch, 410: list again) --> WatchEvent
//!     ^              |
//!     '---- pause <--'-- a fault, or the kind is served under another name
//! ```
//!
//! Any fault ends one round of the watch. The fault is reported, and after a pause discovery and the list start again:
//! no watch is resumed. A kind that the cluster does not serve is looked for again, so a
//! definition that is created later is found.
//!
//! kube's `StreamBackoff` resets its delay after the first successful list. An account that can list but not watch
//! would then list without a pause. [`Pauses`] grow until two minutes have passed without a fault.
//!
//! A connection that silently died is noticed: the server ends each watch after [`SECONDS`], kube's watcher gives up
//! five seconds later and starts another watch, and that one fails or is heard within [`line::ANSWER`].

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use kube::core::{ApiResource, PartialObjectMeta};
use kube::runtime::watcher::{self, DefaultBackoff, Event, watcher};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use crate::cluster::WatchFault;
use crate::cluster::line::{self, SECONDS, WatchSignal};
use crate::cluster::object::{Names, PAGE, WatchedObject, served};

/// A watched kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct WatchedKind {
    /// The kind under all names that it had.
    names: &'static Names,
    /// The name of the only object to watch; none means all.
    only: Option<&'static str>,
    absence: Absence,
    part: WatchedPart,
}

/// The part of each object that is sent.
#[derive(Clone, Copy, Debug)]
enum WatchedPart {
    Whole,
    /// Only the metadata, for kinds whose objects can have megabytes.
    Metadata,
}

/// The meaning of a cluster that does not serve a kind.
#[derive(Clone, Copy, Debug)]
enum Absence {
    /// A fault: discovery is repeated after a pause that grows.
    Fault,
    /// A normal answer: discovery is repeated every [`ABSENT`].
    Answer,
}

/// An event about the objects of a kind, in the form that the reader returns.
///
/// Each event but `Absent` of a kind that must be served, and `Lost`, also reports that the watch is alive.
#[derive(Clone, Debug)]
pub enum WatchEvent<T> {
    /// These objects exist, and no others.
    Listed(Vec<T>),
    /// This object is new, or has changed.
    Applied(T),
    /// This object no longer exists.
    Deleted(T),
    /// No change: a bookmark, or a watch that continues.
    Alive,
    /// The cluster now serves the kind, which was `Absent`. Its objects are listed next.
    Found,
    /// The cluster does not serve the kind. Reported after each discovery.
    Absent,
    /// The watch failed for this reason. Reported for each failed attempt.
    Lost(WatchFault),
}

/// The pauses between attempts, by kube's back-off: 0.8 s, doubled up to 30 s, plus a random part of up to the same
/// length. Two minutes without a fault reset them.
#[derive(Default)]
pub(super) struct Pauses(DefaultBackoff);

impl Pauses {
    pub(super) fn next(&mut self) -> Duration {
        self.0.next().expect("kube's pauses have no end")
    }
}

impl WatchedKind {
    /// Watches all objects of a kind that every supported cluster serves.
    pub(super) const fn required(names: &'static Names) -> Self {
        Self {
            names,
            only: None,
            absence: Absence::Fault,
            part: WatchedPart::Whole,
        }
    }

    /// Watches all objects of a kind that a cluster need not serve.
    pub(super) const fn optional(names: &'static Names) -> Self {
        Self {
            absence: Absence::Answer,
            ..Self::required(names)
        }
    }

    /// Restricts the watch to the object of this name.
    pub(super) const fn only(self, name: &'static str) -> Self {
        Self {
            only: Some(name),
            ..self
        }
    }

    /// Restricts the watch to the metadata of the objects.
    pub(super) const fn metadata(self) -> Self {
        Self {
            part: WatchedPart::Metadata,
            ..self
        }
    }

    /// Sends events about the objects, each as `read` returns it, until the receiver is closed.
    pub(super) async fn watch<T>(
        self,
        client: Client,
        read: impl Fn(Value) -> T,
        events: Sender<WatchEvent<T>>,
    ) {
        let receiver = events.clone();
        let (client, heard) = line::open(client);
        let watch = KindWatch {
            client,
            heard,
            kind: self,
            read,
            events,
            listing: Vec::new(),
            is_absent: false,
        };
        tokio::select! {
            () = receiver.closed() => {}
            never = watch.go_on() => match never {}
        }
    }
}

/// The end of a round.
enum RoundEnd {
    Fault(WatchFault),
    Absent,
    /// The kind is now served under another name, or not at all.
    Moved,
}

struct KindWatch<T, R> {
    client: Client,
    heard: WatchSignal,
    kind: WatchedKind,
    read: R,
    events: Sender<WatchEvent<T>>,
    /// The objects of an incomplete list.
    listing: Vec<T>,
    /// Whether the last discovery did not find the kind.
    is_absent: bool,
}

impl<T, R: Fn(Value) -> T> KindWatch<T, R> {
    async fn go_on(mut self) -> Infallible {
        let mut pauses = Pauses::default();
        loop {
            let pause = match self.round().await {
                RoundEnd::Moved => continue,
                RoundEnd::Absent => {
                    self.report(WatchEvent::Absent).await;
                    match self.kind.absence {
                        Absence::Fault => pauses.next(),
                        Absence::Answer => ABSENT,
                    }
                }
                RoundEnd::Fault(fault) => {
                    self.report(WatchEvent::Lost(fault)).await;
                    pauses.next()
                }
            };
            sleep(pause).await;
        }
    }

    /// Discovers the API and watches it, until a fault ends the watch.
    async fn round(&mut self) -> RoundEnd {
        match served(&self.client, self.kind.names).await {
            Ok(Some(resource)) => {
                if std::mem::take(&mut self.is_absent) {
                    self.report(WatchEvent::Found).await;
                }
                self.follow(&resource).await
            }
            Ok(None) => {
                self.is_absent = true;
                RoundEnd::Absent
            }
            Err(error) => RoundEnd::Fault(WatchFault::from(&error)),
        }
    }

    async fn follow(&mut self, resource: &ApiResource) -> RoundEnd {
        let mut objects = self.objects(resource);
        let mut wait = FIRST_RECHECK;
        let mut recheck = pin!(sleep(wait));
        self.heard.forget();
        loop {
            tokio::select! {
                biased;
                heard = self.heard.next(&mut objects) => match heard {
                    Ok(Some(event)) => self.take(event).await,
                    Ok(None) => self.report(WatchEvent::Alive).await,
                    Err(fault) => return RoundEnd::Fault(fault),
                },
                () = &mut recheck => {
                    if self.has_moved(resource).await {
                        return RoundEnd::Moved;
                    }
                    wait = RECHECK.min(wait * 2);
                    recheck.set(sleep(wait));
                }
            }
        }
    }

    fn objects(&self, resource: &ApiResource) -> ObjectStream {
        let (client, config) = (self.client.clone(), self.config());
        match self.kind.part {
            WatchedPart::Whole => watcher(Api::all_with(client, resource), config).boxed(),
            WatchedPart::Metadata => watcher(Api::all_with(client, resource), config)
                .map_ok(of_metadata)
                .boxed(),
        }
    }

    fn config(&self) -> watcher::Config {
        let all = watcher::Config::default().timeout(SECONDS).page_size(PAGE);
        match self.kind.only {
            Some(name) => all.fields(&format!("metadata.name={name}")),
            None => all,
        }
    }

    async fn take(&mut self, event: Event<WatchedObject>) {
        match event {
            Event::Init => self.listing.clear(),
            Event::InitApply(object) => self.listing.push((self.read)(object.content)),
            Event::InitDone => {
                let listed = std::mem::take(&mut self.listing);
                self.report(WatchEvent::Listed(listed)).await;
            }
            Event::Apply(object) => {
                let applied = (self.read)(object.content);
                self.report(WatchEvent::Applied(applied)).await;
            }
            Event::Delete(object) => {
                let deleted = (self.read)(object.content);
                self.report(WatchEvent::Deleted(deleted)).await;
            }
        }
    }

    /// Whether the kind is now served under a better name, or not at all.
    ///
    /// An old group can stay installed next to a new one, and a definition that was just deleted can be listed and
    /// watched for a moment longer. No fault would ever report either.
    async fn has_moved(&self, watched: &ApiResource) -> bool {
        let now = served(&self.client, self.kind.names).await;
        now.is_ok_and(|now| now.as_ref() != Some(watched))
    }

    /// Sends an event. A closed receiver is not a fault here: it ends [`WatchedKind::watch`].
    async fn report(&self, event: WatchEvent<T>) {
        self.events.send(event).await.ok();
    }
}

type ObjectStream = BoxStream<'static, watcher::Result<Event<WatchedObject>>>;

/// Converts a metadata event into an event about objects that have only metadata.
fn of_metadata(event: Event<PartialObjectMeta<WatchedObject>>) -> Event<WatchedObject> {
    let read = |object: PartialObjectMeta<WatchedObject>| {
        let metadata = serde_json::to_value(object.metadata).unwrap_or_default();
        WatchedObject::from(json!({"metadata": metadata}))
    };
    match event {
        Event::Init => Event::Init,
        Event::InitApply(object) => Event::InitApply(read(object)),
        Event::InitDone => Event::InitDone,
        Event::Apply(object) => Event::Apply(read(object)),
        Event::Delete(object) => Event::Delete(read(object)),
    }
}

/// Removes the parts of an object that no code reads, which can be most of it.
pub(super) fn trimmed(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        metadata.remove("annotations");
    }
    object
}

/// The time between two discoveries of an absent kind.
const ABSENT: Duration = Duration::from_secs(5);
/// The time after a list until the first check whether the API has moved. Each later wait is twice as long, up to
/// [`RECHECK`], because a cluster in which a definition is just being installed changes its answers in the first
/// seconds.
pub(super) const FIRST_RECHECK: Duration = Duration::from_secs(5);
/// The longest time between two checks.
pub(super) const RECHECK: Duration = Duration::from_mins(5);
