//! Feature gates of operator-controller, as its `--feature-gates` flag takes them.

use super::OlmRelease;

/// The gates that touch resolution, as they are set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Gates {
    pub(super) bundle_release_support: bool,
    pub(super) force_semver_upgrade_constraints: bool,
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
    pub fn parse<'a>(
        settings: impl IntoIterator<Item = &'a str>,
        olm: OlmRelease,
    ) -> Result<Self, GateError> {
        let mut gates = Self::default();
        for setting in settings {
            let (name, value) = setting.split_once('=').ok_or_else(|| GateError::NoValue {
                found: setting.to_owned(),
            })?;
            gates.set(name.trim(), value.trim(), olm)?;
        }
        Ok(gates)
    }

    fn set(&mut self, name: &str, value: &str, olm: OlmRelease) -> Result<(), GateError> {
        let on = parse_bool(value).ok_or_else(|| GateError::NotABool {
            gate: name.to_owned(),
            found: value.to_owned(),
        })?;
        match name {
            _ if !known(olm).contains(&name) => Err(GateError::Unknown {
                found: name.to_owned(),
                olm,
            }),
            BUNDLE_RELEASE_SUPPORT => {
                self.bundle_release_support = on;
                Ok(())
            }
            FORCE_SEMVER => {
                self.force_semver_upgrade_constraints = on;
                Ok(())
            }
            _ => Ok(()),
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

const BUNDLE_RELEASE_SUPPORT: &str = "BundleReleaseSupport";
const FORCE_SEMVER: &str = "ForceSemverUpgradeConstraints";

/// Gates of any release that leave the choice of the bundle alone.
const OTHERS: &[&str] = &[
    "AllAlpha",
    "AllBeta",
    "BoxcutterRuntime",
    "DeploymentConfig",
    "HelmChartSupport",
    "PreflightPermissions",
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
        let gates = Gates::parse(
            ["BoxcutterRuntime=1", "HelmChartSupport=f"],
            OlmRelease::default(),
        );
        assert_eq!(gates, Ok(Gates::default()));
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
