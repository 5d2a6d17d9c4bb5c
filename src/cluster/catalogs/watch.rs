//! The watch that never ends.
//!
//! Any fault ends one round of it: the fault is told, and after a pause (kube's own: 0.8 s doubled
//! up to 30 s, with as much again at random, anew after two good minutes) discovery and the list
//! begin anew. A list of catalogs is short, so nothing is made of what may still be known.
//!
//! How a silent end is noticed: the server ends each watch after [`SECONDS`], kube's watcher gives up
//! five seconds later and begins another, and that fails or is heard within [`line::ANSWER`].

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use kube::Client;
use kube::core::ApiResource;
use kube::runtime::watcher::{self, DefaultBackoff, Event, watcher};
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use super::{CatalogsError, NAMES, NamelessObject, ObservedCatalog, PAGE, all};
use crate::cluster::fault::{FaultClass, WatchFault};
use crate::cluster::line::{self, SECONDS, WatchSignal};
use crate::cluster::object::WatchedObject;
use crate::cluster::served::served;

/// What happens to the catalogs of a cluster.
///
/// Each but `Lost` and `Unnamed` also says that the watch is alive: until the next `Lost` the
/// objects are as they were told.
#[derive(Clone, Debug)]
pub enum CatalogEvent {
    /// These there are, and no others.
    Listed(Vec<ObservedCatalog>),
    /// This one is there, or has changed.
    Applied(ObservedCatalog),
    /// The one of this name is gone.
    Deleted(String),
    /// Nothing has changed: a bookmark, or a watch that goes on.
    Alive,
    /// Nothing is heard any more, for this reason: told for each try that fails.
    Lost(WatchFault),
    /// An object has no name, so that it is none of those that are told.
    Unnamed(NamelessObject),
}

/// How a round ends.
enum RoundEnd {
    Fault(WatchFault),
    /// The kind is served elsewhere by now, or nowhere.
    Moved,
}

/// Whoever was told has gone away.
struct NobodyListens;

/// Tells what happens to the catalogs, for as long as somebody listens.
pub async fn watch(client: Client, events: Sender<CatalogEvent>) {
    let listener = events.clone();
    tokio::select! {
        () = listener.closed() => {}
        NobodyListens = go_on(client, events) => {}
    }
}

async fn go_on(client: Client, events: Sender<CatalogEvent>) -> NobodyListens {
    let (client, heard) = line::open(client);
    let mut watch = CatalogWatch {
        client,
        heard,
        events,
        listing: Vec::new(),
    };
    let mut pauses = DefaultBackoff::default();
    loop {
        let told = match watch.round().await {
            Ok(RoundEnd::Moved) => continue,
            Ok(RoundEnd::Fault(fault)) => watch.tell(CatalogEvent::Lost(fault)).await,
            Err(nobody) => Err(nobody),
        };
        if let Err(nobody) = told {
            return nobody;
        }
        sleep(pauses.next().unwrap_or(LONGEST_PAUSE)).await;
    }
}

struct CatalogWatch {
    client: Client,
    heard: WatchSignal,
    events: Sender<CatalogEvent>,
    /// What was listed of a list that is not complete yet.
    listing: Vec<ObservedCatalog>,
}

impl CatalogWatch {
    /// Finds the API and watches it, until a fault ends that.
    async fn round(&mut self) -> Result<RoundEnd, NobodyListens> {
        match served(&self.client, NAMES).await {
            Ok(Some(resource)) => self.follow(&resource).await,
            Ok(None) => Ok(RoundEnd::Fault(WatchFault {
                class: FaultClass::NotServed,
                words: CatalogsError::NotServed.to_string(),
            })),
            Err(error) => Ok(RoundEnd::Fault(WatchFault::from(&error))),
        }
    }

    async fn follow(&mut self, resource: &ApiResource) -> Result<RoundEnd, NobodyListens> {
        let config = watcher::Config::default().timeout(SECONDS).page_size(PAGE);
        let mut objects = pin!(watcher(all(&self.client, resource), config));
        let mut wait = FIRST_RECHECK;
        let mut recheck = pin!(sleep(wait));
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
                () = self.heard.sign() => self.tell(CatalogEvent::Alive).await?,
                () = &mut recheck => {
                    if self.has_moved(resource).await {
                        return Ok(RoundEnd::Moved);
                    }
                    wait = RECHECK.min(wait * 2);
                    recheck.set(sleep(wait));
                }
            }
        }
    }

    async fn take(&mut self, event: Event<WatchedObject>) -> Result<(), NobodyListens> {
        match event {
            Event::Init => self.listing.clear(),
            Event::InitApply(object) => match ObservedCatalog::read(&object.content) {
                Ok(observed) => self.listing.push(observed),
                Err(unnamed) => self.tell(CatalogEvent::Unnamed(unnamed)).await?,
            },
            Event::InitDone => {
                let listed = std::mem::take(&mut self.listing);
                self.tell(CatalogEvent::Listed(listed)).await?;
            }
            Event::Apply(object) => match ObservedCatalog::read(&object.content) {
                Ok(observed) => self.tell(CatalogEvent::Applied(observed)).await?,
                Err(unnamed) => self.tell(CatalogEvent::Unnamed(unnamed)).await?,
            },
            Event::Delete(object) => {
                if let Ok(observed) = ObservedCatalog::read(&object.content) {
                    let name = observed.state.name;
                    self.tell(CatalogEvent::Deleted(name)).await?;
                }
            }
        }
        Ok(())
    }

    /// Whether the kind is served under a better name by now, or under none.
    ///
    /// An old group may stay installed beside a new one, and a definition that was just deleted is listed, and
    /// can be watched, for a moment more: no fault would ever say so.
    async fn has_moved(&self, watched: &ApiResource) -> bool {
        let now = served(&self.client, NAMES).await;
        now.is_ok_and(|now| now.as_ref() != Some(watched))
    }

    async fn tell(&self, event: CatalogEvent) -> Result<(), NobodyListens> {
        self.events.send(event).await.map_err(|_| NobodyListens)
    }
}

/// How soon after a list the question comes whether the API has moved. Each later wait is twice as long, up to
/// [`RECHECK`]: a cluster in which OLM is just being installed changes its mind in the first seconds.
pub(super) const FIRST_RECHECK: Duration = Duration::from_secs(5);
/// How often the question comes in the long run.
pub(super) const RECHECK: Duration = Duration::from_mins(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
