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
mod read;
#[cfg(test)]
mod tests;
mod words;

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use serde::Serialize;

pub use read::{ClusterAudit, ReadError};

use crate::fleet::read::FleetExtension;
use olmguard_catalog::version::Version;
use olmguard_engine::explain::one_line;

/// What runs in many clusters.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.fleet/v1")]
pub struct FleetReport {
    /// Schema of this object.
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

/// Clusters that were added.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    clusters: Vec<ClusterLine>,
    packages: BTreeMap<Option<String>, Package>,
    unread: Vec<UnreadCluster>,
}

#[derive(Clone, Debug, Default)]
struct Package {
    newest: Option<String>,
    versions: BTreeMap<Option<String>, Installed>,
}

#[derive(Clone, Debug, Default)]
struct Installed {
    counts: Counts,
    /// The places of the clusters among all, each once, in their order.
    clusters: Vec<usize>,
}

impl Fleet {
    /// Adds a cluster.
    pub fn add(&mut self, name: &str, audit: &ClusterAudit) {
        let at = self.clusters.len();
        let mut line = ClusterLine {
            name: name.to_owned(),
            counts: Counts::default(),
            findings: BTreeMap::new(),
        };
        for extension in &audit.extensions {
            line.add(extension);
            self.installed(extension, at);
        }
        self.clusters.push(line);
    }

    /// Adds what could not be read of a cluster, or of a file.
    pub fn add_unread(&mut self, name: &str, why: &str) {
        self.unread.push(UnreadCluster {
            name: name.to_owned(),
            text: one_line(why),
        });
    }

    /// Everything that was added.
    pub fn report(self) -> FleetReport {
        let names: Vec<_> = self.clusters.iter().map(|line| line.name.clone()).collect();
        let packages = self.packages.into_iter();
        let packages = packages.map(|(name, package)| package.line(name, &names));
        let mut clusters = self.clusters;
        clusters.sort_by(|one, other| one.rank().cmp(&other.rank()));
        FleetReport {
            schema: SCHEMA,
            counts: Counts::sum(clusters.iter().map(|line| &line.counts)),
            packages: packages.collect(),
            clusters,
            unread: self.unread,
        }
    }

    fn installed(&mut self, extension: &FleetExtension, cluster: usize) {
        let package = self.packages.entry(extension.package.clone()).or_default();
        if by_version(package.newest.as_deref(), extension.newest.as_deref()).is_lt() {
            package.newest.clone_from(&extension.newest);
        }
        let versions = &mut package.versions;
        let installed = versions.entry(extension.installed.clone()).or_default();
        installed.counts.add(&extension.counts());
        if installed.clusters.last() != Some(&cluster) {
            installed.clusters.push(cluster);
        }
    }
}

impl ClusterLine {
    fn add(&mut self, extension: &FleetExtension) {
        self.counts.add(&extension.counts());
        for finding in &extension.findings {
            *self.findings.entry(finding.as_str()).or_default() += 1;
        }
    }

    /// The worst first, then by name.
    fn rank(&self) -> (Reverse<&Counts>, &str) {
        (Reverse(&self.counts), &self.name)
    }
}

impl Package {
    fn line(self, name: Option<String>, names: &[String]) -> PackageLine {
        let mut versions: Vec<_> = self.versions.into_iter().collect();
        versions.sort_by(|(one, _), (other, _)| by_version(other.as_deref(), one.as_deref()));
        let versions = versions
            .into_iter()
            .map(|(version, installed)| VersionLine {
                version,
                counts: installed.counts,
                clusters: installed
                    .clusters
                    .iter()
                    .filter_map(|at| names.get(*at).cloned())
                    .collect(),
            });
        let versions: Vec<_> = versions.collect();
        PackageLine {
            name,
            counts: Counts::sum(versions.iter().map(|line| &line.counts)),
            newest: self.newest,
            versions,
        }
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.denied += other.denied;
        self.undecided += other.undecided;
        self.behind += other.behind;
        self.extensions += other.extensions;
    }

    fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        all.fold(Self::default(), |mut sum, counts| {
            sum.add(counts);
            sum
        })
    }
}

/// The lower version first; before all of them what is no version.
fn by_version(one: Option<&str>, other: Option<&str>) -> Ordering {
    let read = |text: Option<&str>| text.and_then(|text| Version::parse(text).ok());
    let versions = match (read(one), read(other)) {
        (Some(one), Some(other)) => one.cmp_precedence(&other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    };
    versions.then_with(|| one.cmp(&other))
}
