//! What changed as a document: a row for each change.

use super::{WeighedChange, WeighedPackage, words};
use crate::generation::Generation;
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section};
use olmguard_report::{Document, Tone};

/// The changes for the comment of a pull request.
pub fn document(packages: &[WeighedPackage<'_>], generation: Generation) -> Document {
    let mut heads = vec!["Level", "Package", "Change", "Details"];
    if words::concerning(packages).is_some() {
        heads.push("Installed extensions");
    }
    let rows = packages.iter().flat_map(|package| {
        let rows = package.rows.iter();
        rows.map(|one| row(package.name, one))
    });
    let section = Section {
        caption: "Changes",
        layout: Layout::List,
        heads: heads.into_iter().map(Head::from).collect(),
        rows: rows.collect(),
        details: ["list of details", "lists of details"],
    };
    Document {
        name: "olmguard diff",
        command: "olmguard diff",
        result: Content::words(words::summary(packages, generation)),
        faults: Vec::new(),
        totals: Vec::new(),
        sections: vec![section],
    }
}

fn row(package: &str, row: &WeighedChange<'_>) -> Row {
    let kind = row.change.kind;
    let mut cells = vec![
        Content::words(kind.level().as_str()),
        Content::foreign(package),
        Content::words(kind.as_str()),
        Content::foreign(words::sentence(row.change)),
    ];
    cells.extend(row.extensions.as_ref().map(|names| match names.len() {
        0 => Content::words("0"),
        count => Content::words(format!("{count}: ")).and_foreign(words::few(names)),
    }));
    Row {
        tone: Tone::Plain,
        findings: vec![kind.as_str()],
        cells,
        details: Details::default(),
    }
}
