//! Which steps count: those that a catalog's author wrote, those that versions alone allow, or both.

use clap::{Args, ValueEnum};

use crate::cli::args::heading;
use olmguard_catalog::olm::{EdgeSource, OlmRelease, Rules};

/// The flag about which steps count.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct EdgesArgs {
    /// Upgrade by catalog edges, by semver, or by both [default: as OLM does]
    #[arg(long = "graph", value_name = "STEPS", help_heading = heading::OLM)]
    steps: Option<Steps>,
}

/// The steps that count.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Steps {
    /// replaces, skips and skipRange
    Catalog,
    /// Higher versions with the same major version, as OLM v1 before 1.2 could be set to
    Semver,
    /// Edges of the catalog that the semver rules allow too
    Both,
}

/// What the OLM in use goes by.
fn its_steps(gated: bool) -> &'static str {
    if gated {
        "the semver rules, because of its feature gate"
    } else {
        "only the edges of the catalog"
    }
}

/// Steps are asked for by which the OLM in use does not go.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "--graph {asked}: OLM {olm} uses {its}; omit the flag to get the answer of OLM",
    asked = word(*.asked),
    its = its_steps(*.gated)
)]
pub(crate) struct Departure {
    asked: Steps,
    olm: OlmRelease,
    gated: bool,
}

impl EdgesArgs {
    /// Whether it is said which steps count.
    pub(crate) fn is_given(self) -> bool {
        self.steps.is_some()
    }

    /// The rules with these steps, and what to say where OLM does not go by them.
    pub(crate) fn of(self, rules: Rules) -> (Rules, Option<Departure>) {
        let Some(asked) = self.steps else {
            return (rules, None);
        };
        let departure = Departure {
            asked,
            olm: rules.olm,
            gated: rules.edges != EdgeSource::Catalog,
        };
        let departs = rules.edges != asked.into();
        (rules.with_edges(asked.into()), departs.then_some(departure))
    }
}

fn word(steps: Steps) -> String {
    let value = steps.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

impl From<Steps> for EdgeSource {
    fn from(steps: Steps) -> Self {
        match steps {
            Steps::Catalog => Self::Catalog,
            Steps::Semver => Self::CaretRange,
            Steps::Both => Self::Both,
        }
    }
}
