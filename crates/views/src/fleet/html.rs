//! A fleet as one page for browsers, with the filter of [`crate::audit_report`]: a row for each version of a package.

use crate::audit_report::{self, html::Page};
use crate::fleet::words::{head, label, state, states};
use crate::fleet::{Counts, FleetReport, PackageLine, VersionLine};
use crate::xml::{Attributes, Xml};

impl FleetReport {
    /// A whole page.
    pub fn html(&self) -> String {
        let unread = self.unread.iter();
        let unread: Vec<_> = unread
            .map(|one| format!("{}: {}", one.name, one.text))
            .collect();
        let all = &self.counts;
        let summary = states(all).map(|(id, count)| (id, audit_report::label(id), count));
        let page = Page {
            title: TITLE,
            counts: &self.count_line(),
            unread: &unread,
            findings: &summary,
        };
        page.write(|xml| {
            for cluster in &self.clusters {
                let name = format!("cluster {}", cluster.name);
                article(xml, &name, &cluster.counts, |xml| {
                    let findings = cluster.findings.iter();
                    for (id, count) in findings {
                        term(xml, &audit_report::label(id), &count.to_string());
                    }
                });
            }
            for package in &self.packages {
                for version in &package.versions {
                    installed(xml, package, version);
                }
            }
        })
    }
}

fn installed(xml: &mut Xml, package: &PackageLine, version: &VersionLine) {
    let name = package.name.as_deref().unwrap_or("(no name)");
    let title = format!("{name} {}", label(version));
    article(xml, &title, &version.counts, |xml| {
        term(xml, "package", &head(package));
        term(xml, "clusters", &version.clusters.join(", "));
    });
}

fn article(xml: &mut Xml, title: &str, counts: &Counts, facts: impl FnOnce(&mut Xml)) {
    let words = states(counts).into_iter().filter(|(_, count)| *count > 0);
    let words: Vec<_> = words.map(|(word, _)| word).collect();
    let verdict = match counts {
        Counts { denied: 1.., .. } => "deny",
        Counts { undecided: 1.., .. } => "undecided",
        _ => "allow",
    };
    let attributes: Attributes<'_> = &[
        ("data-verdict", &verdict),
        ("data-findings", &words.join(" ")),
    ];
    xml.open("article", attributes);
    xml.text("h2", &[], title);
    xml.open("dl", &[]);
    term(xml, "extensions", &state(counts));
    facts(xml);
    xml.close();
    xml.close();
}

fn term(xml: &mut Xml, term: &str, text: &str) {
    xml.text("dt", &[], term);
    xml.text("dd", &[], text);
}

const TITLE: &str = "olmguard audit: fleet";
