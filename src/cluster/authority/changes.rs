//! That somebody changed what an authority is kept in, or what trusts it.
//!
//! The metadata of the Secret and of the configurations are watched, each by its name, so that rights
//! on the one name are enough and no key comes by. It is a hint and no more: what it misses, while the
//! watch is away or forbidden, the next renewal finds.

use std::fmt;

use futures_util::StreamExt;
use futures_util::stream::{BoxStream, SelectAll, select_all};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::Secret;
use kube::api::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use tokio::sync::Mutex;
use tracing::debug;

use super::AuthorityPlace;

/// The watches, which go on where they were left.
pub(super) struct Changes(Mutex<SelectAll<BoxStream<'static, ()>>>);

impl Changes {
    /// Of one Secret of a namespace, and of configurations; nothing is asked before [`Self::next`].
    pub(super) fn of(client: &Client, place: &AuthorityPlace) -> Self {
        let secrets: Api<PartialObjectMeta<Secret>> =
            Api::namespaced(client.clone(), &place.namespace);
        let configurations: Api<PartialObjectMeta<ValidatingWebhookConfiguration>> =
            Api::all(client.clone());
        let names = place.configurations.iter();
        let bundles = names.map(|name| changes(&configurations, name));
        Self(Mutex::new(select_all(
            bundles.chain([changes(&secrets, &place.secret)]),
        )))
    }

    /// Waits for the next; for ever where there is nothing to watch.
    pub(super) async fn next(&self) {
        if self.0.lock().await.next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

fn changes<K>(api: &Api<PartialObjectMeta<K>>, name: &str) -> BoxStream<'static, ()>
where
    K: Resource<DynamicType = ()> + Clone + fmt::Debug + Send + 'static,
{
    let one = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let events = watcher(api.clone(), one).default_backoff();
    events
        .filter_map(|event| std::future::ready(change(event)))
        .boxed()
}

fn change<K>(event: watcher::Result<Event<PartialObjectMeta<K>>>) -> Option<()> {
    match event {
        // A list is taken anew after a watch was lost: what happened meanwhile is not known.
        Ok(Event::Apply(_) | Event::Delete(_) | Event::InitDone) => Some(()),
        Ok(Event::Init | Event::InitApply(_)) => None,
        Err(error) => {
            debug!(%error, "Failed to watch the Secret or webhook configuration of the CA, polling it");
            None
        }
    }
}
