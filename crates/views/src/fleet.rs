//! Installed versions in many clusters, by cluster, package and version.
//!
//! ```text
//! audit of a cluster --add--> Fleet --report--> FleetReport --> text | JSON | YAML | HTML
//! audit as JSON --read--/
//! ```
//!
//! Clusters are added one after another, and their audits are not kept. A fleet only keeps a line with the counts of
//! each cluster, and the index of the cluster for each version that it has.

mod read;
#[cfg(test)]
mod tests;
mod words;

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use serde::Serialize;

use crate::audit_report;
use crate::fleet::read::FleetExtension;
use crate::fleet::words::{BEHIND, label, state, states};
use olmguard_catalog::version::{LegacyRelease, ReleaseLimit, VersionRelease};
use olmguard_engine::explain::one_line;
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section, Total};
use olmguard_report::{Document, Finding, Severity, Tone};

pub use read::{ClusterAudit, ReadError};

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
    /// Returns the counts of all clusters together.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}

const SCHEMA: &str = "olmguard.fleet/v1";

/// The clusters that were added.
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
    /// Indexes of the clusters, each once, in order.
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

    /// Adds an input, a cluster or a file, that could not be read.
    pub fn add_unread(&mut self, name: &str, why: &str) {
        self.unread.push(UnreadCluster {
            name: name.to_owned(),
            text: one_line(why),
        });
    }

    /// Reports everything that was added.
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

    /// Returns the sort key: the worst first, then by name.
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

/// Compares versions and their releases in ascending order. Texts that are not valid versions come first.
fn by_version(one: Option<&str>, other: Option<&str>) -> Ordering {
    let legacy = LegacyRelease::Read(ReleaseLimit::Unlimited);
    let read =
        |text: Option<&str>| text.and_then(|text| VersionRelease::parse_legacy(text, legacy).ok());
    let versions = match (read(one), read(other)) {
        (Some(one), Some(other)) => one.cmp_precedence(&other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    };
    versions.then_with(|| one.cmp(&other))
}

// === A fleet as a document ===
//
// The document has a matrix of packages and clusters, and a row for each cluster, the worst first.

impl FleetReport {
    /// Renders the report for browsers.
    pub fn document(&self) -> Document {
        let unread = self.unread.iter().map(|one| {
            let line = format!("{}: {}", one.name, one.text);
            Finding::of_run("olmguard audit", Severity::Error, line)
        });
        Document {
            name: "olmguard audit: fleet",
            command: "olmguard audit",
            result: Content::words(self.count_line()),
            faults: unread.collect(),
            totals: totals(&self.counts).collect(),
            sections: vec![self.packages(), self.clusters()],
        }
    }

    /// Builds the matrix. If there are very many clusters, they have no columns and are in the details.
    fn packages(&self) -> Section {
        let clusters = self.clusters.iter().map(|cluster| &*cluster.name);
        let clusters: Vec<_> = match self.clusters.len() {
            ..=MOST_COLUMNS => clusters.collect(),
            _ => Vec::new(),
        };
        let heads = ["Package", "Newest", "Extensions"].into_iter();
        let heads = heads.chain(clusters.iter().copied());
        let packages = self.packages.iter();
        Section {
            caption: match clusters.len() {
                0 => "Packages: open a row for the clusters of each version",
                _ => "Installed versions by package and cluster",
            },
            layout: Layout::Matrix,
            heads: heads.map(Head::from).collect(),
            rows: packages
                .map(|package| row_of_package(package, &clusters))
                .collect(),
            details: ["list of versions", "lists of versions"],
        }
    }

    fn clusters(&self) -> Section {
        let heads = [
            "Cluster",
            "Extensions",
            "Denied",
            "Undecided",
            "Not at the newest version",
        ];
        Section {
            caption: "Clusters",
            layout: Layout::List,
            heads: heads.map(Head::from).to_vec(),
            rows: self.clusters.iter().map(row_of_cluster).collect(),
            details: ["list of findings", "lists of findings"],
        }
    }
}

fn totals(counts: &Counts) -> impl Iterator<Item = Total> {
    let found = states(counts).into_iter().filter(|(_, count)| *count > 0);
    found.map(|(id, count)| Total {
        id,
        label: audit_report::label(id),
        count,
        tone: if id == BEHIND {
            Tone::Caution
        } else {
            Tone::Bad
        },
    })
}

/// Builds the row of a package: its versions in each cluster.
fn row_of_package(package: &PackageLine, clusters: &[&str]) -> Row {
    let name = package.name.as_deref().unwrap_or("(no name)");
    let cells = [
        name.to_owned(),
        package.newest.clone().unwrap_or_default(),
        package.counts.extensions.to_string(),
    ];
    let in_cluster = |cluster: &&str| {
        let versions = package.versions.iter();
        let here = versions.filter(|version| version.clusters.iter().any(|one| one == cluster));
        here.map(label).collect::<Vec<_>>().join(", ")
    };
    let cells = cells.into_iter().chain(clusters.iter().map(in_cluster));
    let fact = |version: &VersionLine| {
        let clusters = version.clusters.join(", ");
        let text = format!("{} in {clusters}", state(&version.counts));
        (label(version), text)
    };
    let facts = package.versions.iter().map(fact);
    counted(&package.counts, cells, facts.collect())
}

fn row_of_cluster(cluster: &ClusterLine) -> Row {
    let counts = &cluster.counts;
    let numbers = [
        counts.extensions,
        counts.denied,
        counts.undecided,
        counts.behind,
    ];
    let numbers = numbers.iter().map(ToString::to_string);
    let cells = [cluster.name.clone()].into_iter().chain(numbers);
    let findings = cluster.findings.iter();
    let facts = findings.map(|(id, count)| (audit_report::label(id), count.to_string()));
    counted(counts, cells, facts.collect())
}

/// Builds a row about extensions with these counts.
fn counted(
    counts: &Counts,
    cells: impl Iterator<Item = String>,
    facts: Vec<(String, String)>,
) -> Row {
    let found = states(counts).into_iter().filter(|(_, count)| *count > 0);
    Row {
        tone: match counts {
            Counts { denied: 1.., .. } | Counts { undecided: 1.., .. } => Tone::Bad,
            Counts { behind: 1.., .. } => Tone::Caution,
            _ => Tone::Good,
        },
        findings: found.map(|(id, _)| id).collect(),
        cells: cells.map(Content::foreign).collect(),
        details: Details {
            facts,
            ..Details::default()
        },
    }
}

/// Maximum number of clusters with a column.
const MOST_COLUMNS: usize = 60;
