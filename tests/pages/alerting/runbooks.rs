//! The runbooks: one page for each alert, all with the same headings.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use olmguard_views::page::Runbook;

use super::known::{Known, NONE};
use super::rules::alerts;

#[test]
fn every_alert_has_a_page_and_every_page_an_alert() {
    let alerts: BTreeSet<_> = alerts().into_iter().map(|alert| alert.name).collect();
    let pages: BTreeSet<_> = pages().into_iter().map(|(name, _)| name).collect();
    assert_eq!(pages, alerts);
}

#[test]
fn the_program_has_every_page() {
    let embedded: BTreeSet<_> = Runbook::ALL
        .iter()
        .map(|runbook| (runbook.alert.to_owned(), runbook.page.to_owned()))
        .collect();
    assert_eq!(embedded, pages().into_iter().collect());
}

#[test]
fn every_page_answers_the_same_four_questions() {
    for (name, page) in pages() {
        let headings: Vec<_> = page.lines().filter(|line| line.starts_with('#')).collect();
        let title = format!("# {name}");
        assert_eq!(
            headings,
            [&[title.as_str()], &QUESTIONS[..]].concat(),
            "{name}"
        );
        for question in QUESTIONS {
            let (_, answer) = page.split_once(question).expect("a heading");
            let answer = answer.split("\n## ").next().unwrap_or_default();
            assert!(
                !answer.trim().is_empty(),
                "{name}: nothing under {question}"
            );
            let has_commands = answer.contains("```sh\n");
            assert!(
                has_commands || question != CAUSE,
                "{name}: no command under {question}"
            );
        }
    }
}

#[test]
fn pages_name_no_metric_that_is_not_told() {
    let known = Known::read();
    for (name, page) in pages() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = page.split(|c| !is_word(c));
        for metric in words.filter(|word| word.starts_with("olmguard_")) {
            assert_eq!(known.faults(metric), NONE, "{name}");
        }
    }
}

#[test]
fn links_lead_to_pages_that_are_there() {
    for (name, page) in pages() {
        for link in page.split("](").skip(1) {
            let file = link.split([')', '#']).next().unwrap_or_default();
            assert!(Path::new(FOLDER).join(file).exists(), "{name}: {file}");
        }
    }
}

/// Returns each page with its name, without the list of pages.
pub(crate) fn pages() -> Vec<(String, String)> {
    let files = fs::read_dir(FOLDER).expect("a folder of runbooks");
    let files = files.map(|file| file.expect("a file").path());
    let pages = files.filter(|path| path.file_stem().is_some_and(|stem| stem != "README"));
    let page = |path: std::path::PathBuf| {
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        (name, fs::read_to_string(&path).expect("a text"))
    };
    pages.map(page).collect()
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/runbooks");
const CAUSE: &str = "## Diagnosis";
const QUESTIONS: [&str; 4] = ["## Meaning", "## Impact", CAUSE, "## Mitigation"];
