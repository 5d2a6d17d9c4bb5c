//! Every link within the repository points to a file, and every page can be reached from the summary.

use std::collections::BTreeSet;
use std::path::Path;

use super::all::{pages, read, root};
use olmguard_fixtures::committed::compare;

#[test]
fn every_link_leads_to_a_file() {
    let mut broken = Vec::new();
    for page in pages("") {
        let folder = root().join(Path::new(&page).parent().expect("a folder"));
        for link in links(&read(&page)) {
            let file = link.split('#').next().unwrap_or_default();
            if !file.is_empty() && !folder.join(file).exists() {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn every_link_to_a_heading_finds_it() {
    let mut broken = Vec::new();
    for page in pages("") {
        let folder = root().join(Path::new(&page).parent().expect("a folder"));
        for link in links(&read(&page)) {
            let Some((file, heading)) = link.split_once('#') else {
                continue;
            };
            let there = match file {
                "" => read(&page),
                file => std::fs::read_to_string(folder.join(file)).unwrap_or_default(),
            };
            if !there
                .lines()
                .any(|line| anchor(line).as_deref() == Some(heading))
            {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

/// The list is written first if that is requested, and then all of it is checked.
#[test]
fn every_page_is_in_the_summary() {
    list_the_pages_of_lint();
    let summary = read(SUMMARY);
    let linked: BTreeSet<_> = links(&summary).map(str::to_owned).collect();
    let pages = pages("").into_iter().filter(|page| page != SUMMARY);
    let unlike: Vec<_> = linked
        .symmetric_difference(&pages.collect())
        .cloned()
        .collect();
    assert_eq!(unlike, Vec::<String>::new());
}

/// Compares the list of lint pages, one for each finding, with its part of the summary.
#[track_caller]
fn list_the_pages_of_lint() {
    let summary = read(SUMMARY);
    let (before, rest) = summary.split_once(LINT).expect("a part about lint");
    let (_, after) = rest.split_once("\n# ").expect("a part behind it");
    let pages = pages("lint");
    let findings = pages.iter().filter(|page| *page != LINT_PAGE);
    let findings = findings.map(|page| format!("  - [{}]({page})\n", title(page)));
    let findings: String = findings.collect();
    let overview = format!("- [{}]({LINT_PAGE})\n", title(LINT_PAGE));
    let expected = format!("{before}{LINT}{overview}{findings}\n# {after}");
    compare("docs/SUMMARY.md", &expected);
}

/// Returns the targets of links without a scheme. Code is ignored.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2);
    let prose = prose.flat_map(|prose| prose.split('`').step_by(2));
    let targets = prose.flat_map(|prose| prose.split("](").skip(1));
    let targets = targets.filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://"))
}

/// Returns the title of a page.
fn title(page: &str) -> String {
    let text = read(page);
    let first = text.lines().next().and_then(|line| line.strip_prefix("# "));
    first.expect(page).to_owned()
}

/// Returns the anchor of a heading, as GitHub and mdBook generate it.
fn anchor(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#').strip_prefix(' ')?;
    line.starts_with('#').then(|| {
        let kept = heading.to_lowercase().replace(' ', "-");
        kept.chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
            .collect()
    })
}

const SUMMARY: &str = "SUMMARY.md";
const LINT: &str = "\n# Lint findings\n\n";
const LINT_PAGE: &str = "lint/README.md";
