//! A fleet as one page for browsers: a matrix of package by cluster, and a row for each cluster, the worst first.

use crate::audit_report;
use crate::fleet::words::{BEHIND, label, state, states};
use crate::fleet::{ClusterLine, Counts, FleetReport, PackageLine};
use crate::html_page::{HtmlPage, HtmlRow, HtmlTable, State, Total, facts};
use crate::xml::Xml;

impl FleetReport {
    /// A whole page.
    pub fn html(&self) -> String {
        let unread = self.unread.iter();
        let unread: Vec<_> = unread
            .map(|one| format!("{}: {}", one.name, one.text))
            .collect();
        let totals: Vec<_> = totals(&self.counts).collect();
        let page = HtmlPage {
            title: "olmguard audit: fleet",
            result: &self.count_line(),
            unread: &unread,
            totals: &totals,
        };
        page.write(|xml| {
            self.packages(xml);
            CLUSTERS.write(xml, |table, xml| {
                for cluster in &self.clusters {
                    table.row(xml, &row(cluster), |xml| findings(cluster, xml));
                }
            });
        })
    }

    /// The matrix. With very many clusters it has no column for each: they are in the details.
    fn packages(&self, xml: &mut Xml) {
        let clusters = self.clusters.iter().map(|cluster| &*cluster.name);
        let clusters: Vec<_> = match self.clusters.len() {
            ..=MOST_COLUMNS => clusters.collect(),
            _ => Vec::new(),
        };
        let heads = ["Package", "Newest", "Extensions"];
        let heads: Vec<_> = heads.into_iter().chain(clusters.iter().copied()).collect();
        let matrix = HtmlTable {
            caption: match clusters.len() {
                0 => "Packages: open a row for the clusters of each version",
                _ => "Installed versions by package and cluster",
            },
            is_list: false,
            heads: &heads,
        };
        matrix.write(xml, |table, xml| {
            for package in &self.packages {
                table.row(xml, &versions(package, &clusters), |xml| {
                    let versions = package.versions.iter();
                    let facts = versions.map(|version| {
                        let clusters = version.clusters.join(", ");
                        (
                            label(version),
                            format!("{} in {clusters}", state(&version.counts)),
                        )
                    });
                    self::facts(xml, facts);
                });
            }
        });
    }
}

fn totals(counts: &Counts) -> impl Iterator<Item = Total> {
    let found = states(counts).into_iter().filter(|(_, count)| *count > 0);
    found.map(|(id, count)| Total {
        id,
        label: audit_report::label(id),
        count,
        state: if id == BEHIND {
            State::Warn
        } else {
            State::Bad
        },
    })
}

/// A package: the versions of it that each cluster has.
fn versions(package: &PackageLine, clusters: &[&str]) -> HtmlRow {
    let in_cluster = |cluster: &&str| {
        let versions = package.versions.iter();
        let here = versions.filter(|version| version.clusters.iter().any(|one| one == cluster));
        here.map(label).collect::<Vec<_>>().join(", ")
    };
    let name = package.name.as_deref().unwrap_or("(no name)");
    let cells = [
        name.to_owned(),
        package.newest.clone().unwrap_or_default(),
        package.counts.extensions.to_string(),
    ];
    counted(
        &package.counts,
        cells
            .into_iter()
            .chain(clusters.iter().map(in_cluster))
            .collect(),
    )
}

const CLUSTERS: HtmlTable<'_> = HtmlTable {
    caption: "Clusters",
    is_list: true,
    heads: &[
        "Cluster",
        "Extensions",
        "Denied",
        "Undecided",
        "Not at the newest version",
    ],
};

fn row(cluster: &ClusterLine) -> HtmlRow {
    let counts = &cluster.counts;
    let numbers = [
        counts.extensions,
        counts.denied,
        counts.undecided,
        counts.behind,
    ];
    let numbers = numbers.iter().map(ToString::to_string);
    let cells = [cluster.name.clone()].into_iter().chain(numbers);
    counted(counts, cells.collect())
}

fn findings(cluster: &ClusterLine, xml: &mut Xml) {
    let findings = cluster.findings.iter();
    facts(
        xml,
        findings.map(|(id, count)| (audit_report::label(id), count.to_string())),
    );
}

/// A row about extensions with these counts.
fn counted(counts: &Counts, cells: Vec<String>) -> HtmlRow {
    let found = states(counts).into_iter().filter(|(_, count)| *count > 0);
    HtmlRow {
        state: match counts {
            Counts { denied: 1.., .. } | Counts { undecided: 1.., .. } => State::Bad,
            Counts { behind: 1.., .. } => State::Warn,
            _ => State::Good,
        },
        findings: found.map(|(id, _)| id).collect(),
        cells,
    }
}

/// How many clusters have a column of their own.
const MOST_COLUMNS: usize = 60;
