//! What operator-controller checks of one bundle: one check after the other, for each way that it can be set; and what
//! it checks that by.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use crate::extension::{InstallRequest, Installed, SpecConfig};
use crate::resolve::Choice;
use crate::resolve::install::fault::{
    CrdRefusal, InstallFault, InstallFaults, LONGEST_LABEL, NameTooLong,
};
use olmguard_catalog::olm::{CertificateProvider, InstallSettings};
use olmguard_catalog::{Bundle, CrdNames, InstallModes};
use olmguard_preflight::LONGEST_RELEASE_NAME;
use olmguard_preflight::bundle::{RegistryBundle, RenderTarget};
use olmguard_preflight::config::{self, ConfigFault};
use olmguard_preflight::content::{
    BundleContents, ClusterObjects, ComparedCrds, InstallTarget, UnreadableBundle,
};
use olmguard_preflight::owner::{CRD, ForeignObject, NewOwner};
use olmguard_preflight::support::{self, Supported};

/// How the bundle that an edit resolves to is to be installed, and what the edit has to do with it.
#[derive(Clone, Copy, Debug)]
pub struct InstallContext<'a> {
    /// How it is to be installed.
    pub request: &'a InstallRequest,
    /// What the edit does to the extension.
    pub occasion: Occasion,
    /// What is installed of it.
    pub installed: &'a Installed,
}

/// What an edit does to an extension, apart from what it requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Occasion {
    /// It creates the extension.
    Creation,
    /// It changes which bundle is requested.
    Move,
    /// It changes how the bundle is to be installed, and perhaps which.
    Reconfiguration,
    /// It changes how the bundle is to be installed, and not which.
    ConfigurationAlone,
    /// It changes whether CRDs are compared, and nothing else.
    EnforcementAlone,
    /// It turns the bypass off, and changes nothing else.
    BypassEnd,
}

impl Occasion {
    /// Whether a fault of the bundle can deny the edit. What keeps a bundle from being installed anyway is not the fault of
    /// an edit that does not request it, nor of one that only changes how the installed bundle is configured.
    pub(crate) fn is_denied_for(self, faults: &InstallFaults, is_installed: bool) -> bool {
        match self {
            Self::Creation | Self::Move | Self::Reconfiguration => true,
            Self::ConfigurationAlone if is_installed => !faults.are_of_bundle(),
            Self::ConfigurationAlone => faults.are_of_config(),
            Self::EnforcementAlone => faults.are_of_crds(),
            Self::BypassEnd => false,
        }
    }

    /// Whether the configuration changes, or what is compared.
    pub(crate) fn reconfigures(self) -> bool {
        matches!(self, Self::Reconfiguration | Self::ConfigurationAlone)
    }
}

/// What is known of a bundle besides its catalog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageFacts<'a> {
    /// What is in its image.
    pub(crate) content: Option<Result<&'a RegistryBundle, &'a UnreadableBundle>>,
    /// What it would be installed in.
    pub(crate) target: Option<InstallTarget<'a>>,
    /// What the comparison of its CRDs with the CRDs of the cluster found.
    pub(crate) compared: Option<&'a ComparedCrds>,
    /// The CRDs of the installed bundle, if its catalog names them.
    pub(crate) installed_crds: Option<&'a CrdNames>,
}

impl<'a> ImageFacts<'a> {
    /// What is known without images and without a cluster.
    pub(super) const UNKNOWN: Self = Self {
        content: None,
        target: None,
        compared: None,
        installed_crds: None,
    };

    /// What is known of a bundle that would be installed there.
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

/// What is found once for all settings, and only if it is needed. Faults of manifests and of CRDs are the same for every
/// setting, and faults of objects for each runtime and provider of certificates.
pub(super) struct FoundOnce<'c> {
    case: &'c InstallCase<'c>,
    supported: OnceCell<Option<Supported>>,
    manifests: OnceCell<Option<InstallFault>>,
    crds: OnceCell<Option<InstallFault>>,
    objects: RefCell<Vec<(ObjectSettings, Option<InstallFault>)>>,
}

/// Whether Boxcutter is on, and what provides certificates.
type ObjectSettings = (bool, CertificateProvider);

impl<'c> FoundOnce<'c> {
    pub(super) fn of(case: &'c InstallCase<'c>) -> Self {
        Self {
            case,
            supported: OnceCell::new(),
            manifests: OnceCell::new(),
            crds: OnceCell::new(),
            objects: RefCell::default(),
        }
    }

    /// What the image says of the bundle; without the image, what the catalog says.
    pub(super) fn supported(&self) -> Option<Supported> {
        *self.supported.get_or_init(|| self.case.supported())
    }

    /// The first fault that is certain, otherwise the first one.
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

    /// The faults that depend on how operator-controller is set, or come before one that does.
    fn by_settings(&self, settings: InstallSettings) -> impl Iterator<Item = InstallFault> {
        let image = self.case.bundle.image_fault.as_deref();
        let faults = [
            self.case.name(settings).err().map(InstallFault::Name),
            image.cloned().map(InstallFault::Image),
            self.case.format().cloned().map(InstallFault::Format),
            self.case.support(self.supported(), settings).err(),
        ];
        faults.into_iter().flatten()
    }

    /// The first of the faults that come last.
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
    /// A Helm release is named like the extension. With Boxcutter a label of the revisions has the name, and before the first
    /// of them it looks for a release to take over. An existing extension cannot be renamed.
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

    /// The bundle, if its image is known.
    fn content(&self) -> Option<&RegistryBundle> {
        self.image.content?.ok()
    }

    pub(super) fn support(
        &self,
        supported: Option<Supported>,
        settings: InstallSettings,
    ) -> Result<(), InstallFault> {
        let Some(supported) = supported else {
            return Ok(());
        };
        support::check(&supported, settings, self.minor).map_err(InstallFault::Support)?;
        self.config(supported.modes, settings)
            .map_err(InstallFault::Config)
    }

    pub(super) fn supported(&self) -> Option<Supported> {
        if let Some(content) = self.content() {
            return Some(content.supported());
        }
        self.bundle.install.as_ref().map(|facts| Supported {
            modes: facts.modes,
            owns_api_services: facts.owns_api_services,
            has_webhooks: facts.has_webhooks,
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

    /// The first fault of the objects in the cluster. Helm looks for kinds and for the owners of objects before it
    /// compares the CRDs; Boxcutter compares the CRDs, then makes a revision, and only then looks for the rest.
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

    /// The namespace that is watched changes no phase, and no name that is known before.
    fn render_target(&self, settings: InstallSettings) -> RenderTarget<'_> {
        RenderTarget {
            namespace: &self.context.request.namespace,
            watched: None,
            certificates: settings.certificates,
        }
    }

    /// Boxcutter makes CRDs before the objects of their kinds.
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

    /// Whether a CRD of this name can be of the installed bundle: its catalog says nothing, or names it. A bundle can have
    /// CRDs that it does not own, but Helm has marked these.
    fn can_have_made(&self, crd: &str) -> bool {
        let crds = self.image.installed_crds;
        self.is_installed() && crds.is_none_or(|crds| crds.iter().any(|it| it == crd))
    }

    /// Whether something is installed, or may be. An installation that has not finished has marked what it made.
    fn is_installed(&self) -> bool {
        !matches!(self.context.installed, Installed::Nothing)
    }

    /// What the comparison of CRDs says, whatever the settings.
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

/// The characters of the name that Helm looks for.
const LONGEST_NAME_OF_HELM: usize = 53;

/// The first release 1.x that is known to look for a release of Helm with Boxcutter.
const SINCE_TAKEN_OVER: u8 = 10;
