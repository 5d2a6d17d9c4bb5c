//! Checks whether operator-controller installs bundles of this form at all.
//!
//! Upstream: operator-controller, [`internal/operator-controller/applier/provider.go`].
//!
//! [`internal/operator-controller/applier/provider.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/applier/provider.go

use crate::PreflightCheck;
use olmguard_catalog::InstallFacts;
use olmguard_catalog::olm::{CertificateProvider, InstallSettings};

/// The reason why operator-controller does not install a bundle, in the order of its checks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unsupported {
    /// The bundle owns an API service.
    ApiServices,
    /// The bundle has webhooks, and there is no certificate provider.
    Webhooks,
    /// The bundle does not support `AllNamespaces`, and the gate for other modes is off.
    NotAllNamespaces,
    /// The bundle supports no install mode that operator-controller can use.
    NoInstallMode,
}

/// Checks a bundle for an operator-controller 1.`minor` with these settings.
///
/// # Errors
/// The first reason, in the order of operator-controller.
pub fn check(
    bundle: &InstallFacts,
    settings: InstallSettings,
    minor: u8,
) -> Result<(), Unsupported> {
    let modes = bundle.modes;
    let has_provider = minor >= 3 && settings.certificates != CertificateProvider::None;
    let has_gate = settings.single_own_namespace;
    let is_usable = modes.all_namespaces || modes.single_namespace || modes.own_namespace;
    if bundle.owns_api_services {
        Err(Unsupported::ApiServices)
    } else if bundle.has_webhooks == Some(true) && !has_provider {
        Err(Unsupported::Webhooks)
    } else if !has_gate && !modes.all_namespaces {
        Err(Unsupported::NotAllNamespaces)
    } else if !is_usable {
        Err(Unsupported::NoInstallMode)
    } else {
        Ok(())
    }
}

impl Unsupported {
    /// The check that fails.
    pub fn check(self) -> PreflightCheck {
        match self {
            Self::ApiServices => PreflightCheck::ApiservicesUnsupported,
            Self::Webhooks => PreflightCheck::WebhooksUnsupported,
            Self::NotAllNamespaces | Self::NoInstallMode => PreflightCheck::InstallModeUnsupported,
        }
    }

    /// The error text of operator-controller 1.`minor`; `None` if the text lists the modes in Go's syntax.
    pub fn upstream(self, minor: u8) -> Option<String> {
        let text = match self {
            Self::ApiServices => "apiServiceDefintions are not supported",
            Self::Webhooks => "webhookDefinitions are not supported",
            Self::NotAllNamespaces if minor >= SINCE_USABLE_MODES => {
                "bundle does not support AllNamespaces install mode"
            }
            Self::NoInstallMode if minor >= SINCE_USABLE_MODES => {
                "bundle must support at least one of [AllNamespaces SingleNamespace OwnNamespace] install modes"
            }
            Self::NotAllNamespaces | Self::NoInstallMode => return None,
        };
        Some(if minor >= SINCE_PREFIX {
            format!("unsupported bundle: {text}")
        } else {
            text.to_owned()
        })
    }
}

/// The first release 1.x whose errors have a prefix that names their subject.
const SINCE_PREFIX: u8 = 3;

/// The first release 1.x that lists the usable modes. Earlier releases fail while they render the bundle, whatever
/// namespaces are to be watched.
const SINCE_USABLE_MODES: u8 = 6;

#[cfg(test)]
mod tests {
    use olmguard_catalog::InstallModes;

    use super::*;

    fn modes(names: &[&str]) -> InstallModes {
        let mut modes = InstallModes::default();
        for name in names {
            modes.add(name);
        }
        modes
    }

    fn settings(single_own_namespace: bool, certificates: CertificateProvider) -> InstallSettings {
        InstallSettings {
            single_own_namespace,
            deployment_config: false,
            boxcutter: false,
            helm_charts: false,
            certificates,
        }
    }

    fn found(names: &[&str], gate: bool, minor: u8) -> Result<(), Unsupported> {
        let bundle = InstallFacts {
            modes: modes(names),
            ..InstallFacts::default()
        };
        check(
            &bundle,
            settings(gate, CertificateProvider::CertManager),
            minor,
        )
    }

    #[test]
    fn install_modes_count_by_gate_and_release() {
        let not_all = Err(Unsupported::NotAllNamespaces);
        let none = Err(Unsupported::NoInstallMode);
        for (names, gate, minor, expected) in [
            (&["AllNamespaces"][..], false, 11, Ok(())),
            (&["OwnNamespace"], false, 11, not_all),
            (&["OwnNamespace"], true, 11, Ok(())),
            (&["SingleNamespace"], true, 11, Ok(())),
            (&["MultiNamespace"], true, 11, none),
            (&["MultiNamespace"], false, 11, not_all),
            (&[], true, 11, none),
            (&["MultiNamespace"], true, 5, none),
        ] {
            assert_eq!(
                found(names, gate, minor),
                expected,
                "{names:?} {gate} {minor}"
            );
        }
    }

    #[test]
    fn api_services_come_first_and_webhooks_next() {
        let bundle = |owns_api_services, has_webhooks| InstallFacts {
            owns_api_services,
            has_webhooks,
            ..InstallFacts::default()
        };
        let none = settings(true, CertificateProvider::None);
        let cert_manager = settings(true, CertificateProvider::CertManager);
        let webhooks = bundle(false, Some(true));
        assert_eq!(
            check(&bundle(true, Some(true)), none, 11),
            Err(Unsupported::ApiServices)
        );
        assert_eq!(check(&webhooks, none, 11), Err(Unsupported::Webhooks));
        assert_eq!(
            check(&webhooks, cert_manager, 11),
            Err(Unsupported::NoInstallMode)
        );
        assert_eq!(
            check(&webhooks, cert_manager, 2),
            Err(Unsupported::Webhooks)
        );
    }

    #[test]
    fn texts_are_those_of_the_release() {
        let text =
            |unsupported: Unsupported, minor| unsupported.upstream(minor).unwrap_or_default();
        assert_eq!(
            text(Unsupported::ApiServices, 11),
            "unsupported bundle: apiServiceDefintions are not supported"
        );
        assert_eq!(
            text(Unsupported::ApiServices, 2),
            "apiServiceDefintions are not supported"
        );
        assert_eq!(
            text(Unsupported::NotAllNamespaces, 11),
            "unsupported bundle: bundle does not support AllNamespaces install mode"
        );
        assert_eq!(Unsupported::NotAllNamespaces.upstream(5), None);
    }
}
