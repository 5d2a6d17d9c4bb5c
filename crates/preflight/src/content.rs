//! The contents of bundle images that have been read, and the objects of the cluster that an installation meets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::bundle::{
    BundledKind, RegistryBundle, RenderTarget, RenderedName, RenderedObject, field, kept,
};
use crate::config::SINCE_CONFIG;
use crate::crd::{
    self, ComparedCrd, ComparisonBudget, CrdComparison, CrdError, CrdFinding, CrdGeneration,
};
use crate::{KubernetesVersion, PreflightCheck, owner};
use olmguard_catalog::dns1123::is_subdomain;
use olmguard_catalog::memory::Heap;
use olmguard_catalog::olm::CertificateProvider;
use olmguard_catalog::version::go;

/// The reason why operator-controller cannot read a bundle from an image, in one printable line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnreadableBundle(String);

impl UnreadableBundle {
    /// Wraps a reason, which can contain file names.
    pub fn new(why: &str) -> Self {
        Self(go::one_line(why))
    }

    /// The reason.
    pub fn why(&self) -> &str {
        &self.0
    }
}

/// The kinds and objects of a cluster that are relevant to bundles.
#[derive(Clone, Debug, Default)]
pub struct ClusterObjects {
    /// The existing CRDs of the bundles, by name, with their owner and their version.
    pub crds: BTreeMap<String, Value>,
    /// All CRDs of the cluster, with their owner, if CRDs are watched.
    pub watched_crds: Arc<BTreeMap<String, Value>>,
    /// The kinds of the bundles' objects that the API server does not serve.
    pub unserved: BTreeSet<BundledKind>,
    /// The other existing objects that first installations would create, with their metadata.
    pub others: BTreeMap<RenderedObject, Value>,
    /// The objects that installations need and that do not exist.
    pub missing: BTreeSet<NeededObject>,
    /// The version of Kubernetes.
    pub kubernetes: Option<KubernetesVersion>,
}

/// An object that must exist before OLM can install a bundle, and that OLM does not create.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum NeededObject {
    /// The namespace that the bundle is installed in.
    Namespace(String),
    /// The namespace that the operator watches.
    WatchedNamespace(String),
    /// The service account that operator-controller installs the bundle with, up to release 1.10.
    ServiceAccount {
        /// The namespace of the service account.
        namespace: String,
        /// The name of the service account.
        name: String,
    },
}

impl NeededObject {
    /// Returns the object of a manifest, if it is of a kind that can be needed.
    pub fn of_manifest(manifest: &Value) -> Option<Self> {
        let text = |path: &str| manifest.pointer(path).and_then(Value::as_str);
        let name = text("/metadata/name")?.to_owned();
        match (text("/apiVersion")?, text("/kind")?) {
            ("v1", "Namespace") => Some(Self::Namespace(name)),
            ("v1", "ServiceAccount") => {
                // Without a namespace, the tool that applies the manifest chooses it.
                let namespace = text("/metadata/namespace").unwrap_or_default();
                let namespace = namespace.to_owned();
                Some(Self::ServiceAccount { namespace, name })
            }
            _ => None,
        }
    }

    /// Whether a needed object cannot be missing because this object is part of the same change. This object is either
    /// the needed one or its namespace.
    pub fn brings(&self, needed: &Self) -> bool {
        match (self, needed) {
            (Self::Namespace(name), Self::Namespace(of) | Self::WatchedNamespace(of)) => name == of,
            (Self::Namespace(name), Self::ServiceAccount { namespace, .. }) => name == namespace,
            (
                Self::ServiceAccount { namespace, name },
                Self::ServiceAccount {
                    namespace: of,
                    name: needed,
                },
            ) => name == needed && (namespace.is_empty() || namespace == of),
            _ => false,
        }
    }

    /// Whether operator-controller 1.`minor` needs the object.
    pub fn is_needed_by(&self, minor: u8) -> bool {
        match self {
            Self::Namespace(_) => true,
            Self::WatchedNamespace(_) => minor >= SINCE_CONFIG,
            Self::ServiceAccount { .. } => minor <= LAST_SERVICE_ACCOUNT,
        }
    }

    /// The check that fails if the object is missing.
    pub fn check(&self) -> PreflightCheck {
        match self {
            Self::Namespace(_) => PreflightCheck::NamespaceMissing,
            Self::WatchedNamespace(_) => PreflightCheck::WatchNamespaceMissing,
            Self::ServiceAccount { .. } => PreflightCheck::ServiceAccountMissing,
        }
    }
}

impl ClusterObjects {
    /// Adds facts about the same cluster that were read for other bundles.
    fn extend(&mut self, other: Self) {
        self.crds.extend(other.crds);
        if self.watched_crds.is_empty() {
            self.watched_crds = other.watched_crds;
        }
        self.unserved.extend(other.unserved);
        self.others.extend(other.others);
        self.missing.extend(other.missing);
        self.kubernetes = self.kubernetes.max(other.kubernetes);
    }

    /// Returns the CRD with this name, if it exists and was read.
    pub fn crd(&self, name: &str) -> Option<&Value> {
        self.crds.get(name).or_else(|| self.watched_crds.get(name))
    }

    /// Returns the existing objects that OLM would create from a bundle, except CRDs.
    pub fn others_of(
        &self,
        bundle: &RegistryBundle,
        target: RenderTarget<'_>,
    ) -> Vec<(RenderedObject, &Value)> {
        // A search for upgrade paths calls this for each edge and each setting.
        if self.others.is_empty() {
            return Vec::new();
        }
        let made = bundle.rendered(target).into_iter();
        made.filter_map(|made| self.others.get(&made).map(|there| (made, there)))
            .collect()
    }

    /// Whether the cluster serves the API of cert-manager.
    pub fn has_cert_manager(&self) -> bool {
        let mut kinds = certificate_kinds().into_iter();
        self.unserved.is_empty() || kinds.all(|kind| !self.unserved.contains(&kind))
    }

    /// Returns the kinds of a bundle's objects that the cluster does not serve.
    pub fn unserved_of(&self, bundle: &RegistryBundle) -> Vec<BundledKind> {
        // Most clusters serve all kinds.
        if self.unserved.is_empty() {
            return Vec::new();
        }
        let kinds = bundle.object_kinds().into_iter();
        kinds.filter(|kind| self.unserved.contains(kind)).collect()
    }

    /// Returns the kinds that a bundle declares as required and that the cluster does not serve, except those that the
    /// bundle defines itself.
    pub fn unserved_needs_of(&self, bundle: &RegistryBundle) -> Vec<BundledKind> {
        if self.unserved.is_empty() {
            return Vec::new();
        }
        let own = bundle.defined_kinds();
        let kinds = bundle.required_kinds().into_iter();
        kinds
            .filter(|kind| self.unserved.contains(kind) && !own.contains(kind))
            .collect()
    }
}

/// The last release 1.x that installs bundles with `spec.serviceAccount`.
const LAST_SERVICE_ACCOUNT: u8 = 10;

/// The kinds that OLM creates with cert-manager for each Deployment that has webhooks.
fn certificate_kinds() -> [BundledKind; 2] {
    ["Certificate", "Issuer"].map(|kind| BundledKind::of("cert-manager.io/v1", kind))
}

/// The contents of bundles, and the related facts about the cluster. Clones share the bundles.
#[derive(Clone, Debug, Default)]
pub struct BundleContents {
    bundles: BTreeMap<String, Arc<Result<RegistryBundle, UnreadableBundle>>>,
    cluster: Option<ClusterObjects>,
    /// The result of comparing each bundle with the CRDs of the cluster, by image. Each comparison is made once,
    /// because schemas can be large and a search for upgrade paths visits a bundle once per edge.
    compared: BTreeMap<String, Arc<ComparedCrds>>,
    /// The release 1.x for which the contents are prefetched; `None` if a command has pulled the images that it needs.
    ahead_of: Option<u8>,
}

impl BundleContents {
    /// No contents: only catalogs are known.
    pub const NONE: Self = Self {
        bundles: BTreeMap::new(),
        cluster: None,
        compared: BTreeMap::new(),
        ahead_of: None,
    };

    /// Builds contents from bundles, by the image references that catalogs have for them.
    pub fn of(
        bundles: impl IntoIterator<Item = (String, Result<RegistryBundle, UnreadableBundle>)>,
    ) -> Self {
        let bundles = bundles.into_iter();
        Self {
            bundles: bundles
                .map(|(image, bundle)| (image, Arc::new(bundle)))
                .collect(),
            ..Self::default()
        }
    }

    /// Combines contents that are prefetched for one cluster with operator-controller 1.`minor`, and adds the owners
    /// of the cluster's CRDs, if they are known.
    pub fn ahead<'c>(
        minor: u8,
        all: impl IntoIterator<Item = &'c Self>,
        crds: Option<&Arc<BTreeMap<String, Value>>>,
    ) -> Self {
        let cluster = crds.map(|crds| ClusterObjects {
            watched_crds: Arc::clone(crds),
            ..ClusterObjects::default()
        });
        let mut ahead = Self {
            ahead_of: Some(minor),
            cluster,
            ..Self::default()
        };
        for one in all {
            let Self {
                bundles,
                cluster,
                compared,
                ahead_of: _,
            } = one.clone();
            ahead.bundles.extend(bundles);
            ahead.compared.extend(compared);
            if let Some(cluster) = cluster {
                ahead.cluster.get_or_insert_default().extend(cluster);
            }
        }
        ahead
    }

    /// Whether the contents are prefetched: then an image that is missing may still be read later.
    pub fn is_ahead(&self) -> bool {
        self.ahead_of.is_some()
    }

    /// Whether the contents were prefetched for another operator-controller than 1.`minor`.
    pub fn are_of_other(&self, minor: u8) -> bool {
        self.ahead_of.is_some_and(|of| of != minor)
    }

    /// Adds the facts about the cluster. Each CRD of the cluster must have been compared before, because this drops
    /// the schemas of the bundles.
    pub fn with_cluster(self, cluster: ClusterObjects) -> Self {
        let bundles = self.bundles.into_iter().map(|(image, bundle)| {
            let bundle = match &*bundle {
                Ok(bundle) => Arc::new(Ok(bundle.without_schemas())),
                Err(_) => bundle,
            };
            (image, bundle)
        });
        Self {
            bundles: bundles.collect(),
            cluster: Some(cluster),
            ..self
        }
    }

    /// Compares a CRD of the cluster with the CRDs of the bundles, as operator-controller 1.`minor` does. Only the
    /// result is kept, because a CRD can have megabytes.
    pub fn compare(&mut self, name: &str, crd: &Value, minor: u8) {
        for (image, bundle) in &self.bundles {
            let Ok(bundle) = &**bundle else { continue };
            let compared = self.compared.entry(image.clone()).or_default();
            Arc::make_mut(compared).add(bundle, minor, |new| {
                (new == name).then_some(ReplacedCrd::OfCluster(crd))
            });
        }
    }

    /// Returns the result of comparing the CRDs of an image, if the image and the cluster are known.
    pub fn compared(&self, image: &str) -> Option<&ComparedCrds> {
        self.compared.get(image).map(Arc::as_ref)
    }

    /// Whether the contents have no image.
    pub fn is_empty(&self) -> bool {
        self.bundles.is_empty()
    }

    /// Returns the bundle in an image, or why it is unreadable, if the image is known.
    pub fn image(&self, image: &str) -> Option<Result<&RegistryBundle, &UnreadableBundle>> {
        self.bundles.get(image).map(|bundle| Result::as_ref(bundle))
    }

    /// Returns the bundle in an image, if the image is known and readable.
    pub fn bundle(&self, image: &str) -> Option<&RegistryBundle> {
        self.image(image)?.ok()
    }

    /// Returns the names of all CRDs of the bundles. Names that no CRD can have are omitted, because a name becomes
    /// part of a request path to the API server.
    pub fn crd_names(&self) -> BTreeSet<&str> {
        let bundles = self.bundles.values().flat_map(|bundle| &**bundle);
        let names = bundles.flat_map(RegistryBundle::crd_names);
        names.filter(|name| is_subdomain(name)).collect()
    }

    /// Returns the kinds of all objects of the bundles, and of the objects that OLM creates for webhooks with
    /// cert-manager.
    pub fn kinds(&self) -> BTreeSet<BundledKind> {
        let bundles = || self.bundles.values().flat_map(|bundle| &**bundle);
        let of_webhooks = bundles().filter(|bundle| bundle.has_webhooks());
        let made = of_webhooks.flat_map(|_| certificate_kinds());
        let all = bundles().flat_map(RegistryBundle::object_kinds);
        all.chain(made).collect()
    }

    /// Returns the kinds that the bundles declare as required.
    pub fn required_kinds(&self) -> BTreeSet<BundledKind> {
        let bundles = self.bundles.values().flat_map(|bundle| &**bundle);
        bundles.flat_map(RegistryBundle::required_kinds).collect()
    }

    /// Returns the objects that OLM would create from the bundle in an image and whose names are known in advance.
    /// CRDs and kinds that prevent the installation are omitted. The objects for a certificate provider are included,
    /// whichever provider is used.
    pub fn made_of(&self, image: &str, namespace: &str) -> Vec<RenderedObject> {
        let target = RenderTarget {
            namespace,
            watched: None,
            certificates: CertificateProvider::CertManager,
        };
        let rendered = self.bundle(image).map(|bundle| bundle.rendered(target));
        let mut made = rendered.unwrap_or_default();
        made.retain(|object| {
            matches!(object.name, RenderedName::Whole(_)) && object.is_of_bundle()
        });
        made
    }

    /// The facts about the cluster, if they are known.
    pub fn cluster(&self) -> Option<&ClusterObjects> {
        self.cluster.as_ref()
    }
}

impl Heap for BundleContents {
    /// Counts the bundles and the findings in the cluster's CRDs. Other facts about the cluster are only a few names.
    fn heap_bytes(&self) -> usize {
        let bundles = self.bundles.values().flat_map(|bundle| &**bundle);
        let compared = self.compared.values();
        let crds = compared.flat_map(|compared| &compared.refused);
        let findings = crds.flat_map(|crd| &crd.comparison.findings);
        let findings = findings.map(CrdFinding::bytes);
        bundles.map(Heap::heap_bytes).chain(findings).sum()
    }
}

/// The cluster that a bundle would be installed in.
#[derive(Clone, Copy, Debug)]
pub enum InstallTarget<'a> {
    /// A cluster whose objects are known.
    Cluster(&'a ClusterObjects),
    /// A cluster of which only the installed bundle is known. Its CRDs may have been edited after the installation.
    Installed(&'a RegistryBundle),
}

/// A CRD of a bundle that cannot replace the existing one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RefusedCrd {
    /// The name of the CRD.
    pub name: String,
    /// The differences that prevent the replacement.
    pub comparison: CrdComparison,
}

impl RefusedCrd {
    /// Returns the reasons for users, the worst first, each with the name of the CRD. `None` stands for a crash of
    /// operator-controller.
    pub fn of_people(&self) -> impl Iterator<Item = (&str, Option<&CrdFinding>)> {
        let panics = self.comparison.panics.then_some(None);
        let changes = self.comparison.of_people().into_iter().map(Some);
        let all = panics.into_iter().chain(changes);
        all.map(|found| (&*self.name, found))
    }
}

/// The result of comparing all CRDs of a bundle.
#[derive(Clone, Debug, Default)]
pub struct ComparedCrds {
    /// The CRDs that cannot replace the existing ones, in the order of the bundle's files.
    pub refused: Vec<RefusedCrd>,
    /// The first CRD that cannot be compared, because it has no versions or is too large.
    pub uncompared: Option<UncomparedCrd>,
    /// What further comparisons for the bundle may use.
    budget: ComparisonBudget,
}

/// A CRD that cannot be compared.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("bundle {bundle}: a CRD cannot be compared: {error}")]
pub struct UncomparedCrd {
    /// The name of the bundle whose CRD would replace it.
    bundle: String,
    /// The position among the CRDs of the bundle.
    at: usize,
    error: CrdError,
}

impl InstallTarget<'_> {
    /// The cluster, if its objects are known.
    pub fn cluster(&self) -> Option<&ClusterObjects> {
        match self {
            Self::Cluster(cluster) => Some(cluster),
            Self::Installed(_) => None,
        }
    }
}

impl ComparedCrds {
    /// Compares the CRDs of a bundle with those of the bundle that it would replace, as operator-controller 1.`minor`
    /// does. For a release that compares differently, only findings that the API server enforces are certain.
    pub fn of(old: &RegistryBundle, new: &RegistryBundle, minor: u8) -> Self {
        let mut compared = Self::default();
        compared.add(new, minor, |name| {
            let mut crds = old.crds().iter();
            let crd = crds.find(|crd| crd_name(crd) == Some(name));
            // The API server has converted other versions to v1 in a way that is not known here.
            let crd = crd.filter(|crd| is_v1(crd));
            crd.map(|crd| ReplacedCrd::OfBundle(old, crd))
        });
        compared
    }

    /// Compares each CRD of a bundle with the existing CRD of the same name, if `there` returns one. Results are in the
    /// order of the bundle's files.
    fn add<'a>(
        &mut self,
        bundle: &RegistryBundle,
        minor: u8,
        there: impl Fn(&str) -> Option<ReplacedCrd<'a>>,
    ) {
        let crds = bundle.crds().iter().enumerate();
        for (at, new) in crds.filter(|(_, crd)| is_v1(crd)) {
            let Some(old) = crd_name(new).and_then(&there) else {
                continue;
            };
            match compare_one(bundle, new, old, minor, &mut self.budget) {
                Ok(refused) => self.refused.extend(refused),
                Err(error) => {
                    let bundle = bundle.name().to_owned();
                    let new = UncomparedCrd { bundle, at, error };
                    let both = self.uncompared.take().into_iter().chain([new]);
                    self.uncompared = both.min_by_key(|uncompared| uncompared.at);
                }
            }
        }
        let at = |refused: &RefusedCrd| {
            let mut crds = bundle.crds().iter();
            crds.position(|crd| crd_name(crd) == Some(&refused.name))
        };
        self.refused.sort_by_cached_key(at);
    }
}

/// An existing CRD.
#[derive(Clone, Copy)]
enum ReplacedCrd<'a> {
    /// The CRD as the API server returns it.
    OfCluster(&'a Value),
    /// The CRD as it is in the installed bundle.
    OfBundle(&'a RegistryBundle, &'a Value),
}

fn compare_one(
    by: &RegistryBundle,
    new: &Value,
    old: ReplacedCrd<'_>,
    minor: u8,
    budget: &mut ComparisonBudget,
) -> Result<Option<RefusedCrd>, CrdError> {
    let new = rendered(by, new)?;
    let old = match old {
        ReplacedCrd::OfCluster(crd) => ComparedCrd::read(crd)?,
        ReplacedCrd::OfBundle(bundle, crd) => rendered(bundle, crd)?.created(),
    };
    let mut comparison = crd::compare(&old, &new, CrdGeneration::of(minor), budget)?;
    if !CrdGeneration::is_of(minor) {
        comparison = comparison.of_other_release();
    }
    let is_refused = comparison.panics || !comparison.findings.is_empty();
    Ok(is_refused.then(|| RefusedCrd {
        name: new.name.to_owned(),
        comparison,
    }))
}

/// Returns the fields of a CRD that show its owner and its resource version.
pub fn owned(crd: &Value) -> Value {
    kept(crd, &owner::MARKS)
}

/// Whether a CRD is of `apiextensions.k8s.io/v1`. Other versions are not compared, and API servers no longer accept
/// them.
fn is_v1(crd: &Value) -> bool {
    let api_version = crd.get("apiVersion").and_then(Value::as_str);
    api_version == Some("apiextensions.k8s.io/v1")
}

fn crd_name(crd: &Value) -> Option<&str> {
    field(crd, "/metadata/name").and_then(Value::as_str)
}

/// Reads a CRD as OLM renders it.
fn rendered<'a>(bundle: &RegistryBundle, object: &'a Value) -> Result<ComparedCrd<'a>, CrdError> {
    let read = ComparedCrd::read(object)?;
    Ok(if bundle.converted().contains(read.name) {
        read.converted_by_webhook()
    } else {
        read
    })
}
