//! The current facts of a cluster for commands, which do not watch it: its catalogs with their contents, and the
//! objects of OLM v0.
//!
//! ```text
//! list --> each catalog that serves: catalogd --> the object once more --> ListedCatalog
//!                                       '-- not reachable: the API server's service proxy
//! ```
//!
//! A [`ClusterReader`] owns no runtime, so a caller with many clusters can have many readers.
//!
//! Content that changed during the fetch is fetched once more. A catalog that is unavailable affects only itself.

#[cfg(test)]
mod tests;

use std::io::Read;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use http_body_util::{BodyExt, Limited};
use hyper::{Request, StatusCode, Uri};
use kube::api::ListParams;
use kube::client::Body;
use kube::{Api, Client};
use serde_json::Value;
use tokio::time::timeout;

use crate::cluster::catalogs::{self, CatalogsError, NamelessObject, ObservedCatalog};
use crate::cluster::line::{self, ANSWER};
use crate::cluster::object::{MOST_PAGES, Names, named, pages_of, served};
use crate::cluster::{Silent, WatchFault, fault_words};
use crate::foreign_text;
use crate::source::catalogd::{Catalogd, content_url};
use crate::source::http::{AwaitedPart, Encoding, FetchClass, FetchError, FetchLimits, consume};
use crate::source::{Progress, SourceError, finished, read_fetched};
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};
use olmguard_engine::snapshot::{CatalogState, Content};

/// A reader of the catalogs of a cluster.
#[derive(derive_more::Debug)]
#[debug("ClusterReader {{ catalogd: {catalogd:?}, .. }}")]
pub struct ClusterReader {
    client: Client,
    catalogd: Catalogd,
}

/// The catalogs of a cluster, as they were read.
#[derive(Debug)]
pub struct ClusterState<T> {
    /// The catalogs, in the order of the API server.
    pub catalogs: Vec<ListedCatalog<T>>,
    /// Objects without a name, which cannot be catalogs.
    pub unnamed: Vec<NamelessObject>,
}

/// A catalog as it was read.
#[derive(Clone, Debug)]
pub struct ListedCatalog<T> {
    /// The facts. The content is never `Loaded`: it is `Missing`, or the reason why there is none.
    pub state: CatalogState,
    /// The result of reading the content, if it was complete.
    pub content: Option<T>,
}

impl ClusterReader {
    /// Creates a reader. `client` reads the objects; `catalogd` reads the contents, with `client` as the fallback.
    pub fn new(client: Client, catalogd: Catalogd) -> Self {
        Self { client, catalogd }
    }

    /// Reads every catalog. The content is read with these rules, in memory from the pool.
    ///
    /// # Errors
    /// If the catalogs cannot be listed.
    pub async fn catalogs(
        &self,
        rules: &Rules,
        memory: &Pool,
        progress: &Arc<Progress>,
    ) -> Result<ClusterState<Arc<Catalog>>, CatalogsError> {
        let (rules, memory, progress) = (rules.clone(), memory.clone(), Arc::clone(progress));
        self.look(move |name, body| {
            let mut builder = CatalogBuilder::within(&rules, memory.account());
            read_fetched(name, body, &progress, &mut builder)?;
            Ok(Arc::new(finished(name, builder)?))
        })
        .await
    }

    /// Reads every catalog. `read` gets the name and the content of each catalog that has content.
    ///
    /// # Errors
    /// If the catalogs cannot be listed.
    pub async fn look<T, F>(&self, read: F) -> Result<ClusterState<T>, CatalogsError>
    where
        T: Send + 'static,
        F: Fn(&str, &mut dyn Read) -> Result<T, SourceError> + Clone + Send + 'static,
    {
        let (observed, unnamed) = catalogs::list(self.client.clone()).await?;
        let seen = observed.into_iter().map(|one| self.see(one, &read));
        let seen = stream::iter(seen).buffered(MOST_AT_ONCE);
        let catalogs = seen.filter_map(std::future::ready).collect().await;
        Ok(ClusterState { catalogs, unnamed })
    }

    /// Reads one catalog; none if it was deleted in the meantime.
    async fn see<T, F>(&self, mut observed: ObservedCatalog, read: &F) -> Option<ListedCatalog<T>>
    where
        T: Send + 'static,
        F: Fn(&str, &mut dyn Read) -> Result<T, SourceError> + Clone + Send + 'static,
    {
        for _ in 0..TRIES {
            let Some(base) = observed.source() else {
                return Some(ListedCatalog::without(observed.state));
            };
            let content = match self.content(base, &observed.state.name, read).await {
                Ok(content) => Some(content),
                Err(reason) => {
                    observed.state.content = reason;
                    return Some(ListedCatalog::without(observed.state));
                }
            };
            match catalogs::get(self.client.clone(), &observed.state.name).await {
                Ok(None) => return None,
                Ok(Some(now)) if now.state.image_ref != observed.state.image_ref => observed = now,
                // If the object cannot be read again, the content counts as belonging to the listed object.
                Ok(Some(_)) | Err(_) => {
                    let state = observed.state;
                    return Some(ListedCatalog { state, content });
                }
            }
        }
        observed.state.content = Content::Unfetched(MOVES.to_owned());
        Some(ListedCatalog::without(observed.state))
    }
}

impl<T> ListedCatalog<T> {
    fn without(state: CatalogState) -> Self {
        let content = None;
        Self { state, content }
    }
}

/// A higher number would need the memory of all their contents.
const MOST_AT_ONCE: usize = 2;

/// The number of fetches of content that changes in the meantime.
const TRIES: usize = 2;

const MOVES: &str = "its digest changed each time while it was fetched: try again";

// === The content of one catalog: from catalogd, otherwise through the API server ===

impl ClusterReader {
    /// Returns the result of `read` on the content at `base`, or the reason why there is none.
    async fn content<T, F>(&self, base: &str, name: &str, read: &F) -> Result<T, Content>
    where
        T: Send + 'static,
        F: Fn(&str, &mut dyn Read) -> Result<T, SourceError> + Clone + Send + 'static,
    {
        let reading = || {
            let (name, read) = (name.to_owned(), read.clone());
            move |body: &mut dyn Read| read(&name, body)
        };
        let direct = match self.catalogd.fetch(base, reading()).await {
            Ok(fetched) => return Ok(fetched.value),
            Err(error) => error,
        };
        let url = content_url(base).unwrap_or_default();
        let path = path(&url).filter(|_| is_unreachable_from_outside(&direct));
        let Some(path) = path else {
            return Err(reason(&direct, direct.to_string()));
        };
        let through = format!("{direct}; {url}, through the API server");
        let body = get(&self.client, path).await;
        let body = body.map_err(|why| Content::Unfetched(format!("{through}: {why}")))?;
        let read = self.consumed(body, reading()).await;
        read.map_err(|error| {
            let words = format!("{direct}; through the API server: {error}");
            reason(&error, words)
        })
    }

    /// Reads a body that the client has already decompressed.
    async fn consumed<T, F>(&self, body: Body, read: F) -> Result<T, FetchError>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Read) -> Result<T, SourceError> + Send + 'static,
    {
        let limits: &FetchLimits = self.catalogd.limits();
        let fetched = consume(body, Encoding::Identity, limits, read);
        let fetched = timeout(limits.total, fetched).await;
        let fetched = fetched.unwrap_or(Err(FetchError::Timeout {
            awaited: AwaitedPart::Whole,
            limit: limits.total,
        }));
        Ok(fetched?.value)
    }
}

/// Returns the content of a catalog that could not be fetched, or was fetched and is not a catalog.
fn reason(error: &FetchError, words: String) -> Content {
    match error.class() {
        FetchClass::Content => Content::Unreadable(words),
        _ => Content::Unfetched(words),
    }
}

/// Whether the failure is typical for a client outside of the cluster, where the names and CAs of the cluster are not
/// known.
fn is_unreachable_from_outside(error: &FetchError) -> bool {
    matches!(
        error.class(),
        FetchClass::Connect | FetchClass::Tls | FetchClass::Timeout
    )
}

// === The content of a catalog through the API server, for clients outside of the cluster ===
//
// `https://catalogd-service.olmv1-system.svc/catalogs/x` becomes
// `/api/v1/namespaces/olmv1-system/services/https:catalogd-service:443/proxy/catalogs/x`. Users need the verb `get` on
// `services/proxy`. Upstream: Kubernetes, [`pkg/registry/core/service/storage/storage.go`] (it does not verify the
// certificate of the service).
//
// [`pkg/registry/core/service/storage/storage.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/pkg/registry/core/service/storage/storage.go

/// Starts to read the content at a path of the API server. The body is what the service sends, decompressed and without
/// limits. The error is the reason in one line.
async fn get(client: &Client, path: String) -> Result<Body, String> {
    let request = Request::get(path).body(Body::empty());
    let request = request.map_err(|error| error.to_string())?;
    let answer = timeout(ANSWER, client.send(request)).await;
    let answer = answer.map_err(|_| Silent(ANSWER).to_string())?;
    let response = answer.map_err(|error| fault_words(&error))?;
    if response.status() == StatusCode::OK {
        return Ok(response.into_body());
    }
    let code = response.status().as_u16();
    let message = message(response.into_body()).await;
    Err(format!("{code}: {message}"))
}

/// Returns the path of the API server for a URL inside of the cluster.
fn path(url: &str) -> Option<String> {
    let url: Uri = url.parse().ok()?;
    let scheme = url
        .scheme_str()
        .filter(|s| matches!(*s, "http" | "https"))?;
    let mut names = url.host()?.split('.');
    let (name, namespace) = (names.next()?, names.next()?);
    if names.next() != Some("svc") || !is_name(name) || !is_name(namespace) {
        return None;
    }
    let port = url
        .port_u16()
        .unwrap_or(if scheme == "https" { 443 } else { 80 });
    let target = url.path_and_query().map_or("/", |target| target.as_str());
    Some(format!(
        "/api/v1/namespaces/{namespace}/services/{scheme}:{name}:{port}/proxy{target}"
    ))
}

/// Whether the text is a name. Nothing else can be part of the path.
fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !text.is_empty() && text.chars().all(is_part)
}

/// Returns the message of an answer that is not the content, in one line.
async fn message(body: Body) -> String {
    let whole = timeout(ANSWER, Limited::new(body, LONGEST).collect()).await;
    let Ok(Ok(whole)) = whole else {
        return "(an answer that cannot be read)".to_owned();
    };
    let bytes = whole.to_bytes();
    let status: Option<kube::core::Status> = serde_json::from_slice(&bytes).ok();
    match status {
        Some(status) if !status.message.is_empty() => foreign_text::one_line(&status.message),
        _ => foreign_text::one_line(&String::from_utf8_lossy(&bytes)),
    }
}

/// The most bytes that are read of such an answer.
const LONGEST: usize = 64 * 1024;

// === The objects of OLM v0 that a move to OLM v1 depends on ===

/// The reason why the objects of a kind are not known, or not all of them.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cannot list all {resource}: {}{}", .fault.words, .fault.way_out_of_list())]
pub struct ClassicListError {
    resource: String,
    fault: WatchFault,
}

/// Passes every object of OLM v0 to `take`. A kind that cannot be listed affects only its own objects. A kind that the
/// cluster does not serve has no objects.
pub async fn classic_objects(client: Client, mut take: impl FnMut(Value)) -> Vec<ClassicListError> {
    let (client, _) = line::open(client);
    let mut errors = Vec::new();
    for (plural, names) in KINDS {
        let listed = list_kind(&client, names, &mut take).await;
        errors.extend(listed.err().map(|fault| ClassicListError {
            resource: format!("{plural}.{GROUP}"),
            fault,
        }));
    }
    errors
}

async fn list_kind(
    client: &Client,
    names: &Names,
    take: &mut impl FnMut(Value),
) -> Result<(), WatchFault> {
    let found = served(client, names).await;
    let Some(resource) = found.map_err(|error| WatchFault::from(&error))? else {
        return Ok(());
    };
    let api = Api::all_with(client.clone(), &resource);
    // OLM v0 copies the CSV of an operator that watches all namespaces into each of them.
    let own = ListParams::default().limit(PAGE).labels(NOT_COPIED);
    pages_of(&api, own, MOST_PAGES, |object| {
        take(named(&resource, object));
    })
    .await
}

const GROUP: &str = "operators.coreos.com";

/// The kinds by their plurals, each in the version that OLM v0 stores.
const KINDS: [(&str, &Names); 4] = [
    ("subscriptions", &[(GROUP, "v1alpha1", "Subscription")]),
    (
        "clusterserviceversions",
        &[(GROUP, "v1alpha1", "ClusterServiceVersion")],
    ),
    (
        "operatorgroups",
        &[
            (GROUP, "v1", "OperatorGroup"),
            (GROUP, "v1alpha2", "OperatorGroup"),
        ],
    ),
    ("catalogsources", &[(GROUP, "v1alpha1", "CatalogSource")]),
];

const NOT_COPIED: &str = "!olm.copiedFrom";

/// The number of objects per request: a CSV can have a megabyte.
const PAGE: u32 = 40;
