//! The OLM in the cluster: its release, its feature gates, and the differences that they make.
//!
//! All known differences between the releases are in one table here, as data ([`Rules`]). No other
//! file depends on a release number. Upstream: the tags v1.0.0 to v1.11.0 of
//! `operator-framework/operator-controller`, and the libraries that each of them vendors.

mod release;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::selector::SelectorTexts;
use crate::version::{LegacyRelease, Masterminds, ReleaseLimit};

pub use release::{OlmRelease, UnknownRelease};

/// The behaviour of the OLM in the cluster that depends on its release and feature gates.
///
/// Create it with [`Rules::new`]. The catalog index, the resolver and the messages must all use the
/// same value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rules {
    /// The release that these rules are for.
    pub olm: OlmRelease,
    /// The dialect of `spec.source.catalog.version`.
    pub masterminds: Masterminds,
    /// The wording of errors about selectors that do not compile.
    pub selector_texts: SelectorTexts,
    /// Whether build metadata is read as a release.
    pub legacy_release: LegacyRelease,
    /// Maximum length of an explicit release.
    pub release_limit: ReleaseLimit,
    /// Effect of the `release` key of a bundle's `olm.package` property.
    pub release_key: ReleaseKey,
    /// The reader of the installed version, and the wording of its errors.
    pub installed: InstalledReader,
    /// Effect of a catalog without the package on the walk.
    pub empty_package: EmptyPackage,
    /// The source of upgrade edges.
    pub edges: EdgeSource,
    /// All settings with which operator-controller may install the resolved bundle; one if its
    /// gates are known. The defaults of the release come first.
    pub installs: Vec<InstallSettings>,
    /// The result for an edit whose bundle operator-controller cannot install.
    pub preflight: PreflightMode,
}

/// Effect of the `release` key of a bundle's `olm.package` property.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReleaseKey {
    /// The key is unknown: before v1.8.
    Unknown,
    /// The key must be a string, but is not used: v1.8 and later, `BundleReleaseSupport` off.
    Typed,
    /// The key is the bundle's release: `BundleReleaseSupport` on.
    Honoured,
}

/// The reader of the installed version, and the wording of its errors.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InstalledReader {
    /// Masterminds first, then blang if the catalog's edges are used: v1.0 to v1.7.
    MastermindsThenBlang,
    /// Blang, without explicit releases: v1.8.
    Blang,
    /// Blang. Version and release of an explicit pair are reported separately: v1.9 and v1.10.
    BlangApart,
    /// Blang. Version and release of an explicit pair are reported together: v1.11.
    BlangTogether,
}

/// Effect of a catalog without the package on the walk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EmptyPackage {
    /// The installed version is still read: v1.0 and v1.1.
    Walked,
    /// The catalog is skipped: v1.2 and later, and OpenShift's build of v1.0.
    Skipped,
}

/// The source of upgrade edges.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EdgeSource {
    /// `replaces`, `skips` and `skipRange` of the catalog's channel entries.
    #[default]
    Catalog,
    /// The caret range of the installed version: `ForceSemverUpgradeConstraints` on, v1.0 and v1.1.
    CaretRange,
    /// The catalog's edges that end in the caret range. No OLM does this: it is for users who want
    /// to comply with both.
    Both,
}

impl Rules {
    /// Creates the rules of one release with these gates.
    pub fn new(olm: OlmRelease, gates: Gates) -> Self {
        let row = olm.row();
        Self {
            olm,
            masterminds: row.masterminds,
            selector_texts: row.selector_texts,
            legacy_release: row.legacy_release,
            release_limit: row.release_limit,
            release_key: if gates.bundle_release_support {
                ReleaseKey::Honoured
            } else {
                row.release_key
            },
            installed: row.installed,
            empty_package: row.empty_package,
            edges: if gates.force_semver_upgrade_constraints {
                EdgeSource::CaretRange
            } else {
                EdgeSource::Catalog
            },
            installs: gates.install.possible(olm),
            preflight: PreflightMode::default(),
        }
    }

    /// Returns these rules with another source of upgrade edges.
    pub fn with_edges(self, edges: EdgeSource) -> Self {
        Self { edges, ..self }
    }

    /// Returns these rules with another preflight mode.
    pub fn with_preflight(self, preflight: PreflightMode) -> Self {
        Self { preflight, ..self }
    }

    /// Whether `status.install.bundle.release` exists in this release's API.
    pub fn reads_installed_release(&self) -> bool {
        matches!(
            self.installed,
            InstalledReader::BlangApart | InstalledReader::BlangTogether
        )
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::new(OlmRelease::default(), Gates::default())
    }
}

// === Feature gates of operator-controller, in the form of its `--feature-gates` flag ===

/// The gates that affect resolution, and the known gates that matter after resolution.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Gates {
    bundle_release_support: bool,
    force_semver_upgrade_constraints: bool,
    install: InstallGates,
}

/// The reason why a setting of a gate is invalid.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GateError {
    /// The setting has no `=`.
    #[error("feature gate {found:?} has no value: expected NAME=true or NAME=false")]
    NoValue {
        /// The setting as given.
        found: String,
    },
    /// Go's `strconv.ParseBool` rejects the value.
    #[error(
        "feature gate {gate} has the value {found:?}: expected 1, t, T, TRUE, true, True, 0, f, F, FALSE, false or False"
    )]
    NotABool {
        /// The gate.
        gate: String,
        /// The value as given.
        found: String,
    },
    /// The gate is unknown in this release of operator-controller.
    #[error("unknown feature gate {found:?} for OLM {olm}: expected one of {}", known(*.olm).join(", "))]
    Unknown {
        /// The name as given.
        found: String,
        /// The release that the gate was checked for.
        olm: OlmRelease,
    },
}

impl Gates {
    /// Parses settings such as `BundleReleaseSupport=true`. If a gate is set twice, the last
    /// setting wins.
    ///
    /// `AllAlpha` sets the alpha gates that are not set explicitly. The gates that affect resolution
    /// are alpha.
    pub fn parse<'a>(
        settings: impl IntoIterator<Item = &'a str>,
        olm: OlmRelease,
    ) -> Result<Self, GateError> {
        let mut set = BTreeMap::new();
        for setting in settings {
            let (name, value) = setting.split_once('=').ok_or_else(|| GateError::NoValue {
                found: setting.to_owned(),
            })?;
            let (name, value) = (name.trim(), value.trim());
            let on = parse_bool(value).ok_or_else(|| GateError::NotABool {
                gate: name.to_owned(),
                found: value.to_owned(),
            })?;
            if !known(olm).contains(&name) {
                let found = name.to_owned();
                return Err(GateError::Unknown { found, olm });
            }
            set.insert(name, on);
        }
        let said = |gate: &str| set.get(gate).copied();
        let all_alpha = said(ALL_ALPHA);
        let is_on =
            |gate: &str| known(olm).contains(&gate) && said(gate).or(all_alpha).unwrap_or_default();
        Ok(Self {
            bundle_release_support: is_on(BUNDLE_RELEASE_SUPPORT),
            force_semver_upgrade_constraints: is_on(FORCE_SEMVER),
            install: InstallGates::known(|gate| said(gate.as_str()), all_alpha, olm),
        })
    }

    /// The names of the enabled gates that affect resolution, in byte order.
    pub fn on(self) -> impl Iterator<Item = &'static str> {
        let named = [
            (BUNDLE_RELEASE_SUPPORT, self.bundle_release_support),
            (FORCE_SEMVER, self.force_semver_upgrade_constraints),
        ];
        named
            .into_iter()
            .filter_map(|(name, is_on)| is_on.then_some(name))
    }

    /// The names of all gates that were enabled in this release.
    pub fn turned_on(self, olm: OlmRelease) -> impl Iterator<Item = &'static str> {
        self.on().chain(self.install.turned_on(olm))
    }

    /// Whether both resolve in the same way, whatever the gates that matter after resolution.
    pub fn resolve_as(self, other: Self) -> bool {
        self.of_resolution() == other.of_resolution()
    }

    /// Returns these gates, with the gates that matter after resolution unknown.
    pub fn of_resolution(self) -> Self {
        Self {
            install: InstallGates::default(),
            ..self
        }
    }
}

/// Parses a boolean as Go's `strconv.ParseBool` does.
fn parse_bool(value: &str) -> Option<bool> {
    match value {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// The gates of a release, including those that do not affect resolution.
fn known(olm: OlmRelease) -> Vec<&'static str> {
    let resolving: &[&str] = match olm.minor() {
        0 | 1 => &[FORCE_SEMVER],
        2..=8 => &[],
        _ => &[BUNDLE_RELEASE_SUPPORT],
    };
    let others = OTHERS
        .iter()
        .filter(|(_, releases)| releases.contains(&olm.minor()));
    let others = others.map(|(name, _)| *name);
    let installing = InstallGate::ALL
        .into_iter()
        .filter(|gate| gate.exists_in(olm));
    let mut others: Vec<_> = others.chain(installing.map(InstallGate::as_str)).collect();
    others.sort_unstable();
    [resolving, &others].concat()
}

const ALL_ALPHA: &str = "AllAlpha";
const BUNDLE_RELEASE_SUPPORT: &str = "BundleReleaseSupport";
const FORCE_SEMVER: &str = "ForceSemverUpgradeConstraints";

/// Gates that affect neither the choice of the bundle nor its installation, except `AllAlpha`, with
/// the releases 1.x that have them.
const OTHERS: [(&str, RangeInclusive<u8>); 4] = [
    (ALL_ALPHA, 0..=u8::MAX),
    ("AllBeta", 0..=u8::MAX),
    ("PreflightPermissions", 2..=10),
    ("SyntheticPermissions", 3..=10),
];

// === The gates that matter after resolution: how a bundle is installed ===

/// The settings of one operator-controller.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a feature gate, which is on or off"
)]
pub struct InstallSettings {
    /// `SingleOwnNamespaceInstallSupport`: bundles without the install mode `AllNamespaces`, and
    /// `watchNamespace`.
    pub single_own_namespace: bool,
    /// `DeploymentConfig`: `deploymentConfig` in `spec.config.inline`.
    pub deployment_config: bool,
    /// `BoxcutterRuntime`: revisions instead of Helm releases.
    pub boxcutter: bool,
    /// `HelmChartSupport`: Helm charts in addition to bundles.
    pub helm_charts: bool,
    /// The provider of webhook certificates.
    pub certificates: CertificateProvider,
}

/// The provider of webhook certificates: the gates `WebhookProviderCertManager`, which has
/// precedence, and `WebhookProviderOpenshiftServiceCA`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CertificateProvider {
    /// No provider: bundles with webhooks are rejected.
    None,
    /// cert-manager.
    CertManager,
    /// OpenShift's service CA.
    OpenshiftServiceCa,
}

/// The result for an edit that resolves to a bundle which operator-controller cannot install.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum PreflightMode {
    /// The edit is denied if the failure is certain, otherwise allowed with a warning.
    #[default]
    Deny,
    /// The edit is allowed with a warning.
    Warn,
    /// The installation is not checked.
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

/// The known values of these gates. By default none is known, because an operator-controller can
/// have any settings.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct InstallGates([Option<bool>; InstallGate::ALL.len()]);

impl InstallGate {
    /// The first release 1.x with the gate.
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

    /// The default of the gate in a release. `AllAlpha` sets the gates that are off by default.
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
    /// The gates of an operator-controller whose settings are all known. `set` returns the setting
    /// of a gate, and `all_alpha` is the setting of `AllAlpha`.
    fn known(
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

    /// The gates that are on in an operator-controller whose settings are known, although they are
    /// off by default in the release.
    fn turned_on(self, olm: OlmRelease) -> impl Iterator<Item = &'static str> {
        let gates = InstallGate::ALL.into_iter().zip(self.0);
        let on = gates.filter(move |(gate, value)| *value == Some(true) && !gate.default_in(olm));
        on.map(|(gate, _)| gate.as_str())
    }

    /// All possible settings of an operator-controller of this release, given the known gates.
    fn possible(self, olm: OlmRelease) -> Vec<InstallSettings> {
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
    /// Creates the settings from the values of [`InstallGate::ALL`].
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

    #[track_caller]
    fn refused(setting: &str, olm: &str) -> String {
        Gates::parse([setting], olm.parse().unwrap())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn the_last_setting_of_a_gate_wins() {
        let on = Gates::parse(
            ["BundleReleaseSupport=false", "BundleReleaseSupport=T"],
            OlmRelease::default(),
        );
        assert!(on.unwrap().bundle_release_support);
    }

    #[test]
    fn gates_that_do_not_touch_resolution_are_taken() {
        let olm = OlmRelease::default();
        let gates = Gates::parse(["BoxcutterRuntime=1", "DeploymentConfig=f"], olm).unwrap();
        assert!(gates.resolve_as(Gates::default()));
        assert_eq!(gates.on().count(), 0);
        assert_eq!(
            gates.turned_on(olm).collect::<Vec<_>>(),
            ["BoxcutterRuntime"]
        );
    }

    #[test]
    fn all_alpha_sets_what_is_not_set_itself() {
        let on = |settings: &[&str], olm: &str| {
            let gates = Gates::parse(settings.iter().copied(), olm.parse().unwrap()).unwrap();
            (
                gates.bundle_release_support,
                gates.force_semver_upgrade_constraints,
            )
        };
        assert_eq!(on(&["AllAlpha=true"], "1.11"), (true, false));
        assert_eq!(on(&["AllAlpha=true"], "1.0"), (false, true));
        assert_eq!(on(&["AllAlpha=true"], "1.4"), (false, false));
        assert_eq!(
            on(&["BundleReleaseSupport=false", "AllAlpha=true"], "1.11"),
            (false, false)
        );
        assert_eq!(on(&["AllAlpha=false"], "1.11"), (false, false));
    }

    #[test]
    fn a_gate_belongs_to_its_releases() {
        assert!(
            Gates::parse(
                ["ForceSemverUpgradeConstraints=true"],
                "1.1".parse().unwrap()
            )
            .is_ok()
        );
        assert!(
            refused("ForceSemverUpgradeConstraints=true", "1.2").starts_with(
                "unknown feature gate \"ForceSemverUpgradeConstraints\" for OLM 1.2: expected one of AllAlpha"
            )
        );
        assert!(
            refused("BundleReleaseSuport=true", "1.11")
                .contains("expected one of BundleReleaseSupport, AllAlpha")
        );
        let taken = |setting, olm: &str| Gates::parse([setting], olm.parse().unwrap()).is_ok();
        for (setting, first, last) in [
            ("DeploymentConfig=true", 9, 11),
            ("HelmChartSupport=true", 4, 10),
            ("PreflightPermissions=true", 2, 10),
            ("SyntheticPermissions=true", 3, 10),
        ] {
            for minor in 0..=11 {
                let is_taken = taken(setting, &format!("1.{minor}"));
                assert_eq!(
                    is_taken,
                    (first..=last).contains(&minor),
                    "{setting} 1.{minor}"
                );
            }
        }
        assert_eq!(
            refused("DeploymentConfig=true", "1.0"),
            "unknown feature gate \"DeploymentConfig\" for OLM 1.0: expected one of \
             ForceSemverUpgradeConstraints, AllAlpha, AllBeta"
        );
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        assert_eq!(
            refused("BundleReleaseSupport", "1.11"),
            "feature gate \"BundleReleaseSupport\" has no value: expected NAME=true or NAME=false"
        );
        assert!(
            refused("BoxcutterRuntime=yes", "1.11")
                .contains("has the value \"yes\": expected 1, t")
        );
    }

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
