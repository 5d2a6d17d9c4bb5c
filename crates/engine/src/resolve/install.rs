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

use std::iter;

use crate::extension::{CrdEnforcement, InstallRequest, SpecConfig};
use crate::resolve::Choice;
use olmguard_catalog::olm::{InstallSettings, Rules};
use olmguard_catalog::{Bundle, InstallModes};
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::bundle::{BundleFault, RegistryBundle};
use olmguard_preflight::config::{self, ConfigFault};
use olmguard_preflight::content::{
    BundleContents, RefusedCrd, ReplacedCrds, UncomparedCrd, UnreadableBundle,
};
use olmguard_preflight::crd::CrdFinding;
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
            replaced: self.contents.crds().map(ReplacedCrds::Cluster),
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
    /// The CRDs that it would replace.
    pub(crate) replaced: Option<ReplacedCrds<'a>>,
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
        let in_all = case.of_manifests().or_else(|| case.of_crds());
        let found = rules.installs.iter();
        let found = found.map(|it| case.fault(*it).or_else(|| in_all.clone()));
        let found: Vec<_> = found.collect();
        let is_certain = found
            .iter()
            .all(|fault| fault.as_ref().is_some_and(InstallFault::is_certain));
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

    /// What the comparison of CRDs says, whatever the settings.
    fn of_crds(&self) -> Option<InstallFault> {
        let replaced = self.image.replaced?;
        let crds = match replaced.refused(self.content()?, self.minor) {
            Ok(crds) => crds,
            Err(error) => return Some(InstallFault::Uncompared(error)),
        };
        (!crds.is_empty()).then(|| {
            InstallFault::Crds(CrdRefusal {
                crds,
                replaced: match replaced {
                    ReplacedCrds::Cluster(_) => None,
                    ReplacedCrds::Bundle(bundle) => Some(bundle.name().to_owned()),
                },
                enforcement: self.context.request.crd_enforcement,
            })
        })
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
            Self::Crds(refusal) => refusal.checks().next().unwrap_or(PreflightCheck::CrdPanic),
            Self::Uncompared(_) => PreflightCheck::CrdManifests,
        }
    }

    /// The checks that fail, as operator-controller makes them or the worst first.
    fn checks(&self) -> Vec<PreflightCheck> {
        match self {
            Self::Manifests(faults) => faults.iter().map(|fault| fault.check).collect(),
            Self::Crds(refusal) => refusal.checks().collect(),
            _ => vec![self.check()],
        }
    }

    /// Whether operator-controller refuses the bundle for it in every run.
    fn is_certain(&self) -> bool {
        match self {
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
            Self::Format(_) | Self::Uncompared(_) | Self::Config(_) | Self::Name(_) => None,
        }
    }
}

impl CrdRefusal {
    /// The checks that fail, the worst first for each CRD.
    fn checks(&self) -> impl Iterator<Item = PreflightCheck> {
        let found = self.crds.iter().flat_map(|crd| {
            let panics = crd.comparison.panics.then_some(PreflightCheck::CrdPanic);
            let found = crd.comparison.of_people().into_iter();
            iter::chain(panics, found.map(CrdFinding::check))
        });
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
        Some(format!("validating upgrade for CRD {name:?}: {line}"))
    }

    /// Whether an operator-controller or the API server refuses one of them in every run. CRDs that are taken from a
    /// bundle can be others in the cluster.
    fn is_certain(&self) -> bool {
        self.replaced.is_none() && self.crds.iter().any(|crd| self.is_refused(crd))
    }

    /// Whether a CRD of the cluster cannot be replaced, whatever the extension says: the API server refuses, too, what
    /// loses objects.
    fn is_refused(&self, crd: &RefusedCrd) -> bool {
        let found = &crd.comparison;
        match self.enforcement {
            CrdEnforcement::Strict => {
                found.panics || found.findings.iter().any(|found| !found.is_unsteady)
            }
            CrdEnforcement::None => found.findings.iter().any(|found| {
                matches!(
                    found.check(),
                    PreflightCheck::CrdScope | PreflightCheck::CrdStoredVersion
                )
            }),
        }
    }
}

/// The release 1.x whose texts about a configuration are known.
const SINCE_CONFIG_TEXTS: u8 = 7;

/// The characters of a Helm release's name.
const LONGEST_RELEASE: usize = 53;

/// The characters of a label's value.
const LONGEST_LABEL: usize = 63;
