//! One answer of this program and the recorded one, in the same form with everything that is compared.

use std::collections::BTreeMap;

use olmguard_catalog::version::BundleReleaseSupport;
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{RuledEdit, Token};
use olmguard_engine::resolve::Choice;
use serde_json::{Value, json};

use crate::recorded::{Bench, Case, Expect};
use olmguard_fixtures::tally::Tally;

/// The compared parts of an answer, in one value.
#[derive(Debug, PartialEq)]
struct Compared {
    outcome: Outcome,
    text: Option<String>,
    deprecated: Option<bool>,
    matched: Option<BTreeMap<String, usize>>,
    successors: Option<BTreeMap<String, Vec<String>>>,
    /// Absent if not compared; empty if there are none.
    deprecations_of: Option<String>,
    record: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Bundle {
        name: String,
        catalog: Option<String>,
        version: Option<(String, Option<String>)>,
    },
    Class(&'static str),
}

pub(crate) fn compare(
    tally: &mut Tally,
    id: &str,
    bench: &Bench,
    case: &Case,
    expect: &Expect,
    versions: bool,
) {
    let snapshot = bench.snapshot(case);
    case.put_to(&snapshot, |ruled, accepted, answer| {
        let gate = case.bundle_release_support();
        let got = Compared {
            successors: accepted.and_then(|accepted| successors(accepted, expect)),
            ..got(ruled, answer, expect, versions, gate)
        };
        let expected = expected(&got, ruled, expect, versions);
        tally.compare(id, &got, &expected);
    });
}

fn got(
    ruled: &RuledEdit<'_>,
    answer: &Answer,
    expect: &Expect,
    versions: bool,
    gate: BundleReleaseSupport,
) -> Compared {
    let outcome = match &answer.resolved {
        Some(resolved) => Outcome::Bundle {
            name: resolved.bundle.clone(),
            catalog: Some(resolved.catalog.clone()),
            version: versions.then(|| (resolved.version.clone(), resolved.release.clone())),
        },
        None => Outcome::Class(class(answer.token)),
    };
    let same_catalog =
        expect.deprecation_catalog.is_none() || expect.deprecation_catalog == expect.catalog;
    let compares_parts = expect.alternatives.is_none();
    Compared {
        text: upstream_counts(&outcome)
            .then(|| answer.upstream.clone())
            .flatten(),
        deprecated: answer
            .resolved
            .as_ref()
            .filter(|_| same_catalog && compares_parts)
            .map(|r| r.deprecated),
        matched: expect
            .matched
            .as_ref()
            .filter(|_| compares_parts)
            .map(|expected| {
                expected
                    .keys()
                    .map(|name| (name.clone(), matched(ruled, name)))
                    .collect()
            }),
        successors: None,
        deprecations_of: (answer.resolved.is_some() && compares_parts).then(|| {
            ruled
                .deprecations_of
                .map(|catalog| catalog.name.clone())
                .unwrap_or_default()
        }),
        record: expect
            .record
            .as_ref()
            .filter(|_| versions)
            .and_then(|_| record(ruled, gate)),
        outcome,
    }
}

/// The recorded answer in the same form. If upstream gives several answers for other orders of the catalogs, our answer
/// if it is among them. Of bundles that rank equal, the one of the first file.
fn expected(got: &Compared, ruled: &RuledEdit<'_>, expect: &Expect, versions: bool) -> Compared {
    let compares_parts = expect.alternatives.is_none();
    let same_catalog =
        expect.deprecation_catalog.is_none() || expect.deprecation_catalog == expect.catalog;
    let outcome = outcome(got, expect, versions);
    let text = match (&outcome, &got.text) {
        (Outcome::Class(_), Some(text)) if accepts_text(expect, text) => Some(text.clone()),
        (outcome, _) if upstream_counts(outcome) => expect.error.clone(),
        _ => None,
    };
    let is_bundle = matches!(outcome, Outcome::Bundle { .. });
    Compared {
        text,
        deprecated: expect
            .deprecated
            .filter(|_| is_bundle && same_catalog && compares_parts),
        matched: expect.matched.clone().filter(|_| compares_parts),
        successors: expect
            .successors
            .clone()
            .filter(|_| !hides_successors(ruled)),
        deprecations_of: (is_bundle && compares_parts)
            .then(|| expect.deprecation_catalog.clone().unwrap_or_default()),
        record: expect.record.clone().filter(|_| versions),
        outcome,
    }
}

fn outcome(got: &Compared, expect: &Expect, versions: bool) -> Outcome {
    let recorded = match (&expect.bundle, &expect.error_kind) {
        (Some(bundle), _) => Outcome::Bundle {
            name: bundle.clone(),
            catalog: expect.catalog.clone(),
            version: versions.then(|| {
                (
                    expect.version.clone().unwrap_or_default(),
                    expect.release.clone().filter(|r| !r.is_empty()),
                )
            }),
        },
        (None, kind) => Outcome::Class(static_class(kind.as_deref().unwrap_or_default())),
    };
    if is_alternative(got, expect) {
        got.outcome.clone()
    } else {
        recorded
    }
}

fn is_alternative(got: &Compared, expect: &Expect) -> bool {
    expect
        .alternatives
        .iter()
        .flatten()
        .any(|other| match &got.outcome {
            Outcome::Bundle { name, catalog, .. } => {
                other["bundle"] == **name
                    && catalog
                        .as_deref()
                        .is_some_and(|catalog| other["catalog"] == catalog)
            }
            Outcome::Class(class) => other["errorKind"] == **class,
        })
}

fn accepts_text(expect: &Expect, text: &str) -> bool {
    let mut alternatives = expect.alternatives.iter().flatten();
    alternatives.any(|other| other["error"] == text)
}

/// The bundle as operator-controller would record it.
fn record(ruled: &RuledEdit<'_>, gate: BundleReleaseSupport) -> Option<Value> {
    let choice = ruled.resolved()?;
    let recorded = choice.bundle().version.as_ref().ok()?.recorded(gate);
    let mut record = json!({"name": &*choice.bundle().name, "version": recorded.version});
    if let Some(release) = recorded.release {
        record["release"] = json!(release);
    }
    Some(record)
}

fn matched(ruled: &RuledEdit<'_>, catalog: &str) -> usize {
    let found = ruled
        .matched
        .iter()
        .find(|matched| matched.catalog.name == catalog);
    found.map_or(0, |matched| matched.left.len())
}

fn successors(found: &[Choice<'_>], expect: &Expect) -> Option<BTreeMap<String, Vec<String>>> {
    let expected = expect.successors.as_ref()?;
    let of = |catalog: &String| {
        let accepted = found
            .iter()
            .filter(|choice| choice.catalog.name == *catalog);
        let names = accepted.map(|choice| choice.bundle().name.to_string());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        (catalog.clone(), names)
    };
    Some(expected.keys().map(of).collect())
}

/// Rows that answer before successors are computed.
fn hides_successors(ruled: &RuledEdit<'_>) -> bool {
    ruled.ruling.token() <= Token::InstalledVersionInvalid
        || ruled.ruling.token() == Token::BrokenSkipRange
}

fn upstream_counts(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Class("none" | "ambiguous" | "dependency"))
}

fn class(token: Token) -> &'static str {
    match token {
        Token::InvalidSelector => "selector",
        Token::InvalidVersionRange => "version",
        Token::CatalogNotLoaded => "catalog",
        Token::InstalledVersionInvalid => "installed",
        Token::NoCatalogs
        | Token::PackageNotFound
        | Token::ChannelNotFound
        | Token::NotInChannel
        | Token::VersionNotFound
        | Token::Downgrade
        | Token::NotASuccessor => "none",
        Token::AmbiguousCatalogs => "ambiguous",
        Token::BundleVersionInvalid => "bundleVersion",
        Token::UnsupportedDependency => "dependency",
        Token::BrokenSkipRange => "panic",
        other => panic!("no class for {other:?}"),
    }
}

fn static_class(kind: &str) -> &'static str {
    const CLASSES: &[&str] = &[
        "selector",
        "version",
        "catalog",
        "installed",
        "none",
        "ambiguous",
        "bundleVersion",
        "dependency",
        "panic",
    ];
    CLASSES
        .iter()
        .find(|class| **class == kind)
        .unwrap_or_else(|| panic!("no class {kind:?}"))
}
