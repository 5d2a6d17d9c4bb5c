//! A list of all extensions for several readers at the same time: one list runs at a time, and they share it.
//!
//! Invariants: a list has at most [`MOST_PAGES`] pages and takes at most [`LONGEST`]; at most [`MOST_WEIGHT`] bytes of
//! it are kept. It ends when no request waits for it any more, and a list that has ended is not used again.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use kube::Client;
use serde_json::Value;
use tokio::time::timeout;

use crate::cluster::extensions::{Extensions, ExtensionsError, ListedExtensions};
use crate::cluster::fault::{FaultClass, WatchFault};
use olmguard_engine::extension::Extension;

/// Lists the extensions of a cluster on request.
pub struct SharedExtensions {
    client: Client,
    running: Mutex<Option<WeakShared<Listing>>>,
}

type Listing = BoxFuture<'static, SharedList>;

/// All extensions, as far as they could be listed, and why there may be more.
pub type SharedList = (Arc<[Extension]>, Option<String>);

impl SharedExtensions {
    /// The extensions of this cluster.
    pub fn of(client: Client) -> Self {
        Self {
            client,
            running: Mutex::default(),
        }
    }

    /// The list that runs, or a new one.
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

impl fmt::Debug for SharedExtensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedExtensions").finish_non_exhaustive()
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
    let list = extensions.list_some(MOST_PAGES, |object| {
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

/// About what the fields of an object take that an extension is read from.
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

/// JSON that was read has at most 128 levels.
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
const MOST_PAGES: usize = 50;

/// How long a list can take: an API server waits for an answer for 30 s at most.
const LONGEST: Duration = Duration::from_secs(30);

/// The most bytes that are kept of a list.
const MOST_WEIGHT: usize = 16 << 20;

/// What a value takes without its text.
const NODE: usize = 64;

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use serde_json::json;

    use super::*;
    use olmguard_support::api::{ApiServer, Asked, Trouble};

    const V1: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";

    fn cluster(extensions: usize) -> ApiServer {
        let api = ApiServer::start();
        let group_version = "olm.operatorframework.io/v1";
        api.serve(group_version, "clusterextensions", "ClusterExtension");
        for number in 0..extensions {
            let source = json!({"sourceType": "Catalog", "catalog": {"packageName": "p"}});
            api.put(
                V1,
                json!({"metadata": {"name": format!("x-{number:04}")}, "spec": {"source": source}}),
            );
        }
        api
    }

    fn lists(api: &ApiServer) -> usize {
        let is_first = |asked: &Asked| {
            asked.path == V1 && !asked.query.iter().any(|(key, _)| key == "continue")
        };
        api.asked().iter().filter(|asked| is_first(asked)).count()
    }

    #[tokio::test]
    async fn those_who_ask_at_the_same_time_share_one_list() {
        let api = cluster(3);
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
        let api = cluster(1);
        api.trouble(Trouble::Silent, |asked| asked.path == V1);
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
        let api = cluster(1);
        api.trouble(Trouble::Silent, |asked| asked.path == V1);
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
        let api = cluster(1);
        let forbidden = Trouble::Status(StatusCode::FORBIDDEN);
        api.trouble(forbidden, |asked| asked.path == V1);
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
        let api = cluster(2);
        let large = vec!["x".repeat(4 << 20); 3];
        let catalog = json!({"packageName": "p", "channels": large});
        let config = json!({"configType": "Inline", "inline": {"a": large}});
        for (name, catalog, config) in [
            ("y-1", &catalog, &json!({})),
            ("y-2", &json!({"packageName": "p"}), &config),
        ] {
            let source = json!({"sourceType": "Catalog", "catalog": catalog});
            let spec = json!({"source": source, "config": config});
            api.put(V1, json!({"metadata": {"name": name}, "spec": spec}));
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
