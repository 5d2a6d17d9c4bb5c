//! The `ClusterCatalog`s of a cluster: read once, or watched for good.
//!
//! ```text
//! discovery --> kube's watcher (list in pages, watch, 410: list again) --> Observed --> CatalogEvent
//!     ^              | any fault: told, then a pause with jitter
//!     '--------------'
//! ```
//!
//! Upstream: operator-controller, [`api/v1/clustercatalog_types.go`]; catalogd v0.1 to v0.36 for the
//! older groups and kinds.
//!
//! [`api/v1/clustercatalog_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clustercatalog_types.go

mod observed;
#[cfg(test)]
mod tests;
mod watch;

use kube::api::ListParams;
use kube::core::ApiResource;
use kube::{Api, Client};

pub use observed::{NamelessObject, ObservedCatalog};
pub use watch::{CatalogEvent, watch};

use crate::cluster::fault::FailedOperation;
use crate::cluster::line;
use crate::cluster::object::WatchedObject;
use crate::cluster::served::{Names, looked_for, served};

/// Why the catalogs, or one of them, cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CatalogsError {
    /// The cluster has no such API.
    #[error(
        "the cluster does not serve ClusterCatalog: looked for {}; is OLM v1 installed?",
        looked_for(NAMES)
    )]
    NotServed,
    /// The API server did not answer, or said no.
    #[error(transparent)]
    Failed(#[from] FailedOperation),
}

/// What an object says that is read again.
#[derive(Clone, Debug)]
pub enum RereadCatalog {
    /// The same image as before.
    Same,
    /// Another one.
    Moved(Box<ObservedCatalog>),
    /// There is no such object any more.
    Gone,
}

/// Every catalog, and what says that it is one and has no name.
pub async fn list(
    client: Client,
) -> Result<(Vec<ObservedCatalog>, Vec<NamelessObject>), CatalogsError> {
    let (client, _) = line::open(client);
    let api = api(&client).await?;
    let mut params = ListParams::default().limit(PAGE);
    let (mut catalogs, mut unnamed) = (Vec::new(), Vec::new());
    loop {
        let page = api
            .list(&params)
            .await
            .map_err(FailedOperation::to("list catalogs"))?;
        for object in &page.items {
            match ObservedCatalog::read(&object.content) {
                Ok(observed) => catalogs.push(observed),
                Err(none) => unnamed.push(none),
            }
        }
        params.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
        if params.continue_token.is_none() {
            return Ok((catalogs, unnamed));
        }
    }
}

/// One catalog as it is now; none if there is no such.
pub async fn get(client: Client, name: &str) -> Result<Option<ObservedCatalog>, CatalogsError> {
    let (client, _) = line::open(client);
    let found = api(&client).await?.get_opt(name).await;
    let found = found.map_err(FailedOperation::to(&format!("read catalog {name:?}")))?;
    Ok(found.and_then(|object| ObservedCatalog::read(&object.content).ok()))
}

/// What an object says after content was fetched that was of `image_ref` before.
///
/// catalogd swaps content in before its object names the new digest, so for a moment an address
/// serves other content than the object says.
pub async fn reread(
    client: Client,
    name: &str,
    image_ref: Option<&str>,
) -> Result<RereadCatalog, CatalogsError> {
    Ok(match get(client, name).await? {
        Some(observed) if observed.state.image_ref.as_deref() == image_ref => RereadCatalog::Same,
        Some(observed) => RereadCatalog::Moved(Box::new(observed)),
        None => RereadCatalog::Gone,
    })
}

async fn api(client: &Client) -> Result<Api<WatchedObject>, CatalogsError> {
    let found = served(client, NAMES).await;
    let resource = found.map_err(FailedOperation::to("find out how catalogs are served"))?;
    let resource = resource.ok_or(CatalogsError::NotServed)?;
    Ok(all(client, &resource))
}

fn all(client: &Client, resource: &ApiResource) -> Api<WatchedObject> {
    Api::all_with(client.clone(), resource)
}

/// The kind under all names that it had, newest first.
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

/// How many objects are asked for at once.
const PAGE: u32 = 100;
