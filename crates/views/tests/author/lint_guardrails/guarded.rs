//! Guardrails and the versions and edges of a package: required versions, forbidden steps, and stranded
//! versions.

use crate::lint_rules::lint_rule;
use olmguard_views::lint::{Severity, lint, written};

use crate::lint_guardrails::{LEAPS, blob, found, rule, says, told};
use crate::rows::channel;

/// The same package without the middle version.
const GAP: &str = "1.2.3; 1.4.0 replaces 1.2.3 skipRange >=1.2.0_<1.4.0";

#[test]
fn a_step_that_is_wanted_and_not_there() {
    says(
        GAP,
        &rule("kind: PassThrough, via: '>=1.3.0 <1.4.0-0'"),
        &[
            "guardrail-against-edge (warning): entry \"p.v1.4.0\" replaces \"p.v1.2.3\", but rule \"r\" forbids \
             this: OLM allows the step, olmguard denies it; remove the edge, or narrow the rule",
            "guardrail-strands-version (error): guardrails forbid every upgrade of \"p.v1.2.3\": rule \"r\" \
             forbids the step to \"p.v1.4.0\"; publish a version that the rule allows, with an edge from there, \
             or narrow the rule",
            "guardrail-step-not-available (warning): rule \"r\" requires a version in \">=1.3.0 <1.4.0-0\", but \
             package \"p\" has no such bundle, so users cannot upgrade past it; publish one, or fix the range",
        ],
    );
    let deprecated = "---\nschema: olm.deprecations\npackage: p\nentries:\n- message: gone\n  \
                      reference: {schema: olm.bundle, name: p.v1.3.0}\n";
    says(
        LEAPS,
        &(rule("kind: Waypoints, versions: ['1.3.0']") + deprecated),
        &[
            "guardrail-step-not-available (note): rule \"r\" requires a version in \"1.3.0\", but all bundles \
           in this range are deprecated: \"p.v1.3.0\"",
        ],
    );
}

#[test]
fn a_bundle_that_cannot_be_read_may_be_what_is_wanted() {
    let catalog = channel(LEAPS).replace("image: registry.example/p:1.3.0", "image: 1");
    let catalog = catalog + &rule("kind: PassThrough, via: '>=1.3.0 <1.4.0-0'");
    let rules: Vec<_> = found(&catalog).iter().map(|one| one.rule).collect();
    assert_eq!(rules, []);
}

#[test]
fn rules_that_forbid_nothing() {
    let never = |range: &str| {
        format!(
            "guardrail-never-applies (warning): rule \"r\" with {range:?} can never forbid anything: no two \
             versions match its ranges; fix the ranges"
        )
    };
    let not_yet = |range: &str| {
        format!(
            "guardrail-never-applies (note): rule \"r\" with {range:?} forbids no step between the versions of \
             package \"p\": correct if the rule is for future versions"
        )
    };
    let open = |range: &str, bound: &str, side: &str, advice: &str| {
        format!(
            "guardrail-never-applies (warning): rule \"r\" can never forbid anything: {range:?} has no {bound} \
             bound, so no version is {side}; {advice}"
        )
    };
    for (rest, expected) in [
        (
            "kind: PassThrough, via: '>=1.3.0'",
            open(
                ">=1.3.0",
                "upper",
                "higher",
                "add a bound, as in \">=1.3.0 <1.4.0-0\", or add \"to\"",
            ),
        ),
        (
            "kind: Waypoints, versions: ['<1.4.0-0']",
            open(
                "<1.4.0-0",
                "lower",
                "lower",
                "add a bound, as in \">=1.3.0 <1.4.0-0\", or use a rule of kind PassThrough with \"from\"",
            ),
        ),
        (
            "kind: PassThrough, via: '<1.4.0-0'",
            open(
                "<1.4.0-0",
                "lower",
                "lower",
                "add a bound, as in \">=1.3.0 <1.4.0-0\", or add \"from\"",
            ),
        ),
        (
            "kind: Waypoints, versions: ['>=1.3.0']",
            open(
                ">=1.3.0",
                "upper",
                "higher",
                "add a bound, as in \">=1.3.0 <1.4.0-0\", or use a rule of kind PassThrough with \"to\"",
            ),
        ),
        (
            "kind: PassThrough, via: '1.3.0', from: '>=2.0.0', to: '<2.0.0'",
            never("1.3.0"),
        ),
        (
            "kind: PassThrough, via: '>=1.0.0', to: '>=1.4.0'",
            never(">=1.0.0"),
        ),
        (
            "kind: LatestPatchFirst, from: '>2.0.0 <1.0.0'",
            never(">2.0.0 <1.0.0"),
        ),
        (
            "kind: PassThrough, via: '>=1.4.0 <1.5.0-0'",
            not_yet(">=1.4.0 <1.5.0-0"),
        ),
        (
            "kind: PassThrough, via: '1.3.0', from: '>=7.0.0'",
            not_yet("1.3.0"),
        ),
        (
            "kind: LatestPatchFirst, from: '>=7.0.0'",
            not_yet(">=7.0.0"),
        ),
    ] {
        says(LEAPS, &rule(rest), &[&expected]);
    }
    // Users can still have a version that is no longer in the catalog.
    let removed = "1.3.0 replaces 1.2.3; 1.4.0 replaces 1.3.0 skipRange >=1.2.0_<1.4.0";
    says(removed, &rule("kind: LatestPatchFirst, from: '1.2.3'"), &[]);
    says(removed, &rule("kind: PassThrough, via: '1.3.0'"), &[]);
}

#[test]
fn a_step_of_more_minors_than_any_major_has_between() {
    let none = |step: u32| {
        format!(
            "guardrail-never-applies (note): rule \"r\" with step {step} forbids no step between the versions \
             of package \"p\": correct if the rule is for future versions"
        )
    };
    let minors = "1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0; 2.0.0 replaces 1.2.0; 2.9.0 replaces 2.0.0";
    let step = |step: u32| rule(&format!("kind: MaxMinorStep, step: {step}"));
    says(minors, &step(1), &[]);
    says(minors, &step(2), &[&none(2)]);
    // Users can still have a version that is no longer in the catalog.
    says("1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0", &step(1), &[]);
    says("1.1.0; 1.2.0 replaces 1.1.0", &step(1), &[&none(1)]);
}

#[test]
fn a_rule_that_allows_what_nothing_denies_or_another_rule_denies() {
    let allow = "rules:\n- {id: a, kind: Prerelease, action: Allow}";
    says(
        LEAPS,
        &blob(allow),
        &[
            "guardrail-never-applies (warning): rule \"a\" has no effect, because graph Catalog already allows \
             every edge to a prerelease; remove the rule, or write action: Deny to forbid such edges",
        ],
    );
    let deny = "- {id: d, kind: Prerelease, action: Deny}";
    says(
        LEAPS,
        &blob(&format!("graph: Semver\n{allow}\n{deny}")),
        &[
            "guardrail-never-applies (warning): rule \"a\" has no effect, because rule \"d\" forbids every step \
             from a release to a prerelease; remove one of them",
        ],
    );
    for graph in ["Semver", "CatalogOrSemver"] {
        says(LEAPS, &blob(&format!("graph: {graph}\n{allow}")), &[]);
    }
}

#[test]
fn a_prerelease_that_comes_before_the_end_of_a_range() {
    let line = "1.2.3; 1.3.0 replaces 1.2.3 skipRange >=1.2.0_<1.3.0; 1.4.0-rc.1 replaces 1.3.0; \
                1.4.0 replaces 1.4.0-rc.1 skipRange >=1.2.0_<1.4.0";
    says(
        line,
        &rule("kind: PassThrough, via: '>=1.3.0 <1.4.0'"),
        &[
            "guardrail-takes-prerelease (warning): rule \"r\" accepts 1.4.0-rc.1 as a version in \">=1.3.0 \
           <1.4.0\", because a prerelease is lower than its release; end the range with <1.4.0-0",
        ],
    );
    says(
        line,
        &rule("kind: PassThrough, via: '>=1.3.0 <1.4.0-0'"),
        &[],
    );
}

#[test]
fn a_version_is_stranded_where_no_channel_has_a_step_that_is_left() {
    let second = "---\nschema: olm.channel\npackage: p\nname: d\nentries:\n- name: p.v1.3.0\n  \
                  skipRange: '>=1.2.0 <1.3.0'\n- {name: p.v1.4.0, replaces: p.v1.3.0}\n";
    let line = "1.2.3; 1.4.0 skipRange >=1.2.0_<1.4.0; 1.3.0";
    let via = rule("kind: PassThrough, via: '>=1.3.0 <1.4.0-0'");
    says(
        line,
        &via,
        &[
            "guardrail-strands-version (error): guardrails forbid every upgrade of \"p.v1.2.3\": rule \"r\" \
           forbids the step to \"p.v1.4.0\"; publish a version that the rule allows, with an edge from there, \
           or narrow the rule",
        ],
    );
    says(line, &(via + second), &[]);
    says(
        "1.2.0; 2.0.0 skipRange >=1.0.0_<2.0.0; 3.0.0 skipRange >=1.0.0_<2.0.0; 4.0.0 skipRange \
         >=1.0.0_<2.0.0",
        &blob("graph: Semver"),
        &[
            "guardrail-strands-version (note): guardrails forbid every upgrade of \"p.v1.2.0\": graph Semver \
           forbids the step to \"p.v4.0.0\", and 2 other steps are forbidden; correct if upgrades should end \
           there, otherwise write graph: Catalog",
        ],
    );
}

#[test]
fn the_other_way_that_is_forbidden_is_told_as_one() {
    says(
        "1.2.0; 2.0.0 skipRange >=1.0.0_<2.0.0; 3.0.0 skipRange >=1.0.0_<2.0.0",
        &blob("graph: Semver"),
        &[
            "guardrail-strands-version (note): guardrails forbid every upgrade of \"p.v1.2.0\": graph Semver \
           forbids the step to \"p.v3.0.0\", and 1 other step is forbidden; correct if upgrades should end \
           there, otherwise write graph: Catalog",
        ],
    );
}

#[test]
fn who_is_stranded_by_a_rule_is_told_of_the_rule_whatever_the_graph_forbids_above() {
    says(
        "1.2.0; 1.4.0 skipRange >=1.0.0_<1.4.0; 2.0.0 skipRange >=1.0.0_<1.3.0",
        &blob("graph: Semver\nrules:\n- {id: r, kind: PassThrough, via: '>=1.2.5 <1.3.0-0'}"),
        &[
            "guardrail-strands-version (error): guardrails forbid every upgrade of \"p.v1.2.0\": rule \"r\" \
             forbids the step to \"p.v1.4.0\", and 1 other step is forbidden; publish a version that the rule \
             allows, with an edge from there, or narrow the rule",
            "guardrail-step-not-available (warning): rule \"r\" requires a version in \">=1.2.5 <1.3.0-0\", but \
             package \"p\" has no such bundle, so users cannot upgrade past it; publish one, or fix the range",
        ],
    );
}

#[test]
fn a_prerelease_that_graph_semver_does_not_ask_for() {
    says(
        "1.0.0; 1.1.0-rc.1 replaces 1.0.0",
        &blob("graph: Semver"),
        &[
            "guardrail-against-edge (note): entry \"p.v1.1.0-rc.1\" replaces \"p.v1.0.0\", but graph Semver \
             forbids this: OLM allows the step, olmguard denies it; correct if this is intended, otherwise add \
             a rule of kind Prerelease with action: Allow",
            "guardrail-strands-version (note): guardrails forbid every upgrade of \"p.v1.0.0\": graph Semver \
             forbids the step to \"p.v1.1.0-rc.1\"; correct if upgrades should end there, otherwise add a rule \
             of kind Prerelease with action: Allow",
        ],
    );
}

#[test]
fn findings_stand_at_the_rule_that_they_are_about() {
    let before = channel(GAP);
    let rules =
        "rules:\n- {id: z, kind: LatestPatchFirst}\n-  {id: r, kind: PassThrough, via: '1.3.0'}";
    let findings = found(&(before.clone() + &blob(rules)));
    let rule = u32::try_from(before.lines().count() + 6).expect("few lines");
    let places = findings.iter().map(|one| (one.rule, one.line, one.column));
    assert_eq!(
        places.collect::<Vec<_>>(),
        [
            (lint_rule("guardrail-against-edge"), 11, 15),
            (lint_rule("guardrail-strands-version"), rule, 4),
            (lint_rule("guardrail-step-not-available"), rule, 4),
        ]
    );
}

#[test]
fn an_edge_that_the_graph_lacks() {
    let against = "guardrail-against-edge (note): entry \"p.v2.0.0\" replaces \"p.v1.0.0\", but graph Semver \
                   forbids this: OLM allows the step, olmguard denies it; correct if this is intended, \
                   otherwise write graph: Catalog";
    let findings = told(&(channel("1.0.0; 2.0.0 replaces 1.0.0") + &blob("graph: Semver")));
    assert_eq!(findings.first().map(String::as_str), Some(against));
    // Guardrails do not apply to downward steps: `edge-goes-down` reports these.
    says("2.0.0; 1.0.0 replaces 2.0.0", &blob("graph: Semver"), &[]);
}

#[test]
fn edges_that_rules_forbid() {
    let via = rule("kind: PassThrough, via: '>=1.3.0 <1.4.0-0'");
    says(
        "1.2.3; 1.3.0 replaces 1.2.3; 1.4.0 replaces 1.3.0 skips 1.2.3,1.2.2",
        &via,
        &[
            "guardrail-against-edge (note): entry \"p.v1.4.0\" skips \"p.v1.2.3\", \"p.v1.2.2\", but rule \"r\" \
             forbids this: OLM allows the step, olmguard denies it; remove the edge, or narrow the rule",
            "guardrail-strands-version (error): guardrails forbid every upgrade of \"p.v1.2.2\": rule \"r\" \
             forbids the step to \"p.v1.4.0\"; publish a version that the rule allows, with an edge from there, \
             or narrow the rule",
        ],
    );
    // A blob that cannot be read leaves edges unknown, and has its own finding.
    let unread = channel("1.2.3; 1.4.0 skipRange >=1.2.0_<1.4.0; 1.3.0").replacen(
        "  - name",
        "  - replaces: 1\n    name",
        1,
    );
    assert_eq!(told(&(unread + &via)), Vec::<String>::new());
}

#[test]
fn an_edge_to_a_prerelease_is_told_once() {
    let line = "1.0.0; 1.1.0-rc.1 replaces 1.0.0";
    let rules = |guardrails: &str| {
        let findings = lint(&[written("c", (channel(line) + guardrails).as_bytes())]);
        let rules = findings.iter().map(|one| (one.rule, one.severity));
        rules.collect::<Vec<_>>()
    };
    let edge = (lint_rule("prerelease-edge"), Severity::Warning);
    assert_eq!(rules(&rule("kind: LatestPatchFirst")), [edge]);
    let never = (lint_rule("guardrail-never-applies"), Severity::Warning);
    assert_eq!(
        rules(&rule("kind: Prerelease, action: Allow")),
        [edge, never]
    );
    let denied = rules(&rule("kind: Prerelease, action: Deny"));
    assert!(denied.contains(&(lint_rule("guardrail-against-edge"), Severity::Warning)));
}
