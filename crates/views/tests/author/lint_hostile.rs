//! Catalogs that are made to overload lint. Each is read to its end, the report is limited, and omissions are
//! reported. If work grew with the square of the size, it would take minutes here.

use std::fmt::Write as _;

use crate::lint_rules::lint_rule;
use olmguard_views::lint::{LintFinding, Rule, lint, written};

/// A package with one channel of these entries, and a bundle for each name.
fn catalog(entries: &[String], bundles: impl IntoIterator<Item = String>) -> String {
    let mut text = format!(
        "{{\"schema\":\"olm.package\",\"name\":\"p\",\"defaultChannel\":\"c\"}}\n\
         {{\"schema\":\"olm.channel\",\"package\":\"p\",\"name\":\"c\",\"entries\":[{}]}}\n",
        entries.join(",")
    );
    for version in bundles {
        writeln!(
            text,
            "{{\"schema\":\"olm.bundle\",\"package\":\"p\",\"name\":\"p.v{version}\",\"image\":\"example.com/a/b:c\",\
             \"properties\":[{{\"type\":\"olm.package\",\"value\":{{\"packageName\":\"p\",\"version\":\"{version}\"}}}}]}}"
        )
        .expect("a text takes everything");
    }
    text
}

fn versions(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|patch| format!("1.0.{patch}"))
}

fn found(text: &str) -> Vec<LintFinding> {
    let findings = lint(&[written("c.json", text.as_bytes())]);
    let texts = findings
        .iter()
        .map(|one| one.message.len() + one.upstream.as_ref().map_or(0, String::len));
    let bytes: usize = texts.sum();
    assert!(bytes < 20_000_000, "{bytes} bytes of findings");
    findings
}

fn of(findings: &[LintFinding], rule: Rule) -> Vec<&str> {
    let of_rule = findings.iter().filter(|one| one.rule == rule);
    of_rule.map(|one| &*one.message).collect()
}

#[test]
fn a_long_chain_is_followed_to_its_end() {
    let size = 20_000;
    let entries: Vec<_> = (0..size)
        .map(|patch| match patch {
            0 | 7 => format!("{{\"name\":\"p.v1.0.{patch}\"}}"),
            8 => "{\"name\":\"p.v1.0.8\",\"replaces\":\"p.v1.0.6\",\"skips\":[\"p.v1.0.7\"]}"
                .to_owned(),
            patch => format!(
                "{{\"name\":\"p.v1.0.{patch}\",\"replaces\":\"p.v1.0.{}\"}}",
                patch - 1
            ),
        })
        .collect();
    let findings = found(&catalog(&entries, versions(size)));
    let [only] = findings.as_slice() else {
        unreachable!("{findings:?}");
    };
    assert_eq!(only.rule, lint_rule("skipped-yet-installable"));
}

#[test]
fn many_stranded_entries_are_told_one_by_one_and_listed_once() {
    let size = 20_000;
    let entries: Vec<_> = (0..size)
        .map(|patch| match patch {
            0 => "{\"name\":\"p.v1.0.0\",\"skips\":[\"p.v1.0.1\"]}".to_owned(),
            patch => format!("{{\"name\":\"p.v1.0.{patch}\",\"replaces\":\"p.v1.0.{patch}\"}}"),
        })
        .collect();
    let findings = found(&catalog(&entries, versions(size)));
    let stranded = of(&findings, lint_rule("stranded-bundle")).len();
    let left_out = of(&findings, lint_rule("lint-limit"));
    assert!((9_000..size).contains(&stranded), "{stranded}");
    assert!(
        left_out.contains(
            &&*format!(
                "{} more findings of stranded-bundle are not shown from here on; fix the ones above first",
                size - 2 - stranded
            )
        ),
        "{left_out:?}"
    );
    let longest = findings.iter().filter_map(|one| one.upstream.as_ref());
    assert_eq!(longest.map(String::len).max(), Some(4096));
}

#[test]
fn ranges_that_are_too_many_to_try_are_told() {
    let size = 1_500;
    let entries: Vec<_> = (0..size)
        .map(|patch| match patch {
            0 => "{\"name\":\"p.v1.0.0\"}".to_owned(),
            patch => format!(
                "{{\"name\":\"p.v1.0.{patch}\",\"replaces\":\"p.v1.0.{}\",\"skipRange\":\">=0.0.0\"}}",
                patch - 1
            ),
        })
        .collect();
    let findings = found(&catalog(&entries, versions(size)));
    assert_eq!(
        of(&findings, lint_rule("lint-limit")),
        [
            "package \"p\" has too many skipRanges and versions to compare them all: lint does not check what \
             the ranges match, which versions are cut off or stranded, or which deprecations have no replacement"
        ]
    );
    assert_eq!(of(&findings, lint_rule("cut-off-version")).len(), 0);
    assert_eq!(
        of(&findings, lint_rule("skip-range-open-above")).len(),
        size - 1
    );
}

#[test]
fn channels_and_edges_that_are_too_many_to_follow_are_told() {
    let size = 6_000;
    let edges: Vec<_> = (1..size)
        .map(|patch| {
            format!(
                "{{\"name\":\"p.v1.0.{patch}\",\"replaces\":\"p.v1.0.{}\"}}",
                patch - 1
            )
        })
        .collect();
    let mut text = catalog(&edges, versions(size));
    for channel in 0..size {
        writeln!(
            text,
            "{{\"schema\":\"olm.channel\",\"package\":\"p\",\"name\":\"c{channel}\",\"entries\":[{{\"name\":\"p.v1.0.{channel}\"}}]}}"
        )
        .expect("a text takes everything");
    }
    assert_eq!(
        of(&found(&text), lint_rule("lint-limit")),
        [
            "package \"p\" has too many channels and edges to follow every upgrade path: lint does not check \
             which versions are cut off"
        ]
    );
}

#[test]
fn circles_that_are_too_many_to_follow_are_told() {
    let size = 1_000;
    let entries: Vec<_> = (0..size)
        .map(|patch| {
            format!(
                "{{\"name\":\"p.v1.0.{patch}\",\"replaces\":\"p.v1.0.{}\"}}",
                (patch + 1) % size
            )
        })
        .collect();
    let findings = found(&catalog(&entries, versions(size)));
    assert_eq!(
        of(&findings, lint_rule("lint-limit")),
        [
            "package \"p\" has more than 100 edges that do not go to a higher version: lint does not \
             check whether the others form a cycle"
        ]
    );
    assert_eq!(of(&findings, lint_rule("upgrade-cycle")).len(), 1);
}

#[test]
fn removed_versions_are_no_part_of_a_cycle() {
    let skips: Vec<_> = (0..101)
        .map(|patch| format!("\"p.v1.0.{patch}\""))
        .collect();
    let entry = format!("{{\"name\":\"p.v2.0.0\",\"skips\":[{}]}}", skips.join(","));
    let findings = found(&catalog(&[entry], ["2.0.0".to_owned()]));
    assert_eq!(of(&findings, lint_rule("lint-limit")), [""; 0]);
}

#[test]
fn names_that_are_like_others_are_guessed_until_that_is_much_work() {
    let size = 5_000;
    let skips: Vec<_> = (0..size)
        .map(|patch| format!("\"q.v1.0.{patch}\""))
        .collect();
    let skips = format!("{{\"name\":\"p.v1.0.0\",\"skips\":[{}]}}", skips.join(","));
    let mut entries: Vec<_> = (1..size)
        .map(|patch| format!("{{\"name\":\"p.v1.0.{patch}\"}}"))
        .collect();
    entries.push(skips);
    let findings = found(&catalog(&entries, versions(size)));
    let guessed = of(&findings, lint_rule("misspelt-target")).len();
    assert!((10..1_000).contains(&guessed), "{guessed}");
    assert_eq!(of(&findings, lint_rule("unknown-target")).len(), 1);
}

#[test]
fn a_name_as_long_as_a_blob_is_not_told_again_and_again() {
    let name = "n".repeat(1 << 20);
    let entry = format!(
        "{{\"name\":\"{name}\",\"skips\":[{}]}}",
        vec!["\"\""; 10_000].join(",")
    );
    let findings = found(&catalog(&[entry], versions(1)));
    let told = of(&findings, lint_rule("empty-skip")).len();
    assert!((100..10_000).contains(&told), "{told}");
    assert_eq!(of(&findings, lint_rule("lint-limit")).len(), 1);
}

#[test]
fn keys_of_entries_in_any_order_are_found_on_a_line_of_megabytes() {
    let size = 20_000;
    let entries: Vec<_> = (0..size)
        .map(|patch| {
            format!(
                "{{\"skipRange\":\"x\",\"skips\":[\"\"],\"replaces\":\"p.v0.0.{patch}\",\"name\":\"p.v1.0.{patch}\",\"pad\":\"{}\"}}",
                "-".repeat(100)
            )
        })
        .collect();
    let findings = found(&catalog(&entries, []));
    let invalid = findings
        .iter()
        .filter(|one| one.rule == lint_rule("invalid-skip-range"));
    let places: Vec<_> = invalid.map(|one| (one.line, one.column)).collect();
    let before = |count: usize| {
        entries
            .iter()
            .take(count)
            .map(|one| one.len() + 1)
            .sum::<usize>()
    };
    for (index, place) in places.iter().enumerate() {
        let column = 61 + before(index) + "{\"skipRange\":".len();
        assert_eq!(*place, (2, u32::try_from(column).expect("a column")));
    }
    assert!(places.len() > 1_000, "{}", places.len());
}

#[test]
fn guardrails_that_are_too_many_to_try_are_told() {
    let rules: Vec<_> = (0..256)
        .map(|rule| {
            let via = "1.0.1 || ".repeat(50);
            format!("{{\"id\":\"{rule}\",\"kind\":\"PassThrough\",\"via\":\"{via}1.0.1\"}}")
        })
        .collect();
    let guardrails = format!(
        "{{\"schema\":\"olmguard.guardrails.v1alpha1\",\"package\":\"p\",\"rules\":[{}]}}\n",
        rules.join(",")
    );
    let size = 2_000;
    let entries: Vec<_> = (1..size)
        .map(|patch| {
            format!(
                "{{\"name\":\"p.v1.0.{patch}\",\"replaces\":\"p.v1.0.{}\"}}",
                patch - 1
            )
        })
        .collect();
    let findings = found(&(catalog(&entries, versions(size)) + &guardrails));
    assert_eq!(
        of(&findings, lint_rule("lint-limit")),
        [
            "package \"p\" has too many edges and guardrails to compare them all: lint does not check what its \
             guardrails forbid"
        ]
    );
}

#[test]
fn ranges_that_are_too_many_to_try_on_each_other_are_told_whatever_the_edges() {
    let versions: Vec<_> = (10..60).map(|patch| format!("1.0.{patch}")).collect();
    let range = versions.join(" || ");
    let with = |package: &str, count: usize| {
        let rules: Vec<_> = (0..count)
            .map(|rule| {
                format!(
                    "{{\"id\":\"{rule}\",\"kind\":\"PassThrough\",\"via\":\"{range}\",\"from\":\"{range}\",\
                     \"to\":\"{range}\"}}"
                )
            })
            .collect();
        format!(
            "{{\"schema\":\"olmguard.guardrails.v1alpha1\",\"package\":\"{package}\",\"rules\":[{}]}}\n",
            rules.join(",")
        )
    };
    let one = catalog(&[], []);
    assert_eq!(
        of(
            &found(&(one.clone() + &with("p", 256))),
            lint_rule("lint-limit")
        ),
        [
            "package \"p\" has too many edges and guardrails to compare them all: lint does not check what its \
             guardrails forbid"
        ]
    );
    // Each package alone is far below the limit of one package.
    let many = (0..15).map(|at| {
        let package = format!("q{at:02}");
        one.replace("\"p\"", &format!("{package:?}")) + &with(&package, 60)
    });
    let findings = found(&many.collect::<String>());
    let left_out = of(&findings, lint_rule("lint-limit"));
    assert!((1..15).contains(&left_out.len()), "{left_out:?}");
    assert_eq!(
        left_out.last(),
        Some(
            &"the catalog has too many edges and guardrails to compare them all: lint does not check what the \
              guardrails of package \"q14\" forbid"
        )
    );
    assert_eq!(
        of(&findings, lint_rule("guardrail-never-applies")).len(),
        (15 - left_out.len()) * 60
    );
}

#[test]
fn guardrails_of_very_many_packages_are_looked_at() {
    let mut text = String::new();
    for package in 0..20_000 {
        writeln!(
            text,
            "{{\"schema\":\"olmguard.guardrails.v1alpha1\",\"package\":\"p{package}\",\"rules\":[{{\"id\":1}}]}}"
        )
        .expect("a text takes everything");
    }
    let findings = found(&text);
    let unread = of(&findings, lint_rule("guardrail-unreadable")).len();
    assert!((5_000..=20_000).contains(&unread), "{unread}");
    assert!(of(&findings, lint_rule("guardrail-of-unknown-package")).len() > 5_000);
}
