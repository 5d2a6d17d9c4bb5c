//! The objects of OLM v0 that a move to OLM v1 starts from, as a cluster or a manifest has them.
//!
//! Only what decides is kept. Names that later appear in commands are names that an API server accepts.
//!
//! Upstream: operator-framework/api, [`pkg/operators/v1alpha1`] and [`pkg/operators/v1`].
//!
//! [`pkg/operators/v1alpha1`]: https://github.com/operator-framework/api/tree/v0.45.0/pkg/operators/v1alpha1
//! [`pkg/operators/v1`]: https://github.com/operator-framework/api/tree/v0.45.0/pkg/operators/v1

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use olmguard_catalog::version::go;
use olmguard_catalog::{dns1123, word_set};
use olmguard_preflight::bundle::{NoBundle, RegistryBundle};
use olmguard_preflight::support::Supported;

/// The objects of OLM v0 in one cluster.
#[derive(Clone, Debug, Default)]
pub struct ClassicObjects {
    subscriptions: BTreeMap<ObjectKey, Subscription>,
    csvs: BTreeMap<ObjectKey, ClassicCsv>,
    groups: BTreeMap<ObjectKey, OperatorGroup>,
    /// The image of each `CatalogSource`, if it has one.
    sources: BTreeMap<ObjectKey, Option<String>>,
    /// The namespaces with a `Subscription` whose approval is Manual.
    manual: BTreeSet<String>,
    /// The Subscriptions of each package.
    packages: BTreeMap<String, Vec<ObjectKey>>,
}

/// The namespace and the name of an object.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ObjectKey {
    /// The namespace: a DNS label.
    pub namespace: String,
    /// The name: a DNS subdomain.
    pub name: String,
}

/// A `Subscription`: the request for a package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Subscription {
    pub(super) key: ObjectKey,
    /// `spec.name`.
    pub(super) package: String,
    /// `spec.sourceNamespace` and `spec.source`.
    pub(super) source: ObjectKey,
    /// `spec.channel`, if it names one.
    pub(super) channel: Option<String>,
    /// `spec.startingCSV`, if it names one.
    pub(super) starting_csv: Option<String>,
    /// `spec.installPlanApproval`.
    pub(super) approval: Approval,
    /// The entries of `spec.config` that say something.
    pub(super) config: Map<String, Value>,
    /// Whether OLM v0 has created it as a dependency of another package.
    pub(super) is_dependency: bool,
    /// `status`; a manifest that was never applied has none.
    pub(super) status: Option<SubscriptionStatus>,
}

/// Who approves an upgrade. Only the exact word `Manual` counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Approval {
    Automatic,
    Manual,
}

/// What OLM v0 reports about a `Subscription`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct SubscriptionStatus {
    /// `status.installedCSV`: a DNS subdomain.
    pub(super) installed_csv: Option<String>,
    /// Whether an upgrade is not finished: `status.state` is `UpgradePending`.
    pub(super) is_pending: bool,
}

/// A `ClusterServiceVersion` that is not a copy.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ClassicCsv {
    /// What operator-controller also checks of it.
    pub(super) supported: Supported,
    /// The names of the CRDs that it owns, each a DNS subdomain, in byte order.
    pub(super) crds: Vec<String>,
    /// `status.phase`, empty if there is none.
    pub(super) phase: String,
}

/// An `OperatorGroup`: the namespaces that the operators of its namespace watch.
#[derive(Clone, Debug, Eq, PartialEq)]
struct OperatorGroup {
    /// The namespaces; one that is empty stands for all. `None` if only a cluster could evaluate its selector.
    targets: Option<Vec<String>>,
}

/// The namespaces that the operators of a namespace watch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum WatchScope {
    /// All of them.
    All,
    /// The namespace itself.
    Own,
    /// One other namespace.
    Single(String),
    /// Several, in byte order.
    Several(Vec<String>),
    /// There is no `OperatorGroup`, or several, or its selector is not evaluated.
    Unknown,
}

/// Why an object of OLM v0 cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ClassicError {
    /// A field is missing, or is not what its API takes.
    #[error("{}{field} is {found}: expected {expected}", of_object(.kind, .name))]
    Field {
        /// The kind of the object.
        kind: &'static str,
        /// Its name, as far as it is known.
        name: String,
        /// The path of the field.
        field: String,
        /// Its value, as JSON, or that it is missing.
        found: String,
        /// What the API takes.
        expected: &'static str,
    },
    /// Two different objects have one kind, namespace and name.
    #[error(
        "{kind} {:?} in namespace {:?} is defined twice, with different content: give one cluster at a time",
        .key.name, .key.namespace
    )]
    Twice {
        /// The kind of both.
        kind: &'static str,
        /// The name of both.
        key: ObjectKey,
    },
}

word_set! {
    /// A kind of OLM v0 that a move depends on.
    pub enum ClassicKind {
        /// `Subscription`
        Subscription => "Subscription",
        /// `ClusterServiceVersion`
        ClusterServiceVersion => "ClusterServiceVersion",
        /// `OperatorGroup`
        OperatorGroup => "OperatorGroup",
        /// `CatalogSource`
        CatalogSource => "CatalogSource",
    }
}

impl ClassicKind {
    /// The kind of an object, if it is one of these.
    pub fn of(object: &Value) -> Option<Self> {
        let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let (group, _) = text("apiVersion").split_once('/')?;
        let mut all = Self::ALL.into_iter();
        all.find(|kind| group == Self::GROUP && kind.as_str() == text("kind"))
    }

    /// The API group of all of them.
    pub const GROUP: &str = "operators.coreos.com";
}

impl ClassicObjects {
    /// Adds an object. A copy of a `ClusterServiceVersion` and an object of another kind count for nothing.
    ///
    /// # Errors
    /// If it cannot be used, or is not the object that was added under its name before.
    pub fn add(&mut self, object: &Value) -> Result<(), ClassicError> {
        let is_copy = object.pointer("/metadata/labels/olm.copiedFrom").is_some();
        let Some(kind) = ClassicKind::of(object).filter(|_| !is_copy) else {
            return Ok(());
        };
        let read = ObjectReader { kind, object };
        let key = read.key()?;
        let is_first = match kind {
            ClassicKind::Subscription => self.add_subscription(read.subscription(&key)?),
            ClassicKind::ClusterServiceVersion => add(&mut self.csvs, &key, read.csv()?),
            ClassicKind::OperatorGroup => add(&mut self.groups, &key, read.group()?),
            ClassicKind::CatalogSource => add(&mut self.sources, &key, read.image()?),
        };
        let kind = kind.as_str();
        is_first
            .then_some(())
            .ok_or(ClassicError::Twice { kind, key })
    }

    fn add_subscription(&mut self, subscription: Subscription) -> bool {
        let key = subscription.key.clone();
        if let Some(before) = self.subscriptions.get(&key) {
            return *before == subscription;
        }
        if subscription.approval == Approval::Manual {
            self.manual.insert(key.namespace.clone());
        }
        let package = self.packages.entry(subscription.package.clone());
        package.or_default().push(key.clone());
        add(&mut self.subscriptions, &key, subscription)
    }

    /// Whether there is no `Subscription`.
    pub fn is_empty(&self) -> bool {
        self.subscriptions.is_empty()
    }

    /// The Subscriptions, in byte order of their namespaces and names.
    pub(super) fn subscriptions(&self) -> impl Iterator<Item = &Subscription> {
        self.subscriptions.values()
    }

    /// The other Subscriptions of its package.
    pub(super) fn others(&self, subscription: &Subscription) -> impl Iterator<Item = &ObjectKey> {
        let all = self.packages.get(&subscription.package).into_iter();
        all.flatten().filter(move |key| **key != subscription.key)
    }

    /// The CSV of a namespace by its name.
    pub(super) fn csv(&self, key: &ObjectKey) -> Option<&ClassicCsv> {
        self.csvs.get(key)
    }

    /// The image of a `CatalogSource`, if it is known.
    pub(super) fn source_image(&self, key: &ObjectKey) -> Option<&str> {
        self.sources.get(key)?.as_deref()
    }

    /// Who approves the upgrades of a namespace: if one Subscription of it says Manual, it counts for all.
    pub(super) fn approval(&self, namespace: &str) -> Approval {
        if self.manual.contains(namespace) {
            Approval::Manual
        } else {
            Approval::Automatic
        }
    }

    /// What the operators of a namespace watch.
    pub(super) fn scope(&self, namespace: &str) -> WatchScope {
        let first = ObjectKey {
            namespace: namespace.to_owned(),
            name: String::new(),
        };
        let here = self.groups.range(first..);
        let mut here = here.take_while(|(key, _)| key.namespace == namespace);
        match (here.next(), here.next()) {
            (Some((_, group)), None) => group.scope(namespace),
            _ => WatchScope::Unknown,
        }
    }
}

/// Adds a value. Returns false, and adds nothing, if another value has its key.
fn add<T: PartialEq>(to: &mut BTreeMap<ObjectKey, T>, key: &ObjectKey, value: T) -> bool {
    match to.get(key) {
        Some(before) => *before == value,
        None => to.insert(key.clone(), value).is_none(),
    }
}

impl OperatorGroup {
    fn scope(&self, namespace: &str) -> WatchScope {
        let Some(targets) = &self.targets else {
            return WatchScope::Unknown;
        };
        match targets.as_slice() {
            [] => WatchScope::All,
            targets if targets.iter().any(String::is_empty) => WatchScope::All,
            [only] if only == namespace => WatchScope::Own,
            [only] => WatchScope::Single(only.clone()),
            several => WatchScope::Several(several.to_vec()),
        }
    }
}

impl ObjectKey {
    /// An object in the same namespace.
    pub(super) fn sibling(&self, name: &str) -> Self {
        Self {
            namespace: self.namespace.clone(),
            name: name.to_owned(),
        }
    }
}

/// An object at the start of an error; without a name its kind alone.
fn of_object(kind: &str, name: &str) -> String {
    if name.is_empty() {
        format!("{kind}: ")
    } else {
        format!("{kind} {name:?}: ")
    }
}

// === Reading one object of OLM v0 ===
//
// What is missing or has another form is named by its field.

/// One object that is being read.
struct ObjectReader<'a> {
    kind: ClassicKind,
    object: &'a Value,
}

impl ObjectReader<'_> {
    fn key(&self) -> Result<ObjectKey, ClassicError> {
        let name = self.subdomain(NAME)?;
        let name = name.ok_or_else(|| self.fault(NAME, SUBDOMAIN))?;
        let namespace = self.required(NAMESPACE)?;
        if namespace.len() > LONGEST_LABEL || !dns1123::is_label(&namespace) {
            return Err(self.fault(NAMESPACE, "a DNS label"));
        }
        Ok(ObjectKey { namespace, name })
    }

    fn subscription(&self, key: &ObjectKey) -> Result<Subscription, ClassicError> {
        let approval = self.text("/spec/installPlanApproval")?;
        Ok(Subscription {
            key: key.clone(),
            package: self.required("/spec/name")?,
            source: ObjectKey {
                namespace: self.required("/spec/sourceNamespace")?,
                name: self.required("/spec/source")?,
            },
            channel: self.text("/spec/channel")?,
            starting_csv: self.text("/spec/startingCSV")?,
            approval: match approval.as_deref() {
                Some("Manual") => Approval::Manual,
                _ => Approval::Automatic,
            },
            config: self.config()?,
            is_dependency: self.at("/metadata/annotations/olm.generated-by").is_some(),
            status: self.status()?,
        })
    }

    /// The configuration, without what says nothing.
    fn config(&self) -> Result<Map<String, Value>, ClassicError> {
        let mut config = match self.at("/spec/config") {
            None => Map::new(),
            Some(Value::Object(config)) => config.clone(),
            Some(_) => return Err(self.fault("/spec/config", "an object")),
        };
        config.retain(|_, value| match value {
            Value::Null => false,
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            _ => true,
        });
        Ok(config)
    }

    fn status(&self) -> Result<Option<SubscriptionStatus>, ClassicError> {
        if self.at("/status").is_none() {
            return Ok(None);
        }
        let state = self.text("/status/state")?;
        Ok(Some(SubscriptionStatus {
            installed_csv: self.subdomain("/status/installedCSV")?,
            is_pending: state.as_deref() == Some("UpgradePending"),
        }))
    }

    fn csv(&self) -> Result<ClassicCsv, ClassicError> {
        let crds = self.at("/spec/customresourcedefinitions/owned");
        let crds = crds.and_then(Value::as_array).into_iter().flatten();
        let names = crds.filter_map(|crd| crd.get("name")?.as_str());
        let names = names.filter(|name| is_subdomain(name));
        let mut crds: Vec<_> = names.map(str::to_owned).collect();
        crds.sort_unstable();
        crds.dedup();
        let bundle = RegistryBundle::of("", [self.object.clone()]);
        let bundle = bundle.map_err(|why| match why {
            NoBundle::NoCsv => self.fault("/kind", "ClusterServiceVersion"),
            NoBundle::Properties => self.fault(
                "/metadata/annotations/olm.properties",
                "a list of properties as JSON",
            ),
        })?;
        Ok(ClassicCsv {
            supported: bundle.supported(),
            crds,
            phase: self.text("/status/phase")?.unwrap_or_default(),
        })
    }

    /// The namespaces in force, otherwise those that are requested.
    fn group(&self) -> Result<OperatorGroup, ClassicError> {
        if let Some(targets) = self.texts("/status/namespaces")? {
            let targets = Some(targets);
            return Ok(OperatorGroup { targets });
        }
        let targets = self.texts("/spec/targetNamespaces")?.unwrap_or_default();
        let selects = self.at("/spec/selector").and_then(Value::as_object);
        let selects = selects.is_some_and(|selector| !selector.is_empty());
        let is_known = !targets.is_empty() || !selects;
        Ok(OperatorGroup {
            targets: is_known.then_some(targets),
        })
    }

    fn image(&self) -> Result<Option<String>, ClassicError> {
        self.text("/spec/image")
    }

    /// The texts of a list, each once, in byte order.
    fn texts(&self, path: &str) -> Result<Option<Vec<String>>, ClassicError> {
        let Some(items) = self.at(path) else {
            return Ok(None);
        };
        let fault = || self.fault(path, "a list of strings");
        let items = items.as_array().ok_or_else(fault)?.iter();
        let texts = items.map(|item| item.as_str().map(str::to_owned));
        let mut texts: Vec<_> = texts.collect::<Option<_>>().ok_or_else(fault)?;
        texts.sort_unstable();
        texts.dedup();
        Ok(Some(texts))
    }

    fn subdomain(&self, path: &str) -> Result<Option<String>, ClassicError> {
        let text = self.text(path)?;
        let is_wrong = text.as_deref().is_some_and(|text| !is_subdomain(text));
        if is_wrong {
            return Err(self.fault(path, SUBDOMAIN));
        }
        Ok(text)
    }

    fn required(&self, path: &str) -> Result<String, ClassicError> {
        let text = self.text(path)?;
        text.ok_or_else(|| self.fault(path, "a string that is not empty"))
    }

    /// A text that is not empty, if there is one.
    fn text(&self, path: &str) -> Result<Option<String>, ClassicError> {
        match self.at(path) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.fault(path, "a string")),
        }
    }

    /// The value there; null is none.
    fn at(&self, path: &str) -> Option<&Value> {
        self.object.pointer(path).filter(|value| !value.is_null())
    }

    fn fault(&self, path: &str, expected: &'static str) -> ClassicError {
        // What is in a list or an object can be a secret.
        let shown = |value: &Value| match value {
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            other => other.to_string(),
        };
        let found = self.object.pointer(path).map(shown);
        let name = self.object.pointer(NAME).and_then(Value::as_str);
        ClassicError::Field {
            kind: self.kind.as_str(),
            name: shortened(name.filter(|_| path != NAME).unwrap_or_default()),
            field: path.trim_start_matches('/').replace('/', "."),
            found: found.map_or_else(
                || "missing".to_owned(),
                |found| shortened(&go::one_line(&found)),
            ),
            expected,
        }
    }
}

/// A value as an error shows it.
fn shortened(found: &str) -> String {
    match found.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}...", found.get(..end).unwrap_or_default()),
        None => found.to_owned(),
    }
}

fn is_subdomain(name: &str) -> bool {
    name.len() <= LONGEST_NAME && dns1123::is_subdomain(name)
}

const NAME: &str = "/metadata/name";

const NAMESPACE: &str = "/metadata/namespace";

const SUBDOMAIN: &str = "a DNS subdomain";

/// The most bytes of a namespace.
const LONGEST_LABEL: usize = 63;

/// The most bytes of a name of an object.
const LONGEST_NAME: usize = 253;

/// The most characters of a wrong value in an error.
const MOST_SHOWN: usize = 60;
