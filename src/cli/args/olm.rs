//! The OLM to answer for: its release, its feature gates, and the upgrade edges that count.

use std::str::FromStr;

use clap::Args;

use crate::cli::args::{NamedValue, TypedOptions, heading, one_of};
use crate::facts::olm::OlmRequest;
use olmguard_catalog::olm::{EdgeSource, OlmRelease, PreflightMode, Rules, UnknownRelease};

/// The flags about which OLM there is.
#[derive(Args, Clone, Debug)]
pub(crate) struct OlmArgs {
    #[command(flatten)]
    pub(crate) typed: TypedOptions<Self>,

    /// Answer for this release of OLM v1, such as 1.11 or openshift-4.20
    #[arg(long, value_name = "RELEASE", default_value_t, help_heading = heading::OLM)]
    pub(crate) olm_release: AskedRelease,

    /// Set --feature-gates of operator-controller (repeatable)
    #[arg(long, value_name = "GATE=BOOL", value_delimiter = ',', help_heading = heading::OLM)]
    pub(crate) olm_feature_gates: Vec<String>,
}

/// A release by its name, or `auto`.
#[derive(Clone, Copy, Debug, Default, derive_more::Display, Eq, PartialEq)]
pub(crate) enum AskedRelease {
    /// `auto`
    #[default]
    #[display("auto")]
    Auto,
    #[display("{}", _0.name())]
    This(OlmRelease),
}

/// An error in a value of `--olm-release`.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}, or auto")]
pub(crate) struct AskedReleaseError(#[from] UnknownRelease);

impl OlmArgs {
    /// The OLM that the flags name.
    pub(crate) fn request(&self) -> OlmRequest {
        OlmRequest {
            release: self.olm_release.release(),
            gates: self.olm_feature_gates.clone(),
        }
    }
}

impl AskedRelease {
    /// The release, unless it is `auto`.
    pub(crate) fn release(self) -> Option<OlmRelease> {
        match self {
            Self::Auto => None,
            Self::This(release) => Some(release),
        }
    }
}

impl FromStr for AskedRelease {
    type Err = AskedReleaseError;

    fn from_str(name: &str) -> Result<Self, AskedReleaseError> {
        match name {
            "auto" => Ok(Self::Auto),
            name => Ok(Self::This(name.parse()?)),
        }
    }
}

/// The flag about which edges count.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct EdgesArgs {
    /// Upgrade by catalog edges, by semver, or by both [default: as OLM does]
    #[arg(
        long = "graph",
        value_name = "STEPS",
        value_parser = one_of(&EDGES),
        help_heading = heading::OLM
    )]
    edges: Option<EdgeSource>,
}

impl EdgesArgs {
    /// Whether the flag is given.
    pub(crate) fn is_given(self) -> bool {
        self.edges.is_some()
    }

    /// The rules with these edges, and a warning if OLM uses others.
    pub(crate) fn of(self, rules: Rules) -> (Rules, Option<String>) {
        let asked = EDGES
            .iter()
            .find(|(_, value, _)| Some(*value) == self.edges);
        let Some((name, asked, _)) = asked else {
            return (rules, None);
        };
        let its = match rules.edges {
            EdgeSource::Catalog => "only the edges of the catalog",
            _ => "the semver rules, because of its feature gate",
        };
        let warning = (rules.edges != *asked).then(|| {
            let olm = rules.olm;
            format!("--graph {name}: OLM {olm} uses {its}; omit the flag to get the answer of OLM")
        });
        (rules.with_edges(*asked), warning)
    }
}

/// The values of `--preflight`.
pub(crate) const PREFLIGHT: [NamedValue<PreflightMode>; 3] = [
    ("deny", PreflightMode::Deny, ""),
    ("warn", PreflightMode::Warn, ""),
    ("off", PreflightMode::Off, ""),
];

const EDGES: [NamedValue<EdgeSource>; 3] = [
    (
        "catalog",
        EdgeSource::Catalog,
        "replaces, skips and skipRange",
    ),
    (
        "semver",
        EdgeSource::CaretRange,
        "Higher versions with the same major version, as OLM v1 before 1.2 could be set to",
    ),
    (
        "both",
        EdgeSource::Both,
        "Edges of the catalog that the semver rules allow too",
    ),
];
