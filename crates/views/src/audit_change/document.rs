//! What is different as a document: a row for each extension that changes, the worst first.

use super::{AuditChangeReport, ChangeReport, ExtensionChangeReport};
use crate::diff::Level;
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section};
use olmguard_report::{Document, Finding, Tone};

impl AuditChangeReport {
    /// The report for the comment of a pull request. `faults` are what could not be read.
    pub fn document(&self, faults: Vec<Finding>) -> Document {
        let heads = ["Extension", "Package", "Installed", "Changes"];
        let section = Section {
            caption: "Extensions",
            layout: Layout::List,
            heads: heads.map(Head::from).to_vec(),
            rows: self.changed().map(row).collect(),
            details: ["list of changes", "lists of changes"],
        };
        Document {
            name: "olmguard audit changes",
            command: "olmguard audit",
            result: Content::foreign(self.count_line()),
            faults,
            totals: Vec::new(),
            sections: vec![section],
        }
    }
}

fn row(extension: &ExtensionChangeReport) -> Row {
    let (before, changes) = (extension.before(), extension.changes());
    let labels: Vec<_> = changes.iter().map(ChangeReport::label).collect();
    let items = changes.iter();
    let items = items.map(|one| (Some(one.label()), one.text.clone()));
    Row {
        tone: match extension.level() {
            Some(Level::Harmful) => Tone::Bad,
            Some(_) => Tone::Caution,
            None => Tone::Good,
        },
        findings: changes.iter().map(ChangeReport::id).collect(),
        cells: vec![
            Content::foreign(before.name()),
            Content::foreign(before.package()),
            Content::foreign(before.installed()),
            Content::words(labels.join(", ")),
        ],
        details: Details {
            summary: changes.first().map_or("", ChangeReport::level).to_owned(),
            items: items.collect(),
            facts: Vec::new(),
        },
    }
}
