//! The `ClusterCatalog`s of a cluster: read once, or watched until the program ends.
//!
//! ```text
//! list, get ------------------.
//! watch (cluster::watch) ------+--> object --> ObservedCatalog, or a NamelessObject
//! ```
//!
//! Upstream: operator-controller, [`api/v1/clustercatalog_types.go`]; catalogd v0.1 to v0.36 for the
//! older groups and kinds.
//!
//! [`api/v1/clustercatalog_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clustercatalog_types.go

#[cfg(test)]
mod tests;

use kube::{Api, Client};
use serde_json::Value;
use tokio::sync::mpsc::Sender;

use crate::cluster::object::{MOST_PAGES, Names, WatchedObject, looked_for, pages, served};
use crate::cluster::watch::{WatchEvent, WatchedKind};
use crate::cluster::{FailedOperation, FaultClass, WatchFault, line};
use olmguard_engine::snapshot::{Availability, CatalogState, Content, ServingState};

/// The reason why the catalogs, or one of them, cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CatalogsError {
    /// The cluster has no such API.
    #[error(
        "the cluster does not serve ClusterCatalog: looked for {}; is OLM v1 installed?",
        looked_for(NAMES)
    )]
    NotServed,
    /// The API server did not answer, or returned an error.
    #[error(transparent)]
    Failed(#[from] FailedOperation),
}

impl CatalogsError {
    /// The fault of a watch in a cluster without the kind.
    pub(in crate::cluster) fn not_served() -> WatchFault {
        WatchFault {
            class: FaultClass::NotServed,
            words: Self::NotServed.to_string(),
        }
    }
}

/// A catalog as its object describes it.
#[derive(Clone, Debug)]
pub struct ObservedCatalog {
    /// The facts; the content is `Missing`, or `Unreadable` if the object cannot be read.
    pub state: CatalogState,
    /// The URL of the content: `status.urls.base`, to which `/api/v1/all` is appended. In catalogd v0.33 and before,
    /// `status.contentURL`, which is the URL of the content itself.
    pub base: Option<String>,
}

/// An object without a name, with the reason why it cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NamelessObject(pub String);

impl ObservedCatalog {
    /// Reads an object of any of these kinds, as far as it can be read.
    pub fn read(object: &Value) -> Result<Self, NamelessObject> {
        let state = match CatalogState::read(object) {
            Ok(state) => state,
            Err(bad) => match bad.state {
                Some(state) => *state,
                None => return Err(NamelessObject(bad.error.to_string())),
            },
        };
        Ok(Self {
            state,
            base: base(object),
        })
    }

    /// Returns the URL of the content; none for a catalog that does not serve, takes no part in resolution, or cannot
    /// be read.
    pub fn source(&self) -> Option<&str> {
        let state = &self.state;
        let can_be_read = self.is_readable()
            && state.serving == ServingState::Presumed
            && state.availability == Availability::Available;
        self.base.as_deref().filter(|_| can_be_read)
    }

    /// Whether the object could be read.
    pub fn is_readable(&self) -> bool {
        !matches!(self.state.content, Content::Unreadable(_))
    }
}

fn base(object: &Value) -> Option<String> {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
    let found = text("/status/urls/base").or_else(|| text("/status/contentURL"));
    found.filter(|base| !base.is_empty()).map(str::to_owned)
}

/// Lists all catalogs, and the objects without a name.
pub async fn list(
    client: Client,
) -> Result<(Vec<ObservedCatalog>, Vec<NamelessObject>), CatalogsError> {
    let (client, _) = line::open(client);
    let api = api(&client).await?;
    let (mut catalogs, mut unnamed) = (Vec::new(), Vec::new());
    let take = |object| match ObservedCatalog::read(&object) {
        Ok(observed) => catalogs.push(observed),
        Err(none) => unnamed.push(none),
    };
    let listed = pages(&api, MOST_PAGES, take).await;
    listed.map_err(|fault| FailedOperation {
        action: "list catalogs".to_owned(),
        why: fault.words,
    })?;
    Ok((catalogs, unnamed))
}

/// Sends events about the catalogs, until the receiver is closed.
pub async fn watch(
    client: Client,
    events: Sender<WatchEvent<Result<ObservedCatalog, NamelessObject>>>,
) {
    let read = |object| ObservedCatalog::read(&object);
    WatchedKind::required(NAMES)
        .watch(client, read, events)
        .await;
}

/// Returns the current catalog of this name, if it exists.
///
/// After a fetch of content, only the object can show what was fetched: catalogd swaps in content before its object
/// names the new digest, so for a moment an address serves other content than the object names.
pub async fn get(client: Client, name: &str) -> Result<Option<ObservedCatalog>, CatalogsError> {
    let (client, _) = line::open(client);
    let found = api(&client).await?.get_opt(name).await;
    let found = found.map_err(FailedOperation::to(&format!("read catalog {name:?}")))?;
    Ok(found.and_then(|object| ObservedCatalog::read(&object.content).ok()))
}

async fn api(client: &Client) -> Result<Api<WatchedObject>, CatalogsError> {
    let found = served(client, NAMES).await;
    let resource = found.map_err(FailedOperation::to("find out how catalogs are served"))?;
    let resource = resource.ok_or(CatalogsError::NotServed)?;
    Ok(Api::all_with(client.clone(), &resource))
}

/// The kind under all names that it has had, newest first.
const NAMES: &Names = &[
    ("olm.operatorframework.io", "v1", "ClusterCatalog"),
    ("olm.operatorframework.io", "v1alpha1", "ClusterCatalog"),
    (
        "catalogd.operatorframework.io",
        "v1alpha1",
        "ClusterCatalog",
    ),
    ("catalogd.operatorframework.io", "v1alpha1", "Catalog"),
];
