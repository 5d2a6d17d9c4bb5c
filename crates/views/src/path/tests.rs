use serde_json::json;

use super::*;
use crate::see::scene::{filter, said, snapshot};
use olmguard_catalog::olm::EdgeSource;
use olmguard_engine::extension::Policy;
use olmguard_engine::judge::{Basis, Policies, StatedInstalled, UpgradePolicies};
use olmguard_engine::resolve::EditContext;
use olmguard_policy::UpgradePolicy;

#[track_caller]
fn report(
    lines: &str,
    (channels, range): (&[&str], Option<&str>),
    (from, to): (&str, Option<&str>),
    olm: Generation,
) -> (bool, String) {
    let report = path(
        lines,
        (channels, range),
        (from, to),
        olm,
        &Policies::default(),
    );
    (report.is_found(), report.to_text().to_string())
}

#[track_caller]
fn path(
    lines: &str,
    (channels, range): (&[&str], Option<&str>),
    (from, to): (&str, Option<&str>),
    olm: Generation,
    policies: &Policies,
) -> PathReport {
    let snapshot = snapshot(EdgeSource::Catalog, &[("hub", lines)]);
    let filter = filter(channels, range);
    let basis = Basis {
        snapshot: &snapshot,
        policies,
    };
    let inquiry = Inquiry::of(basis, &filter, &said(from), EditContext::unknown());
    let inquiry = inquiry.expect("a question");
    let report = match olm {
        Generation::V1 => PathReport::of(&inquiry, to),
        Generation::V0 => PathReport::of_classic(&inquiry, to),
    };
    report.expect("a bundle")
}

const CHAIN: &str =
    "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skipRange (>=1.0.9 <1.2.0)
                     b: 1.2.0; 2.0.0 replaces 1.2.0
                     (deprecated): 1.1.0";

#[test]
fn a_path_step_by_step() {
    let (found, text) = report(CHAIN, (&[], None), ("1.0.0", Some("2.0.0")), Generation::V1);
    let expected = "\
p: 1.0.0 -> 2.0.0: 3 steps

  Step  Set version to  Edge                            Notes
  1     \"1.1.0\"         replaces p.v1.0.0 in a          deprecated
  2     \"1.2.0\"         replaces p.v1.1.0 in a; 1 more
  3     \"2.0.0\"         replaces p.v1.2.0 in b

Each step     is one change of spec.source.catalog.version. Wait until a version
              is installed before the next step.
Automatic     if no version is set: no upgrade
Stops at      1.0.0: no newer version is reachable automatically
";
    assert_eq!((found, text.as_str()), (true, expected));
}

#[test]
fn the_highest_is_where_no_goal_is_said() {
    let asked: (&[&str], _) = (&["a"], Some("<2"));
    let (found, text) = report(CHAIN, asked, ("1.1.0", None), Generation::V1);
    let expected = "\
p: 1.1.0 -> 1.2.0: 1 step
Automatic     if the version is \"<2\":
              1.1.0 -> 1.2.0
Stops at      1.2.0: no newer version is reachable automatically

  Step  Set version to  Edge
  1     \"1.2.0\"         replaces p.v1.1.0 in a; 1 more

Each step     is one change of spec.source.catalog.version. Wait until a version
              is installed before the next step.
";
    assert_eq!((found, text.as_str()), (true, expected));
}

#[test]
fn without_a_path_there_is_a_reason() {
    let (found, text) = report(
        CHAIN,
        (&[], Some(">=3")),
        ("2.0.0", Some("1.0.0")),
        Generation::V1,
    );
    let expected = "\
p: 2.0.0 -> 1.0.0: no upgrade path
Reason        p: 2.0.0 -> 1.0.0 refused: 1.0.0 is older than 2.0.0 and not a
                successor of it in catalog hub [Downgrade]
              No upgrade path from 2.0.0 to 1.0.0. Only the catalog author can
                add one.
              Override: set spec.source.catalog.upgradeConstraintPolicy to
                SelfCertified; data loss is possible
              Catalog: hub
              OLM: error upgrading from currently installed version \"2.0.0\":
                no bundles found for package \"p\" matching version \"1.0.0\"
              Help: olmguard explain Downgrade
Automatic     if the version is \">=3\": no upgrade
Stops at      2.0.0: OLM cannot resolve any version from there
Reason        p: 2.0.0 -> >=3 refused: no bundle matches >=3 [VersionNotFound]
              Nearest: 2.0.0, 1.2.0, 1.1.0
              Fix: set spec.source.catalog.version to \"2.0.0\"
              Catalog: hub
              OLM: error upgrading from currently installed version \"2.0.0\":
                no bundles found for package \"p\" matching version \">=3\"
              Help: olmguard explain VersionNotFound
";
    assert_eq!((found, text.as_str()), (false, expected));
    let first = |to| {
        let (found, text) = report(CHAIN, (&[], None), ("2.0.0", to), Generation::V1);
        (found, text.lines().next().map(str::to_owned))
    };
    let line = |text: &str| Some(text.to_owned());
    let nothing = line("p: 2.0.0: no newer version is reachable");
    assert_eq!(first(None), (false, nothing));
    let here = line("p: 2.0.0 -> 2.0.0: already installed");
    assert_eq!(first(Some("2.0.0")), (true, here));
}

#[test]
fn where_no_edit_gives_the_goal_that_is_why() {
    let lines = "a: 1.0.0; 1.1.0+1 replaces 1.0.0; 1.1.0+2 replaces 1.0.0; v1.1 replaces 1.0.0";
    for (to, expected) in [
        (
            "p.v1.1.0+1",
            "version \"1.1.0\" installs p.v1.1.0+2 of catalog hub",
        ),
        (
            "p.vv1.1",
            "the version of p.vv1.1 is not valid or too long, so no edit can pin it",
        ),
    ] {
        let (found, text) = report(lines, (&[], None), ("1.0.0", Some(to)), Generation::V1);
        let words: Vec<_> = text.split_whitespace().collect();
        let reason = format!("Reason {expected}");
        assert!(!found && words.join(" ").contains(&reason), "{text}");
        let snapshot = snapshot(EdgeSource::Catalog, &[("hub", lines)]);
        let filter = filter(&["a", "z"], None);
        let inquiry = Inquiry::of(
            Basis::without_policies(&snapshot),
            &filter,
            &said("1.0.0"),
            EditContext::unknown(),
        )
        .expect("a question");
        let report = PathReport::of(&inquiry, Some(to)).expect("a bundle");
        let end = format!("no upgrade path; {expected}; channel z does not exist; nearest: a");
        assert!(report.no_way().is_some_and(|line| line.ends_with(&end)));
    }
}

#[test]
fn a_bundle_without_a_version_is_where_it_is() {
    let lines = "a: 1.0.0; v1.1 replaces 1.0.0; 1.2.0 replaces v1.1";
    let (found, text) = report(
        lines,
        (&[], None),
        ("p.vv1.1", Some("1.2.0")),
        Generation::V1,
    );
    let note = "\nNote          the version of the installed bundle is not valid: OLM v1 never\n";
    assert!(
        !found && text.starts_with("p: p.vv1.1 -> 1.2.0: no upgrade path\n"),
        "{text}"
    );
    assert!(text.contains(note), "{text}");
    let (found, text) = report(
        lines,
        (&[], None),
        ("p.vv1.1", Some("1.2.0")),
        Generation::V0,
    );
    assert!(
        found && text.contains("              p.vv1.1 -> 1.2.0\n"),
        "{text}"
    );
}

#[test]
fn without_edges_one_edit_leads_anywhere() {
    let snapshot = snapshot(EdgeSource::Catalog, &[("hub", CHAIN)]);
    let filter = filter(&[], None).with_policy(Policy::SelfCertified);
    let inquiry = Inquiry::of(
        Basis::without_policies(&snapshot),
        &filter,
        &said("2.0.0"),
        EditContext::unknown(),
    )
    .expect("a question");
    let way = |to| PathReport::of(&inquiry, to).expect("a bundle");
    let text = way(Some("1.0.0")).to_text().to_string();
    let expected = "  1     \"1.0.0\"         none needed: SelfCertified\n";
    assert!(text.contains(expected), "{text}");
    assert!(way(Some("2.0.0")).is_found() && !way(None).is_found());
}

#[test]
fn a_bundle_of_the_installed_version_needs_no_edge() {
    let snapshot = snapshot(EdgeSource::Catalog, &[("hub", CHAIN)]);
    let filter = filter(&[], None);
    let basis = Basis::without_policies(&snapshot);
    let renamed = StatedInstalled {
        bundle: Some("old.v1.0.0".to_owned()),
        ..said("1.0.0")
    };
    let inquiry = Inquiry::of(basis, &filter, &renamed, EditContext::unknown());
    let way = PathReport::of(&inquiry.expect("a question"), Some("1.1.0"));
    let text = way.expect("a bundle").to_text().to_string();
    let expected =
        "  1     \"1.0.0\"         none needed: same version\n  2     \"1.1.0\"         replaces ";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn olm_v0_can_lead_elsewhere_than_ranges_if_a_name_is_unknown() {
    let lines = "a: 1.1.0 skipRange <1.1.0\nb: 1.2.0\nc: 1.1.0; 1.2.0 replaces 1.1.0; 1.3.0 replaces 1.1.0\n\
                 d: 1.0.0; 1.2.0 replaces 1.0.0; 1.3.0 replaces 1.2.0 skipRange <1.2.0";
    for (channel, from, is_undecided) in [
        ("a", "0.9.0", false),
        ("d", "0.9.0", true),
        ("a", "1.1.0", false),
        ("c", "0.9.0", false),
    ] {
        let asked = (&[channel] as &[_], None);
        let asked_way = (from, Some("1.2.0"));
        let way = path(
            lines,
            asked,
            asked_way,
            Generation::V0,
            &Policies::default(),
        );
        let found = (way.is_found(), way.is_undecided());
        assert_eq!(found, (false, is_undecided), "{channel} from {from}");
    }
}

#[test]
fn olm_v0_walks_by_itself() {
    let walk = |channels, from, to| {
        let (found, text) = report(CHAIN, (channels, None), (from, to), Generation::V0);
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        (found, lines)
    };
    let (found, lines) = walk(&["a"], "1.0.0", None);
    let expected = [
        "p: 1.0.0: automatic upgrades of OLM v0",
        "Automatic     Subscription to channel a of catalog hub:",
        "              1.0.0 -> 1.1.0 -> 1.2.0",
        "Stops at      1.2.0: it is the channel head",
    ];
    assert_eq!((found, lines), (true, expected.map(str::to_owned).to_vec()));
    let (found, lines) = walk(&["b"], "1.0.0", Some("2.0.0"));
    let expected = [
        "p: 1.0.0 -> 2.0.0: OLM v0 does not upgrade to it",
        "Automatic     Subscription to channel b of catalog hub: no upgrade",
        "Stops at      1.0.0: it has no upgrade edge, but the Subscription reports",
        "              AtLatestKnown as at a channel head",
    ];
    assert_eq!(
        (found, lines),
        (false, expected.map(str::to_owned).to_vec())
    );
    let (found, lines) = walk(&["a"], "0.9.0", Some("1.2.0"));
    let expected = [
        "p: 0.9.0 -> 1.2.0: no OLM v0 upgrade to it found",
        "Automatic     Subscription to channel a of catalog hub: no upgrade found",
        "Stops at      0.9.0: whether it has an upgrade edge depends on its bundle name,",
        "              which is unknown",
    ];
    let before_note = lines[..4].to_vec();
    assert_eq!(
        (found, before_note),
        (false, expected.map(str::to_owned).to_vec())
    );
    for from in ["1.1.0", "1.2.0"] {
        let (found, lines) = walk(&["a"], from, Some("1.2.0"));
        let expected = format!("p: {from} -> 1.2.0: OLM v0 upgrades to it");
        assert_eq!((found, &lines[0]), (true, &expected));
    }
    let (_, lines) = walk(&["c"], "1.0.0", None);
    let expected = [
        "p: 1.0.0: automatic upgrades of OLM v0",
        "Automatic     Subscription to channel c of catalog hub: no upgrade",
        "Stops at      1.0.0: OLM cannot resolve any version from there",
        "Reason        no operators found in channel c of package p in the catalog",
        "Note          channel c does not exist; nearest: a",
    ];
    assert_eq!(lines, expected);
    let round = "a: 1.0.0 skipRange 2.0.0; 2.0.0 replaces 1.0.0";
    let (_, text) = report(round, (&[], None), ("1.0.0", None), Generation::V0);
    let expected = [
        "p: 1.0.0: automatic upgrades of OLM v0",
        "Automatic     Subscription to catalog hub without a channel:",
        "              1.0.0 -> 2.0.0 -> 1.0.0",
        "Stops at      no version: OLM v0 returns to a bundle that was installed before",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_way_beyond_the_bound_of_the_search_is_not_called_none() {
    let later = (1..=2100).map(|at| format!("1.{at}.0 replaces 1.{}.0", at - 1));
    let all: Vec<_> = std::iter::once("1.0.0".to_owned()).chain(later).collect();
    let lines = format!("a: {}", all.join("; "));
    let asked: (&[&str], _) = (&[], None);
    let both = ("1.0.0", Some("1.2100.0"));
    let report = path(&lines, asked, both, Generation::V1, &Policies::default());
    assert!(!report.is_found() && report.is_undecided());
    let text = report.to_text().to_string();
    assert!(
        text.starts_with("p: 1.0.0 -> 1.2100.0: no upgrade path found\n"),
        "{text}"
    );
    let words: Vec<_> = text.split_whitespace().collect();
    let note = "Note the search stopped at its limit of 2048 bundles: a path may exist anyway";
    assert!(words.join(" ").ends_with(note), "{text}");
}

#[test]
fn the_policy_that_closes_each_path_is_named() {
    let denied = |range| {
        let policy = UpgradePolicy::read(&json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
            "metadata": {"name": "nights"}, "spec": {"rules": {"versions": {"deny": range}}},
        }));
        let policies = Policies {
            upgrades: UpgradePolicies::of([policy]),
            ..Policies::default()
        };
        let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0";
        let both = ("1.0.0", None);
        path(lines, (&[], None), both, Generation::V1, &policies)
    };
    let closed = denied(">1.0.0");
    assert!(!closed.is_found() && !closed.is_undecided());
    let text = closed.to_text().to_string();
    let words: Vec<_> = text.split_whitespace().collect();
    let reason = "p: 1.0.0: no newer version is reachable Highest reachable: none. No upgrade to the 2 newer versions. \
                  Reason p: 1.0.0 -> 1.2.0 refused: 1.2.0 is not a successor of 1.0.0";
    let text = words.join(" ");
    assert!(text.starts_with(reason), "{text}");
    assert!(text.contains("policy nights denies 1."), "{text}");
    let lower = denied("1.2.0");
    assert!(lower.is_found());
    let text = lower.to_text().to_string();
    let words: Vec<_> = text.split_whitespace().collect();
    let note =
        "Note the edit to 1.2.0 is denied: policy nights denies 1.2.0 (versions.deny: 1.2.0)";
    assert!(words.join(" ").ends_with(note), "{text}");
}

#[test]
fn a_dead_end_is_named() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0; 2.0.0 replaces 1.2.0";
    let line = |asked, from| {
        let (_, text) = report(lines, asked, (from, None), Generation::V1);
        let found = text.lines().find(|line| line.starts_with("Highest"));
        found.map(str::to_owned)
    };
    let any: (&[&str], _) = (&[], None);
    let expected = "Highest reachable: 1.1.0. No upgrade to the 2 newer versions.";
    assert_eq!(line(any, "1.0.0").as_deref(), Some(expected));
    let expected = "Highest reachable: none. No upgrade to the 2 newer versions.";
    assert_eq!(line(any, "1.1.0").as_deref(), Some(expected));
    assert_eq!(line((&[], Some("<1.2.0")), "1.0.0"), None);
    assert_eq!(line(any, "1.2.0"), None);
}

/// `audit` follows the same rule: see `a_prerelease_counts_if_one_is_installed`.
#[test]
fn a_path_ends_at_a_prerelease_only_if_one_is_meant() {
    let lines =
        "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0-rc.1 replaces 1.1.0; 1.2.0-rc.2 replaces 1.2.0-rc.1";
    let said = |range, from, to| {
        let (_, text) = report(lines, (&[], range), (from, to), Generation::V1);
        let of_it = |line: &&str| line.starts_with("p: ") || line.starts_with("Highest");
        text.lines().filter(of_it).collect::<Vec<_>>().join("|")
    };
    for (range, from, to, expected) in [
        (
            None,
            "1.0.0",
            None,
            "p: 1.0.0 -> 1.1.0: 1 step|Highest reachable: 1.1.0. Highest prerelease: 1.2.0-rc.2.",
        ),
        (
            None,
            "1.1.0",
            None,
            "p: 1.1.0: no newer release is reachable|Highest reachable: 1.2.0-rc.2 (prerelease)",
        ),
        (
            None,
            "1.2.0-rc.1",
            None,
            "p: 1.2.0-rc.1 -> 1.2.0-rc.2: 1 step",
        ),
        (
            None,
            "1.0.0",
            Some("1.2.0-rc.1"),
            "p: 1.0.0 -> 1.2.0-rc.1: 2 steps",
        ),
        (
            Some("1.2.0-rc.1"),
            "1.0.0",
            None,
            "p: 1.0.0 -> 1.2.0-rc.1: 2 steps",
        ),
        (Some("<1.2.0-0"), "1.0.0", None, "p: 1.0.0 -> 1.1.0: 1 step"),
    ] {
        assert_eq!(said(range, from, to), expected, "{range:?} {from} {to:?}");
    }
    let (_, text) = report(
        "a: 1.0.0-rc.1; 1.0.0-rc.2 replaces 1.0.0-rc.1\nb: 1.1.0",
        (&[], None),
        ("1.0.0-rc.1", None),
        Generation::V1,
    );
    let both = "Highest reachable: 1.0.0-rc.2 (prerelease). No upgrade to 1 newer version.\n";
    assert!(text.contains(both), "{text}");
    let (_, text) = report(lines, (&[], None), ("1.0.0", None), Generation::V1);
    let moves = "Prerelease    OLM upgrades automatically to 1.2.0-rc.1\n";
    assert!(text.contains(moves), "{text}");
    let (_, text) = report(
        lines,
        (&[], None),
        ("1.0.0", Some("1.2.0-rc.1")),
        Generation::V1,
    );
    assert!(text.contains("prerelease\n"), "{text}");
}

#[test]
fn catalogs_between_which_olm_cannot_choose_are_named() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0";
    let snapshot = snapshot(EdgeSource::Catalog, &[("one", lines), ("two", lines)]);
    let filter = filter(&[], None);
    let inquiry = Inquiry::of(
        Basis::without_policies(&snapshot),
        &filter,
        &said("1.0.0"),
        EditContext::unknown(),
    )
    .expect("a question");
    for (to, subject) in [(None, "p: 1.0.0"), (Some("1.1.0"), "p: 1.0.0 -> 1.1.0")] {
        let report = PathReport::of(&inquiry, to).expect("a bundle");
        let text = report.to_text().to_string();
        let first = format!(
            "{subject}: ambiguous: catalogs one, two have the same priority\n\
             Fix           select one of them with --in CATALOG\n"
        );
        assert!(text.starts_with(&first), "{text}");
    }
}
