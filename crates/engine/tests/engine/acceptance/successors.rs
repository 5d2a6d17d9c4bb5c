//! 8.3: the successor rule.

use olmguard_catalog::Package;
use olmguard_catalog::olm::EdgeSource;
use olmguard_catalog::version::Version;
use olmguard_engine::judge::Token;
use olmguard_engine::snapshot::{CatalogState, Snapshot};

use crate::acceptance::D3;
use olmguard_fixtures::question::{Question, ask, ask_at, content, package, rules};
use olmguard_fixtures::written::{Written, written};

/// The versions of the accepted bundles, the best first.
fn passing(question: &Question, prefix: &str) -> Vec<String> {
    let names = question
        .successors()
        .expect("something readable is installed");
    let version = |name: &String| name.strip_prefix(prefix).expect("one prefix").to_owned();
    names.iter().map(version).collect()
}

#[test]
fn rows_8_3_edges_and_the_stay_rule() {
    for (row, version, release, expected) in [
        (1, "2.0.0", None, vec!["2.1.0", "2.0.0"]),
        (2, "2.2.1", None, vec!["2.3.0", "2.2.1"]),
        (3, "2.3.0", None, vec!["2.4.0", "2.3.0"]),
        (4, "2.0.0+1", None, vec!["2.2.0", "2.0.0+1"]),
        (5, "9.0.0", None, vec![]),
        (6, "1.0.0", Some("2"), vec![]),
        (7, "1.0.0+git", Some(""), vec![]),
    ] {
        let name = format!("test-package.v{version}");
        let question = ask(&[("a", 0, D3)]).installed_as(&name, version, release);
        assert_eq!(passing(&question, "test-package.v"), expected, "8.3 #{row}");
    }
}

#[test]
fn row_8_3_the_edge_predicate_alone() {
    let written = Written {
        package: "package1",
        prefix: "package1.v",
        lines: "stable: 0.0.1; 0.0.2 replaces 0.0.1; 0.0.3 replaces 0.0.2; 0.0.4 skips 0.0.1; \
                        0.0.5 skipRange <=0.0.1",
    };
    let content = content(&written.fbc(), &rules("1.11", &[]));
    let package = package(&content, "package1");
    let version = Version::parse("0.0.1").expect("a version");
    let successors = package.successors(
        Some("package1.v0.0.1"),
        &version,
        &package.ask_channels(&[]),
    );
    assert_eq!(
        names(package, &successors.edges),
        ["package1.v0.0.5", "package1.v0.0.4", "package1.v0.0.2"]
    );
    assert!(successors.crashes.is_empty());
}

fn names<'p>(package: &'p Package, bundles: &olmguard_catalog::BundleSet) -> Vec<&'p str> {
    bundles
        .iter()
        .map(|index| &*package.bundle(index).name)
        .collect()
}

#[test]
fn rows_8_3_unreadable_versions() {
    for (row, version, release, part) in [
        (
            8,
            "invalid-version",
            None,
            "failed to get version and release",
        ),
        (
            9,
            "invalid-version",
            Some("1"),
            "failed to parse installed bundle version",
        ),
        (
            10,
            "1.0.0",
            Some("001"),
            "failed to parse installed bundle version and release",
        ),
        (11, "invalid", None, "installed bundle"),
    ] {
        let question = ask(&[("a", 0, D3)]).installed_as("test-package.v1.0.0", version, release);
        let answer = question.answer();
        assert_eq!(answer.token, Token::InstalledVersionInvalid, "8.3 #{row}");
        let upstream = answer.upstream.expect("OLM's text");
        assert!(upstream.contains(part), "8.3 #{row}: {upstream}");
    }
}

#[test]
fn rows_8_3_force_semver_upgrade_constraints() {
    let written =
        written("stable: 0.0.1; 0.0.2; 0.1.0; 0.1.1; 0.1.2; 0.2.0; 2.0.0; 2.1.0; 2.2.0; 3.0.0");
    for olm in ["1.0", "1.1"] {
        for (row, version, expected) in [
            (12, "2.0.0", vec!["2.2.0", "2.1.0", "2.0.0"]),
            (13, "0.0.1", vec!["0.0.1"]),
            (14, "0.1.0", vec!["0.1.2", "0.1.1", "0.1.0"]),
            (15, "9.0.0", vec![]),
        ] {
            let gates = ["ForceSemverUpgradeConstraints=true"];
            let question = ask_at(olm, &gates, &[("a", 0, &written)]).installed(version);
            assert_eq!(passing(&question, "P.v"), expected, "8.3 #{row} at {olm}");
        }
    }
}

/// `--graph both`: an edge of the catalog that ends outside the caret range does not count, nor does the range alone.
#[test]
fn with_both_graphs_the_edge_and_the_range_must_agree() {
    let lines = written("stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0; 2.0.0 replaces 1.0.0");
    let mut both = rules("1.11", &[]);
    both.edges = EdgeSource::Both;
    let state = CatalogState::named("c", content(&lines.fbc(), &both));
    let snapshot = Snapshot::new(both, [state]);
    for (version, token) in [
        ("1.1.0", Token::Resolved),
        ("1.2.0", Token::NotASuccessor),
        ("2.0.0", Token::NotASuccessor),
    ] {
        let question = ask(&[("c", 0, &lines)]).installed("1.0.0").range(version);
        assert_eq!(question.answer_by(&snapshot).token, token, "{version}");
    }
}
