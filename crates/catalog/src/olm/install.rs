//! How an operator-controller installs what it has resolved: the gates that matter after resolution.

use super::OlmRelease;

/// The settings of one operator-controller.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a feature gate, which is on or off"
)]
pub struct InstallSettings {
    /// `SingleOwnNamespaceInstallSupport`: bundles without the install mode `AllNamespaces`, and `watchNamespace`.
    pub single_own_namespace: bool,
    /// `DeploymentConfig`: `deploymentConfig` in `spec.config.inline`.
    pub deployment_config: bool,
    /// `BoxcutterRuntime`: revisions instead of Helm releases.
    pub boxcutter: bool,
    /// `HelmChartSupport`: Helm charts beside bundles.
    pub helm_charts: bool,
    /// What provides the certificates of webhooks.
    pub certificates: CertificateProvider,
}

/// What provides the certificates of webhooks: the gates `WebhookProviderCertManager`, which wins, and
/// `WebhookProviderOpenshiftServiceCA`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CertificateProvider {
    /// Nothing: bundles with webhooks are refused.
    None,
    /// cert-manager.
    CertManager,
    /// OpenShift's service CA.
    OpenshiftServiceCa,
}

/// The result for an edit that resolves to a bundle which operator-controller cannot install.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum PreflightMode {
    /// It is denied if that is certain, and otherwise allowed with a warning.
    #[default]
    Deny,
    /// It is allowed with a warning.
    Warn,
    /// The installation is not looked at.
    Off,
}

word_set! {
    /// A gate that matters after resolution.
    pub enum InstallGate {
        /// `SingleOwnNamespaceInstallSupport`
        SingleOwnNamespace => "SingleOwnNamespaceInstallSupport",
        /// `DeploymentConfig`
        DeploymentConfig => "DeploymentConfig",
        /// `BoxcutterRuntime`
        Boxcutter => "BoxcutterRuntime",
        /// `HelmChartSupport`
        HelmCharts => "HelmChartSupport",
        /// `WebhookProviderCertManager`
        CertManager => "WebhookProviderCertManager",
        /// `WebhookProviderOpenshiftServiceCA`
        OpenshiftServiceCa => "WebhookProviderOpenshiftServiceCA",
    }
}

/// What is known of these gates: by default nothing, because an operator-controller can be set in any way.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct InstallGates([Option<bool>; InstallGate::ALL.len()]);

impl InstallGate {
    /// The first release 1.x that has it.
    pub fn since(self) -> u8 {
        match self {
            Self::SingleOwnNamespace => 2,
            Self::CertManager | Self::OpenshiftServiceCa => 3,
            Self::HelmCharts => 4,
            Self::Boxcutter => 6,
            Self::DeploymentConfig => 9,
        }
    }

    fn exists_in(self, olm: OlmRelease) -> bool {
        let is_gone = self == Self::HelmCharts && olm.minor() > LAST_WITH_CHARTS;
        olm.minor() >= self.since() && !is_gone
    }

    /// Its default in a release. `AllAlpha` sets the gates that are off by default.
    fn default_in(self, olm: OlmRelease) -> bool {
        match self {
            Self::SingleOwnNamespace => olm.minor() == 8,
            Self::CertManager | Self::OpenshiftServiceCa => olm.minor() >= 6,
            Self::DeploymentConfig | Self::Boxcutter | Self::HelmCharts => false,
        }
    }
}

/// The last release 1.x with `HelmChartSupport`.
const LAST_WITH_CHARTS: u8 = 10;

impl InstallGates {
    /// The gates of an operator-controller whose settings are all known. `set` has what was said of a gate, and
    /// `all_alpha` what was said of `AllAlpha`.
    pub(super) fn known(
        set: impl Fn(InstallGate) -> Option<bool>,
        all_alpha: Option<bool>,
        olm: OlmRelease,
    ) -> Self {
        let value = |gate: InstallGate| {
            let default = gate.default_in(olm);
            let alpha = all_alpha.filter(|_| !default);
            gate.exists_in(olm) && set(gate).or(alpha).unwrap_or(default)
        };
        Self(InstallGate::ALL.map(|gate| Some(value(gate))))
    }

    /// Those that are on in an operator-controller whose settings are known, although the release has them off.
    pub(super) fn turned_on(self, olm: OlmRelease) -> impl Iterator<Item = &'static str> {
        let gates = InstallGate::ALL.into_iter().zip(self.0);
        let on = gates.filter(move |(gate, value)| *value == Some(true) && !gate.default_in(olm));
        on.map(|(gate, _)| gate.as_str())
    }

    /// Every way in which an operator-controller of this release can be set, as far as is known.
    pub(super) fn possible(self, olm: OlmRelease) -> Vec<InstallSettings> {
        let mut values = [false; InstallGate::ALL.len()];
        let mut possible = Vec::new();
        self.fill(olm, 0, &mut values, &mut possible);
        possible
    }

    fn fill(
        self,
        olm: OlmRelease,
        place: usize,
        values: &mut [bool; InstallGate::ALL.len()],
        possible: &mut Vec<InstallSettings>,
    ) {
        let Some((gate, known)) = InstallGate::ALL.into_iter().zip(self.0).nth(place) else {
            let settings = InstallSettings::of(*values);
            if !possible.contains(&settings) {
                possible.push(settings);
            }
            return;
        };
        let default = gate.default_in(olm);
        for value in [default, !default] {
            let exists = gate.exists_in(olm) || !value;
            if exists && known.is_none_or(|known| known == value) {
                if let Some(slot) = values.get_mut(place) {
                    *slot = value;
                }
                self.fill(olm, place + 1, values, possible);
            }
        }
    }
}

impl InstallSettings {
    /// The settings by the values of [`InstallGate::ALL`].
    fn of(values: [bool; InstallGate::ALL.len()]) -> Self {
        let [
            single_own_namespace,
            deployment_config,
            boxcutter,
            helm_charts,
            cert_manager,
            service_ca,
        ] = values;
        Self {
            single_own_namespace,
            deployment_config,
            boxcutter,
            helm_charts,
            certificates: match (cert_manager, service_ca) {
                (true, _) => CertificateProvider::CertManager,
                (false, true) => CertificateProvider::OpenshiftServiceCa,
                (false, false) => CertificateProvider::None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn olm(name: &str) -> OlmRelease {
        name.parse().unwrap()
    }

    fn known(on: &[InstallGate], all_alpha: Option<bool>, name: &str) -> InstallSettings {
        let set = |gate| on.contains(&gate).then_some(true);
        let possible = InstallGates::known(set, all_alpha, olm(name)).possible(olm(name));
        assert_eq!(possible.len(), 1);
        *possible.first().unwrap()
    }

    #[test]
    fn what_is_not_known_can_be_either() {
        let possible = InstallGates::default().possible(olm("1.11"));
        assert_eq!(possible.len(), 2 * 2 * 2 * 3);
        let first = possible.first().unwrap();
        assert_eq!(*first, known(&[], None, "1.11"), "the defaults come first");
        assert_eq!(InstallGates::default().possible(olm("1.0")).len(), 1);
        assert_eq!(InstallGates::default().possible(olm("1.2")).len(), 2);
    }

    #[test]
    fn a_release_has_its_own_defaults() {
        assert!(known(&[], None, "1.8").single_own_namespace);
        assert!(!known(&[], None, "1.9").single_own_namespace);
        let certificates = |name| known(&[], None, name).certificates;
        assert_eq!(certificates("1.5"), CertificateProvider::None);
        assert_eq!(certificates("1.6"), CertificateProvider::CertManager);
    }

    #[test]
    fn all_alpha_sets_what_is_off_by_default_and_exists() {
        let all = known(&[], Some(true), "1.11");
        assert!(all.single_own_namespace && all.deployment_config && all.boxcutter);
        let old = known(&[], Some(true), "1.5");
        assert!(old.single_own_namespace && !old.deployment_config && !old.boxcutter);
        assert!(old.helm_charts && !all.helm_charts);
    }

    #[test]
    fn only_what_was_turned_on_is_named() {
        let set = |gate| Some(gate == InstallGate::Boxcutter || gate == InstallGate::CertManager);
        let gates = InstallGates::known(set, None, olm("1.11"));
        let named: Vec<_> = gates.turned_on(olm("1.11")).collect();
        assert_eq!(named, ["BoxcutterRuntime"]);
        assert_eq!(InstallGates::default().turned_on(olm("1.11")).count(), 0);
    }
}
