//! A list of all extensions for several who ask at the same time: there is one list at a time, and they share it.
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
    let fields = ["/metadata/labels", "/spec/source", "/status/install"];
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
mod tests;
