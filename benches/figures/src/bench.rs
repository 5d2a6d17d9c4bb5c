//! The list of benches.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One bench, by its name in `cargo bench -- NAME`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bench {
    /// One decision with real packages, compared with OLM's resolver.
    Resolve,
    /// One answer as its package grows.
    Growth,
    /// The steps around a decision: decoding a review, and writing its reply.
    Review,
    /// Counting an answer in the metrics.
    Telemetry,
    /// One answer with many upgrade policies.
    Policies,
    /// A comparison of the CRDs of a bundle with the earlier CRDs.
    Preflight,
    /// Reading catalogs, compared with operator-registry.
    Load,
    /// The memory of catalogs, and a check of many manifests.
    Footprint,
    /// The memory and the load time of a million bundles.
    Many,
    /// A check of the changes of a branch.
    Base,
    /// An audit, a preview of a catalog, and reports on many clusters.
    Audit,
    /// Linting catalogs, compared with opm.
    Lint,
    /// The webhook under load.
    Serve,
    /// The webhook in a cluster.
    Catalogs,
}

impl Bench {
    /// All benches, in the order in which they run.
    pub const ALL: [Self; 14] = [
        Self::Resolve,
        Self::Growth,
        Self::Review,
        Self::Telemetry,
        Self::Policies,
        Self::Preflight,
        Self::Load,
        Self::Footprint,
        Self::Many,
        Self::Base,
        Self::Audit,
        Self::Lint,
        Self::Serve,
        Self::Catalogs,
    ];

    /// The bench of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|bench| bench.name() == name)
    }

    /// The names of all benches, separated by commas.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The name of the bench.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Growth => "growth",
            Self::Review => "review",
            Self::Telemetry => "telemetry",
            Self::Policies => "policies",
            Self::Preflight => "preflight",
            Self::Load => "load",
            Self::Footprint => "footprint",
            Self::Many => "many",
            Self::Base => "base",
            Self::Audit => "audit",
            Self::Lint => "lint",
            Self::Serve => "serve",
            Self::Catalogs => "catalogs",
        }
    }

    /// The title of its table, which describes what is measured.
    pub fn title(self) -> &'static str {
        match self {
            Self::Resolve => "One decision over real packages",
            Self::Growth => "One answer, with message and advice, as one package grows",
            Self::Review => "One review of 6.7 KB, step by step",
            Self::Telemetry => "Counting an answer",
            Self::Policies => {
                "One answer with 1,000 upgrade policies that match nothing and 20 that match"
            }
            Self::Preflight => "CRDs of a bundle, compared with those before",
            Self::Load => "Reading catalogs",
            Self::Footprint => "Five catalogs in memory, and a check of 1,000 manifests",
            Self::Many => "A million bundles, 20 in each package",
            Self::Base => "A check of 1,000 manifests of which 50 are changed",
            Self::Audit => "An audit of 2,000 extensions, and reports of many clusters",
            Self::Lint => "Linting whole catalogs",
            Self::Serve => "The webhook over TLS",
            Self::Catalogs => "`serve` in a cluster with five catalogs",
        }
    }

    /// Whether the bench measures a process as users run it. The delivered build is then measured as well.
    pub fn measures_processes(self) -> bool {
        matches!(
            self,
            Self::Load
                | Self::Footprint
                | Self::Base
                | Self::Audit
                | Self::Lint
                | Self::Serve
                | Self::Catalogs
        )
    }
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_is_found_by_its_name_and_written_by_it() {
        for bench in Bench::ALL {
            assert_eq!(Bench::named(bench.name()), Some(bench));
            let written = serde_json::to_string(&bench).unwrap();
            assert_eq!(written, format!("{:?}", bench.name()));
        }
        assert_eq!(Bench::named("fetch"), None);
    }
}
