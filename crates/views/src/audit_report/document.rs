//! The audit as a document: one row per extension, the worst first.

use crate::audit_report::{AuditReport, ExtensionReport, FindingReport, label};
use crate::see::BundleReport;
use olmguard_engine::audit::Concern;
use olmguard_engine::judge::Verdict;
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section, Total};
use olmguard_report::{Document, Finding, Tone};

impl AuditReport {
    /// Renders the report for pull requests and browsers. `faults` are inputs that cannot be read.
    pub fn document(&self, faults: Vec<Finding>) -> Document {
        let section = Section {
            caption: "Extensions",
            layout: Layout::List,
            heads: heads(),
            rows: self.extensions.iter().map(row).collect(),
            details: ["list of findings", "lists of findings"],
        };
        Document {
            name: "olmguard audit",
            command: "olmguard audit",
            result: Content::words(self.count_line()),
            faults,
            totals: self.totals().collect(),
            sections: vec![section],
        }
    }

    /// Counts the extensions with each finding, the worst finding first.
    fn totals(&self) -> impl Iterator<Item = Total> {
        Concern::ALL.iter().filter_map(|concern| {
            let id = concern.as_str();
            Some(Total {
                id,
                label: label(id),
                count: *self.summary.get(id)?,
                tone: of_concern(*concern),
            })
        })
    }
}

/// Returns the tone of a finding: bad if OLM or a rule denies the spec, or if a fact is missing.
fn of_concern(concern: Concern) -> Tone {
    match concern {
        Concern::Unresolvable
        | Concern::Forbidden
        | Concern::ForbiddenMove
        | Concern::Undecided => Tone::Bad,
        _ => Tone::Caution,
    }
}

fn heads() -> Vec<Head> {
    let named = ["Extension", "Package", "Installed"].map(Head::from);
    let found = ["Findings", "Set version to"].map(Head::from);
    let newest = [Head::of_pages("Newest")];
    named.into_iter().chain(newest).chain(found).collect()
}

fn row(extension: &ExtensionReport) -> Row {
    let findings = extension.findings.iter().map(FindingReport::label);
    let not_judged = extension.exemption().map(|_| "not judged".to_owned());
    let findings: Vec<_> = findings.chain(not_judged).collect();
    let newest = extension.newest.as_ref().map(BundleReport::label);
    let labelled = extension.findings.iter();
    let labelled = labelled.map(|one| (Some(one.label()), one.text.clone()));
    let exemption = extension.exemption();
    let exemption = exemption.map(|why| (Some("not judged".to_owned()), why.to_owned()));
    Row {
        tone: tone(extension),
        findings: extension.findings.iter().map(|one| one.id).collect(),
        cells: vec![
            Content::foreign(extension.name()),
            Content::foreign(extension.package()),
            Content::foreign(extension.installed()),
            Content::foreign(newest.unwrap_or_default()),
            Content::words(findings.join(", ")),
            Content::foreign(extension.next_range().unwrap_or_default()),
        ],
        details: Details {
            summary: extension.token().to_owned(),
            items: labelled.chain(exemption).collect(),
            facts: known(extension),
        },
    }
}

fn tone(extension: &ExtensionReport) -> Tone {
    let mut concerns = extension.concerns.iter();
    match extension.judged {
        Verdict::NotJudged => Tone::Label,
        _ if extension.concerns.is_empty() => Tone::Good,
        _ if concerns.any(|one| of_concern(*one) == Tone::Bad) => Tone::Bad,
        _ => Tone::Caution,
    }
}

/// Returns the known facts, each with its label.
fn known(extension: &ExtensionReport) -> Vec<(String, String)> {
    let version = |bundle: &Option<BundleReport>| bundle.as_ref().map(BundleReport::label);
    let path = |path: &[BundleReport]| {
        let steps: Vec<_> = path.iter().map(BundleReport::label).collect();
        Some(steps.join(" -> ")).filter(|_| !steps.is_empty())
    };
    let next = extension.next.as_ref();
    let channels = Some(extension.channels.join(", ")).filter(|text| !text.is_empty());
    let range = extension.range.as_deref().unwrap_or("any version");
    let answer = format!("{} [{}]", extension.verdict, extension.token);
    let facts = [
        ("Range", Some(range.to_owned())),
        ("Channels", channels),
        ("Answer today", Some(answer)),
        ("Resolves to", version(&extension.resolved)),
        ("Automatic", path(&extension.automatic)),
        ("Path", next.and_then(|next| path(&next.path))),
        ("Allowed from", next.and_then(|next| next.opens.clone())),
    ];
    let known = facts.into_iter();
    known
        .filter_map(|(term, text)| Some((term.to_owned(), text?)))
        .collect()
}
