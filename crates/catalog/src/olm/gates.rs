//! Feature gates of operator-controller, as its `--feature-gates` flag takes them.

use std::collections::BTreeMap;

use super::OlmRelease;
use super::install::InstallGates;

/// The gates that touch resolution, as they are set, and what is known of those that matter after it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Gates {
    pub(super) bundle_release_support: bool,
    pub(super) force_semver_upgrade_constraints: bool,
    pub(super) install: InstallGates,
}

/// Why a setting of a gate was not understood.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GateError {
    /// There is no `=` in it.
    #[error("feature gate {found:?} has no value: expected NAME=true or NAME=false")]
    NoValue {
        /// The setting as given.
        found: String,
    },
    /// The value is none that Go's `strconv.ParseBool` takes.
    #[error(
        "feature gate {gate} has the value {found:?}: expected 1, t, T, TRUE, true, True, 0, f, F, FALSE, false or False"
    )]
    NotABool {
        /// The gate.
        gate: String,
        /// The value as given.
        found: String,
    },
    /// No operator-controller of this release has such a gate.
    #[error("unknown feature gate {found:?} for OLM {olm}: expected one of {}", known(*.olm).join(", "))]
    Unknown {
        /// The name as given.
        found: String,
        /// The release that was asked.
        olm: OlmRelease,
    },
}

impl Gates {
    /// Reads settings such as `BundleReleaseSupport=true`; of two for one gate the last one wins.
    ///
    /// `AllAlpha` sets the gates that are not set themselves: those that touch resolution are alpha.
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

    /// The names of those that touch resolution and are on, in byte order.
    pub fn on(self) -> impl Iterator<Item = &'static str> {
        let named = [
            (BUNDLE_RELEASE_SUPPORT, self.bundle_release_support),
            (FORCE_SEMVER, self.force_semver_upgrade_constraints),
        ];
        named
            .into_iter()
            .filter_map(|(name, is_on)| is_on.then_some(name))
    }

    /// The names of all that were turned on in this release.
    pub fn turned_on(self, olm: OlmRelease) -> impl Iterator<Item = &'static str> {
        self.on().chain(self.install.turned_on(olm))
    }

    /// Whether both resolve alike, whatever the gates that matter after resolution.
    pub fn resolve_as(self, other: Self) -> bool {
        self.of_resolution() == other.of_resolution()
    }

    /// The same, but that the gates that matter after resolution are not known.
    pub fn of_resolution(self) -> Self {
        Self {
            install: InstallGates::default(),
            ..self
        }
    }
}

/// Go's `strconv.ParseBool`.
fn parse_bool(value: &str) -> Option<bool> {
    match value {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// The gates of a release, those that do not touch resolution included.
fn known(olm: OlmRelease) -> Vec<&'static str> {
    let resolving: &[&str] = match olm.minor() {
        0 | 1 => &[FORCE_SEMVER],
        2..=8 => &[],
        _ => &[BUNDLE_RELEASE_SUPPORT],
    };
    [resolving, OTHERS].concat()
}

const ALL_ALPHA: &str = "AllAlpha";
const BUNDLE_RELEASE_SUPPORT: &str = "BundleReleaseSupport";
const FORCE_SEMVER: &str = "ForceSemverUpgradeConstraints";

/// Gates of any release that leave the choice of the bundle alone, but for `AllAlpha`.
const OTHERS: &[&str] = &[
    ALL_ALPHA,
    "AllBeta",
    "BoxcutterRuntime",
    "DeploymentConfig",
    "HelmChartSupport",
    "PreflightPermissions",
    "RegistryV1WebhookSupport",
    "SingleOwnNamespaceInstallSupport",
    "SyntheticPermissions",
    "WebhookProviderCertManager",
    "WebhookProviderOpenshiftServiceCA",
];

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
        let gates = Gates::parse(["BoxcutterRuntime=1", "HelmChartSupport=f"], olm).unwrap();
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
}
