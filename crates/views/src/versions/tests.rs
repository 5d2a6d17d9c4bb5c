use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::see::scene::{filter, of_priorities, said, snapshot};
use olmguard_catalog::guardrail::{AdministratorGuardrails, ImposedBy, read};
use olmguard_catalog::olm::EdgeSource;
use olmguard_engine::judge::{Basis, Policies};

#[track_caller]
fn check(lines: &str, installed: Option<&str>, range: Option<&str>, expected: &str) {
    let snapshot = snapshot(EdgeSource::Catalog, &[("hub", lines)]);
    let said = installed.map(said);
    let report = VersionsReport::of(
        Basis::without_policies(&snapshot),
        &filter(&[], range),
        said.as_ref(),
        EditContext::unknown(),
    );
    assert_eq!(report.expect("known").to_text().to_string(), expected);
}

#[test]
fn every_column_and_every_line() {
    let lines = "a: 0.9.0 replaces 0.8.0; 1.0.0 replaces 0.9.0; 1.1.0 replaces 1.0.0 skipRange (>=1.0.0 <1.1.0)
                 b: 1.1.0; 1.2.0 replaces 1.1.0 skips 1.0.5 requires olm.constraint; 1.3.0 skipRange (v1)
                 (none): 3.0.0
                 (deprecated): 1.1.0";
    let expected = "\
p in catalog hub
Channels      a: head 1.1.0
              b: heads 1.3.0, 1.2.0
Installed     1.0.0
Allowed next  1.1.0
Highest reachable: 1.1.0. No upgrade to the 3 newer versions.

  Version  From         In range  Channels  Replaced  skipRange  Notes
           1.0.0                            by        of
  3.0.0    unreachable  no
  1.3.0    unreachable  yes       b*
  1.2.0    unreachable  yes       b*                             olm.constraint
  1.1.0    successor    yes       a*, b     1.2.0                deprecated
  1.0.0    installed    yes       a         1.1.0     1.1.0
  0.9.0    older        no        a         1.0.0

  Name without a bundle  Replaced by  Skipped by
  p.v0.8.0               0.9.0
  p.v1.0.5                            1.2.0

*             channel head
Deprecated    1.1.0: gone\\x1b[31m
Ignored       1.3.0: \"v1\"
";
    check(lines, Some("1.0.0"), Some(">=1, <2"), expected);
}

#[test]
fn releases_of_the_default_channel_come_first_and_prereleases_last() {
    let lines = "(default): b
                 a: 1.0.0; 1.4.0 replaces 1.0.0; 1.5.0 skips 1.0.0
                 b: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 skips 1.0.0; 2.0.0-rc.1 skips 1.0.0; 2.0.0-rc.2 skips 1.0.0";
    let said = |lines: &str, installed: &str| {
        let snapshot = snapshot(EdgeSource::Catalog, &[("hub", lines)]);
        let report = VersionsReport::of(
            Basis::without_policies(&snapshot),
            &filter(&[], None),
            Some(&said(installed)),
            EditContext::unknown(),
        );
        let text = report.expect("known").to_text().to_string();
        let about = text
            .lines()
            .skip_while(|line| !line.starts_with("Installed"));
        let about = about.skip(1).take_while(|line| !line.is_empty());
        about.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        said(lines, "1.0.0"),
        [
            "Allowed next  1.2.0, 1.1.0, 1.5.0, 1.4.0",
            "Prerelease    2.0.0-rc.2, 2.0.0-rc.1",
            "Highest reachable: 1.5.0. Highest prerelease: 2.0.0-rc.2.",
        ]
    );
    // A prerelease below the highest release does not count as newer.
    let lower = "a: 1.0.0; 1.1.0-rc.1 skips 1.0.0; 1.1.0 skips 1.0.0; 3.0.0";
    assert_eq!(
        said(lower, "1.0.0"),
        [
            "Allowed next  1.1.0",
            "Prerelease    1.1.0-rc.1",
            "Highest reachable: 1.1.0. No upgrade to 1 newer version.",
        ]
    );
    let only = "a: 1.0.0-rc.1; 1.0.0-rc.2 skips 1.0.0-rc.1; 1.0.0-rc.3";
    assert_eq!(
        said(only, "1.0.0-rc.1"),
        [
            "Allowed next  1.0.0-rc.2 (prerelease)",
            "Highest reachable: 1.0.0-rc.2 (prerelease). No upgrade to 1 newer version.",
        ]
    );
}

#[test]
fn a_version_that_nothing_knows_or_can_read() {
    let expected = "\
0.5.0 is not a version of p; nearest: 1.0.0
p in catalog hub
Channels      a: head 1.0.0
Installed     0.5.0
Allowed next  1.0.0

  Version  From 0.5.0  Channels
  1.0.0    successor   a*

*             channel head
Note          no bundle has the installed version, so its name is unknown and
                only a skipRange provides an upgrade; VERSION,bundle=NAME sets
                the name
";
    check("a: 1.0.0 skipRange <1.0.0", Some("0.5.0"), None, expected);
}

#[test]
fn a_package_that_is_not_there() {
    let snapshot = snapshot(EdgeSource::Catalog, &[("hub", "a: 1.0.0")]);
    let other = Filter {
        package: "pp".to_owned(),
        ..Filter::default()
    };
    let report = VersionsReport::of(
        Basis::without_policies(&snapshot),
        &other,
        None,
        EditContext::unknown(),
    )
    .expect("nothing is said");
    let expected = "pp: no catalog has this package\nNearest       p\n";
    assert_eq!(report.to_text().to_string(), expected);
    assert!(!report.is_found());
}

#[test]
fn a_name_that_nothing_has() {
    let snapshot = snapshot(EdgeSource::Catalog, &[("hub", "a: 1.0.0; 1.1.0")]);
    let why = |text| {
        let report = VersionsReport::of(
            Basis::without_policies(&snapshot),
            &filter(&[], None),
            Some(&said(text)),
            EditContext::unknown(),
        );
        let why = report.expect_err("nothing has it");
        see::nameless("FROM", text, "p", &why)
    };
    assert_eq!(
        why("p.v1.0"),
        "FROM \"p.v1.0\": p has no such version and no bundle of that name; nearest: p.v1.0.0, p.v1.1.0"
    );
    for (nameless, expected) in [
        (
            NamingError::Several {
                bundles: vec!["a".to_owned(), "b".to_owned()],
            },
            "FROM \"1\": several bundles of p have that version: expected one of a, b",
        ),
        (
            NamingError::SeveralVersions {
                versions: vec!["1".to_owned(), "2".to_owned()],
            },
            "FROM \"1\": bundles of that name have the versions 1, 2: expected VERSION,bundle=NAME",
        ),
    ] {
        assert_eq!(see::nameless("FROM", "1", "p", &nameless), expected);
    }
}

#[test]
fn a_successor_that_every_edit_is_refused_for_says_so() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0";
    let snapshot = snapshot(EdgeSource::Catalog, &[("one", lines), ("two", lines)]);
    let report = VersionsReport::of(
        Basis::without_policies(&snapshot),
        &filter(&[], None),
        Some(&said("1.0.0")),
        EditContext::unknown(),
    );
    let text = report.expect("known").to_text().to_string();
    let words: Vec<_> = text.split_whitespace().collect();
    let words = words.join(" ");
    let why = "Ambiguous catalogs one, two have the same priority; use --in CATALOG";
    assert_eq!(words.matches(why).count(), 2, "{text}");
}

#[test]
fn each_cause_of_a_successor_that_no_edit_gives() {
    let said_of = |snapshot: &Snapshot, catalog: &str| {
        let said = said("1.0.0");
        let report = VersionsReport::of(
            Basis::without_policies(snapshot),
            &filter(&[], None),
            Some(&said),
            EditContext::unknown(),
        )
        .expect("known");
        let listed = report.catalogs.iter().find(|one| one.catalog == catalog);
        let mut bundles = listed.expect("the catalog").bundles.iter();
        let wanted = bundles.find(|bundle| bundle.label == "1.1.0").expect("it");
        assert_eq!(wanted.standing, Some(Standing::Successor));
        wanted.not_given.clone().unwrap_or_default()
    };
    let plain = "a: 1.0.0; 1.1.0 replaces 1.0.0";
    let deprecated = "a: 1.0.0; 1.1.0 replaces 1.0.0\n(deprecated): 1.1.0";
    let depending = "a: 1.0.0; 1.1.0 replaces 1.0.0 requires olm.constraint";
    let crashing = "a: 1.0.0; 1.1.0 skipRange (<0.1.0 || || >9.0.0)";
    let both = |one, two| snapshot(EdgeSource::Catalog, &[("one", one), ("two", two)]);
    assert_eq!(
        said_of(&both(plain, deprecated), "two"),
        "no edit installs it: OLM selects it from catalog \"one\""
    );
    assert_eq!(said_of(&both(plain, deprecated), "one"), "");
    assert_eq!(
        said_of(&both(plain, depending), "two"),
        "",
        "the dependency is told"
    );
    let first = of_priorities(
        EdgeSource::Catalog,
        &[("one", depending, 1), ("two", plain, 0)],
    );
    assert_eq!(
        said_of(&first, "two"),
        "no edit installs it: OLM selects it from catalog \"one\", and rejects it"
    );
    assert_eq!(
        said_of(&both(plain, crashing), "one"),
        "no edit installs it: OLM crashes on a skipRange for its version"
    );
}

/// `1.0.0 <- 1.1.0 <- ...`, longer than the limit of a search.
fn long_chain() -> String {
    let later = (1..=2100).map(|at| format!("1.{at}.0 replaces 1.{}.0", at - 1));
    let all: Vec<_> = std::iter::once("1.0.0".to_owned()).chain(later).collect();
    format!("a: {}", all.join("; "))
}

#[test]
fn what_lies_beyond_the_limit_of_the_search_is_not_called_unreachable() {
    let snapshot = snapshot(EdgeSource::Catalog, &[("hub", &long_chain())]);
    let report = VersionsReport::of(
        Basis::without_policies(&snapshot),
        &filter(&[], None),
        Some(&said("1.0.0")),
        EditContext::unknown(),
    );
    let text = report.expect("known").to_text().to_string();
    let row = |version: &str| {
        let mut lines = text.lines().map(str::trim);
        lines
            .find(|line| line.starts_with(version))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(row("1.2100.0").contains("not found"), "{}", row("1.2100.0"));
    assert!(
        row("1.2048.0").contains("2048 steps"),
        "{}",
        row("1.2048.0")
    );
    assert!(!text.contains("unreachable"));
    let words: Vec<_> = text.split_whitespace().collect();
    let note = "Note the search stopped at its limit of 2048 bundles: versions shown as \"not found\" may be \
                reachable";
    assert!(words.join(" ").ends_with(note), "{text}");
    assert!(!text.contains("Highest reachable"), "{text}");
}

/// This number of versions, each with an edge from every lower one.
fn versions_with_edges(count: usize) -> String {
    let entry = |at: usize| format!("1.{at}.0 skipRange (>=0.0.0 <1.{at}.0)");
    let entries: Vec<_> = (0..count).map(entry).collect();
    format!("a: {}", entries.join("; "))
}

/// Lists these versions with rules of an administrator, from a version below all of them.
fn report(lines: &str, rules: &[Value]) -> VersionsReport {
    let stated = read(&json!({
        "schema": "olmguard.guardrails.v1alpha1", "package": "p", "rules": rules,
    }));
    assert!(stated.is_ok(), "{stated:?}");
    let place = "rules.yaml:1".into();
    let mut imposed = AdministratorGuardrails::default();
    imposed.add(Some("p"), ImposedBy { place, stated });
    let snapshot = snapshot(EdgeSource::Catalog, &[("hub", lines)]);
    let basis = Basis {
        snapshot: &snapshot,
        policies: &Policies {
            guardrails: imposed,
            ..Policies::default()
        },
    };
    let report = VersionsReport::of(
        basis,
        &filter(&[], None),
        Some(&said("0.0.1")),
        EditContext::unknown(),
    );
    report.expect("known")
}

/// The maximum number of rules, each of which forbids every step with a long reason.
fn long_rules() -> Vec<Value> {
    let long = "x".repeat(1000);
    let rule = |at| {
        json!({"id": format!("r{at:03}-{long}"), "kind": "PassThrough", "via": ">2.0.0 <1.0.0",
            "reason": long})
    };
    (0..256).map(rule).collect()
}

#[test]
fn each_reason_is_told_once_however_many_bundles_it_bars() {
    let report = report(&versions_with_edges(300), &long_rules());
    assert_eq!(report.guardrails.all().len(), 256);
    let catalog = report.catalogs.first().expect("a catalog");
    let first = &catalog.bundles.first().expect("a bundle").guardrails;
    for bundle in &catalog.bundles {
        assert_eq!(bundle.standing, Some(Standing::Forbidden));
        assert_eq!(bundle.guardrails.len(), 256);
        assert!(Arc::ptr_eq(&bundle.guardrails, first), "one list for all");
    }
    let json = serde_json::to_string(&report).expect("JSON");
    assert_eq!(json.matches("\"rule\":\"r007-x").count(), 1);
    assert!(json.len() < 2_000_000, "{}", json.len());
}

#[test]
fn of_very_many_reasons_the_first_are_told_and_names_in_a_row_are_cut() {
    let text = report(&versions_with_edges(300), &long_rules()).to_text();
    let text = text.to_string();
    let reasons = text
        .lines()
        .filter(|line| line.contains("forbids 1.299.0,"));
    assert_eq!(reasons.count(), 12);
    assert!(text.contains("\n              and 244 more; -o json has all\n"));
    let mut lines = text.lines().map(str::trim);
    assert!(lines.any(|line| line.starts_with("1.299.0") && line.ends_with("forbidden:")));
    let words: Vec<_> = lines.take(20).flat_map(str::split_whitespace).collect();
    let words = words.join(" ");
    assert!(words.starts_with("r000-x") && words.contains(" and 252 more "));
    assert!(text.len() < 250_000, "{}", text.len());
}

#[test]
fn what_there_was_no_time_to_judge_is_not_called_a_successor() {
    let many = ["<0.0.1"; 50].join(" || ");
    let rule = |at| json!({"id": format!("r{at}"), "kind": "PassThrough", "via": many, "from": many, "to": many});
    let rules: Vec<_> = (0..256).map(rule).collect();
    let report = report(&versions_with_edges(500), &rules);
    let catalog = report.catalogs.first().expect("a catalog");
    let are = |standing| {
        let bundles = catalog.bundles.iter();
        bundles
            .filter(|bundle| bundle.standing == Some(standing))
            .count()
    };
    let judged = (1 << 24) / (256 * 151);
    assert!(are(Standing::Successor) >= judged);
    assert_eq!(are(Standing::Successor) + are(Standing::NotFound), 500);
    assert!(are(Standing::NotFound) > 0);
    let note = format!(
        "guardrails have too many rules: olmguard applied them to {judged} of the 500 upgrade edges, so \
         versions shown as \"not found\" may be reachable"
    );
    assert!(report.notes.contains(&note), "{:?}", report.notes);
}
