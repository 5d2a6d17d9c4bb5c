//! Every remedy of a runbook is tested in the state that the runbook describes.
//!
//! A sentence under `Mitigation` that no row of the table names fails, and so does a row without a sentence or with a
//! test that does not exist.

mod table;
mod verdicts;

use std::fs;
use std::path::Path;

use super::runbooks::pages;
use table::{By, REMEDIES, Remedy};

#[test]
fn every_remedy_has_a_row_and_every_row_a_remedy() {
    let mut faults = Vec::new();
    for (name, page) in pages() {
        let sentences = sentences(&page);
        let rows = || REMEDIES.iter().filter(|row| row.runbook == name);
        let is_named = |sentence: &&String| rows().any(|row| sentence.contains(row.words));
        let unnamed = sentences.iter().filter(|sentence| !is_named(sentence));
        faults.extend(unnamed.map(|sentence| format!("{name}: no row for {sentence:?}")));
        let is_said = |row: &&Remedy| sentences.iter().any(|said| said.contains(row.words));
        let unsaid = rows().filter(|row| !is_said(row));
        faults.extend(unsaid.map(|row| format!("{name}: no sentence says {:?}", row.words)));
    }
    let names: Vec<_> = pages().into_iter().map(|(name, _)| name).collect();
    let strays = REMEDIES
        .iter()
        .filter(|row| !names.iter().any(|name| name == row.runbook));
    faults.extend(strays.map(|row| format!("{}: no such runbook", row.runbook)));
    assert_eq!(faults, [] as [&str; 0]);
}

#[test]
fn every_remedy_is_carried_out() {
    for row in REMEDIES {
        match row.by {
            By::Here(carried_out) => carried_out(),
            By::Test(file, test) => {
                let source = read(file);
                let test = format!("fn {test}(");
                assert!(
                    source.contains(&test),
                    "{}: no {test} in {file}",
                    row.runbook
                );
            }
            By::Page(page) => assert!(!read(page).is_empty(), "{}: {page}", row.runbook),
            By::Reader(why) => assert!(!why.is_empty(), "{}", row.words),
        }
    }
}

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns the text under `Mitigation`: each sentence on one line, and each command.
fn sentences(page: &str) -> Vec<String> {
    let (_, remedies) = page.split_once("## Mitigation").expect("a heading");
    let mut sentences = Vec::new();
    for (at, part) in remedies.split("```").enumerate() {
        if at % 2 == 1 {
            let commands = part.lines().skip(1).map(str::to_owned);
            sentences.extend(commands.filter(|line| !line.trim().is_empty()));
        } else {
            let items = part.replace("\n- ", "\n\n");
            let paragraphs = items.split("\n\n").map(|text| {
                let words: Vec<_> = text.split_whitespace().collect();
                words.join(" ")
            });
            for paragraph in paragraphs {
                let each = paragraph
                    .split_inclusive(". ")
                    .map(|text| text.trim().to_owned());
                // The number of a list item is not a sentence.
                sentences.extend(each.filter(|text| text.contains(char::is_alphabetic)));
            }
        }
    }
    sentences
}
