//! Sentences about a move. Foreign names become one printable line.

use olmguard_catalog::olm::OlmRelease;
use olmguard_catalog::version::go;
use olmguard_engine::explain::text::{counted, list, names};
use olmguard_preflight::support::Unsupported;

use crate::migrate::objects::ObjectKey;
use crate::migrate::plan::{MoveChange, MoveNeed, MoveVerdict, Obstacle};

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

    /// Describes why the Subscription cannot move.
    pub(super) fn sentence(&self) -> String {
        let text = match self {
            Self::Refused { reason, .. } => return reason.clone(),
            Self::NotInCatalog { bundle, successors } => return not_in_catalog(bundle, successors),
            Self::NotPinned { bundle } => {
                let bundle = go::escape(bundle);
                return format!("no version selects the installed bundle {bundle} and no other");
            }
            Self::CsvMissing(name) => return csv_missing(name),
            Self::Several { others } => return several(others),
            Self::ExtensionExists { name } => {
                let name = go::escape(name);
                return format!("ClusterExtension {name} has this package or this name already");
            }
            Self::SeveralNamespaces(watched) => {
                return format!(
                    "the operator watches namespaces {} and does not support AllNamespaces: \
                     OLM v1 supports one namespace or all",
                    names(watched, MOST_NAMES)
                );
            }
            Self::NoStatus => {
                "the Subscription has no status, so the installed version is unknown: use the \
                 object of the cluster"
            }
            Self::Unsupported(reason) => unsupported(*reason),
            Self::CrdsNotAdopted => {
                "the operator owns CRDs, and an operator-controller with BoxcutterRuntime does not \
                 adopt existing CRDs"
            }
            Self::NamespaceUnknown => {
                "it is not known which namespaces the operator watches: give the OperatorGroup of its \
                 namespace, which must be the only one"
            }
        };
        text.to_owned()
    }
}

fn not_in_catalog(bundle: &str, successors: &[String]) -> String {
    let bundle = go::escape(bundle);
    let target = match successors {
        [] => "a version that the catalog has".to_owned(),
        successors => names(successors, MOST_NAMES),
    };
    format!("no catalog has the installed bundle {bundle}: first upgrade with OLM v0 to {target}")
}

fn csv_missing(name: &str) -> String {
    let name = go::escape(name);
    format!(
        "ClusterServiceVersion {name} is unknown, and so are its CRDs and webhooks: give it too"
    )
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

    /// Describes what else is needed.
    pub(super) fn sentence(&self) -> String {
        let text = match self {
            Self::Gate(gate) => {
                let gate = gate.as_str();
                return format!("the feature gate {gate} of operator-controller must be on");
            }
            Self::ServiceAccount(name) => {
                let name = go::escape(name);
                return format!(
                    "ServiceAccount {name}, which can create and manage each object of the bundle, \
                     and has all permissions that the bundle grants"
                );
            }
            Self::NoBoxcutter => {
                "the feature gate BoxcutterRuntime of operator-controller must be off: with it, \
                 existing CRDs are not adopted"
            }
            Self::ConfigField => {
                "a ClusterExtension CRD with spec.config, such as the experimental one: without it \
                 the API server removes the field"
            }
            Self::Certificates => {
                "a provider of certificates for the webhooks: cert-manager, or OpenShift's service \
                 CA"
            }
        };
        text.to_owned()
    }
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

    /// Describes what is different afterwards.
    pub(super) fn sentence(&self) -> String {
        let text = match self {
            Self::WatchesAll(before) => {
                let before = names(before, MOST_NAMES);
                return format!("the operator watches all namespaces, no longer only {before}");
            }
            Self::SettingsLost(lost) => {
                let lost = names(lost, MOST_NAMES);
                return format!(
                    "the extension does not have these settings, because this OLM does not take \
                     them: {lost}"
                );
            }
            Self::NoUpgradePath { newer } => {
                let newer = counted(*newer, "newer version");
                return format!("the catalog has {newer}, but no upgrade path");
            }
            Self::CsvPhase(phase) => {
                let phase = go::escape(phase);
                return format!("the ClusterServiceVersion is in phase {phase}: fix it first");
            }
            Self::CatalogNotMatched => {
                "no ClusterCatalog has the image or the name of the CatalogSource: the extension \
                 selects all catalogs"
            }
            Self::ScopeAssumed => {
                "no single OperatorGroup is known: olmguard assumes that the operator watches all \
                 namespaces"
            }
            Self::NoApproval => {
                "the approval is Manual, and no version is pinned: set a version to prevent \
                 automatic upgrades"
            }
            Self::Dependency => {
                "OLM v0 created the Subscription for a package that depends on it, and would create \
                 it again: first move or remove that package. OLM v1 does not resolve dependencies"
            }
            Self::ManualNamespace => {
                "another Subscription of the namespace has Manual approval, which OLM v0 applies to \
                 all: the version stays pinned"
            }
            Self::UpgradePending => "an upgrade with OLM v0 is pending: finish it first",
        };
        text.to_owned()
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

/// Formats a key.
fn key(key: &ObjectKey) -> String {
    format!("{}/{}", go::escape(&key.namespace), go::escape(&key.name))
}

/// Maximum number of names in a sentence.
const MOST_NAMES: usize = 5;
