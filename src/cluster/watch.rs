//! Watch of all objects of one kind until the program ends.
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
//! kube's `StreamBackoff` forgets its pauses with the first list that succeeds. An account that can list and not watch
//! would then list without a pause; [`Pauses`] grow until two minutes were good.
//!
//! How a silent end is noticed: the server ends each watch after [`SECONDS`], kube's watcher gives up five seconds later
//! and starts another one, and that fails or is heard within [`line::ANSWER`].

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
use crate::cluster::object::{Names, WatchedObject, served};

/// What is watched.
#[derive(Clone, Copy, Debug)]
pub(super) struct WatchedKind {
    /// The kind under all names that it had.
    names: &'static Names,
    /// The one object that is meant; none means all.
    only: Option<&'static str>,
    absence: Absence,
    part: WatchedPart,
}

/// What is sent of each object.
#[derive(Clone, Copy, Debug)]
enum WatchedPart {
    Whole,
    /// Its metadata. That is all that is read of kinds whose objects can have megabytes.
    Metadata,
}

/// What it means that a cluster does not serve a kind.
#[derive(Clone, Copy, Debug)]
enum Absence {
    /// A fault: the kind is looked for again after a pause that grows.
    Fault,
    /// An answer like any other: the kind is looked for again every [`ABSENT`].
    Answer,
}

/// What happens to the objects of a kind, each as it was read.
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
    /// Nothing has changed: a bookmark, or a watch that goes on.
    Alive,
    /// The cluster serves the kind, which was `Absent`; its objects are listed next.
    Found,
    /// The cluster does not serve the kind: reported for each time that it is looked for.
    Absent,
    /// Nothing is heard any more, for this reason: reported for each try that fails.
    Lost(WatchFault),
}

/// The pauses between tries, by kube's back-off: 0.8 s doubled up to 30 s, with up to as much again at random. Two
/// minutes without a fault reset them.
#[derive(Default)]
pub(super) struct Pauses(DefaultBackoff);

impl Pauses {
    pub(super) fn next(&mut self) -> Duration {
        self.0.next().expect("kube's pauses have no end")
    }
}

impl WatchedKind {
    /// All objects of a kind that every cluster of ours serves.
    pub(super) const fn required(names: &'static Names) -> Self {
        Self {
            names,
            only: None,
            absence: Absence::Fault,
            part: WatchedPart::Whole,
        }
    }

    /// All objects of a kind that a cluster need not serve.
    pub(super) const fn optional(names: &'static Names) -> Self {
        Self {
            absence: Absence::Answer,
            ..Self::required(names)
        }
    }

    /// The object of this name, and no other.
    pub(super) const fn only(self, name: &'static str) -> Self {
        Self {
            only: Some(name),
            ..self
        }
    }

    /// The metadata of the objects, and nothing else.
    pub(super) const fn metadata(self) -> Self {
        Self {
            part: WatchedPart::Metadata,
            ..self
        }
    }

    /// Sends what happens to the objects, each as `read` returns it, until the receiver is closed.
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

/// How a round ends.
enum RoundEnd {
    Fault(WatchFault),
    Absent,
    /// The kind is served under another name now, or under none.
    Moved,
}

struct KindWatch<T, R> {
    client: Client,
    heard: WatchSignal,
    kind: WatchedKind,
    read: R,
    events: Sender<WatchEvent<T>>,
    /// What was listed of a list that is not complete yet.
    listing: Vec<T>,
    /// Whether the kind was not found when it was looked for last.
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

    /// Finds the API and watches it, until a fault ends that.
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

    /// Whether the kind is served under a better name now, or under none.
    ///
    /// An old group can stay installed next to a new one, and a definition that was just deleted can be listed and
    /// watched for a moment more: no fault would ever report that.
    async fn has_moved(&self, watched: &ApiResource) -> bool {
        let now = served(&self.client, self.kind.names).await;
        now.is_ok_and(|now| now.as_ref() != Some(watched))
    }

    /// A closed receiver is no fault here: it ends [`WatchedKind::watch`].
    async fn report(&self, event: WatchEvent<T>) {
        self.events.send(event).await.ok();
    }
}

type ObjectStream = BoxStream<'static, watcher::Result<Event<WatchedObject>>>;

/// An event about metadata, as one about objects that have nothing else.
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

/// An object without what nobody reads, which can be most of it.
pub(super) fn trimmed(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        metadata.remove("annotations");
    }
    object
}

/// How long after it was not found the kind is looked for again.
const ABSENT: Duration = Duration::from_secs(5);
/// How soon after a list the question comes whether the API has moved. Each later wait is twice as long, up to
/// [`RECHECK`]: a cluster in which a definition is just being installed changes its mind in the first seconds.
pub(super) const FIRST_RECHECK: Duration = Duration::from_secs(5);
/// How often the question comes in the long run.
pub(super) const RECHECK: Duration = Duration::from_mins(5);
/// How many objects are requested at the same time.
const PAGE: u32 = 100;
