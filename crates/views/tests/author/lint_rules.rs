//! What lint finds: a catalog for each row of what `opm validate` refuses, and for what it misses.

mod keys;
mod reading;
mod users;

use olmguard_views::lint::{LintFinding, Rule, Severity, lint, written};

use crate::rows::{GOOD, ROWS, SIX};

/// The rule of this id.
pub(crate) fn lint_rule(id: &str) -> Rule {
    id.parse().expect(id)
}

fn found(catalog: &str) -> Vec<LintFinding> {
    lint(&[written("c.yaml", catalog.as_bytes())])
}

fn shown(findings: &[LintFinding]) -> String {
    let lines = findings.iter().map(|one| {
        format!(
            "{}:{}: {}: {}\n",
            one.line, one.column, one.rule, one.message
        )
    });
    lines.collect()
}

#[test]
fn nothing_is_wrong_with_the_good_one() {
    assert_eq!(shown(&found(GOOD)), "");
}

#[test]
fn every_row_of_opm_is_found_with_its_text() {
    for row in ROWS {
        let findings = found(&row.catalog());
        let such = findings.iter().find(|one| {
            one.rule.id() == row.rule
                && one
                    .upstream
                    .as_deref()
                    .is_some_and(|text| text.starts_with(row.upstream))
        });
        assert!(
            such.is_some(),
            "{}:\n{}{findings:#?}",
            row.name,
            shown(&findings)
        );
        assert!(
            such.is_some_and(|one| one.severity == Severity::Error),
            "{}",
            row.name
        );
    }
}

#[test]
fn every_rule_of_opm_has_a_row() {
    let without: Vec<_> = Rule::all()
        .filter(|rule| rule.family().is_opms() && rule.opm().is_some())
        // It is about a folder, not a text.
        .filter(|rule| rule.id() != "not-a-file")
        .filter(|rule| !ROWS.iter().any(|row| row.rule == rule.id()))
        .collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn the_six_graphs() {
    for row in SIX {
        let findings = found(&row.catalog());
        let opms = findings.iter().filter(|one| one.rule.family().is_opms());
        let texts: Vec<_> = opms
            .map(|one| one.upstream.as_deref().unwrap_or_default())
            .collect();
        let expected: Vec<_> = Some(row.upstream)
            .filter(|text| !text.is_empty())
            .into_iter()
            .collect();
        assert_eq!(texts, expected, "{}", row.name);
    }
}

#[test]
fn a_page_for_each_rule_and_no_other() {
    olmguard_fixtures::committed::compare("docs/lint/README.md", &Rule::index());
    let folder = std::path::Path::new(olmguard_fixtures::ROOT).join("docs/lint");
    let files = std::fs::read_dir(folder).expect("the pages");
    assert_eq!(files.count(), Rule::all().len() + 1);
}
