//! A fleet as a document: a matrix of package by cluster, and a row for each cluster, the worst first.

use crate::audit_report;
use crate::fleet::words::{BEHIND, label, state, states};
use crate::fleet::{ClusterLine, Counts, FleetReport, PackageLine, VersionLine};
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section, Total};
use olmguard_report::{Document, Finding, Severity, Tone};

impl FleetReport {
    /// The report for browsers.
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

    /// The matrix. With very many clusters it has no column for each: they are in the details.
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

/// A package: the versions of it that each cluster has.
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

/// A row about extensions with these counts.
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

/// How many clusters have a column of their own.
const MOST_COLUMNS: usize = 60;
