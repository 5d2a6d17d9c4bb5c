//! The `ClusterExtension`s of a cluster: single ones by name, or all of them, also for concurrent readers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, Shared, WeakShared};
use futures_util::{FutureExt, StreamExt, stream};
use kube::core::ApiResource;
use kube::{Api, Client};
use serde_json::Value;
use tokio::time::timeout;

use crate::cluster::object::{MOST_PAGES, Names, WatchedObject, looked_for, named, pages, served};
use crate::cluster::{FailedOperation, FaultClass, WatchFault, line};
use olmguard_engine::extension::{Extension, Installed, Rollout, UnknownCause};

/// The reason why extensions cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ExtensionsError {
    /// The cluster has no such API.
    #[error(
        "the cluster does not serve ClusterExtension: looked for {}; is OLM v1 installed?",
        looked_for(NAMES)
    )]
    NotServed,
    /// The API server did not answer, or returned an error.
    #[error(transparent)]
    Failed(#[from] FailedOperation),
    /// The extensions were not listed in time.
    #[error("installed extensions are unknown: no list of them within {} s", .within.as_secs())]
    NotInTime {
        /// The time limit of a list.
        within: Duration,
    },
    /// The extensions cannot be listed, or not all of them.
    #[error(
        "{}: cannot list {}: {}{}",
        if *.listed == 0 { "installed extensions are unknown" } else { "some installed extensions are unknown" },
        .resource, .fault.words, .fault.way_out_of_list()
    )]
    List {
        /// The listed resource, such as `clusterextensions.olm.operatorframework.io`.
        resource: String,
        /// The fault of the request.
        fault: WatchFault,
        /// The number of extensions that were listed before the fault.
        listed: usize,
    },
}

/// The extensions of a cluster.
#[derive(Debug)]
pub struct Extensions {
    api: Api<WatchedObject>,
    resource: ApiResource,
}

/// The extensions of a cluster, as far as they could be listed.
#[derive(Clone, Debug)]
pub struct ListedExtensions<T> {
    /// The result of reading each object, in the order of the API server.
    pub all: Vec<T>,
    /// The reason why the list may be incomplete.
    pub fault: Option<ExtensionsError>,
    /// Whether the cluster serves the kind. Without it, no extension exists.
    pub is_served: bool,
}

/// The state of an extension in the cluster, apart from its request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExtensionState {
    /// The installed bundle.
    pub installed: Installed,
    /// Whether an upgrade is still rolling out.
    pub rollout: Rollout,
}

impl ExtensionState {
    /// Reads the state from a whole object. If the extension does not exist, nothing is installed.
    pub(crate) fn read(object: Option<&Value>) -> Self {
        let Some(object) = object else {
            return Self::of(Installed::Nothing);
        };
        match Extension::recognised(object) {
            Some(Extension {
                installed, rollout, ..
            }) => Self { installed, rollout },
            None => Self::unknown("the API server answers with another kind of object".to_owned()),
        }
    }

    fn of(installed: Installed) -> Self {
        let rollout = Rollout::default();
        Self { installed, rollout }
    }

    /// The state of an extension that cannot be read, for this reason.
    pub(crate) fn unknown(why: String) -> Self {
        Self::of(Installed::Unknown(UnknownCause::NotToBeHad { why }))
    }
}

/// Returns the state of the extensions of these names, in order. The state of one that cannot be read is unknown, with
/// the reason. In a cluster without the kind, nothing is installed.
pub async fn standings(client: Client, names: Vec<String>) -> Vec<ExtensionState> {
    let extensions = match Extensions::of(client).await {
        Ok(extensions) => extensions,
        Err(ExtensionsError::NotServed) => return vec![ExtensionState::read(None); names.len()],
        Err(error) => return vec![ExtensionState::unknown(error.to_string()); names.len()],
    };
    let read = names
        .iter()
        .map(async |name| match extensions.get(name).await {
            Ok(object) => ExtensionState::read(object.as_ref()),
            Err(error) => ExtensionState::unknown(error.to_string()),
        });
    stream::iter(read).buffered(MOST_AT_ONCE).collect().await
}

/// Reads every extension in the version that the cluster prefers, as a whole object. A list that breaks off keeps the
/// objects that were read. A cluster without the kind has no extensions.
pub async fn list<T>(client: Client, read: impl FnMut(Value) -> T) -> ListedExtensions<T> {
    match Extensions::of(client).await {
        Ok(extensions) => extensions.list(read).await,
        Err(error) => ListedExtensions::without(error),
    }
}

impl<T> ListedExtensions<T> {
    /// An empty list, for this reason. A cluster without the kind has no extensions, which is not a fault.
    fn without(error: ExtensionsError) -> Self {
        let is_served = error != ExtensionsError::NotServed;
        Self {
            all: Vec::new(),
            fault: Some(error).filter(|_| is_served),
            is_served,
        }
    }

    /// A list of a kind that the cluster serves.
    fn of(all: Vec<T>, fault: Option<ExtensionsError>) -> Self {
        Self {
            all,
            fault,
            is_served: true,
        }
    }
}

impl Extensions {
    /// Discovers the API version of the extensions.
    pub async fn of(client: Client) -> Result<Self, ExtensionsError> {
        let (client, _) = line::open(client);
        let found = served(&client, NAMES).await;
        let found = found.map_err(FailedOperation::to("find out how extensions are served"))?;
        let resource = found.ok_or(ExtensionsError::NotServed)?;
        let api = Api::all_with(client, &resource);
        Ok(Self { api, resource })
    }

    async fn list<T>(&self, mut read: impl FnMut(Value) -> T) -> ListedExtensions<T> {
        let mut all = Vec::new();
        let listed = self.list_some(MOST_PAGES, |object| all.push(read(object)));
        let fault = listed.await.err();
        ListedExtensions::of(all, fault)
    }

    /// Passes every object of at most `most_pages` pages to `take`.
    async fn list_some(
        &self,
        most_pages: usize,
        mut take: impl FnMut(Value),
    ) -> Result<(), ExtensionsError> {
        let mut listed = 0;
        let taken = pages(&self.api, most_pages, |object| {
            listed += 1;
            take(named(&self.resource, object));
        });
        let fault = taken.await.err();
        fault.map_or(Ok(()), |fault| {
            Err(ExtensionsError::List {
                resource: self.name(),
                fault,
                listed,
            })
        })
    }

    /// Returns the name of the resource, such as `clusterextensions.olm.operatorframework.io`.
    fn name(&self) -> String {
        format!("{}.{}", self.resource.plural, self.resource.group)
    }

    /// Returns the whole object of this name, in the version that the cluster prefers, if it exists.
    pub async fn get(&self, name: &str) -> Result<Option<Value>, ExtensionsError> {
        let found = self.api.get_opt(name).await;
        let found = found.map_err(FailedOperation::to(&format!("read extension {name:?}")))?;
        Ok(found.map(|object| object.content))
    }
}

/// The kind under all names with which it has had a status of OLM v1, newest first.
pub(super) const NAMES: &Names = &[
    ("olm.operatorframework.io", "v1", "ClusterExtension"),
    ("olm.operatorframework.io", "v1alpha1", "ClusterExtension"),
];

/// The number of concurrent requests.
const MOST_AT_ONCE: usize = 4;

// === A list of all extensions for several readers: one list runs at a time, and they share it ===
//
// Invariants: a list has at most [`MOST_SHARED_PAGES`] pages and takes at most [`LONGEST`]; at most [`MOST_WEIGHT`]
// bytes of it are kept. It is cancelled when no request waits for it any more, and a list that has ended is not used
// again.

/// A list of the extensions of a cluster, on request.
#[derive(derive_more::Debug)]
#[debug("SharedExtensions {{ .. }}")]
pub struct SharedExtensions {
    client: Client,
    running: Mutex<Option<WeakShared<Listing>>>,
}

type Listing = BoxFuture<'static, SharedList>;

/// All extensions that could be listed, and the reason why the list may be incomplete.
pub type SharedList = (Arc<[Extension]>, Option<String>);

impl SharedExtensions {
    /// Creates lists of the extensions of this cluster.
    pub fn of(client: Client) -> Self {
        Self {
            client,
            running: Mutex::default(),
        }
    }

    /// Joins the running list, or starts a new one.
    pub fn list(&self) -> Shared<Listing> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let joined = running.as_ref().and_then(WeakShared::upgrade);
        if let Some(joined) = joined.filter(|list| list.peek().is_none()) {
            return joined;
        }
        let begun = listed(self.client.clone()).boxed().shared();
        *running = begun.downgrade();
        begun
    }
}

async fn listed(client: Client) -> SharedList {
    let listed = timeout(LONGEST, bounded(client)).await;
    let late = |_| ListedExtensions::without(ExtensionsError::NotInTime { within: LONGEST });
    let ListedExtensions { all, fault, .. } = listed.unwrap_or_else(late);
    let fault = fault.map(|fault| fault.to_string());
    (all.into(), fault)
}

async fn bounded(client: Client) -> ListedExtensions<Extension> {
    let extensions = match Extensions::of(client).await {
        Ok(extensions) => extensions,
        Err(error) => return ListedExtensions::without(error),
    };
    let mut left = MOST_WEIGHT;
    let mut kept = Vec::new();
    let mut is_full = false;
    let list = extensions.list_some(MOST_SHARED_PAGES, |object| {
        let weight = weight(&object);
        is_full |= weight > left;
        if !is_full {
            left -= weight;
            kept.extend(Extension::recognised(&object));
        }
    });
    let listed = list.await;
    let listed_count = kept.len();
    let too_large = is_full.then(|| extensions.too_large(listed_count));
    ListedExtensions::of(kept, listed.err().or(too_large))
}

/// Estimates the size of the fields of an object from which an extension is read.
fn weight(object: &Value) -> usize {
    let fields = [
        "/metadata/labels",
        "/spec/source",
        "/spec/config",
        "/status/install",
    ];
    let fields = fields.iter().filter_map(|field| object.pointer(field));
    fields.map(bytes).sum::<usize>() + NODE
}

/// Estimates the size of a value. The recursion is bounded, because parsed JSON has at most 128 levels.
fn bytes(value: &Value) -> usize {
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes).sum(),
        Value::Object(members) => {
            let members = members.iter();
            members.map(|(key, value)| key.len() + bytes(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

impl Extensions {
    fn too_large(&self, listed: usize) -> ExtensionsError {
        ExtensionsError::List {
            resource: self.name(),
            fault: WatchFault {
                class: FaultClass::Undecodable,
                words: format!("what they request has more than {MOST_WEIGHT} bytes"),
            },
            listed,
        }
    }
}

/// The most pages of a list, of 100 extensions each.
const MOST_SHARED_PAGES: usize = 50;

/// The time limit of a list: an API server waits at most 30 s for an answer.
const LONGEST: Duration = Duration::from_secs(30);

/// The most bytes that are kept of a list.
const MOST_WEIGHT: usize = 16 << 20;

/// The size of a value without its text, in bytes.
const NODE: usize = 64;

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use serde_json::json;

    use super::*;
    use olmguard_support::api::{ApiServer, Asked, Trouble};

    fn cluster(version: &str) -> ApiServer {
        let api = ApiServer::start();
        let group_version = format!("olm.operatorframework.io/{version}");
        api.serve(&group_version, "clusterextensions", "ClusterExtension");
        let collection = format!("/apis/{group_version}/clusterextensions");
        api.put(
            &collection,
            json!({"metadata": {"name": "lantern"}, "status": {"x": 1}}),
        );
        api
    }

    #[tokio::test]
    async fn an_extension_is_read_whole_in_either_version() {
        for version in ["v1", "v1alpha1"] {
            let extensions = Extensions::of(cluster(version).client()).await.unwrap();
            let found = extensions.get("lantern").await.unwrap().unwrap();
            assert_eq!(found["status"], json!({"x": 1}), "{version}");
            assert_eq!(extensions.get("other").await, Ok(None));
        }
    }

    #[tokio::test]
    async fn what_cannot_be_read_says_why() {
        let none = Extensions::of(ApiServer::start().client()).await;
        assert_eq!(
            none.unwrap_err().to_string(),
            "the cluster does not serve ClusterExtension: looked for ClusterExtension of \
             olm.operatorframework.io/v1, ClusterExtension of olm.operatorframework.io/v1alpha1; \
             is OLM v1 installed?"
        );
        let api = cluster("v1");
        let extensions = Extensions::of(api.client()).await.unwrap();
        api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
        assert_eq!(
            extensions.get("lantern").await.unwrap_err().to_string(),
            "cannot read extension \"lantern\": the API server answers 403: as the test says"
        );
    }

    const V1: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";

    fn names(listed: &ListedExtensions<Value>) -> Vec<String> {
        let name = |object: &Value| format!("{} {}", object["kind"], object["metadata"]["name"]);
        listed.all.iter().map(name).collect()
    }

    #[tokio::test]
    async fn all_extensions_are_listed_in_pages() {
        let api = cluster("v1");
        for number in 0..250 {
            let name = format!("x-{number:03}");
            api.put(V1, json!({"metadata": {"name": name}}));
        }
        let listed = list(api.client(), |object| object).await;
        assert_eq!((listed.all.len(), &listed.fault), (251, &None));
        assert_eq!(names(&listed)[0], r#""ClusterExtension" "lantern""#);
        let pages = api.asked().into_iter().filter(|asked| asked.path == V1);
        assert_eq!(pages.count(), 3);
    }

    #[tokio::test]
    async fn a_cluster_without_the_kind_has_no_extensions() {
        let api = ApiServer::start();
        let listed = list(api.client(), |object| object).await;
        assert_eq!(
            (listed.all, listed.fault, listed.is_served),
            (vec![], None, false)
        );
        let found = standings(api.client(), vec!["lantern".to_owned()]).await;
        assert_eq!(found, [ExtensionState::read(None)]);
    }

    #[tokio::test]
    async fn a_list_that_breaks_off_keeps_what_was_read() {
        let api = cluster("v1");
        for number in 0..150 {
            api.put(V1, json!({"metadata": {"name": format!("x-{number:03}")}}));
        }
        let is_next = |asked: &Asked| asked.query.iter().any(|(key, _)| key == "continue");
        api.trouble(Trouble::Status(StatusCode::GONE), is_next);
        let listed = list(api.client(), |object| object).await;
        assert_eq!(listed.all.len(), 100);
        assert_eq!(
            listed.fault.map(|fault| fault.to_string()).as_deref(),
            Some(
                "some installed extensions are unknown: cannot list clusterextensions.olm.operatorframework.io: \
                 the API server answers 410: as the test says"
            )
        );
    }

    #[tokio::test]
    async fn what_cannot_be_listed_names_the_verb() {
        let api = cluster("v1");
        api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
            asked.path == V1
        });
        let listed = list(api.client(), |object| object).await;
        assert_eq!(
            listed.fault.map(|fault| fault.to_string()).as_deref(),
            Some(
                "installed extensions are unknown: cannot list clusterextensions.olm.operatorframework.io: the API \
                 server answers 403: as the test says; grant the verb \"list\" on them"
            )
        );
    }

    const COLLECTION: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";

    fn cluster_of(extensions: usize) -> ApiServer {
        let api = ApiServer::start();
        let group_version = "olm.operatorframework.io/v1";
        api.serve(group_version, "clusterextensions", "ClusterExtension");
        for number in 0..extensions {
            let source = json!({"sourceType": "Catalog", "catalog": {"packageName": "p"}});
            api.put(
                COLLECTION,
                json!({"metadata": {"name": format!("x-{number:04}")}, "spec": {"source": source}}),
            );
        }
        api
    }

    fn lists(api: &ApiServer) -> usize {
        let is_first = |asked: &Asked| {
            asked.path == COLLECTION && !asked.query.iter().any(|(key, _)| key == "continue")
        };
        api.asked().iter().filter(|asked| is_first(asked)).count()
    }

    #[tokio::test]
    async fn those_who_ask_at_the_same_time_share_one_list() {
        let api = cluster_of(3);
        let extensions = SharedExtensions::of(api.client());
        let (one, other) = (extensions.list(), extensions.list());
        let ((one, _), (other, fault)) = tokio::join!(one, other);
        assert!(Arc::ptr_eq(&one, &other));
        assert_eq!((one.len(), fault, lists(&api)), (3, None, 1));
        let (later, _) = extensions.list().await;
        assert_eq!((later.len(), lists(&api)), (3, 2));
    }

    #[tokio::test]
    async fn a_list_ends_when_nobody_waits_for_it() {
        let api = cluster_of(1);
        api.trouble(Trouble::Silent, |asked| asked.path == COLLECTION);
        let extensions = SharedExtensions::of(api.client());
        let first = extensions.list();
        let asked = async {
            while lists(&api) == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = first.clone() => panic!("nothing answers"),
            () = asked => {}
        }
        let joined = extensions.list();
        assert!(joined.ptr_eq(&first));
        let old = first.downgrade().expect("it runs");
        drop((first, joined));
        assert!(old.upgrade().is_none());
        assert!(extensions.list().peek().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_is_never_answered_ends() {
        let api = cluster_of(1);
        api.trouble(Trouble::Silent, |asked| asked.path == COLLECTION);
        let (all, fault) = SharedExtensions::of(api.client()).list().await;
        assert!(all.is_empty());
        let fault = fault.expect("a fault");
        assert!(
            fault.starts_with("installed extensions are unknown: "),
            "{fault}"
        );
    }

    #[tokio::test]
    async fn what_cannot_be_listed_says_why() {
        let api = cluster_of(1);
        let forbidden = Trouble::Status(StatusCode::FORBIDDEN);
        api.trouble(forbidden, |asked| asked.path == COLLECTION);
        let (all, fault) = SharedExtensions::of(api.client()).list().await;
        assert!(all.is_empty());
        assert_eq!(
            fault.as_deref(),
            Some(
                "installed extensions are unknown: cannot list clusterextensions.olm.operatorframework.io: the API \
             server answers 403: as the test says; grant the verb \"list\" on them"
            )
        );
    }

    #[tokio::test]
    async fn only_so_many_bytes_are_kept() {
        let api = cluster_of(2);
        let large = vec!["x".repeat(4 << 20); 3];
        let catalog = json!({"packageName": "p", "channels": large});
        let config = json!({"configType": "Inline", "inline": {"a": large}});
        for (name, catalog, config) in [
            ("y-1", &catalog, &json!({})),
            ("y-2", &json!({"packageName": "p"}), &config),
        ] {
            let source = json!({"sourceType": "Catalog", "catalog": catalog});
            let spec = json!({"source": source, "config": config});
            api.put(
                COLLECTION,
                json!({"metadata": {"name": name}, "spec": spec}),
            );
        }
        let (all, fault) = SharedExtensions::of(api.client()).list().await;
        assert_eq!(all.len(), 3);
        assert_eq!(
            fault.as_deref(),
            Some(
                "some installed extensions are unknown: cannot list clusterextensions.olm.operatorframework.io: what they \
             request has more than 16777216 bytes"
            )
        );
    }
}
