//! The objects of OLM v0 from which a move to OLM v1 starts, from a cluster or a manifest.
//!
//! Only relevant fields are kept. Names that are used in commands later are names that an API server accepts.
//!
//! Upstream: operator-framework/api, [`pkg/operators/v1alpha1`] and [`pkg/operators/v1`].
//!
//! [`pkg/operators/v1alpha1`]: https://github.com/operator-framework/api/tree/v0.45.0/pkg/operators/v1alpha1
//! [`pkg/operators/v1`]: https://github.com/operator-framework/api/tree/v0.45.0/pkg/operators/v1

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use olmguard_catalog::version::go;
use olmguard_catalog::{InstallFacts, dns1123, word_set};
use olmguard_preflight::bundle::{NoBundle, RegistryBundle};

/// The objects of OLM v0 in one cluster.
#[derive(Clone, Debug, Default)]
pub struct ClassicObjects {
    subscriptions: BTreeMap<ObjectKey, Subscription>,
    csvs: BTreeMap<ObjectKey, ClassicCsv>,
    /// Namespaces that each `OperatorGroup` selects. No namespace means all. `None` if only a cluster can evaluate its
    /// selector.
    groups: BTreeMap<ObjectKey, Option<Vec<String>>>,
    /// Image of each `CatalogSource`, if it has one.
    sources: BTreeMap<ObjectKey, Option<String>>,
    /// Namespaces that have a `Subscription` with Manual approval.
    manual: BTreeSet<String>,
    /// Subscriptions of each package.
    packages: BTreeMap<String, Vec<ObjectKey>>,
}

/// The namespace and the name of an object.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ObjectKey {
    /// Namespace: a DNS label.
    pub namespace: String,
    /// Name: a DNS subdomain.
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
    /// Entries of `spec.config` that are not empty.
    pub(super) config: Map<String, Value>,
    /// Whether OLM v0 created the Subscription as a dependency of another package.
    pub(super) is_dependency: bool,
    /// `status`. `None` for a manifest that was never applied.
    pub(super) status: Option<SubscriptionStatus>,
}

word_set! {
    /// Approval of upgrades. Only the exact word `Manual` counts as manual.
    pub(super) enum Approval {
        Automatic => "Automatic",
        Manual => "Manual",
    }
}

/// The status of a `Subscription` in OLM v0.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct SubscriptionStatus {
    /// `status.installedCSV`: a DNS subdomain.
    pub(super) installed_csv: Option<String>,
    /// `status.currentCSV`, which is the installed one or the next one: a DNS subdomain.
    current_csv: Option<String>,
    /// Whether an upgrade is not finished: `status.state` is `UpgradePending`.
    pub(super) is_pending: bool,
}

/// A `ClusterServiceVersion` that is not a copy.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ClassicCsv {
    /// Facts that operator-controller also checks.
    pub(super) install: InstallFacts,
    /// Names of the CRDs that the CSV owns, each a DNS subdomain, in byte order.
    pub(super) crds: Vec<String>,
    /// `status.phase`, empty if there is none.
    pub(super) phase: String,
}

/// The namespaces that the operators of a namespace watch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum WatchScope {
    /// All namespaces.
    All,
    /// The namespace itself.
    Own,
    /// One other namespace.
    Single(String),
    /// Several namespaces, in byte order.
    Several(Vec<String>),
    /// Unknown: there is no `OperatorGroup`, or several, or its selector is not evaluated.
    Unknown,
}

/// The reason why an object of OLM v0 cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ClassicError {
    /// A field is missing, or is not valid in its API.
    #[error("{}{field} is {found}: expected {expected}", of_object(.kind, .name))]
    Field {
        /// Kind of the object.
        kind: &'static str,
        /// Name of the object, as far as it is known.
        name: String,
        /// Path of the field.
        field: String,
        /// Value of the field as JSON, or that it is missing.
        found: String,
        /// Value that the API accepts.
        expected: &'static str,
    },
    /// Two different objects have one kind, namespace and name.
    #[error(
        "{kind} {:?} in namespace {:?} is defined twice, with different content: give one cluster at a time",
        .key.name, .key.namespace
    )]
    Twice {
        /// Kind of both objects.
        kind: &'static str,
        /// Namespace and name of both objects.
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
    /// Returns the kind of an object, if it is one of these.
    pub fn of(object: &Value) -> Option<Self> {
        let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let (group, _) = text("apiVersion").split_once('/')?;
        let mut all = Self::ALL.into_iter();
        all.find(|kind| group == Self::GROUP && kind.as_str() == text("kind"))
    }

    /// API group of all kinds.
    pub const GROUP: &str = "operators.coreos.com";
}

impl ClassicObjects {
    /// Adds an object. Copies of a `ClusterServiceVersion` and objects of other kinds are ignored.
    ///
    /// # Errors
    /// If the object cannot be used, or differs from a previous object with the same key.
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
            ClassicKind::CatalogSource => add(&mut self.sources, &key, read.text("/spec/image")?),
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

    /// Returns the Subscriptions, in byte order of their namespaces and names.
    pub(super) fn subscriptions(&self) -> impl Iterator<Item = &Subscription> {
        self.subscriptions.values()
    }

    /// Returns the other Subscriptions of the same package.
    pub(super) fn others(&self, subscription: &Subscription) -> impl Iterator<Item = &ObjectKey> {
        let all = self.packages.get(&subscription.package).into_iter();
        all.flatten().filter(move |key| **key != subscription.key)
    }

    /// Returns the CSVs that no Subscription has installed or installs, except those that OLM v0 replaces, and its own
    /// API server. A Subscription without a status can have any CSV of its namespace.
    pub(super) fn unsubscribed(&self) -> impl Iterator<Item = &ObjectKey> {
        let (known, unknown): (Vec<_>, Vec<_>) =
            self.subscriptions().partition(|one| one.status.is_some());
        let unknown: BTreeSet<_> = unknown.iter().map(|one| &one.key.namespace).collect();
        let known = known.into_iter().flat_map(|one| {
            let status = one.status.iter();
            let names = status.flat_map(|status| [&status.installed_csv, &status.current_csv]);
            names.flatten().map(|name| one.key.sibling(name))
        });
        let known: BTreeSet<_> = known.collect();
        let is_passing = |csv: &ClassicCsv| ["Replacing", "Deleting"].contains(&&*csv.phase);
        let others = self.csvs.iter().filter(move |(key, csv)| {
            !known.contains(key) && !unknown.contains(&key.namespace) && !is_passing(csv)
        });
        let others = others.map(|(key, _)| key);
        others.filter(|key| key.name != PACKAGE_SERVER)
    }

    /// Returns the CSV with this key.
    pub(super) fn csv(&self, key: &ObjectKey) -> Option<&ClassicCsv> {
        self.csvs.get(key)
    }

    /// Returns the image of a `CatalogSource`, if it is known.
    pub(super) fn source_image(&self, key: &ObjectKey) -> Option<&str> {
        self.sources.get(key)?.as_deref()
    }

    /// Returns the approval of upgrades in a namespace. If one Subscription has Manual, it applies to all.
    pub(super) fn approval(&self, namespace: &str) -> Approval {
        if self.manual.contains(namespace) {
            Approval::Manual
        } else {
            Approval::Automatic
        }
    }

    /// Returns the namespaces that the operators of a namespace watch.
    pub(super) fn scope(&self, namespace: &str) -> WatchScope {
        let first = ObjectKey {
            namespace: namespace.to_owned(),
            name: String::new(),
        };
        let here = self.groups.range(first..);
        let mut here = here.take_while(|(key, _)| key.namespace == namespace);
        match (here.next(), here.next()) {
            (Some((_, Some(targets))), None) => WatchScope::of(targets, namespace),
            _ => WatchScope::Unknown,
        }
    }
}

impl Subscription {
    /// Returns the name of the installed bundle in OLM v0.
    pub(super) fn installed_name(&self) -> Option<&str> {
        self.status.as_ref()?.installed_csv.as_deref()
    }
}

/// Adds a value. Returns false, and adds nothing, if another value has its key.
fn add<T: PartialEq>(to: &mut BTreeMap<ObjectKey, T>, key: &ObjectKey, value: T) -> bool {
    match to.get(key) {
        Some(before) => *before == value,
        None => to.insert(key.clone(), value).is_none(),
    }
}

impl WatchScope {
    /// Returns the scope of an `OperatorGroup` with these namespaces. An empty one means all.
    fn of(targets: &[String], namespace: &str) -> Self {
        match targets {
            [] => Self::All,
            targets if targets.iter().any(String::is_empty) => Self::All,
            [only] if only == namespace => Self::Own,
            [only] => Self::Single(only.clone()),
            several => Self::Several(several.to_vec()),
        }
    }
}

impl ObjectKey {
    /// Returns the key of an object in the same namespace.
    pub(super) fn sibling(&self, name: &str) -> Self {
        Self {
            namespace: self.namespace.clone(),
            name: name.to_owned(),
        }
    }
}

/// Formats an object at the start of an error. Without a name, only its kind.
fn of_object(kind: &str, name: &str) -> String {
    if name.is_empty() {
        format!("{kind}: ")
    } else {
        format!("{kind} {name:?}: ")
    }
}

// === Reading one object of OLM v0 ===
//
// Errors name the field that is missing or not valid.

/// Reads one object.
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

    /// Reads the configuration, without empty entries.
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
            current_csv: self.subdomain("/status/currentCSV")?,
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
            install: bundle.install_facts(),
            crds,
            phase: self.text("/status/phase")?.unwrap_or_default(),
        })
    }

    /// Reads the namespaces in effect, otherwise the requested ones.
    fn group(&self) -> Result<Option<Vec<String>>, ClassicError> {
        let targets = self.texts("/status/namespaces")?;
        if targets.is_some() {
            return Ok(targets);
        }
        let targets = self.texts("/spec/targetNamespaces")?.unwrap_or_default();
        let selects = self.at("/spec/selector").and_then(Value::as_object);
        let selects = selects.is_some_and(|selector| !selector.is_empty());
        let is_known = !targets.is_empty() || !selects;
        Ok(is_known.then_some(targets))
    }

    /// Reads a list of texts, without duplicates, in byte order.
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

    /// Reads a text, if it exists and is not empty.
    fn text(&self, path: &str) -> Result<Option<String>, ClassicError> {
        match self.at(path) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.fault(path, "a string")),
        }
    }

    /// Returns the value at a path. Null counts as missing.
    fn at(&self, path: &str) -> Option<&Value> {
        self.object.pointer(path).filter(|value| !value.is_null())
    }

    fn fault(&self, path: &str, expected: &'static str) -> ClassicError {
        // The contents of a list or an object can be secret.
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

/// Cuts a value for an error.
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

/// The CSV of OLM v0 itself, which has no Subscription.
const PACKAGE_SERVER: &str = "packageserver";

/// Maximum bytes of a namespace.
const LONGEST_LABEL: usize = 63;

/// Maximum bytes of the name of an object.
const LONGEST_NAME: usize = 253;

/// Maximum characters of an invalid value in an error.
const MOST_SHOWN: usize = 60;
