//! What runs in many clusters, cluster by cluster, package by package and version by version.
//!
//! ```text
//! audit of a cluster --add--> Fleet --report--> FleetReport --> text | JSON | YAML | HTML
//! audit as JSON --read--/
//! ```
//!
//! A fleet is many clusters at rest: each is added and let go. What is kept of one is a line with its counts, and a
//! number for each version that it has.

mod document;
mod kept;
mod read;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;

use serde::Serialize;

pub use kept::Fleet;
pub use read::{ClusterAudit, ReadError};

/// What runs in many clusters.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.fleet/v1", deny_unknown_fields)]
pub struct FleetReport {
    /// Schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// All clusters together.
    counts: Counts,
    /// Clusters, the worst first.
    clusters: Vec<ClusterLine>,
    /// Packages by name.
    packages: Vec<PackageLine>,
    /// Clusters that could not be read, or not all of them.
    unread: Vec<UnreadCluster>,
}

/// How many extensions there are, and how they are.
#[derive(
    Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd, Serialize, schemars::JsonSchema,
)]
#[schemars(deny_unknown_fields)]
pub struct Counts {
    /// Extensions whose spec would be denied today.
    pub denied: usize,
    /// Extensions with the finding `undecided`: a fact is missing, of the spec or of what is installed.
    pub undecided: usize,
    /// Extensions that are not at the newest version: a newer one exists that is not deprecated, reachable or not. The
    /// finding `behind` counts those that an edit brings to a newer version.
    pub behind: usize,
    /// All extensions.
    pub extensions: usize,
}

/// One cluster.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ClusterLine {
    /// Name of the cluster.
    name: String,
    /// Its extensions.
    counts: Counts,
    /// Number of extensions with each finding of `olmguard audit`. A finding that no extension has is omitted.
    findings: BTreeMap<&'static str, usize>,
}

/// One package in all clusters.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PackageLine {
    /// Name of the package. Null if it cannot be read.
    name: Option<String>,
    /// Its extensions.
    counts: Counts,
    /// The newest version that is not deprecated, in any cluster. Null if no cluster has one that is newer.
    newest: Option<String>,
    /// Installed versions, the highest first.
    versions: Vec<VersionLine>,
}

/// One installed version of a package.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct VersionLine {
    /// The version, and its release. Null if no installed version is known.
    version: Option<String>,
    /// Its extensions.
    counts: Counts,
    /// Names of the clusters that have it.
    clusters: Vec<String>,
}

/// A cluster that could not be read, or not all of it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct UnreadCluster {
    /// Name of the cluster, or its file.
    name: String,
    /// Reason in one line.
    text: String,
}

impl FleetReport {
    /// All clusters together.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}

const SCHEMA: &str = "olmguard.fleet/v1";
