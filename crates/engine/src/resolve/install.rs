//! Whether operator-controller can install a bundle, as far as the catalog, the extension and the image of the bundle
//! tell: what it checks after resolution. Without the image that is what it checks before it pulls it.
//!
//! How an operator-controller is set cannot be read from the API. So each check is made for every setting that it can
//! have, and a fault is certain if all of them have one.
//!
//! Upstream: operator-controller, [`internal/operator-controller/applier/provider.go`] and
//! [`internal/shared/util/image/pull.go`].
//!
//! [`internal/operator-controller/applier/provider.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/applier/provider.go
//! [`internal/shared/util/image/pull.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/shared/util/image/pull.go

use std::cell::OnceCell;

use crate::extension::{CrdEnforcement, InstallRequest, SpecConfig};
use crate::resolve::Choice;
use olmguard_catalog::olm::{InstallSettings, Rules};
use olmguard_catalog::version::go;
use olmguard_catalog::{Bundle, InstallModes};
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::bundle::{BundleFault, BundledKind, RegistryBundle};
use olmguard_preflight::config::{self, ConfigFault};
use olmguard_preflight::content::{
    BundleContents, InstallTarget, RefusedCrd, UncomparedCrd, UnreadableBundle,
};
use olmguard_preflight::crd::CrdFinding;
use olmguard_preflight::owner::{ForeignCrd, NewOwner};
use olmguard_preflight::reference::{self, ReferenceError};
use olmguard_preflight::support::{self, Supported, Unsupported};

/// How the bundle that an edit resolves to is to be installed, and what the edit has to do with it.
#[derive(Clone, Copy, Debug)]
pub struct InstallContext<'a> {
    /// How it is to be installed.
    pub request: &'a InstallRequest,
    /// What the edit does to the extension.
    pub occasion: Occasion,
}

/// What an edit does to an extension, apart from what it requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Occasion {
    /// It creates the extension.
    Creation,
    /// It changes which bundle is requested, or whether its CRDs are compared.
    Move,
    /// It changes how the bundle is to be installed, and perhaps which.
    Reconfiguration,
}

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
    /// CRDs of the cluster that operator-controller does not take over: one or more.
    Foreign(Vec<ForeignCrd>),
    /// CRDs of the bundle that cannot replace others.
    Crds(CrdRefusal),
    /// A CRD that cannot be compared.
    Uncompared(UncomparedCrd),
}

/// CRDs of a bundle that cannot replace those of the cluster.
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
    minor: u8,
}

/// How bundles are to be installed, and what is known of their images: what keeps a path from a bundle.
#[derive(Clone, Copy, Debug)]
pub struct InstallBound<'a> {
    context: InstallContext<'a>,
    contents: &'a BundleContents,
}

impl<'a> InstallBound<'a> {
    /// The bound of an edit, if it is known how the edit installs a bundle.
    pub fn of(context: Option<InstallContext<'a>>, contents: &'a BundleContents) -> Option<Self> {
        context.map(|context| Self { context, contents })
    }

    /// Whether operator-controller certainly does not install this bundle, as far as its own image tells: which CRDs it
    /// would replace is known only where the cluster has them.
    pub(super) fn refuses(&self, to: &Choice<'_>, rules: &Rules) -> bool {
        let image = ImageFacts {
            content: self.contents.image(&to.bundle().image),
            target: self.contents.cluster().map(InstallTarget::Cluster),
        };
        let faults = self.context.faults(to, rules, image);
        faults.is_some_and(|faults| faults.is_certain)
    }
}

/// What is known of a bundle besides its catalog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageFacts<'a> {
    /// What is in its image.
    pub(crate) content: Option<Result<&'a RegistryBundle, &'a UnreadableBundle>>,
    /// What it would be installed in.
    pub(crate) target: Option<InstallTarget<'a>>,
}

impl InstallContext<'_> {
    /// Why operator-controller does not install this bundle, if it may not.
    pub(crate) fn faults(
        &self,
        choice: &Choice<'_>,
        rules: &Rules,
        image: ImageFacts<'_>,
    ) -> Option<InstallFaults> {
        let case = InstallCase {
            bundle: choice.bundle(),
            image,
            context: *self,
            minor: rules.olm.minor(),
        };
        // Both are the same for every setting, and neither is needed if each has a fault before it.
        let (manifests, crds) = (OnceCell::new(), OnceCell::new());
        let found = rules.installs.iter().map(|it| {
            case.fault(*it)
                .or_else(|| manifests.get_or_init(|| case.of_manifests()).clone())
                .or_else(|| case.of_cluster(*it, || crds.get_or_init(|| case.of_crds()).clone()))
        });
        let found: Vec<_> = found.collect();
        let is_certain = found
            .iter()
            .all(|fault| fault.as_ref().is_some_and(|it| it.is_certain(case.minor)));
        let mut faults: Vec<InstallFault> = Vec::new();
        for fault in found.into_iter().flatten() {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        (!faults.is_empty()).then_some(InstallFaults {
            faults,
            is_certain,
            modes: case.supported().map(|it| it.modes).unwrap_or_default(),
            is_by_image: image.content.is_some(),
            minor: case.minor,
        })
    }
}

/// One bundle and one request, for operator-controllers of one release.
struct InstallCase<'a> {
    bundle: &'a Bundle,
    image: ImageFacts<'a>,
    context: InstallContext<'a>,
    minor: u8,
}

impl InstallCase<'_> {
    /// The first fault that depends on how operator-controller is set, or comes before one that does.
    fn fault(&self, settings: InstallSettings) -> Option<InstallFault> {
        let name = self.name(settings).err();
        name.map(InstallFault::Name)
            .or_else(|| self.image().err().map(InstallFault::Image))
            .or_else(|| self.format().cloned().map(InstallFault::Format))
            .or_else(|| self.support(settings).err())
    }

    /// A Helm release is named like the extension, and its revisions of Boxcutter have a label with the name. An existing
    /// extension cannot be renamed.
    fn name(&self, settings: InstallSettings) -> Result<(), NameTooLong> {
        let most = if settings.boxcutter {
            LONGEST_LABEL
        } else {
            LONGEST_RELEASE
        };
        let characters = self.context.request.name.len();
        if self.context.occasion == Occasion::Creation && characters > most {
            return Err(NameTooLong { characters, most });
        }
        Ok(())
    }

    /// A bundle without an image is none that a catalog of images has: nothing is known of it.
    fn image(&self) -> Result<(), ReferenceError> {
        if self.bundle.image.is_empty() {
            return Ok(());
        }
        reference::check(&self.bundle.image)
    }

    fn format(&self) -> Option<&UnreadableBundle> {
        self.image.content?.err()
    }

    /// The bundle, if its image is known.
    fn content(&self) -> Option<&RegistryBundle> {
        self.image.content?.ok()
    }

    fn support(&self, settings: InstallSettings) -> Result<(), InstallFault> {
        let Some(supported) = self.supported() else {
            return Ok(());
        };
        support::check(&supported, settings, self.minor).map_err(InstallFault::Support)?;
        self.config(supported.modes, settings)
            .map_err(InstallFault::Config)
    }

    /// What the image says of the bundle; without the image, what the catalog says.
    fn supported(&self) -> Option<Supported> {
        if let Some(content) = self.content() {
            return Some(content.supported());
        }
        self.bundle.install.map(|facts| Supported {
            modes: facts.modes,
            owns_api_services: facts.owns_api_services,
            has_webhooks: None,
        })
    }

    fn config(
        &self,
        modes: InstallModes,
        settings: InstallSettings,
    ) -> Result<(), Vec<ConfigFault>> {
        let request = self.context.request;
        let config = match &request.config {
            SpecConfig::Absent => None,
            SpecConfig::Present(config) => Some(config),
            SpecConfig::Unknown => return Ok(()),
        };
        let namespace = &request.namespace;
        config::check(modes, settings, self.minor, namespace, config).map(drop)
    }

    /// What the validators say, whatever the settings.
    fn of_manifests(&self) -> Option<InstallFault> {
        let faults = self.content()?.faults(self.minor);
        (!faults.is_empty()).then_some(InstallFault::Manifests(faults))
    }

    /// What the cluster says. Helm looks for kinds and for the owners of CRDs before it compares the CRDs, Boxcutter
    /// after it.
    fn of_cluster(
        &self,
        settings: InstallSettings,
        crds: impl FnOnce() -> Option<InstallFault>,
    ) -> Option<InstallFault> {
        let objects = || self.unserved().or_else(|| self.foreign(settings));
        if settings.boxcutter {
            crds().or_else(objects)
        } else {
            objects().or_else(crds)
        }
    }

    fn unserved(&self) -> Option<InstallFault> {
        let target = self.image.target?;
        let unserved = target.cluster()?.unserved_of(self.content()?);
        (!unserved.is_empty()).then_some(InstallFault::Unserved(unserved))
    }

    fn foreign(&self, settings: InstallSettings) -> Option<InstallFault> {
        let request = self.context.request;
        let owner = NewOwner {
            extension: &request.name,
            namespace: &request.namespace,
            is_new: self.context.occasion == Occasion::Creation,
        };
        let target = self.image.target?;
        let there = target.cluster()?.crds_of(self.content()?);
        let foreign = there.filter_map(|crd| owner.refused(crd, settings.boxcutter));
        let foreign: Vec<_> = foreign.collect();
        (!foreign.is_empty()).then_some(InstallFault::Foreign(foreign))
    }

    /// What the comparison of CRDs says, whatever the settings.
    fn of_crds(&self) -> Option<InstallFault> {
        let target = self.image.target?;
        let compared = target.compare(self.content()?, self.minor);
        if compared.refused.is_empty() {
            return compared.uncompared.map(InstallFault::Uncompared);
        }
        Some(InstallFault::Crds(CrdRefusal {
            crds: compared.refused,
            replaced: match target {
                InstallTarget::Cluster(_) => None,
                InstallTarget::Installed(bundle) => Some(bundle.name().to_owned()),
            },
            enforcement: self.context.request.crd_enforcement,
        }))
    }
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

    /// Whether OLM installs the bundle anyway, because the extension says that CRDs are not compared.
    pub fn are_overridden(&self) -> bool {
        let is_overridden = |fault: &InstallFault| match fault {
            InstallFault::Crds(refusal) => refusal.is_overridden(),
            _ => false,
        };
        self.faults.iter().all(is_overridden)
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
            Self::Foreign(crds) => crds
                .first()
                .map_or(PreflightCheck::ExistsUnowned, ForeignCrd::check),
            Self::Crds(refusal) => refusal.checks().next().unwrap_or(PreflightCheck::CrdPanic),
            Self::Uncompared(_) => PreflightCheck::CrdApproximate,
        }
    }

    /// The checks that fail, as operator-controller makes them or the worst first.
    fn checks(&self) -> Vec<PreflightCheck> {
        match self {
            Self::Manifests(faults) => faults.iter().map(|fault| fault.check).collect(),
            Self::Foreign(crds) => crds.iter().map(ForeignCrd::check).collect(),
            Self::Crds(refusal) => refusal.checks().collect(),
            _ => vec![self.check()],
        }
    }

    /// Whether operator-controller 1.`minor` refuses the bundle for it in every run.
    fn is_certain(&self, minor: u8) -> bool {
        match self {
            Self::Format(_) => !HELM_CHARTS.contains(&minor),
            Self::Crds(refusal) => refusal.is_certain(),
            Self::Uncompared(_) => false,
            _ => true,
        }
    }

    fn upstream(&self, minor: u8) -> Option<String> {
        match self {
            Self::Image(error) => Some(error.to_string()),
            Self::Support(unsupported) => unsupported.upstream(minor),
            Self::Config(faults) if minor >= SINCE_CONFIG_TEXTS => config::upstream(faults),
            Self::Manifests(faults) => {
                let lines: Vec<_> = faults.iter().map(|fault| &*fault.upstream).collect();
                Some(lines.join("\n"))
            }
            Self::Crds(refusal) => refusal.upstream(),
            Self::Format(_)
            | Self::Unserved(_)
            | Self::Foreign(_)
            | Self::Uncompared(_)
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

    /// Whether OLM installs the bundle anyway: nobody compares.
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
        let is_steady =
            worst.is_some_and(|(_, found)| found.is_none_or(|found| !found.is_unsteady));
        self.replaced.is_none() && is_steady && !self.is_overridden()
    }
}

/// The releases 1.x that can install Helm charts instead of bundles, with a feature gate.
const HELM_CHARTS: std::ops::RangeInclusive<u8> = 4..=10;

/// The release 1.x whose texts about a configuration are known.
const SINCE_CONFIG_TEXTS: u8 = 7;

/// The characters of a Helm release's name.
const LONGEST_RELEASE: usize = 53;

/// The characters of a label's value.
const LONGEST_LABEL: usize = 63;
