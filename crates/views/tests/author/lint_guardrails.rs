//! Findings of lint in guardrails: a catalog for each rule, with the message and the place.

mod guarded;

use crate::rows::channel;
use olmguard_views::lint::{LintFinding, lint, written};

/// Three minors. Each entry replaces the previous one, and its range includes all lower versions.
pub(crate) const LEAPS: &str = "1.2.3; 1.3.0 replaces 1.2.3 skipRange >=1.2.0_<1.3.0; \
                     1.4.0 replaces 1.3.0 skipRange >=1.2.0_<1.4.0";

pub(crate) fn blob(rest: &str) -> String {
    format!("---\nschema: olmguard.guardrails.v1alpha1\npackage: p\n{rest}\n")
}

pub(crate) fn rule(rest: &str) -> String {
    blob(&format!("rules:\n- {{id: r, {rest}}}"))
}

/// Returns the findings about guardrails, as `id (severity): message`.
pub(crate) fn told(catalog: &str) -> Vec<String> {
    let findings = found(catalog);
    let findings = findings.iter();
    findings
        .map(|one| format!("{} ({}): {}", one.rule, one.severity, one.message))
        .collect()
}

pub(crate) fn found(catalog: &str) -> Vec<LintFinding> {
    let mut findings = lint(&[written("c.yaml", catalog.as_bytes())]);
    findings.retain(|one| one.rule.id().starts_with("guardrail-"));
    findings
}

#[track_caller]
pub(crate) fn says(line: &str, guardrails: &str, expected: &[&str]) {
    assert_eq!(
        told(&(channel(line) + guardrails)),
        expected,
        "{line}\n{guardrails}"
    );
}

#[test]
fn nothing_is_wrong_with_good_ones() {
    says(
        LEAPS,
        &rule("kind: PassThrough, via: '>=1.3.0 <1.4.0-0'"),
        &[],
    );
    says(LEAPS, &rule("kind: Waypoints, versions: ['1.3.0']"), &[]);
    says(LEAPS, &rule("kind: LatestPatchFirst"), &[]);
    says(
        LEAPS,
        &rule("kind: LatestPatchFirst, from: '>=1.2.0 <1.3.0'"),
        &[],
    );
    says(LEAPS, &rule("kind: MaxMinorStep, step: 1"), &[]);
    says(LEAPS, &rule("kind: Prerelease, action: Deny"), &[]);
    says(LEAPS, &blob("graph: Semver"), &[]);
}

#[test]
fn what_cannot_be_read_has_the_place_of_its_rule() {
    let begin = "guardrail-unreadable (error): the guardrails of package \"p\" are invalid, so olmguard denies \
                 every upgrade of it: ";
    for (guardrails, why) in [
        (blob("rules: 7"), "rules: expected a list, found integer"),
        (
            blob("rulez: []"),
            "rulez: unknown key: expected one of schema, package, name, graph, rules",
        ),
        (
            rule("kind: PassThrough, via: '<1.0.0 || || >2.0.0'"),
            "rules[0].via: the range has an empty OR group: expected versions on both sides of ||",
        ),
        (
            rule("kind: Prerelease, action: \"\\e[31m\""),
            "rules[0].action: unknown value \"\\x1b[31m\": expected one of Deny, Allow",
        ),
    ] {
        says(LEAPS, &guardrails, &[&format!("{begin}{why}")]);
    }
    let before = channel(LEAPS);
    let catalog = format!(
        "{before}{}",
        blob("rules:\n- {id: a, kind: LatestPatchFirst}\n-   {id: b, kind: MaxMinorStep}")
    );
    let line = u32::try_from(before.lines().count() + 6).expect("few lines");
    let places: Vec<_> = found(&catalog)
        .iter()
        .map(|one| (one.line, one.column))
        .collect();
    assert_eq!(places, [(line, 5)]);
}

#[test]
fn several_that_may_differ() {
    let good = rule("kind: MaxMinorStep, step: 1");
    let begin = "guardrail-unreadable (error): the guardrails of package \"p\" are invalid, so olmguard denies \
                 every upgrade of it: ";
    let twice = format!("{begin}the package has two of them: expected one");
    says(LEAPS, &format!("{good}{good}"), &[&twice]);
    let property = "properties:\n- type: olmguard.guardrails.v1alpha1\n  value: {graph: Semver}\n";
    let with_property = |line: &str| {
        channel(line).replacen(
            "defaultChannel: c\n",
            &format!("defaultChannel: c\n{property}"),
            1,
        )
    };
    assert_eq!(told(&with_property(LEAPS)), Vec::<String>::new());
    assert_eq!(
        told(&(with_property(LEAPS) + &good)),
        [format!(
            "{begin}the blob and the property of the olm.package differ: expected only one of \
             them, or the same content in both"
        )]
    );
    assert_eq!(
        told(&(with_property(LEAPS) + &blob("graph: Semver"))),
        Vec::<String>::new()
    );
    let bad = with_property(LEAPS).replace("{graph: Semver}", "7");
    assert_eq!(
        told(&bad),
        [format!("{begin}expected an object, found integer")]
    );
    assert_eq!(found(&bad).first().map(|one| one.line), Some(6));
    let none = with_property(LEAPS).replace("value: {graph: Semver}", "other: 1");
    assert_eq!(
        told(&none),
        [format!("{begin}expected an object, found null")]
    );
    let first = property.replace("Semver", "Catalog");
    let two = with_property(LEAPS).replacen("properties:\n", &first, 1);
    assert_eq!(told(&two), [twice]);
}

#[test]
fn guardrails_of_no_package() {
    let about = |package: &str| rule("kind: LatestPatchFirst").replace("package: p\n", package);
    says(
        LEAPS,
        &about(""),
        &[
            "guardrail-of-unknown-package (warning): guardrails name no package, so they have no effect: \
           expected the name of an olm.package of the catalog in \"package\"",
        ],
    );
    says(
        LEAPS,
        &about("package: pp\n"),
        &[
            "guardrail-of-unknown-package (warning): guardrails are for package \"pp\", which is not defined; \
           did you mean \"p\"?",
        ],
    );
    says(
        LEAPS,
        &about("package: other\n"),
        &[
            "guardrail-of-unknown-package (warning): guardrails are for package \"other\", which is not \
           defined; expected the name of an olm.package of the catalog",
        ],
    );
}

#[test]
fn guardrails_of_another_version() {
    says(
        LEAPS,
        &blob("rules: 7").replace("v1alpha1", "v2"),
        &[
            "guardrail-other-version (warning): guardrails of schema \"olmguard.guardrails.v2\" are ignored, \
           because this olmguard does not know the schema: expected \"olmguard.guardrails.v1alpha1\"",
        ],
    );
}

#[test]
fn properties_of_another_version() {
    let other = |version: &str| {
        format!(
            "guardrail-other-version (warning): guardrails of schema \"olmguard.guardrails.{version}\" are \
             ignored, because this olmguard does not know the schema: expected \
             \"olmguard.guardrails.v1alpha1\""
        )
    };
    let properties = "defaultChannel: c\nproperties:\n- type: olmguard.guardrails.v2\n  value: 7\n\
                      - type: olmguard.guardrails.v1alpha1\n  value: {graph: Catalog}\n\
                      - type: olmguard.guardrails.v3+x\n";
    let catalog = channel(LEAPS).replacen("defaultChannel: c\n", properties, 1);
    assert_eq!(told(&catalog), [other("v2"), other("v3+x")]);
    let lines: Vec<_> = found(&catalog).iter().map(|one| one.line).collect();
    assert_eq!(lines, [5, 9]);
    // opm refuses to serve only a blob of such a package. An olm.package can have the name.
    let named = catalog.replace("name: p\n", "name: p q\n");
    assert!(told(&named).iter().all(|one| !one.contains("misnamed")));
}

#[test]
fn names_that_opm_or_olm_cannot_keep() {
    says(
        LEAPS,
        &blob("name: a/../b"),
        &[
            "guardrail-misnamed (error): guardrails with the name \"a/../b\" are stored in the wrong place, \
           because OLM v1 uses the name as a file name: expected no name, or a name without \"/\" and \"..\"",
        ],
    );
    says(
        LEAPS,
        &blob("").replace("v1alpha1", "v2+x"),
        &[
            "guardrail-other-version (warning): guardrails of schema \"olmguard.guardrails.v2+x\" are ignored, \
             because this olmguard does not know the schema: expected \"olmguard.guardrails.v1alpha1\"",
            "guardrail-misnamed (error): the schema \"olmguard.guardrails.v2+x\" of guardrails is not valid for \
             opm from 1.69 on, which then does not serve the whole catalog: expected letters, digits, dots, \
             underscores and hyphens, with a letter or a digit first",
        ],
    );
    let catalog = channel(LEAPS) + &blob("").replace("package: p\n", "package: p q\n");
    assert!(told(&catalog).iter().any(|one| {
        one.starts_with(
            "guardrail-misnamed (error): the package \"p q\" of guardrails is not valid for opm",
        )
    }));
}

#[test]
fn what_an_author_says_of_the_bypass() {
    for value in ["true", "false"] {
        let guardrails = rule(&format!("kind: LatestPatchFirst, bypassable: {value}"));
        says(
            LEAPS,
            &guardrails,
            &[
                "guardrail-bypassable (note): rule \"r\" has the key \"bypassable\", which has no effect: the \
               override always lifts rules of authors; remove the key",
            ],
        );
    }
}
