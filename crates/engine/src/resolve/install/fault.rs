//! The reasons why operator-controller does not install a bundle, and how certain they are.

use std::ops::RangeInclusive;

use crate::extension::CrdEnforcement;
use olmguard_catalog::InstallModes;
use olmguard_catalog::image_reference::ReferenceError;
use olmguard_catalog::olm::InstallSettings;
use olmguard_catalog::version::go;
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::bundle::{BundleFault, BundledKind};
use olmguard_preflight::config::{self, ConfigFault};
use olmguard_preflight::content::{RefusedCrd, UncomparedCrd, UnreadableBundle};
use olmguard_preflight::crd::{CrdFinding, CrdGeneration};
use olmguard_preflight::owner::ForeignObject;
use olmguard_preflight::support::Unsupported;

/// Why operator-controller does not install a bundle.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum InstallFault {
    /// The name of the extension is too long.
    Name(NameTooLong),
    /// The image reference of the bundle is invalid.
    Image(ReferenceError),
    /// The image does not contain a bundle.
    Format(UnreadableBundle),
    /// The bundle uses a feature that operator-controller does not support.
    Support(Unsupported),
    /// The configuration is invalid. If there are several faults, their order upstream is not defined.
    Config(Vec<ConfigFault>),
    /// The manifests of the bundle have at least one fault, in the order of the validators.
    Manifests(Vec<BundleFault>),
    /// The cluster does not serve these kinds of objects, at least one.
    Unserved(Vec<BundledKind>),
    /// The bundle has webhooks, but the cluster does not serve the kinds of cert-manager.
    NoCertManager,
    /// The cluster has objects that operator-controller does not take over, at least one.
    Foreign(Vec<ForeignObject>),
    /// A phase of the revision has too many objects.
    Crowded,
    /// CRDs of the bundle cannot replace existing ones.
    Crds(CrdRefusal),
    /// A CRD cannot be compared.
    Uncompared(UncomparedCrd),
}

/// CRDs of a bundle that cannot replace the CRDs of the cluster.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CrdRefusal {
    /// The CRDs, at least one, in the order of the bundle's files.
    pub crds: Vec<RefusedCrd>,
    /// The bundle with the replaced CRDs, if they are not known from the cluster.
    pub replaced: Option<String>,
    /// Whether operator-controller compares CRDs for this extension.
    pub enforcement: CrdEnforcement,
}

/// The name of an extension is longer than the objects that are named after it allow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NameTooLong {
    /// The length of the name, in characters.
    pub characters: usize,
    /// The longest allowed length, in characters.
    pub most: usize,
}

/// The faults of an installation, by the settings of operator-controller.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InstallFaults {
    /// The first fault for each combination of settings, without duplicates. The fault for the default settings comes
    /// first.
    pub faults: Vec<InstallFault>,
    /// Whether every combination of settings has a fault.
    pub is_certain: bool,
    /// The install modes of the bundle, as far as they are known.
    pub modes: InstallModes,
    /// Whether the image of the bundle is known.
    pub is_by_image: bool,
    /// The minor version of the release 1.x that the faults apply to.
    pub minor: u8,
}

impl InstallFaults {
    /// The failed checks, each once.
    pub fn checks(&self) -> Vec<PreflightCheck> {
        let mut checks: Vec<PreflightCheck> = Vec::new();
        for check in self.faults.iter().flat_map(InstallFault::checks) {
            if !checks.contains(&check) {
                checks.push(check);
            }
        }
        checks
    }

    /// Whether operator-controller refuses the image reference, and so pulls nothing.
    pub fn refuse_image(&self) -> bool {
        let mut faults = self.faults.iter();
        faults.any(|fault| matches!(fault, InstallFault::Image(_)))
    }

    /// Whether OLM installs the bundle anyway, because the extension says that CRDs are not compared.
    pub fn are_overridden(&self) -> bool {
        let is_overridden = |fault: &InstallFault| match fault {
            InstallFault::Crds(refusal) => refusal.is_overridden(),
            _ => false,
        };
        self.faults.iter().all(is_overridden)
    }

    /// Whether all faults pass a test.
    pub(super) fn all(&self, is: impl Fn(&InstallFault) -> bool) -> bool {
        self.faults.iter().all(is)
    }

    /// Whether operator-controller puts the name of the bundle after the error, as before 1.3.
    pub fn are_named_last(&self) -> bool {
        self.minor < 3
    }

    /// The text of operator-controller, if it is the same for all settings and in every run.
    pub fn upstream(&self) -> Option<String> {
        match self.faults.as_slice() {
            [only] => only.upstream(self.minor),
            _ => None,
        }
    }
}

impl InstallFault {
    /// The failed check; the first if there are several.
    pub fn check(&self) -> PreflightCheck {
        match self {
            Self::Name(_) => PreflightCheck::ReleaseNameTooLong,
            Self::Image(_) => PreflightCheck::ImageRefInvalid,
            Self::Format(_) => PreflightCheck::BundleFormat,
            Self::Support(unsupported) => unsupported.check(),
            Self::Config(faults) => faults
                .first()
                .map_or(PreflightCheck::ConfigInvalid, ConfigFault::check),
            Self::Manifests(faults) => faults
                .first()
                .map_or(PreflightCheck::CrdManifests, |fault| fault.check),
            Self::Unserved(_) => PreflightCheck::KindNotServed,
            Self::NoCertManager => PreflightCheck::WebhookProviderMissing,
            Self::Foreign(objects) => objects
                .first()
                .map_or(PreflightCheck::ExistsUnowned, ForeignObject::check),
            Self::Crowded => PreflightCheck::RevisionTooManyObjects,
            Self::Crds(refusal) => refusal.checks().next().unwrap_or(PreflightCheck::CrdPanic),
            Self::Uncompared(_) => PreflightCheck::CrdApproximate,
        }
    }

    /// The failed checks, in the order of operator-controller or the worst first.
    fn checks(&self) -> Vec<PreflightCheck> {
        match self {
            Self::Manifests(faults) => faults.iter().map(|fault| fault.check).collect(),
            Self::Foreign(objects) => objects.iter().map(ForeignObject::check).collect(),
            Self::Crds(refusal) => refusal.checks().collect(),
            _ => vec![self.check()],
        }
    }

    /// Whether the fault is in the bundle, regardless of the configuration.
    pub(super) fn is_of_bundle(&self) -> bool {
        matches!(
            self,
            Self::Image(_) | Self::Format(_) | Self::Support(_) | Self::Manifests(_)
        )
    }

    /// Whether an operator-controller 1.`minor` with these settings refuses the bundle for this fault in every run.
    pub(super) fn is_certain(&self, settings: InstallSettings, minor: u8) -> bool {
        match self {
            // Older releases read one field of the configuration, or an annotation instead.
            Self::Config(_) => minor >= SINCE_CONFIG_SCHEMA,
            // The API documents the longest label as the limit of Boxcutter.
            Self::Name(name) => !settings.boxcutter || name.characters > LONGEST_LABEL,
            // The image may contain a Helm chart.
            Self::Format(_) => !settings.helm_charts,
            Self::Crds(refusal) => refusal.is_certain(),
            Self::Uncompared(_) => false,
            _ => true,
        }
    }

    fn upstream(&self, minor: u8) -> Option<String> {
        match self {
            Self::Image(error) => of_reference(error, minor),
            Self::Support(unsupported) => unsupported.upstream(minor),
            Self::Config(faults) if minor >= SINCE_CONFIG_SCHEMA => config::upstream(faults),
            Self::Manifests(faults) => {
                let lines: Vec<_> = faults.iter().map(|fault| &*fault.upstream).collect();
                let is_prefixed = RENDERING_TEXTS.contains(&minor);
                let prefix = if is_prefixed {
                    "error rendering bundle: "
                } else {
                    ""
                };
                Some(format!("{prefix}{}", lines.join("\n")))
            }
            Self::Crds(refusal) if CrdGeneration::is_of(minor) => refusal.upstream(),
            Self::Format(_)
            | Self::Unserved(_)
            | Self::NoCertManager
            | Self::Foreign(_)
            | Self::Crowded
            | Self::Uncompared(_)
            | Self::Crds(_)
            | Self::Config(_)
            | Self::Name(_) => None,
        }
    }
}

impl CrdRefusal {
    /// The obstacles of all CRDs, the worst first. Each is the name of a CRD and its change, or `None` if
    /// operator-controller panics. If CRDs are not compared and the API server refuses some changes, only those are
    /// listed.
    pub fn worst_first(&self) -> Vec<(&str, Option<&CrdFinding>)> {
        let mut all: Vec<_> = self.crds.iter().flat_map(RefusedCrd::of_people).collect();
        let is_of_server =
            |found: Option<&CrdFinding>| found.is_some_and(CrdFinding::is_refused_by_server);
        let refuses = all.iter().any(|(_, found)| is_of_server(*found));
        if self.enforcement == CrdEnforcement::None && refuses {
            all.retain(|(_, found)| is_of_server(*found));
        }
        // The sort is stable: obstacles of equal rank keep the order of the files.
        all.sort_by_key(|(_, found)| found.map_or((false, 1), CrdFinding::rank));
        all
    }

    /// Whether the API server refuses a CRD, regardless of the settings of the extension.
    pub fn is_by_server(&self) -> bool {
        let mut findings = self.crds.iter().flat_map(|crd| &crd.comparison.findings);
        findings.any(CrdFinding::is_refused_by_server)
    }

    /// Whether OLM installs the bundle anyway, because CRDs are not compared.
    fn is_overridden(&self) -> bool {
        self.enforcement == CrdEnforcement::None && !self.is_by_server()
    }

    /// The failed checks, the worst first.
    fn checks(&self) -> impl Iterator<Item = PreflightCheck> {
        let found = self.worst_first().into_iter();
        let found =
            found.map(|(_, found)| found.map_or(PreflightCheck::CrdPanic, CrdFinding::check));
        let replaced = self.replaced.iter();
        found.chain(replaced.map(|_| PreflightCheck::CrdApproximate))
    }

    /// The text of operator-controller, if it has only one line. The order of several lines is not defined.
    fn upstream(&self) -> Option<String> {
        let [RefusedCrd { name, comparison }] = self.crds.as_slice() else {
            return None;
        };
        let [found] = comparison.findings.as_slice() else {
            return None;
        };
        let is_whole = self.is_certain() && self.enforcement == CrdEnforcement::Strict;
        let line = (is_whole && !comparison.panics).then(|| found.upstream())??;
        Some(format!(
            "validating upgrade for CRD {}: {line}",
            go::quote(name)
        ))
    }

    /// Whether operator-controller or the API server refuses one of the CRDs in every run. CRDs that are taken from a
    /// bundle may differ from those in the cluster.
    fn is_certain(&self) -> bool {
        let all = self.worst_first();
        let worst = all.first();
        let is_steady = worst.is_some_and(|(_, found)| found.is_none_or(CrdFinding::is_certain));
        self.replaced.is_none() && is_steady && !self.is_overridden()
    }
}

/// The text for an image reference. Releases up to 1.5 mark an error that is not retried as terminal; releases from
/// 1.10 on do not. The releases between them are not known.
fn of_reference(error: &ReferenceError, minor: u8) -> Option<String> {
    match minor {
        0..=5 => Some(format!("terminal error: {error}")),
        6..=9 => None,
        _ => Some(error.to_string()),
    }
}

/// The longest value of a label, in characters.
pub(super) const LONGEST_LABEL: usize = 63;

/// The first release 1.x that has a schema for configurations.
const SINCE_CONFIG_SCHEMA: u8 = 7;

/// The releases 1.x whose errors name rendering as the origin of a fault in the manifests.
const RENDERING_TEXTS: RangeInclusive<u8> = 3..=5;
