//! Why operator-controller does not install a bundle, and how sure that is.

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
    /// The image reference of the bundle.
    Image(ReferenceError),
    /// What is in the image: no bundle.
    Format(UnreadableBundle),
    /// The bundle itself.
    Support(Unsupported),
    /// The configuration. Several faults are in no order that holds upstream.
    Config(Vec<ConfigFault>),
    /// The manifests of the bundle: one or more faults, in the order of the validators.
    Manifests(Vec<BundleFault>),
    /// Kinds of objects that the cluster does not serve: one or more.
    Unserved(Vec<BundledKind>),
    /// The bundle has webhooks, and the cluster does not serve the kinds of cert-manager.
    NoCertManager,
    /// Objects of the cluster that operator-controller does not take over: one or more.
    Foreign(Vec<ForeignObject>),
    /// A phase of the revision has too many objects.
    Crowded,
    /// CRDs of the bundle that cannot replace others.
    Crds(CrdRefusal),
    /// A CRD that cannot be compared.
    Uncompared(UncomparedCrd),
}

/// CRDs of a bundle that cannot replace the CRDs of the cluster.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CrdRefusal {
    /// The CRDs, one or more, in the order of the bundle's files.
    pub crds: Vec<RefusedCrd>,
    /// The bundle that has the replaced CRDs, if they are not known from the cluster.
    pub replaced: Option<String>,
    /// Whether operator-controller compares CRDs for this extension.
    pub enforcement: CrdEnforcement,
}

/// The name of an extension is longer than what is named like it can be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NameTooLong {
    /// How many characters it has.
    pub characters: usize,
    /// How many it can have.
    pub most: usize,
}

/// The faults of an installation, by the settings of operator-controller.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InstallFaults {
    /// The first fault for each setting, each fault once. The fault for the default settings comes first.
    pub faults: Vec<InstallFault>,
    /// Whether every setting has one.
    pub is_certain: bool,
    /// The install modes of the bundle, as far as they are known.
    pub modes: InstallModes,
    /// Whether the image of the bundle is known.
    pub is_by_image: bool,
    /// The release 1.x that they are found for.
    pub minor: u8,
}

impl InstallFaults {
    /// The checks that fail, each once.
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

    /// Whether all are in the configuration.
    pub(super) fn are_of_config(&self) -> bool {
        let mut faults = self.faults.iter();
        faults.all(|fault| matches!(fault, InstallFault::Config(_)))
    }

    /// Whether all are in the bundle, whatever the configuration.
    pub(super) fn are_of_bundle(&self) -> bool {
        let mut faults = self.faults.iter();
        faults.all(|fault| {
            matches!(
                fault,
                InstallFault::Image(_)
                    | InstallFault::Format(_)
                    | InstallFault::Support(_)
                    | InstallFault::Manifests(_)
            )
        })
    }

    pub(super) fn are_of_crds(&self) -> bool {
        let mut faults = self.faults.iter();
        faults.all(|fault| matches!(fault, InstallFault::Crds(_)))
    }

    /// Whether operator-controller writes which bundle it is behind the error, as before 1.3.
    pub fn are_named_last(&self) -> bool {
        self.minor < 3
    }

    /// The text of operator-controller, if it is the same for every setting and in every run.
    pub fn upstream(&self) -> Option<String> {
        match self.faults.as_slice() {
            [only] => only.upstream(self.minor),
            _ => None,
        }
    }
}

impl InstallFault {
    /// The check that fails, of several the first.
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

    /// The checks that fail, as operator-controller makes them or the worst first.
    fn checks(&self) -> Vec<PreflightCheck> {
        match self {
            Self::Manifests(faults) => faults.iter().map(|fault| fault.check).collect(),
            Self::Foreign(objects) => objects.iter().map(ForeignObject::check).collect(),
            Self::Crds(refusal) => refusal.checks().collect(),
            _ => vec![self.check()],
        }
    }

    /// Whether an operator-controller 1.`minor` with these settings refuses the bundle for it in every run.
    pub(super) fn is_certain(&self, settings: InstallSettings, minor: u8) -> bool {
        match self {
            // Older ones read one field of the configuration, or an annotation in its place.
            Self::Config(_) => minor >= SINCE_CONFIG_SCHEMA,
            // The API documents the longest label as the limit of Boxcutter.
            Self::Name(name) => !settings.boxcutter || name.characters > LONGEST_LABEL,
            // The image can hold a Helm chart.
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
    /// What is in the way, the worst of all CRDs first: the name of a CRD, and its change, or none if
    /// operator-controller panics. If CRDs are not compared, only what the API server refuses counts where there is
    /// any of it.
    pub fn worst_first(&self) -> Vec<(&str, Option<&CrdFinding>)> {
        let mut all: Vec<_> = self.crds.iter().flat_map(RefusedCrd::of_people).collect();
        let is_of_server =
            |found: Option<&CrdFinding>| found.is_some_and(CrdFinding::is_refused_by_server);
        let refuses = all.iter().any(|(_, found)| is_of_server(*found));
        if self.enforcement == CrdEnforcement::None && refuses {
            all.retain(|(_, found)| is_of_server(*found));
        }
        // Stable: of one rank they stay in the order of the files.
        all.sort_by_key(|(_, found)| found.map_or((false, 1), CrdFinding::rank));
        all
    }

    /// Whether the API server refuses a CRD, whatever the extension says.
    pub fn is_by_server(&self) -> bool {
        let mut findings = self.crds.iter().flat_map(|crd| &crd.comparison.findings);
        findings.any(CrdFinding::is_refused_by_server)
    }

    /// Whether OLM installs the bundle anyway, because CRDs are not compared.
    fn is_overridden(&self) -> bool {
        self.enforcement == CrdEnforcement::None && !self.is_by_server()
    }

    /// The checks that fail, the worst first.
    fn checks(&self) -> impl Iterator<Item = PreflightCheck> {
        let found = self.worst_first().into_iter();
        let found =
            found.map(|(_, found)| found.map_or(PreflightCheck::CrdPanic, CrdFinding::check));
        let replaced = self.replaced.iter();
        found.chain(replaced.map(|_| PreflightCheck::CrdApproximate))
    }

    /// The text of operator-controller, if it is one line: several are in no order that holds.
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

    /// Whether operator-controller or the API server refuses one of them in every run. CRDs that are taken from a bundle
    /// can be others in the cluster.
    fn is_certain(&self) -> bool {
        let all = self.worst_first();
        let worst = all.first();
        let is_steady = worst.is_some_and(|(_, found)| found.is_none_or(CrdFinding::is_certain));
        self.replaced.is_none() && is_steady && !self.is_overridden()
    }
}

/// Releases up to 1.5 mark an error that is not tried again as terminal, those from 1.10 on do not; those between are not
/// known.
fn of_reference(error: &ReferenceError, minor: u8) -> Option<String> {
    match minor {
        0..=5 => Some(format!("terminal error: {error}")),
        6..=9 => None,
        _ => Some(error.to_string()),
    }
}

/// The characters of a label's value.
pub(super) const LONGEST_LABEL: usize = 63;

/// The release 1.x that has a schema for configurations.
const SINCE_CONFIG_SCHEMA: u8 = 7;

/// The releases 1.x whose errors name rendering as the place of a fault in the manifests.
const RENDERING_TEXTS: RangeInclusive<u8> = 3..=5;
