//! Findings beyond `opm validate`: effects on users.

use crate::lint_rules::lint_rule;
use olmguard_views::lint::{Severity, lint, written};

use crate::lint_rules::{found, shown};
use crate::rows::{GOOD, channel};

/// Checks the findings beyond opm, as `line:column: id: message`.
#[track_caller]
fn says(line: &str, rule: &str, expected: &[&str]) {
    let findings = found(&channel(line));
    let of_rule = findings.iter().filter(|one| one.rule.id() == rule);
    let texts: Vec<_> = of_rule.map(|one| &*one.message).collect();
    assert_eq!(texts, expected, "{line}\n{}", shown(&findings));
}

#[test]
fn cut_off_versions_for_each_generation() {
    let fix =
        "let an entry on a path to the head replace it, skip it, or include it in its skipRange";
    // S9: cut off in v0 only.
    says(
        "1; 1.1 replaces 1; 1.2 replaces 1.1 skips 1; 2 replaces 1.2 skips 1,1.1; 2.1 replaces 2 skips 1.2; 2.2 replaces 2.1 skips 2",
        "cut-off-version",
        &[
            &format!(
                "\"p.v1.0.0\" has no upgrade path to \"p.v2.2.0\", the head of channel \"c\", in OLM v0; {fix}"
            ),
            &format!(
                "\"p.v1.1.0\" has no upgrade path to \"p.v2.2.0\", the head of channel \"c\", in OLM v0; {fix}"
            ),
        ],
    );
    // S8: no version is cut off.
    says(
        "1; 1.1 replaces 1; 1.2 replaces 1.1 skips 1; 2 replaces 1.2 skips 1,1.1; 2.1 replaces 2 skips 1.2",
        "cut-off-version",
        &[],
    );
    // X1: cut off in v0, two steps in v1.
    says(
        "1; 2 skipRange >=1.0.0_<2.0.0; 3 skips 1,2",
        "cut-off-version",
        &[],
    );
}

#[test]
fn a_version_that_neither_generation_leads_on_from() {
    says(
        "1 skips 1; 2",
        "cut-off-version",
        &[
            "\"p.v1.0.0\" has no upgrade path to \"p.v2.0.0\", the head of channel \"c\", in OLM v0 and OLM v1; \
             let an entry on a path to the head replace it, skip it, or include it in its skipRange",
        ],
    );
}

#[test]
fn a_removed_version_that_a_range_takes_is_not_cut_off() {
    let line = "2 replaces 1.9; 2.1 skips 2 skipRange >=1.0.0_<2.1.0";
    says(line, "cut-off-version", &[]);
    let unknown = found(&channel(line).replace("p.v1.9.0", "old"));
    assert!(!shown(&unknown).contains("cut-off-version"));
    says(
        "2 replaces 0.9; 2.1 skips 2 skipRange >=1.0.0_<2.1.0",
        "cut-off-version",
        &[
            "\"p.v0.9.0\" has no upgrade path to \"p.v2.1.0\", the head of channel \"c\", in OLM v0; let an \
             entry on a path to the head replace it, skip it, or include it in its skipRange",
        ],
    );
}

#[test]
fn a_range_of_very_many_comparators_is_not_called_empty() {
    let versions: Vec<_> = (0..1100).map(|patch| format!("0.0.{patch}")).collect();
    let line = format!("1; 1.1 replaces 1 skipRange {}", versions.join("_||_"));
    says(&line, "skip-range-matches-nothing", &[]);
}

#[test]
fn several_successors() {
    says(
        "1; 1.1 replaces 1; 1.2 replaces 1.1 skips 1",
        "several-successors",
        &[
            "channel \"c\" has 2 entries that replace or skip \"p.v1.0.0\": expected one that is not skipped itself",
        ],
    );
    says(
        "1; 1.1 replaces 1; 1.2 replaces 1.1 skipRange >=1.0.0_<1.2.0",
        "several-successors",
        &[],
    );
}

#[test]
fn cycles() {
    says(
        "1 skipRange >1.0.0_<2.0.0; 1.1 replaces 1",
        "upgrade-cycle",
        &[
            "upgrade edges form a cycle: \"p.v1.0.0\" -> \"p.v1.1.0\" -> \"p.v1.0.0\"; remove the edge that does not go to a higher version",
        ],
    );
}

#[test]
fn a_cycle_that_opm_does_not_come_to() {
    says(
        "1 replaces 1 skips 1; 2 replaces 1",
        "skipped-cycle",
        &[
            "skipped entries of channel \"c\" replace each other in a cycle: \"p.v1.0.0\" -> \"p.v1.0.0\"; OLM v0 rejects the channel, so remove the replaces that names the same version or a higher one",
        ],
    );
    says(
        "1; 2 replaces 1; 3 replaces 2 skips 2,1",
        "skipped-cycle",
        &[],
    );
}

#[test]
fn an_entry_without_a_name_is_no_part_of_a_cycle() {
    let entry = "  - name: p.v2.0.0\n";
    let nameless = format!("{entry}    skips: ['']\n  - replaces: ''\n");
    let findings = found(&channel("2").replace(entry, &nameless));
    let cycles = findings
        .iter()
        .filter(|one| one.rule == lint_rule("skipped-cycle"));
    assert_eq!(cycles.count(), 0, "{}", shown(&findings));
}

#[test]
fn skipped_and_still_there() {
    says(
        "1; 1.1 replaces 1; 1.2 replaces 1 skips 1.1",
        "skipped-yet-installable",
        &[
            "channel \"c\" skips entries that it still contains: \"p.v1.1.0\"; OLM v1 can still install them, so remove or deprecate them",
        ],
    );
    let line = "1; 1.1 replaces 1; 1.2 replaces 1 skips 1.1";
    let deprecated = format!(
        "{}---\nschema: olm.deprecations\npackage: p\nentries:\n  - reference: {{schema: olm.bundle, name: \
         p.v1.1.0}}\n    message: take 1.2\n",
        channel(line)
    );
    let text = shown(&found(&deprecated));
    assert!(!text.contains("skipped-yet-installable"), "{text}");
}

#[test]
fn edges_and_heads_that_go_down() {
    says(
        "2; 1.9 replaces 2",
        "edge-goes-down",
        &[
            "replaces of entry \"p.v1.9.0\" (1.9.0) makes an edge from a higher version: \"p.v2.0.0\" (2.0.0); remove the edge, or fix the versions",
        ],
    );
    says(
        "2; 1.9 replaces 2",
        "head-not-highest",
        &[
            "the head of channel \"c\" is \"p.v1.9.0\" (1.9.0), but \"p.v2.0.0\" (2.0.0) is higher: OLM v0 installs the head, OLM v1 the highest version",
        ],
    );
    // Releases of one version.
    let up = "1.0.0+2; 1.0.0+10 replaces 1.0.0+2";
    let down = "1.0.0+10; 1.0.0+2 replaces 1.0.0+10";
    says(up, "edge-goes-down", &[]);
    says(up, "head-not-highest", &[]);
    says(
        down,
        "edge-goes-down",
        &[
            "replaces of entry \"p.v1.0.0+2\" (1.0.0+2) makes an edge from a higher version: \"p.v1.0.0+10\" (1.0.0+10); remove the edge, or fix the versions",
        ],
    );
    says(
        down,
        "head-not-highest",
        &[
            "the head of channel \"c\" is \"p.v1.0.0+2\" (1.0.0+2), but \"p.v1.0.0+10\" (1.0.0+10) is higher: OLM v0 installs the head, OLM v1 the highest version",
        ],
    );
}

#[test]
fn a_release_of_its_own_is_told_with_its_version() {
    let catalog = channel("1.0.0+10; 1.0.0+2 replaces 1.0.0+10")
        .replace("n: 1.0.0+10}", "n: 1.0.0, release: \"10\"}")
        .replace("n: 1.0.0+2}", "n: 1.0.0, release: \"2\"}");
    let texts = shown(&found(&catalog));
    for text in [
        "\"p.v1.0.0+2\" (1.0.0+2) makes an edge from a higher version: \"p.v1.0.0+10\" (1.0.0+10)",
        "is \"p.v1.0.0+2\" (1.0.0+2), but \"p.v1.0.0+10\" (1.0.0+10) is higher",
    ] {
        assert!(texts.contains(text), "{texts}");
    }
}

/// Another rule says what is wrong with the release.
#[test]
fn a_release_that_cannot_be_read_hides_no_version() {
    let unread = channel("2; 1.9 replaces 2").replace("n: 2.0.0}", "n: 2.0.0, release: a_b}");
    let unread = found(&unread);
    for rule in ["edge-goes-down", "head-not-highest"] {
        let is_found = unread.iter().any(|finding| finding.rule.id() == rule);
        assert!(is_found, "{rule}\n{}", shown(&unread));
    }
}

#[test]
fn prereleases_and_majors() {
    says(
        "1; 1.1.0-rc.1 replaces 1",
        "prerelease-edge",
        &[
            "entry \"p.v1.1.0-rc.1\" (1.1.0-rc.1) is a prerelease and has edges from releases: \"p.v1.0.0\"; keep it in a separate channel",
        ],
    );
    says(
        "1.1.0-rc.1; 1.1.0-rc.2 replaces 1.1.0-rc.1",
        "prerelease-edge",
        &[],
    );
    let catalog = channel("1; 1.1.0-rc.1 replaces 1");
    let severity = |catalog: &str| {
        let findings = found(catalog);
        let such = findings
            .iter()
            .find(|one| one.rule == lint_rule("prerelease-edge"));
        such.map(|one| (one.severity, one.message.clone()))
    };
    let is_warning = severity(&catalog).is_some_and(|(severity, _)| severity == Severity::Warning);
    assert!(is_warning, "the default channel");
    let apart = catalog.replace("defaultChannel: c", "defaultChannel: d");
    assert_eq!(
        severity(&apart),
        Some((
            Severity::Note,
            "entry \"p.v1.1.0-rc.1\" (1.1.0-rc.1) is a prerelease and has edges from releases: \"p.v1.0.0\"; \
             channel \"c\" is for prereleases, but OLM v1 also uses the edge for extensions without channels"
                .to_owned()
        ))
    );
    let passed = channel("1; 1.1.0-rc.1 replaces 1; 1.1 replaces 1.1.0-rc.1")
        .replace("defaultChannel: c", "defaultChannel: d");
    let is_warning = severity(&passed).is_some_and(|(severity, _)| severity == Severity::Warning);
    assert!(is_warning, "its head is a release");
    says(
        "1.9; 2 replaces 1.9",
        "major-edge",
        &[
            "channel \"c\" has upgrades between incompatible versions: from \"p.v1.9.0\" to \"p.v2.0.0\"",
        ],
    );
    says(
        "0.1; 0.2 replaces 0.1",
        "major-edge",
        &[
            "channel \"c\" has upgrades between incompatible versions: from \"p.v0.1.0\" to \"p.v0.2.0\"",
        ],
    );
    says("1; 1.1 replaces 1", "major-edge", &[]);
    says("0.1.0; 0.1.1 replaces 0.1.0", "major-edge", &[]);
}

#[test]
fn ranges() {
    says(
        "1; 1.1 replaces 1 skipRange 1.0.0_1.1.0",
        "skip-range-matches-nothing",
        &[
            "the skipRange \"1.0.0 1.1.0\" of entry \"p.v1.1.0\" matches no version: a space means AND; join alternatives with ||",
        ],
    );
    says(
        "1; 1.1 replaces 1 skipRange >=0.1.0_<0.9.0",
        "skip-range-takes-none",
        &[
            "in channel \"c\" the skipRange of \"p.v1.1.0\" matches no other bundle of the package: correct if older versions were removed",
        ],
    );
    says(
        "1; 1.1 replaces 1 skipRange >=1.0.0_<=1.1.0",
        "skip-range-takes-itself",
        &[
            "the skipRange \">=1.0.0 <=1.1.0\" of entry \"p.v1.1.0\" matches the version of the entry; end the range below it",
        ],
    );
    says(
        "1; 1.1 replaces 1 skipRange <1.1.0",
        "skip-range-open-below",
        &["the skipRange \"<1.1.0\" of entry \"p.v1.1.0\" has no lower bound; add one"],
    );
    says(
        "1; 1.1 replaces 1 skipRange >1.0.0",
        "skip-range-open-above",
        &["the skipRange \">1.0.0\" of entry \"p.v1.1.0\" has no upper bound; add one"],
    );
    says(
        "1; 1.1 replaces 1 skipRange 1.0.0_||_||_2.0.0",
        "skip-range-crashes",
        &[
            "the skipRange \"1.0.0 || || 2.0.0\" of entry \"p.v1.1.0\" has nothing between two ||, so OLM panics; remove the empty alternative",
        ],
    );
}

#[test]
fn targets_that_are_not_there() {
    says(
        "1 replaces 0.9; 1.1 replaces 1 skips 0.8",
        "unknown-target",
        &[
            "channel \"c\" replaces or skips names that are not in the catalog: \"p.v0.9.0\", \"p.v0.8.0\"; correct if these versions were removed",
        ],
    );
    let catalog = GOOD.replace(
        "    replaces: lantern.v1.0.0",
        "    replaces: lanterm.v1.0.0",
    );
    let findings = found(&catalog);
    let text = shown(&findings);
    assert!(text.contains("11:15: misspelt-target: replaces of entry \"lantern.v1.1.0\" names \"lanterm.v1.0.0\", which is not in the catalog; did you mean \"lantern.v1.0.0\"?\n"), "{text}");
    let catalog = GOOD.replace("    replaces: lantern.v1.0.0", "    replaces: wick.v0.1.0");
    let text = shown(&found(&catalog));
    assert!(text.contains("11:15: other-package-target: replaces of entry \"lantern.v1.1.0\" names \"wick.v0.1.0\", a bundle of package \"wick\": edges never cross packages\n"), "{text}");
}

#[test]
fn deprecated_and_nowhere_to_go() {
    let catalog = GOOD.replace(
        "      name: lantern.v1.0.0\n    message: lantern.v1.0.0",
        "      name: lantern.v1.2.0\n    message: lantern.v1.0.0",
    );
    let text = shown(&found(&catalog));
    assert!(text.contains("deprecated-without-replacement: bundle \"lantern.v1.2.0\" is deprecated, and no bundle replaces it that is not deprecated; publish a successor\n"), "{text}");
}

#[test]
fn what_olm_v1_does_not_support() {
    let catalog = GOOD.replace(
        "  - type: olm.gvk\n",
        "  - type: olm.gvk.required\n    value: {group: g, kind: K, version: v1}\n\
         \x20 - type: olm.csv.metadata\n    value:\n      minKubeVersion: 1.30.0\n      installModes: [{type: OwnNamespace, supported: true}]\n  - type: olm.gvk\n",
    );
    let findings = found(&catalog);
    assert_eq!(
        shown(&findings),
        "45:1: unsupported-install-mode: bundle \"lantern.v1.2.0\" does not support the install mode AllNamespaces, so OLM v1 does not install it\n\
         54:5: unsupported-dependency: bundle \"lantern.v1.2.0\" declares a dependency with olm.gvk.required, so OLM v1 does not install it\n\
         56:5: min-kube-version-ignored: bundles of package \"lantern\" set a minKubeVersion, which OLM v1 ignores: \"lantern.v1.2.0\"\n"
    );
}

#[test]
fn olm_v1_accepts_fewer_references_than_opm() {
    let own = "registry.example/lantern/bundle:1.2.0";
    let digest = "0".repeat(64);
    for (image, lack) in [
        (
            "lantern:1.2.0",
            Some("does not name its registry and repository in full"),
        ),
        (
            "registry.example/lantern",
            Some("has neither a tag nor a digest"),
        ),
        (
            &format!("registry.example/lantern:1.2.0@sha256:{digest}"),
            Some("has both a tag and a digest"),
        ),
        (&format!("registry.example/lantern@sha256:{digest}"), None),
        ("docker.io/library/lantern:1.2.0", None),
    ] {
        let catalog = GOOD.replacen(own, image, 1);
        assert_ne!(catalog, GOOD);
        let expected = lack.map(|lack| {
            format!(
                "48:8: unsupported-image: bundle \"lantern.v1.2.0\": image \"{image}\" {lack}, so OLM v1 does not \
                 install it\n"
            )
        });
        assert_eq!(shown(&found(&catalog)), expected.unwrap_or_default());
    }
}

#[test]
fn packages_of_several_catalogs() {
    let both = [
        written("a", GOOD.as_bytes()),
        written("b", channel("1").as_bytes()),
        written("d", GOOD.as_bytes()),
    ];
    let findings = lint(&both);
    let said: Vec<_> = findings
        .iter()
        .map(|one| format!("{}: {}", one.catalog, one.message))
        .collect();
    assert_eq!(
        said,
        [
            "a: package \"lantern\" is also offered by \"d\"; OLM v1 does not choose unless their priorities differ",
            "a: package \"wick\" is also offered by \"d\"; OLM v1 does not choose unless their priorities differ",
            "d: package \"lantern\" is also offered by \"a\"; OLM v1 does not choose unless their priorities differ",
            "d: package \"wick\" is also offered by \"a\"; OLM v1 does not choose unless their priorities differ",
        ]
    );
}

#[test]
fn a_version_with_another_prefix_is_a_slip() {
    for target in [
        "v1.0.0", "1.0.0", "V1.0.0", "p.1.0.0", "p-1.0.0", "p-v1.0.0", "P.v1.0.0", "p.V1.0.0",
        "pv1.0.0",
    ] {
        let catalog = channel("1; 1.1 replaces 1")
            .replace("replaces: p.v1.0.0", &format!("replaces: {target}"));
        let findings = found(&catalog);
        let texts = findings
            .iter()
            .map(|one| format!("{}: {}", one.rule, one.message));
        assert!(
            texts.clone().any(|text| text
                == format!(
                    "misspelt-target: replaces of entry \"p.v1.1.0\" names \"{target}\", which is not in the catalog; \
                     did you mean \"p.v1.0.0\"?"
                )),
            "{:#?}",
            texts.collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_removed_version_or_another_name_is_no_slip() {
    for target in ["p.v0.9.0", "v0.9.0", "other.v1.0.0"] {
        let catalog = channel("1; 1.1 replaces 1")
            .replace("replaces: p.v1.0.0", &format!("replaces: {target}"));
        let text = shown(&found(&catalog));
        assert!(!text.contains("misspelt-target"), "{text}");
    }
}

#[test]
fn a_target_of_another_channel_is_told_where_the_channel_is_broken() {
    let catalog = |entries: &str| {
        channel("1; 2; 3").replace(
            "  - name: p.v1.0.0\n  - name: p.v2.0.0\n  - name: p.v3.0.0\n",
            &format!(
                "{entries}---\nschema: olm.channel\npackage: p\nname: d\nentries:\n  - name: p.v2.0.0\n    replaces: \
                 p.v1.0.0\n"
            ),
        )
    };
    let told = |entries: &str| {
        let findings = found(&catalog(entries));
        let own = findings
            .into_iter()
            .filter(|one| one.rule == lint_rule("target-in-other-channel"));
        own.map(|one| one.message).collect::<Vec<_>>()
    };
    assert_eq!(
        told("  - name: p.v1.0.0\n  - name: p.v3.0.0\n    replaces: p.v2.0.0\n"),
        [
            "replaces of entry \"p.v3.0.0\" names \"p.v2.0.0\", which is only in channel \"d\": its edges do not count \
             in channel \"c\"; add an entry for \"p.v2.0.0\" to channel \"c\""
        ]
    );
    let whole =
        "  - name: p.v1.0.0\n  - name: p.v3.0.0\n    replaces: p.v2.0.0\n    skips: [p.v1.0.0]\n";
    assert!(told(whole).is_empty());
}

#[test]
fn what_is_there_twice_has_two_places() {
    let blob = "---\nschema: olm.bundle\npackage: lantern\nname: lantern.v1.0.0\n";
    let texts = shown(&found(&format!("{GOOD}{blob}")));
    let line = GOOD.lines().position(|line| line == "name: lantern.v1.0.0");
    let first = line.expect("the bundle") - 1;
    assert!(
        texts.contains(&format!(
            "package \"lantern\" has a second bundle \"lantern.v1.0.0\"; keep one, or give it another name (the first \
             is at c.yaml:{first}:1)"
        )),
        "{texts}"
    );
    for (rule, blob) in [
        (
            "duplicate-package",
            "schema: olm.package\nname: lantern\ndefaultChannel: stable\n",
        ),
        (
            "duplicate-channel",
            "schema: olm.channel\npackage: lantern\nname: stable\nentries: [{name: lantern.v1.2.0}]\n",
        ),
        (
            "duplicate-entry",
            "schema: olm.channel\npackage: lantern\nname: x\nentries: [{name: a}, {name: a}]\n",
        ),
        (
            "duplicate-deprecations",
            "schema: olm.deprecations\npackage: lantern\n",
        ),
    ] {
        let texts = shown(&found(&format!("{GOOD}---\n{blob}")));
        let own = texts.lines().find(|line| line.contains(rule));
        let own = own.unwrap_or_else(|| panic!("{rule}: {texts}"));
        assert!(own.contains(" (the first is at c.yaml:"), "{own}");
    }
}
