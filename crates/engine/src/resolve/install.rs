//! Whether operator-controller can install a bundle, as far as the catalog and the extension tell: what it checks after
//! resolution and before it pulls the image.
//!
//! How an operator-controller is set cannot be read from the API. So each check is made for every setting that it can
//! have, and a fault is certain if all of them have one.
//!
//! Upstream: operator-controller, [`internal/operator-controller/applier/provider.go`] and
//! [`internal/shared/util/image/pull.go`].
//!
//! [`internal/operator-controller/applier/provider.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/applier/provider.go
//! [`internal/shared/util/image/pull.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/shared/util/image/pull.go

use crate::extension::{InstallRequest, SpecConfig};
use crate::resolve::Choice;
use olmguard_catalog::olm::{InstallSettings, Rules};
use olmguard_catalog::{Bundle, InstallFacts};
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::config::{self, ConfigFault};
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
    /// It changes which bundle is requested.
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
    /// The bundle itself.
    Support(Unsupported),
    /// The configuration. Several faults are in no order that holds upstream.
    Config(Vec<ConfigFault>),
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
    /// The release 1.x that they are found for.
    minor: u8,
}

impl InstallContext<'_> {
    /// Why operator-controller does not install this bundle, if it may not.
    pub(crate) fn faults(&self, choice: &Choice<'_>, rules: &Rules) -> Option<InstallFaults> {
        let case = InstallCase {
            bundle: choice.bundle(),
            context: *self,
            minor: rules.olm.minor(),
        };
        let found: Vec<_> = rules.installs.iter().map(|it| case.fault(*it)).collect();
        let is_certain = found.iter().all(Option::is_some);
        let mut faults: Vec<InstallFault> = Vec::new();
        for fault in found.into_iter().flatten() {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        (!faults.is_empty()).then_some(InstallFaults {
            faults,
            is_certain,
            minor: case.minor,
        })
    }
}

/// One bundle and one request, for operator-controllers of one release.
struct InstallCase<'a> {
    bundle: &'a Bundle,
    context: InstallContext<'a>,
    minor: u8,
}

impl InstallCase<'_> {
    /// The first fault in the order of operator-controller.
    fn fault(&self, settings: InstallSettings) -> Option<InstallFault> {
        let name = self.name(settings).err();
        name.map(InstallFault::Name)
            .or_else(|| self.image().err().map(InstallFault::Image))
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

    fn support(&self, settings: InstallSettings) -> Result<(), InstallFault> {
        let Some(facts) = self.bundle.install else {
            return Ok(());
        };
        let supported = Supported {
            modes: facts.modes,
            owns_api_services: facts.owns_api_services,
            has_webhooks: None,
        };
        support::check(&supported, settings, self.minor).map_err(InstallFault::Support)?;
        self.config(facts, settings).map_err(InstallFault::Config)
    }

    fn config(
        &self,
        facts: InstallFacts,
        settings: InstallSettings,
    ) -> Result<(), Vec<ConfigFault>> {
        let request = self.context.request;
        let config = match &request.config {
            SpecConfig::Absent => None,
            SpecConfig::Present(config) => Some(config),
            SpecConfig::Unknown => return Ok(()),
        };
        let namespace = &request.namespace;
        config::check(facts.modes, settings, self.minor, namespace, config).map(drop)
    }
}

impl InstallFaults {
    /// The checks that fail, each once.
    pub fn checks(&self) -> Vec<PreflightCheck> {
        let mut checks: Vec<PreflightCheck> = self.faults.iter().map(InstallFault::check).collect();
        checks.dedup();
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
    /// The check that fails.
    pub fn check(&self) -> PreflightCheck {
        match self {
            Self::Name(_) => PreflightCheck::ReleaseNameTooLong,
            Self::Image(_) => PreflightCheck::ImageRefInvalid,
            Self::Support(unsupported) => unsupported.check(),
            Self::Config(faults) => faults
                .first()
                .map_or(PreflightCheck::ConfigInvalid, ConfigFault::check),
        }
    }

    fn upstream(&self, minor: u8) -> Option<String> {
        match self {
            Self::Image(error) => Some(error.to_string()),
            Self::Support(unsupported) => unsupported.upstream(minor),
            Self::Config(faults) if minor >= SINCE_CONFIG_TEXTS => config::upstream(faults),
            Self::Config(_) | Self::Name(_) => None,
        }
    }
}

/// The release 1.x whose texts about a configuration are known.
const SINCE_CONFIG_TEXTS: u8 = 7;

/// The characters of a Helm release's name.
const LONGEST_RELEASE: usize = 53;

/// The characters of a label's value.
const LONGEST_LABEL: usize = 63;
