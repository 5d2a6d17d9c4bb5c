//! The CA of the replicas, stored in the cluster and published to its API servers.
//!
//! ```text
//! Secret NAMESPACE/NAME, data[KEY]                      the authorities, with their keys
//! ValidatingWebhookConfiguration, webhooks[].caBundle   their certificates, for every webhook of ours
//! ```
//!
//! A webhook is ours if the API server calls it by a name that our certificate is valid for: `SERVICE.NAMESPACE.svc` of
//! its `clientConfig.service`, or the host of its `clientConfig.url`.
//!
//! Upstream: Kubernetes' optimistic concurrency. The Secret is created if it does not exist, and otherwise changed
//! under the `resourceVersion` that was read, so a second writer gets a conflict. A configuration is changed by a JSON
//! patch that tests its `resourceVersion` and changes only the bundles, so that replicas, users and deployment tools do
//! not undo each other's changes.
//!
//! Foreign certificates in a bundle stay for a while (`known`). A configuration whose bundles another program writes is
//! rejected.
//!
//! Invariants: nothing is written that is already published; no part of a Secret is in a text or in `Debug` output;
//! everything that is read from the Secret or sent to it is wiped, except the buffers of kube and hyper for requests
//! and responses.

mod bundle;
#[cfg(test)]
mod tests;

pub(super) use bundle::called;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use futures_util::stream::{BoxStream, SelectAll, select_all};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ObjectMeta, PartialObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use rustls::pki_types::ServerName;
use tokio::sync;
use tokio::time::Instant;
use tracing::{debug, warn};
use zeroize::{Zeroize, Zeroizing};

use crate::cluster::{fault_words, line};
use bundle::{BundleNote, ClockMoment, KnownConfiguration};
use olmguard_server::tls::Clock;
use olmguard_server::tls::self_managed::{
    BundleReaders, Store, StoreError, StoreVersion, StoredContent,
};

/// The location of the authority in a cluster.
#[derive(Clone, Debug)]
pub struct AuthorityPlace {
    /// The namespace of the Secret.
    pub namespace: String,
    /// The name of the Secret.
    pub secret: String,
    /// The names of the webhook configurations that receive the bundle.
    pub configurations: Vec<String>,
    /// The names that the certificate is valid for.
    pub names: Vec<ServerName<'static>>,
}

/// The store of a self-managed certificate authority in a cluster.
#[derive(derive_more::Debug)]
#[debug("ClusterStore {{ place: {place:?}, .. }}")]
pub struct ClusterStore {
    secrets: Api<Secret>,
    configurations: Api<ValidatingWebhookConfiguration>,
    place: AuthorityPlace,
    clock: Arc<dyn Clock>,
    known: Mutex<BTreeMap<String, KnownConfiguration>>,
    changes: Changes,
}

impl ClusterStore {
    /// Creates the store, without a request to the cluster.
    pub fn new(client: Client, place: AuthorityPlace, clock: Arc<dyn Clock>) -> Self {
        Self {
            changes: Changes::of(&client, &place),
            secrets: Api::namespaced(client.clone(), &place.namespace),
            configurations: Api::all(client),
            place,
            clock,
            known: Mutex::default(),
        }
    }

    async fn publish_in(&self, name: &str, bundle: &str) -> Result<BundleReaders, StoreError> {
        let failed = |error| AuthorityFailure::of("get", AskedObject::configuration(name), &error);
        let found = self.configurations.get_opt(name).await.map_err(failed)?;
        let Some(found) = found else {
            tell(name, self.with(name, KnownConfiguration::absent));
            return Ok(BundleReaders::NotAll);
        };
        if let Some(patch) = self.due(name, &found, bundle)? {
            self.patch(name, &found, patch).await?;
        }
        self.with(name, |known| known.published(bundle));
        Ok(BundleReaders::All)
    }

    /// Returns the patch that a configuration needs, if any.
    fn due(
        &self,
        name: &str,
        found: &ValidatingWebhookConfiguration,
        bundle: &str,
    ) -> Result<Option<json_patch::Patch>, AuthorityFailure> {
        let ours = bundle::ours(found, &self.place.names)?;
        let moment = ClockMoment {
            now: self.clock.now(),
            at: Instant::now(),
        };
        let bundles: Vec<_> = ours.iter().map(|(_, bundle)| *bundle).collect();
        let (wanted, note) = self.with(name, |known| known.look(&bundles, bundle, moment));
        tell(name, note);
        let puts = ours.iter().zip(wanted);
        let puts = puts.filter_map(|((at, _), wanted)| Some((*at, wanted?)));
        Ok(bundle::patch(found, puts))
    }

    async fn patch(
        &self,
        name: &str,
        found: &ValidatingWebhookConfiguration,
        patch: json_patch::Patch,
    ) -> Result<(), StoreError> {
        let (params, patch) = (PatchParams::default(), Patch::Json::<()>(patch));
        let patched = self.configurations.patch(name, &params, &patch).await;
        let Err(error) = patched else { return Ok(()) };
        // A failed test of a JSON patch has the same status as content that cannot be processed.
        let is_unprocessable = matches!(&error, kube::Error::Api(status) if status.code == 422);
        if is_unprocessable && !self.is_still(found, name).await? {
            return Err(StoreError::Conflict);
        }
        let asked = AskedObject::configuration(name);
        Err(AuthorityFailure::of("patch", asked, &error).into())
    }

    /// Whether a configuration is unchanged since it was read.
    async fn is_still(
        &self,
        read: &ValidatingWebhookConfiguration,
        name: &str,
    ) -> Result<bool, AuthorityFailure> {
        let now = self.configurations.get_opt(name).await;
        let now = now.map_err(|error| {
            AuthorityFailure::of("get", AskedObject::configuration(name), &error)
        })?;
        let version = |of: &ValidatingWebhookConfiguration| of.metadata.resource_version.clone();
        Ok(now.is_some_and(|now| version(&now) == version(read)))
    }

    fn with<T>(&self, name: &str, act: impl FnOnce(&mut KnownConfiguration) -> T) -> T {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        act(known.entry(name.to_owned()).or_default())
    }

    fn failed(&self, verb: &'static str, error: &kube::Error) -> AuthorityFailure {
        let asked = AskedObject::secret(&self.place.namespace, &self.place.secret);
        AuthorityFailure::of(verb, asked, error)
    }

    fn version(&self, secret: Secret) -> Result<StoreVersion, StoreError> {
        let version = secret.metadata.resource_version.clone();
        wipe(secret);
        let name = || self.place.secret.clone();
        let version = version.ok_or_else(|| AuthorityFailure::NoVersion(name()))?;
        Ok(StoreVersion(version))
    }
}

impl Store for ClusterStore {
    async fn load(&self) -> Result<Option<StoredContent>, StoreError> {
        let found = self.secrets.get_opt(&self.place.secret).await;
        let Some(mut secret) = found.map_err(|error| self.failed("get", &error))? else {
            return Ok(None);
        };
        let content = content_of(&mut secret);
        let version = self.version(secret)?;
        Ok(Some(StoredContent { content, version }))
    }

    async fn create(&self, content: &[u8]) -> Result<StoreVersion, StoreError> {
        let secret = new_secret(&self.place.secret, content);
        let created = self.secrets.create(&PostParams::default(), &secret).await;
        wipe(secret);
        self.version(created.map_err(|error| self.failed("create", &error))?)
    }

    async fn replace(
        &self,
        version: &StoreVersion,
        content: &[u8],
    ) -> Result<StoreVersion, StoreError> {
        let secret = changed_secret(version, content);
        let (params, patch) = (PatchParams::default(), Patch::Merge(&secret));
        let patched = self
            .secrets
            .patch(&self.place.secret, &params, &patch)
            .await;
        wipe(secret);
        self.version(patched.map_err(|error| self.failed("patch", &error))?)
    }

    /// Tries each configuration, also after a failure, and returns the first failure. A configuration that does not
    /// exist has no clients; it is looked up again at each renewal.
    async fn publish(&self, bundle: &str) -> Result<BundleReaders, StoreError> {
        let mut published = Ok(BundleReaders::All);
        for name in &self.place.configurations {
            let next = self.publish_in(name, bundle).await;
            published = match published {
                Ok(BundleReaders::All) => next,
                Ok(BundleReaders::NotAll) => next.map(|_| BundleReaders::NotAll),
                Err(failed) => Err(failed),
            };
        }
        published
    }

    async fn changed(&self) {
        self.changes.next().await;
    }
}

fn tell(configuration: &str, note: Option<BundleNote>) {
    match note {
        None => {}
        Some(BundleNote::Absent) => warn!(
            configuration,
            "Failed to find the ValidatingWebhookConfiguration, retrying: create it, or set \
             --webhook-configuration to an existing one"
        ),
        Some(BundleNote::Changed) => warn!(
            configuration,
            "Found a caBundle that another client changed, restoring our CA certificates and keeping \
             foreign ones for an hour"
        ),
        Some(BundleNote::Others) => warn!(
            configuration,
            "Found foreign CA certificates in the caBundle, keeping them for an hour"
        ),
    }
}

// === The Secret: one key of it is ours, and the others are left unchanged ===

/// Takes the content under our key out of a Secret; empty if the Secret does not have the key.
fn content_of(secret: &mut Secret) -> Zeroizing<Vec<u8>> {
    let data = secret.data.as_mut();
    let ours = data.and_then(|data| data.remove(KEY));
    Zeroizing::new(ours.map(|ByteString(content)| content).unwrap_or_default())
}

/// Returns a Secret to create.
fn new_secret(name: &str, content: &[u8]) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        type_: Some("Opaque".to_owned()),
        ..holding(content)
    }
}

/// Returns a merge patch that changes a Secret only if it still has this version.
fn changed_secret(StoreVersion(version): &StoreVersion, content: &[u8]) -> Secret {
    Secret {
        metadata: ObjectMeta {
            resource_version: Some(version.clone()),
            ..ObjectMeta::default()
        },
        ..holding(content)
    }
}

/// Wipes the contents of a Secret, including the keys of others.
fn wipe(secret: Secret) {
    for ByteString(mut content) in secret.data.into_iter().flat_map(BTreeMap::into_values) {
        content.zeroize();
    }
    for mut text in secret
        .string_data
        .into_iter()
        .flat_map(BTreeMap::into_values)
    {
        text.zeroize();
    }
}

fn holding(content: &[u8]) -> Secret {
    Secret {
        data: Some(BTreeMap::from([(
            KEY.to_owned(),
            ByteString(content.to_vec()),
        )])),
        ..Secret::default()
    }
}

/// Our key in the data of the Secret.
const KEY: &str = "authorities.json";

// === Changes of the Secret or of the configurations by another client ===
//
// Only metadata is watched, each object by its name. So permissions on that name are enough, and no private key is
// sent. A change is only a hint: the next renewal finds what a lost or forbidden watch misses.

/// The watches, which continue where the last wait ended.
struct Changes(sync::Mutex<SelectAll<BoxStream<'static, ()>>>);

impl Changes {
    /// Creates watches of one Secret and of the configurations. They send no request before [`Self::next`].
    fn of(client: &Client, place: &AuthorityPlace) -> Self {
        // Each watch has a line of its own, which paces it and limits its answers.
        let line = || line::open(client.clone()).0;
        let secrets = Api::<PartialObjectMeta<Secret>>::namespaced(line(), &place.namespace);
        let bundles = place.configurations.iter().map(|name| {
            let all = Api::<PartialObjectMeta<ValidatingWebhookConfiguration>>::all(line());
            changes(&all, name)
        });
        Self(sync::Mutex::new(select_all(
            bundles.chain([changes(&secrets, &place.secret)]),
        )))
    }

    /// Waits for the next change; forever if there is nothing to watch.
    async fn next(&self) {
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
        // A new list follows a lost watch. Changes in between are unknown, so the list counts as a change.
        Ok(Event::Apply(_) | Event::Delete(_) | Event::InitDone) => Some(()),
        Ok(Event::Init | Event::InitApply(_)) => None,
        Err(error) => {
            debug!(%error, "Failed to watch the Secret or webhook configuration of the CA, polling it");
            None
        }
    }
}

// === Reasons why the cluster does not store or publish an authority. No text contains any part of a Secret ===

/// A request that failed.
#[derive(Debug, thiserror::Error)]
enum AuthorityFailure {
    /// Another client wrote first.
    #[error("changed by another client in the meantime")]
    Conflict,
    /// Two writers would fight over it.
    #[error(
        "ValidatingWebhookConfiguration {configuration:?} has the annotation {annotation}, so \
         another program writes its caBundle: expected no such annotation with --certs \
         self-managed; remove it, or serve the certificate of that program with --tls-cert and \
         --tls-key"
    )]
    Injected {
        configuration: String,
        annotation: &'static str,
    },
    #[error(
        "ValidatingWebhookConfiguration {configuration:?} has no webhook that calls {names}: \
         expected clientConfig.service or clientConfig.url with a name of --tls-server-name"
    )]
    NoWebhook {
        configuration: String,
        names: String,
    },
    #[error(
        "no right to {verb} {asked}: expected a role that allows the verb {verb} on {resource}; \
         {words}",
        resource = .asked.resource
    )]
    Denied {
        verb: &'static str,
        asked: AskedObject,
        words: String,
    },
    #[error("cannot {verb} {asked}: {words}")]
    Failed {
        verb: &'static str,
        asked: AskedObject,
        words: String,
    },
    #[error("the API server returned Secret {0:?} without metadata.resourceVersion")]
    NoVersion(String),
}

/// The requested object.
#[derive(Debug, derive_more::Display)]
#[display("{words}")]
struct AskedObject {
    /// The name of its resource in a role.
    resource: &'static str,
    words: String,
}

impl AuthorityFailure {
    /// Converts an error of a request.
    fn of(verb: &'static str, asked: AskedObject, error: &kube::Error) -> Self {
        let words = told(error);
        match code(error) {
            // The object existed when it was read.
            Some(404) if verb == "patch" => Self::Conflict,
            Some(409) => Self::Conflict,
            Some(403) => Self::Denied { verb, asked, words },
            _ => Self::Failed { verb, asked, words },
        }
    }
}

fn code(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

/// Describes an error. An answer that cannot be parsed is not quoted, because it may be a Secret.
fn told(error: &kube::Error) -> String {
    match error {
        kube::Error::SerdeError(_) => "the answer of the API server cannot be read".to_owned(),
        other => fault_words(other),
    }
}

impl From<AuthorityFailure> for StoreError {
    fn from(failure: AuthorityFailure) -> Self {
        match failure {
            AuthorityFailure::Conflict => Self::Conflict,
            other => Self::Unavailable(Box::new(other)),
        }
    }
}

impl AskedObject {
    fn secret(namespace: &str, name: &str) -> Self {
        Self {
            resource: "secrets",
            words: format!("Secret {name:?} in namespace {namespace:?}"),
        }
    }

    fn configuration(name: &str) -> Self {
        Self {
            resource: "validatingwebhookconfigurations",
            words: format!("ValidatingWebhookConfiguration {name:?}"),
        }
    }
}
