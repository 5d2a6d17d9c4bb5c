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

use crate::cluster::catalogs::{
    self, CatalogsError, NamelessObject, ObservedCatalog, RereadCatalog,
};
use crate::cluster::line::{self, ANSWER};
use crate::cluster::object::{MOST_PAGES, Names, named, pages_of, served};
use crate::cluster::{Silent, WatchFault, fault_words};
use crate::foreign_text;
use crate::source::catalogd::{Catalogd, content_url};
use crate::source::http::{
    AwaitedPart, Encoding, FetchClass, FetchError, FetchLimits, FetchedBody, consume,
};
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
            let content = self.content(base, &observed.state.name, read).await;
            let content = match content {
                Ok(content) => content,
                Err(error) => return Some(ListedCatalog::failed(observed.state, &error)),
            };
            let (name, image) = (&observed.state.name, observed.state.image_ref.as_deref());
            match catalogs::reread(self.client.clone(), name, image).await {
                Ok(RereadCatalog::Moved(moved)) => observed = *moved,
                Ok(RereadCatalog::Gone) => return None,
                // If the object cannot be read again, the content counts as belonging to the listed object.
                Ok(RereadCatalog::Same) | Err(_) => {
                    return Some(ListedCatalog::with(observed.state, content));
                }
            }
        }
        Some(ListedCatalog::lost(observed.state))
    }
}

impl<T> ListedCatalog<T> {
    fn with(state: CatalogState, content: T) -> Self {
        let content = Some(content);
        Self { state, content }
    }

    fn without(state: CatalogState) -> Self {
        let content = None;
        Self { state, content }
    }

    fn failed(mut state: CatalogState, error: &ContentError) -> Self {
        state.content = if error.is_of_content() {
            Content::Unreadable(error.to_string())
        } else {
            Content::Unfetched(error.to_string())
        };
        Self::without(state)
    }

    fn lost(mut state: CatalogState) -> Self {
        state.content = Content::Unfetched(MOVES.to_owned());
        Self::without(state)
    }
}

/// A higher number would need the memory of all their contents.
const MOST_AT_ONCE: usize = 2;

/// The number of fetches of content that changes in the meantime.
const TRIES: usize = 2;

const MOVES: &str = "its digest changed each time while it was fetched: try again";

// === The content of one catalog: from catalogd, otherwise through the API server ===

/// The reason why the content of a catalog is unavailable.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// catalogd could not be reached directly, and the API server is no alternative.
    #[error(transparent)]
    Direct(FetchError),
    /// The direct path and the path through the API server failed.
    #[error("{direct}; {proxied}")]
    Both {
        /// The failure of the direct path.
        direct: FetchError,
        /// The failure of the path through the API server.
        proxied: ProxiedContentError,
    },
}

/// The reason why no content came through the API server.
#[derive(Debug, thiserror::Error)]
pub enum ProxiedContentError {
    /// The answer had no content.
    #[error(transparent)]
    Answer(ProxyError),
    /// The content could not be read.
    #[error("through the API server: {0}")]
    Body(FetchError),
}

impl ContentError {
    /// Whether the content was received but is not a catalog.
    fn is_of_content(&self) -> bool {
        match self {
            Self::Direct(error) => error.class() == FetchClass::Content,
            Self::Both { proxied, .. } => match proxied {
                ProxiedContentError::Answer(_) => false,
                ProxiedContentError::Body(error) => error.class() == FetchClass::Content,
            },
        }
    }
}

impl ClusterReader {
    /// Returns the result of `read` on the content at `base`.
    async fn content<T, F>(&self, base: &str, name: &str, read: &F) -> Result<T, ContentError>
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
        if !is_unreachable_from_outside(&direct) {
            return Err(ContentError::Direct(direct));
        }
        match self.through_the_api_server(base, reading()).await {
            Ok(fetched) => Ok(fetched.value),
            Err(ProxiedContentError::Answer(ProxyError::NoService { .. })) => {
                Err(ContentError::Direct(direct))
            }
            Err(proxied) => Err(ContentError::Both { direct, proxied }),
        }
    }

    async fn through_the_api_server<T, F>(
        &self,
        base: &str,
        read: F,
    ) -> Result<FetchedBody<T>, ProxiedContentError>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Read) -> Result<T, SourceError> + Send + 'static,
    {
        let url = content_url(base).map_err(|error| ProxiedContentError::Body(error.into()))?;
        let body = get(&self.client, &url).await;
        let body = body.map_err(ProxiedContentError::Answer)?;
        let limits: &FetchLimits = self.catalogd.limits();
        // The client has already decompressed the body.
        let fetched = consume(body, Encoding::Identity, limits, read);
        let fetched = timeout(limits.total, fetched).await;
        let fetched = fetched.unwrap_or(Err(FetchError::Timeout {
            awaited: AwaitedPart::Whole,
            limit: limits.total,
        }));
        fetched.map_err(ProxiedContentError::Body)
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

/// The reason why a request through the API server failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ProxyError {
    /// The URL is not one of a Service of the cluster.
    #[error("{url}: not a service of the cluster: expected a host NAME.NAMESPACE.svc")]
    NoService {
        /// The URL.
        url: String,
    },
    /// The answer is not the content.
    #[error("{url}, through the API server: {code}: {message}")]
    Answer {
        /// The URL.
        url: String,
        /// The status of the answer.
        code: u16,
        /// The message in the answer, truncated.
        message: String,
    },
    /// There was no answer.
    #[error("{url}, through the API server: {why}")]
    Failed {
        /// The URL.
        url: String,
        /// The cause.
        why: String,
    },
}

/// Starts to read the content at a URL inside of the cluster. The body is what the service sends, decompressed and
/// without limits.
pub async fn get(client: &Client, url: &str) -> Result<Body, ProxyError> {
    let failed = |why| ProxyError::Failed {
        url: url.to_owned(),
        why,
    };
    let path = path(url).ok_or_else(|| ProxyError::NoService {
        url: url.to_owned(),
    })?;
    let request = Request::get(path).body(Body::empty());
    let request = request.map_err(|error| failed(error.to_string()))?;
    let answer = timeout(ANSWER, client.send(request)).await;
    let answer = answer.map_err(|_| failed(Silent(ANSWER).to_string()))?;
    let response = answer.map_err(|error| failed(fault_words(&error)))?;
    if response.status() == StatusCode::OK {
        return Ok(response.into_body());
    }
    let code = response.status().as_u16();
    Err(ProxyError::Answer {
        url: url.to_owned(),
        code,
        message: message(response.into_body()).await,
    })
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
