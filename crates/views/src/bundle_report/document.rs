//! The report for the comment of a pull request: a row for each finding.

use super::{BundleFinding, ReleaseReport, words};
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section};
use olmguard_report::{Document, Finding, Severity};

impl ReleaseReport {
    /// The findings as a document.
    pub fn document(&self) -> Document {
        let section = Section {
            caption: "Findings",
            layout: Layout::List,
            heads: ["Severity", "Check", "CRD", "Finding"]
                .map(Head::from)
                .to_vec(),
            rows: self.findings().map(row).collect(),
            details: ["block of details", "blocks of details"],
        };
        let note = self.note();
        let note = note.map(|note| Finding::of_run(TITLE, Severity::Note, note));
        Document {
            name: TITLE,
            command: TITLE,
            result: words::heading(self),
            faults: Vec::from_iter(note),
            totals: Vec::new(),
            sections: vec![section],
        }
    }
}

fn row(finding: &BundleFinding) -> Row {
    let crd = finding.crd.as_ref();
    let upstream = finding.other_upstream().map(str::to_owned);
    Row {
        tone: finding.tone(),
        findings: vec![finding.check],
        cells: vec![
            Content::words(finding.severity.as_str()),
            Content::foreign(finding.check),
            crd.map(Content::foreign).unwrap_or_default(),
            Content::foreign(&finding.message),
        ],
        details: Details::lines("text of OLM", upstream),
    }
}

const TITLE: &str = "olmguard bundle";
