//! The `ClusterExtension` that replaces a `Subscription`.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::migrate::objects::Subscription;
use olmguard_catalog::olm::{InstallSettings, Rules};
use olmguard_engine::extension::{Extension, Filter, Shape};
use olmguard_engine::snapshot::METADATA_NAME_LABEL;
use olmguard_preflight::LONGEST_RELEASE_NAME;
use olmguard_preflight::config::{SINCE_CONFIG, is_deployment_field};

/// The fields of the `ClusterExtension` of a `Subscription`.
#[derive(Clone, Debug)]
pub(super) struct ExtensionDraft<'a> {
    pub(super) subscription: &'a Subscription,
    /// The only catalog that the extension selects.
    pub(super) catalog: Option<&'a str>,
    /// Version that the extension pins.
    pub(super) version: Option<String>,
    /// The only namespace that the operator watches.
    pub(super) watched: Option<String>,
    /// Settings for the deployments of the operator.
    pub(super) deployment: Map<String, Value>,
    /// Minor release of OLM 1.x for which the extension is written.
    pub(super) minor: u8,
}

impl<'a> ExtensionDraft<'a> {
    /// Creates a draft that requests the package in any version, without settings.
    pub(super) fn new(
        subscription: &'a Subscription,
        catalog: Option<&'a str>,
        rules: &Rules,
    ) -> Self {
        Self {
            subscription,
            catalog,
            version: None,
            watched: None,
            deployment: Map::new(),
            minor: rules.olm.minor(),
        }
    }

    /// Returns the name of the extension, which is also the name of a Helm release. A package is installed once in a
    /// cluster, so the name is the package. A name that is too long is cut and ends with a hash of the whole name.
    pub(super) fn name(&self) -> Cow<'a, str> {
        let package = &*self.subscription.package;
        let first = package.get(..LONGEST_NAME - HASH_OF_NAME);
        match first.filter(|_| package.len() > LONGEST_NAME) {
            None => package.into(),
            Some(first) => {
                let first = first.trim_end_matches(['-', '.']);
                format!("{first}-{:08x}", fnv_1a(package.as_bytes())).into()
            }
        }
    }

    /// Returns the name of the service account, in a release that uses it.
    pub(super) fn service_account(&self) -> Option<String> {
        let is_used = self.minor < SINCE_NO_SERVICE_ACCOUNT;
        is_used.then(|| format!("{}-installer", self.name()))
    }

    /// Returns the filter of the extension, if it is valid.
    pub(super) fn filter(&self) -> Option<Filter> {
        Extension::read(Shape::V1, &self.object()).filter.ok()
    }

    /// Whether the extension has `spec.config`.
    pub(super) fn has_config(&self) -> bool {
        self.sets_watched_in_config() || !self.deployment.is_empty()
    }

    fn sets_watched_in_config(&self) -> bool {
        self.watched.is_some() && self.minor >= SINCE_CONFIG
    }

    /// Returns the object.
    pub(super) fn object(&self) -> Value {
        let mut spec = Map::new();
        let mut set = |key: &str, value: Value| spec.insert(key.to_owned(), value);
        set("namespace", json!(self.subscription.key.namespace));
        if let Some(name) = self.service_account() {
            set("serviceAccount", json!({"name": name}));
        }
        let source = json!({"sourceType": "Catalog", "catalog": self.request()});
        set("source", source);
        if self.has_config() {
            let config = json!({"configType": "Inline", "inline": self.config()});
            set("config", config);
        }
        json!({
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterExtension",
            "metadata": self.metadata(),
            "spec": spec,
        })
    }

    /// Returns the metadata. Releases before `spec.config` read the namespace from an annotation.
    fn metadata(&self) -> Value {
        match &self.watched {
            Some(watched) if !self.sets_watched_in_config() => {
                json!({"name": self.name(), "annotations": {WATCH_ANNOTATION: watched}})
            }
            _ => json!({"name": self.name()}),
        }
    }

    fn request(&self) -> Map<String, Value> {
        let mut request = Map::new();
        let mut set = |key: &str, value: Value| request.insert(key.to_owned(), value);
        set("packageName", json!(self.subscription.package));
        if let Some(version) = &self.version {
            set("version", json!(version));
        }
        if let Some(channel) = &self.subscription.channel {
            set("channels", json!([channel]));
        }
        if let Some(catalog) = self.catalog {
            let selector = json!({"matchLabels": {METADATA_NAME_LABEL: catalog}});
            set("selector", selector);
        }
        request
    }

    fn config(&self) -> Map<String, Value> {
        let watched = self.watched.iter();
        let watched = watched.filter(|_| self.sets_watched_in_config());
        let watched = watched.map(|watched| ("watchNamespace".to_owned(), json!(watched)));
        let deployment = Some(&self.deployment).filter(|fields| !fields.is_empty());
        let deployment = deployment.map(|fields| ("deploymentConfig".to_owned(), json!(fields)));
        watched.chain(deployment).collect()
    }
}

/// Maximum number of characters in a name. Revisions append numbers of up to three digits.
const LONGEST_NAME: usize = LONGEST_RELEASE_NAME - 2;

/// Number of characters of the hash at the end of a name that was cut, with its hyphen.
const HASH_OF_NAME: usize = 9;

/// Computes FNV-1a with 32 bits, which gives the same hash on every machine.
fn fnv_1a(bytes: &[u8]) -> u32 {
    let next = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(16_777_619);
    bytes.iter().fold(2_166_136_261, next)
}

/// The configuration that an operator has under OLM v0, as far as an extension can have it.
#[derive(Clone, Debug, Default)]
pub(super) struct WantedConfig {
    /// The only namespace that the operator watches.
    pub(super) watched: Option<String>,
    /// Settings of the deployments that OLM v1 also has.
    pub(super) deployment: Map<String, Value>,
    /// Names of all other settings.
    pub(super) lost: Vec<String>,
}

impl WantedConfig {
    pub(super) fn of(subscription: &Subscription, watched: Option<String>) -> Self {
        let settings = subscription.config.clone().into_iter();
        let (known, lost): (Vec<_>, Vec<_>) =
            settings.partition(|(name, _)| is_deployment_field(name));
        Self {
            watched,
            deployment: known.into_iter().collect(),
            lost: lost.into_iter().map(|(name, _)| name).collect(),
        }
    }

    /// Returns drafts with as much of the configuration as possible, the best first. A release without the gate for a
    /// field ignores or refuses it.
    pub(super) fn drafts<'a>(
        &self,
        draft: &ExtensionDraft<'a>,
        rules: &Rules,
    ) -> Vec<ExtensionDraft<'a>> {
        let minor = draft.minor;
        let mut installs = rules.installs.iter();
        let may_watch = installs
            .clone()
            .any(|settings| reads_watched(*settings, minor));
        let may_deploy = installs.any(|settings| settings.deployment_config);
        let watched = self.watched.clone().filter(|_| may_watch);
        let deployment = Some(self.deployment.clone()).filter(|_| may_deploy);
        let deployment = deployment.unwrap_or_default();
        let mut drafts = Vec::new();
        for deployment in [deployment, Map::new()] {
            for watched in [watched.clone(), None] {
                let deployment = deployment.clone();
                drafts.push(ExtensionDraft {
                    watched,
                    deployment,
                    ..draft.clone()
                });
            }
        }
        drafts
    }
}

/// Whether an operator-controller 1.`minor` with these settings restricts an operator to a namespace. Without the gate,
/// releases before 1.9 silently ignore the namespace.
pub(super) fn reads_watched(settings: InstallSettings, minor: u8) -> bool {
    settings.single_own_namespace || minor >= SINCE_ALWAYS_WATCHED
}

/// First release 1.x that works as cluster-admin and ignores `spec.serviceAccount`.
const SINCE_NO_SERVICE_ACCOUNT: u8 = 11;

/// First release 1.x that reads `watchNamespace` regardless of its gates.
const SINCE_ALWAYS_WATCHED: u8 = 9;

const WATCH_ANNOTATION: &str = "olm.operatorframework.io/watch-namespace";
