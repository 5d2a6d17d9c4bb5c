//! The checks of operator-controller on one bundle, in order and for each combination of settings, and the facts that
//! they read.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use crate::extension::{InstallRequest, Installed, SpecConfig};
use crate::resolve::Choice;
use crate::resolve::install::fault::{
    CrdRefusal, InstallFault, InstallFaults, LONGEST_LABEL, NameTooLong,
};
use olmguard_catalog::olm::{CertificateProvider, InstallSettings};
use olmguard_catalog::{Bundle, CrdNames, InstallFacts, InstallModes};
use olmguard_preflight::LONGEST_RELEASE_NAME;
use olmguard_preflight::bundle::{RegistryBundle, RenderTarget};
use olmguard_preflight::config::{self, ConfigFault};
use olmguard_preflight::content::{
    BundleContents, ClusterObjects, ComparedCrds, InstallTarget, UnreadableBundle,
};
use olmguard_preflight::owner::{CRD, ForeignObject, NewOwner};
use olmguard_preflight::support;

/// The installation settings of the bundle that an edit resolves to, and how the edit relates to them.
#[derive(Clone, Copy, Debug)]
pub struct InstallContext<'a> {
    /// The requested installation settings.
    pub request: &'a InstallRequest,
    /// The effect of the edit on the extension.
    pub occasion: Occasion,
    /// The installed bundle of the extension.
    pub installed: &'a Installed,
}

/// The effect of an edit on an extension, apart from the requested values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Occasion {
    /// The edit creates the extension.
    Creation,
    /// The edit changes which bundle is requested.
    Move,
    /// The edit changes how the bundle is installed, and possibly which bundle.
    Reconfiguration,
    /// The edit changes how the bundle is installed, but not which bundle.
    ConfigurationAlone,
    /// The edit only changes whether CRDs are compared.
    EnforcementAlone,
    /// The edit only turns the bypass off.
    BypassEnd,
}

impl Occasion {
    /// Whether a fault of the bundle can deny the edit. A fault that exists anyway does not deny an edit that does not
    /// request the bundle, nor an edit that only changes the configuration of the installed bundle.
    pub(crate) fn is_denied_for(self, faults: &InstallFaults, is_installed: bool) -> bool {
        match self {
            Self::Creation | Self::Move | Self::Reconfiguration => true,
            Self::ConfigurationAlone if is_installed => !faults.all(InstallFault::is_of_bundle),
            Self::ConfigurationAlone => {
                faults.all(|fault| matches!(fault, InstallFault::Config(_)))
            }
            Self::EnforcementAlone => faults.all(|fault| matches!(fault, InstallFault::Crds(_))),
            Self::BypassEnd => false,
        }
    }

    /// Whether the edit changes the installation settings.
    pub(crate) fn reconfigures(self) -> bool {
        matches!(self, Self::Reconfiguration | Self::ConfigurationAlone)
    }
}

/// The facts about a bundle that the catalog does not have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageFacts<'a> {
    /// The content of the image.
    pub(crate) content: Option<Result<&'a RegistryBundle, &'a UnreadableBundle>>,
    /// The target of the installation.
    pub(crate) target: Option<InstallTarget<'a>>,
    /// The result of comparing the CRDs of the bundle with the CRDs of the cluster.
    pub(crate) compared: Option<&'a ComparedCrds>,
    /// The CRDs of the installed bundle, if its catalog lists them.
    pub(crate) installed_crds: Option<&'a CrdNames>,
}

impl<'a> ImageFacts<'a> {
    /// The facts without any image and without a cluster.
    pub(super) const UNKNOWN: Self = Self {
        content: None,
        target: None,
        compared: None,
        installed_crds: None,
    };

    /// The facts about a bundle and the target that it would be installed in.
    pub(crate) fn of(
        choice: &Choice<'_>,
        contents: &'a BundleContents,
        target: Option<InstallTarget<'a>>,
    ) -> Self {
        let image = &choice.bundle().image;
        Self {
            content: contents.image(image),
            target,
            compared: contents.compared(image),
            installed_crds: None,
        }
    }
}

/// Results that are computed at most once for all settings, and only if needed. Faults of manifests and CRDs are the
/// same for all settings. Faults of objects depend only on the runtime and the certificate provider.
pub(super) struct FoundOnce<'c> {
    case: &'c InstallCase<'c>,
    facts: OnceCell<Option<InstallFacts>>,
    manifests: OnceCell<Option<InstallFault>>,
    crds: OnceCell<Option<InstallFault>>,
    objects: RefCell<Vec<(ObjectSettings, Option<InstallFault>)>>,
}

/// Whether Boxcutter is on, and the certificate provider.
type ObjectSettings = (bool, CertificateProvider);

impl<'c> FoundOnce<'c> {
    pub(super) fn of(case: &'c InstallCase<'c>) -> Self {
        Self {
            case,
            facts: OnceCell::new(),
            manifests: OnceCell::new(),
            crds: OnceCell::new(),
            objects: RefCell::default(),
        }
    }

    /// The facts that the image declares, or those in the catalog if the image is not known.
    pub(super) fn facts(&self) -> Option<&InstallFacts> {
        self.facts.get_or_init(|| self.case.facts()).as_ref()
    }

    /// The first certain fault, otherwise the first fault.
    pub(super) fn first(&self, settings: InstallSettings) -> Option<InstallFault> {
        let is_certain = |fault: &InstallFault| fault.is_certain(settings, self.case.minor);
        let mut first = None;
        for fault in self.by_settings(settings) {
            if is_certain(&fault) {
                return Some(fault);
            }
            first.get_or_insert(fault);
        }
        match first {
            Some(first) => self.later(settings).filter(is_certain).or(Some(first)),
            None => self.later(settings),
        }
    }

    /// The faults that depend on the settings, or that operator-controller finds before such a fault.
    fn by_settings(&self, settings: InstallSettings) -> impl Iterator<Item = InstallFault> {
        let image = self.case.bundle.image_fault.as_deref();
        let faults = [
            self.case.name(settings).err().map(InstallFault::Name),
            image.cloned().map(InstallFault::Image),
            self.case.format().cloned().map(InstallFault::Format),
            self.case.support(self.facts(), settings).err(),
        ];
        faults.into_iter().flatten()
    }

    /// The first fault that operator-controller finds after those of [`Self::by_settings`].
    fn later(&self, settings: InstallSettings) -> Option<InstallFault> {
        let manifests = self.manifests.get_or_init(|| self.case.of_manifests());
        manifests.clone().or_else(|| self.of_objects(settings))
    }

    fn of_objects(&self, settings: InstallSettings) -> Option<InstallFault> {
        let of = (settings.boxcutter, settings.certificates);
        let mut objects = self.objects.borrow_mut();
        if let Some((_, known)) = objects.iter().find(|(known, _)| *known == of) {
            return known.clone();
        }
        let crds = || self.crds.get_or_init(|| self.case.of_crds()).clone();
        let found = self.case.of_objects(settings, crds);
        objects.push((of, found.clone()));
        found
    }
}

/// One bundle and one request, for operator-controllers of one release.
pub(super) struct InstallCase<'a> {
    pub(super) bundle: &'a Bundle,
    pub(super) image: ImageFacts<'a>,
    pub(super) context: InstallContext<'a>,
    pub(super) minor: u8,
}

impl InstallCase<'_> {
    /// Checks the length of the name. A Helm release has the name of the extension. With Boxcutter, a label of the
    /// revisions has it, and before the first revision Boxcutter looks for a Helm release to take over. An existing
    /// extension cannot be renamed, so only a creation is checked.
    fn name(&self, settings: InstallSettings) -> Result<(), NameTooLong> {
        let most = match (settings.boxcutter, self.minor) {
            (false, _) => LONGEST_RELEASE_NAME,
            (true, ..SINCE_TAKEN_OVER) => LONGEST_LABEL,
            (true, SINCE_TAKEN_OVER..) => LONGEST_NAME_OF_HELM,
        };
        let characters = self.context.request.name.len();
        if self.context.occasion == Occasion::Creation && characters > most {
            return Err(NameTooLong { characters, most });
        }
        Ok(())
    }

    fn format(&self) -> Option<&UnreadableBundle> {
        self.image.content?.err()
    }

    /// The bundle in the image, if the image is known.
    fn content(&self) -> Option<&RegistryBundle> {
        self.image.content?.ok()
    }

    pub(super) fn support(
        &self,
        facts: Option<&InstallFacts>,
        settings: InstallSettings,
    ) -> Result<(), InstallFault> {
        let Some(facts) = facts else {
            return Ok(());
        };
        support::check(facts, settings, self.minor).map_err(InstallFault::Support)?;
        self.config(facts.modes, settings)
            .map_err(InstallFault::Config)
    }

    pub(super) fn facts(&self) -> Option<InstallFacts> {
        let declared = self.content().map(RegistryBundle::install_facts);
        declared.or_else(|| self.bundle.install.clone())
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

    /// The faults that the validators report, which do not depend on the settings.
    fn of_manifests(&self) -> Option<InstallFault> {
        let faults = self.content()?.faults(self.minor);
        (!faults.is_empty()).then_some(InstallFault::Manifests(faults))
    }

    /// The first fault of the objects in the cluster. Helm checks kinds and the owners of objects before it compares
    /// the CRDs. Boxcutter compares the CRDs, then creates a revision, and only then checks the rest.
    fn of_objects(
        &self,
        settings: InstallSettings,
        crds: impl Fn() -> Option<InstallFault>,
    ) -> Option<InstallFault> {
        let objects = || self.unserved(settings).or_else(|| self.foreign(settings));
        let before = settings.boxcutter.then(|| {
            let crds = crds().filter(|fault| fault.is_certain(settings, self.minor));
            crds.or_else(|| self.crowded(settings))
        });
        before.flatten().or_else(objects).or_else(crds)
    }

    fn crowded(&self, settings: InstallSettings) -> Option<InstallFault> {
        let target = self.render_target(settings);
        let is_crowded = self.content()?.has_crowded_phase(target, self.minor);
        is_crowded.then_some(InstallFault::Crowded)
    }

    /// The render target. The watched namespace is irrelevant: it affects no phase and no name that is known in
    /// advance.
    fn render_target(&self, settings: InstallSettings) -> RenderTarget<'_> {
        RenderTarget {
            namespace: &self.context.request.namespace,
            watched: None,
            certificates: settings.certificates,
        }
    }

    /// The kinds that the cluster does not serve. Boxcutter creates CRDs before the objects of their kinds.
    fn unserved(&self, settings: InstallSettings) -> Option<InstallFault> {
        let (content, target) = (self.content()?, self.image.target?);
        let cluster = target.cluster()?;
        let mut unserved = cluster.unserved_of(content);
        if settings.boxcutter {
            let own = content.defined_kinds();
            unserved.retain(|kind| !own.contains(kind));
        }
        if !unserved.is_empty() {
            return Some(InstallFault::Unserved(unserved));
        }
        let needs =
            content.has_webhooks() && settings.certificates == CertificateProvider::CertManager;
        (needs && !cluster.has_cert_manager()).then_some(InstallFault::NoCertManager)
    }

    fn foreign(&self, settings: InstallSettings) -> Option<InstallFault> {
        let target = self.image.target?;
        let cluster = target.cluster()?;
        let mut foreign = self.foreign_crds(cluster, settings);
        foreign.extend(self.foreign_others(cluster, settings));
        (!foreign.is_empty()).then_some(InstallFault::Foreign(foreign))
    }

    fn foreign_crds(
        &self,
        cluster: &ClusterObjects,
        settings: InstallSettings,
    ) -> Vec<ForeignObject> {
        let by_catalog = || Some(self.bundle.install.as_ref()?.crds.iter().collect());
        let by_image = self.content().map(RegistryBundle::crd_names);
        let names: Vec<&str> = by_image.or_else(by_catalog).unwrap_or_default();
        let owner = self.owner();
        let foreign = names.into_iter().filter_map(|name| {
            let there = cluster.crd(name)?;
            owner.refused(CRD, there, settings.boxcutter, || self.can_have_made(name))
        });
        foreign.collect()
    }

    fn foreign_others(
        &self,
        cluster: &ClusterObjects,
        settings: InstallSettings,
    ) -> Vec<ForeignObject> {
        let Some(content) = self.content() else {
            return Vec::new();
        };
        let render = self.render_target(settings);
        let is_installed = self.is_installed();
        let owner = self.owner();
        let others = cluster.others_of(content, render).into_iter();
        let others = others.filter_map(|(made, there)| {
            owner.refused(&made.kind.kind, there, settings.boxcutter, || is_installed)
        });
        others.collect()
    }

    fn owner(&self) -> NewOwner<'_> {
        let request = self.context.request;
        NewOwner {
            extension: &request.name,
            namespace: &request.namespace,
        }
    }

    /// Whether a CRD with this name can belong to the installed bundle: the catalog lists it, or lists no CRDs. A
    /// bundle can contain CRDs that it does not own, but Helm has marked those.
    fn can_have_made(&self, crd: &str) -> bool {
        let crds = self.image.installed_crds;
        self.is_installed() && crds.is_none_or(|crds| crds.iter().any(|it| it == crd))
    }

    /// Whether a bundle is installed, or may be. An unfinished installation has already marked the objects that it
    /// created.
    fn is_installed(&self) -> bool {
        !matches!(self.context.installed, Installed::Nothing)
    }

    /// The fault that the comparison of CRDs finds, which does not depend on the settings.
    fn of_crds(&self) -> Option<InstallFault> {
        let target = self.image.target?;
        let compared = match target {
            InstallTarget::Cluster(_) => Cow::Borrowed(self.image.compared?),
            InstallTarget::Installed(old) => {
                Cow::Owned(ComparedCrds::of(old, self.content()?, self.minor))
            }
        };
        if compared.refused.is_empty() {
            return compared.uncompared.clone().map(InstallFault::Uncompared);
        }
        Some(InstallFault::Crds(CrdRefusal {
            crds: compared.refused.clone(),
            replaced: match target {
                InstallTarget::Cluster(_) => None,
                InstallTarget::Installed(bundle) => Some(bundle.name().to_owned()),
            },
            enforcement: self.context.request.crd_enforcement,
        }))
    }
}

/// The longest release name that Helm accepts in a query.
const LONGEST_NAME_OF_HELM: usize = 53;

/// The first release 1.x that is known to look for a Helm release if Boxcutter is on.
const SINCE_TAKEN_OVER: u8 = 10;
