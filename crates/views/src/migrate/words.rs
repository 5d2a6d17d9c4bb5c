//! What there is to say of a move: each obstacle, requirement and difference with its id and its sentence. Foreign names
//! become one printable line.

use derive_more::Display;

use olmguard_catalog::olm::{InstallGate, OlmRelease};
use olmguard_catalog::version::go::escape;
use olmguard_engine::explain::text::{counted, list, names};
use olmguard_engine::judge::Token;
use olmguard_preflight::support::Unsupported;

use crate::migrate::objects::{ClassicObjects, ObjectKey};
use crate::migrate::plan::MoveVerdict;

/// The reason why a `Subscription` cannot move.
#[derive(Clone, Debug, Display, Eq, PartialEq)]
pub(super) enum Obstacle {
    /// The creation of the extension is denied or undecided.
    #[display("{reason}")]
    Refused { token: Token, reason: String },
    /// OLM v0 has not reported a status.
    #[display(
        "the Subscription has no status, so the installed version is unknown: use the object of the \
         cluster"
    )]
    NoStatus,
    /// No catalog has the installed bundle. It can be upgraded to these bundles.
    #[display("{}", not_in_catalog(bundle, successors))]
    NotInCatalog {
        bundle: String,
        successors: Vec<String>,
    },
    /// No version pins the installed bundle.
    #[display(
        "no version selects the installed bundle {} and no other",
        escape(bundle)
    )]
    NotPinned { bundle: String },
    /// Other Subscriptions also request the package. If there are very many, only the first ones.
    #[display("{}", several(others))]
    Several { others: Vec<ObjectKey> },
    /// An extension already requests the package, or has its name.
    #[display(
        "ClusterExtension {} has this package or this name already",
        escape(name)
    )]
    ExtensionExists { name: String },
    /// The installed CSV is unknown, and so are its CRDs and webhooks.
    #[display(
        "ClusterServiceVersion {} is unknown, and so are its CRDs and webhooks: give it too",
        escape(_0)
    )]
    CsvMissing(String),
    /// The CSV shows that operator-controller does not install the bundle.
    #[display("{}", unsupported(*_0))]
    Unsupported(Unsupported),
    /// operator-controller does not adopt CRDs.
    #[display(
        "the operator owns CRDs, and an operator-controller with BoxcutterRuntime does not adopt \
         existing CRDs"
    )]
    CrdsNotAdopted,
    /// The operator watches several namespaces.
    #[display(
        "the operator watches namespaces {} and does not support AllNamespaces: OLM v1 supports one \
         namespace or all",
        names(_0, MOST_NAMES)
    )]
    SeveralNamespaces(Vec<String>),
    /// The namespaces that the operator watches are unknown.
    #[display(
        "it is not known which namespaces the operator watches: give the OperatorGroup of its \
         namespace, which must be the only one"
    )]
    NamespaceUnknown,
}

impl Obstacle {
    /// Returns the id. If olmguard denies the edit, it is the reason code.
    pub(super) fn id(&self) -> &'static str {
        match self {
            Self::Refused { token, .. } => token.as_str(),
            Self::NoStatus => "status-missing",
            Self::NotInCatalog { .. } => "installed-not-in-catalog",
            Self::NotPinned { .. } => "installed-not-pinned",
            Self::Several { .. } => "several-subscriptions",
            Self::ExtensionExists { .. } => "extension-exists",
            Self::CsvMissing(_) => "csv-missing",
            Self::Unsupported(reason) => reason.check().as_str(),
            Self::CrdsNotAdopted => "crds-not-adopted",
            Self::SeveralNamespaces(_) => "several-namespaces",
            Self::NamespaceUnknown => "namespace-unknown",
        }
    }
}

fn not_in_catalog(bundle: &str, successors: &[String]) -> String {
    let bundle = escape(bundle);
    let target = match successors {
        [] => "a version that the catalog has".to_owned(),
        successors => names(successors, MOST_NAMES),
    };
    format!("no catalog has the installed bundle {bundle}: first upgrade with OLM v0 to {target}")
}

fn several(others: &[ObjectKey]) -> String {
    let verb = match others {
        [_] => "requests",
        _ => "request",
    };
    let shown: Vec<_> = others.iter().map(key).collect();
    let shown = list(&shown, ", ", MOST_NAMES);
    format!(
        "{shown} also {verb} the package: OLM v1 installs a package once in a cluster, so keep one \
         Subscription"
    )
}

fn unsupported(reason: Unsupported) -> &'static str {
    match reason {
        Unsupported::ApiServices => "the bundle owns an APIService, which OLM v1 does not install",
        Unsupported::Webhooks => {
            "the bundle has webhooks, and OLM has no provider of certificates for them"
        }
        Unsupported::NotAllNamespaces => {
            "the bundle does not support the install mode AllNamespaces"
        }
        Unsupported::NoInstallMode => "the bundle supports no install mode of OLM v1",
    }
}

/// A requirement of OLM v1 in addition to the extension.
#[derive(Clone, Debug, Display, Eq, PartialEq)]
pub(super) enum MoveNeed {
    /// A feature gate of operator-controller that must be on.
    #[display("the feature gate {} of operator-controller must be on", _0.as_str())]
    Gate(InstallGate),
    /// An operator-controller that adopts CRDs. With Boxcutter it does not.
    #[display(
        "the feature gate BoxcutterRuntime of operator-controller must be off: with it, existing CRDs \
         are not adopted"
    )]
    NoBoxcutter,
    /// A `ClusterExtension` CRD that has `spec.config`.
    #[display(
        "a ClusterExtension CRD with spec.config, such as the experimental one: without it the API \
         server removes the field"
    )]
    ConfigField,
    /// A provider of certificates for webhooks.
    #[display(
        "a provider of certificates for the webhooks: cert-manager, or OpenShift's service CA"
    )]
    Certificates,
    /// A service account with the permissions to install the bundle.
    #[display(
        "ServiceAccount {}, which can create and manage each object of the bundle, and has all \
         permissions that the bundle grants",
        escape(_0)
    )]
    ServiceAccount(String),
}

impl MoveNeed {
    /// Returns the id.
    pub(super) fn id(&self) -> &'static str {
        match self {
            Self::Gate(_) => "feature-gate",
            Self::NoBoxcutter => "boxcutter-off",
            Self::ConfigField => "config-field",
            Self::Certificates => "certificates",
            Self::ServiceAccount(_) => "service-account",
        }
    }
}

/// A difference after the move, or a fact to consider before it.
#[derive(Clone, Debug, Display, Eq, PartialEq)]
pub(super) enum MoveChange {
    /// No catalog of OLM v1 is known to correspond to the `CatalogSource`.
    #[display(
        "no ClusterCatalog has the image or the name of the CatalogSource: the extension selects all \
         catalogs"
    )]
    CatalogNotMatched,
    /// The operator watches all namespaces instead of these.
    #[display(
        "the operator watches all namespaces, no longer only {}",
        names(_0, MOST_NAMES)
    )]
    WatchesAll(Vec<String>),
    /// The operator is assumed to watch all namespaces.
    #[display(
        "no single OperatorGroup is known: olmguard assumes that the operator watches all namespaces"
    )]
    ScopeAssumed,
    /// These settings of `spec.config` do not exist in OLM v1.
    #[display(
        "the extension does not have these settings, because this OLM does not take them: {}",
        names(_0, MOST_NAMES)
    )]
    SettingsLost(Vec<String>),
    /// The approval is manual, and no version is pinned.
    #[display(
        "the approval is Manual, and no version is pinned: set a version to prevent automatic upgrades"
    )]
    NoApproval,
    /// The installed version has no upgrade edge, although this number of newer versions exist.
    #[display("the catalog has {}, but no upgrade path", counted(*newer, "newer version"))]
    NoUpgradePath { newer: usize },
    /// OLM v0 created the Subscription as a dependency.
    #[display(
        "OLM v0 created the Subscription for a package that depends on it, and would create it again: \
         first move or remove that package. OLM v1 does not resolve dependencies"
    )]
    Dependency,
    /// Another Subscription of the namespace makes approvals manual.
    #[display(
        "another Subscription of the namespace has Manual approval, which OLM v0 applies to all: the \
         version stays pinned"
    )]
    ManualNamespace,
    /// An upgrade with OLM v0 is pending.
    #[display("an upgrade with OLM v0 is pending: finish it first")]
    UpgradePending,
    /// The installed CSV is in this phase.
    #[display("the ClusterServiceVersion is in phase {}: fix it first", escape(_0))]
    CsvPhase(String),
}

impl MoveChange {
    /// Returns the id.
    pub(super) fn id(&self) -> &'static str {
        match self {
            Self::CatalogNotMatched => "catalog-not-matched",
            Self::WatchesAll(_) => "watches-all-namespaces",
            Self::ScopeAssumed => "namespaces-assumed",
            Self::SettingsLost(_) => "settings-lost",
            Self::NoApproval => "no-approval",
            Self::NoUpgradePath { .. } => "no-upgrade-path",
            Self::Dependency => "dependency",
            Self::ManualNamespace => "manual-namespace",
            Self::UpgradePending => "upgrade-pending",
            Self::CsvPhase(_) => "csv-not-succeeded",
        }
    }
}

/// Formats the result for one Subscription.
pub(super) fn verdict(verdict: MoveVerdict) -> &'static str {
    match verdict {
        MoveVerdict::Can => "can move to OLM v1",
        MoveVerdict::Cannot => "cannot move to OLM v1",
        MoveVerdict::Undecided => "undecided",
    }
}

/// Formats the first line: the number of Subscriptions, and how many can move.
pub(super) fn result(olm: OlmRelease, counts: [(MoveVerdict, usize); 3]) -> String {
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    if all == 0 {
        return "no Subscription".to_owned();
    }
    let parts = counts.into_iter().filter(|(_, count)| *count > 0);
    let parts = parts.map(|(verdict, count)| {
        let words = match verdict {
            MoveVerdict::Can => "can move",
            MoveVerdict::Cannot => "cannot move",
            MoveVerdict::Undecided => "undecided",
        };
        format!("{count} {words}")
    });
    let (olm, parts) = (olm.name(), parts.collect::<Vec<_>>().join(", "));
    format!("{} to OLM {olm}: {parts}", counted(all, "Subscription"))
}

impl ClassicObjects {
    /// Returns a sentence about each CSV that is not checked.
    pub fn unchecked(&self) -> impl Iterator<Item = String> {
        self.unsubscribed().map(|csv| {
            let csv = key(csv);
            format!("ClusterServiceVersion {csv} has no Subscription, so it is not checked")
        })
    }
}

/// Formats a key.
fn key(key: &ObjectKey) -> String {
    format!("{}/{}", escape(&key.namespace), escape(&key.name))
}

/// Maximum number of names in a sentence.
const MOST_NAMES: usize = 5;
