//! The decision vectors: what the real resolver answered, release by release.
#![expect(clippy::print_stdout, reason = "says what a test run did not see")]
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails there"
)]

use std::collections::{BTreeMap, HashMap};

use olmguard::catalog::BundleIndex;
use olmguard::explain::Answer;
use olmguard::judge::{Ruled, Token};
use olmguard::version::BundleReleaseSupport;
use serde::Deserialize;
use serde_json::{Value, json};

use common::decisions::{Bench, Case, Expect};
use common::shared::shared;
use common::tally::Tally;

mod common {
    pub(crate) mod decisions;
    pub(crate) mod shared;
    pub(crate) mod tally;
    pub(crate) mod vectors;
}

const FOLDER: &str = "vectors/decisions";

#[test]
fn cases() {
    recorded("cases");
}

#[test]
fn synthetic() {
    recorded("synthetic");
}

fn recorded(file: &str) {
    let name = format!("decisions/{file}.jsonl");
    let Some(folder) = shared().map(|shared| shared.join(FOLDER)) else {
        println!("left out: {name}, no shared folder");
        return;
    };
    let mut tally = Tally::default();
    let off = Bench::new("1.11", &[], &folder);
    let on = Bench::new("1.11", &["BundleReleaseSupport=true"], &folder);
    for case in common::vectors::cases::<Case>(&name) {
        let bench = match case.bundle_release_support() {
            BundleReleaseSupport::Enabled => &on,
            BundleReleaseSupport::Disabled => &off,
        };
        compare(&mut tally, &case.id, bench, &case, &case.expect, true);
    }
    tally.finish(&name, 0, "field conditions");
}

#[test]
fn older_releases() {
    let Some(folder) = shared().map(|shared| shared.join(FOLDER)) else {
        println!("left out: decisions/older, no shared folder");
        return;
    };
    let mut cases: Vec<Case> = common::vectors::cases("decisions/cases.jsonl");
    cases.extend(common::vectors::cases::<Case>("decisions/synthetic.jsonl"));
    let listed = listed("decisions/older/older.jsonl");
    let minor = listed_fields("decisions/older/older-minor.jsonl");
    for (release, gate, stands_for) in OLDER {
        let mut tally = Tally::default();
        let mut left_out = 0;
        for stand in *stands_for {
            let gates: &[&str] = if *gate {
                &["ForceSemverUpgradeConstraints=true"]
            } else {
                &[]
            };
            let bench = Bench::new(stand, gates, &folder);
            let supports = Bench::new("1.9", &["BundleReleaseSupport=true"], &folder);
            for case in &cases {
                let feature = !case.features.is_empty();
                let explicit = case.installed.as_ref().is_some_and(|i| i.release.is_some());
                if *release != "1.9" && (feature || explicit) {
                    left_out += 1;
                    continue;
                }
                let key = (case.id.clone(), (*release).to_owned(), *gate);
                let mut expect = case.expect.clone();
                let is_listed = listed
                    .get(&key)
                    .inspect(|other| expect = (*other).clone())
                    .is_some();
                if let Some(fields) = minor.get(&key) {
                    apply(&mut expect, fields);
                }
                let bench = if feature { &supports } else { &bench };
                let id = format!("{} at {stand} gate {gate}", case.id);
                compare(&mut tally, &id, bench, case, &expect, is_listed);
            }
        }
        let file = format!("decisions/older ({release}, gate {gate})");
        tally.finish(&file, left_out, "explicit releases exist since 1.9");
    }
}

#[test]
fn releases() {
    let name = "decisions/older/releases.jsonl";
    let Some(folder) = shared().map(|shared| shared.join(FOLDER)) else {
        println!("left out: {name}, no shared folder");
        return;
    };
    let mut tally = Tally::default();
    let mut benches: HashMap<String, Bench> = HashMap::new();
    for case in common::vectors::cases::<Case>(name) {
        for (release, expect) in &case.expect_by_release {
            let bench = benches.entry(release.clone()).or_insert_with(|| {
                match release.strip_suffix("+gate") {
                    Some(release) => {
                        Bench::new(release, &["ForceSemverUpgradeConstraints=true"], &folder)
                    }
                    None => Bench::new(release, &[], &folder),
                }
            });
            compare(
                &mut tally,
                &format!("{} at {release}", case.id),
                bench,
                &case,
                expect,
                true,
            );
        }
    }
    tally.finish(name, 0, "record was not recorded");
}

/// The recorded releases, and those of ours that each stands for.
const OLDER: &[(&str, bool, &[&str])] = &[
    ("1.0", false, &["1.0"]),
    ("1.0", true, &["1.0"]),
    ("1.2", false, &["1.2", "1.3", "openshift-4.19", "1.1"]),
    (
        "1.6",
        false,
        &[
            "1.4",
            "1.5",
            "1.6",
            "1.7",
            "openshift-4.20",
            "openshift-4.21",
        ],
    ),
    ("1.8", false, &["1.8", "openshift-4.22"]),
    ("1.9", false, &["1.9", "1.10"]),
];

type Key = (String, String, bool);

#[derive(Deserialize)]
struct Listed<T> {
    release: String,
    gate: bool,
    id: String,
    expect: T,
}

fn listed(name: &str) -> HashMap<Key, Expect> {
    let lines = common::vectors::cases::<Listed<Expect>>(name).into_iter();
    lines
        .map(|line| ((line.id, line.release, line.gate), line.expect))
        .collect()
}

fn listed_fields(name: &str) -> HashMap<Key, Value> {
    let lines = common::vectors::cases::<Listed<Value>>(name).into_iter();
    lines
        .map(|line| ((line.id, line.release, line.gate), line.expect))
        .collect()
}

fn apply(expect: &mut Expect, fields: &Value) {
    for (field, value) in fields.as_object().expect("an object of fields") {
        let value = value.clone();
        match field.as_str() {
            "successors" => expect.successors = serde_json::from_value(value).unwrap(),
            "matched" => expect.matched = serde_json::from_value(value).unwrap(),
            "deprecated" => expect.deprecated = serde_json::from_value(value).unwrap(),
            "deprecationCatalog" => {
                expect.deprecation_catalog = serde_json::from_value(value).unwrap();
            }
            "alternatives" => expect.alternatives = serde_json::from_value(value).unwrap(),
            other => panic!("unknown field {other}"),
        }
    }
}

/// What is compared of an answer, in one value.
#[derive(Debug, PartialEq)]
struct Compared {
    outcome: Outcome,
    text: Option<String>,
    deprecated: Option<bool>,
    matched: Option<BTreeMap<String, usize>>,
    successors: Option<BTreeMap<String, Vec<String>>>,
    /// Absent where it is not compared, empty where there are none.
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

fn compare(
    tally: &mut Tally,
    id: &str,
    bench: &Bench,
    case: &Case,
    expect: &Expect,
    versions: bool,
) {
    let snapshot = bench.snapshot(case);
    case.put_to(&snapshot, |ruled, answer| {
        let gate = case.bundle_release_support();
        let got = got(ruled, answer, expect, versions, gate);
        let expected = expected(&got, ruled, expect, versions);
        tally.compare(id, &got, &expected);
    });
}

fn got(
    ruled: &Ruled<'_>,
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
    let compares_parts = expect.ties.is_none() && expect.alternatives.is_none();
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
        successors: successors(ruled, expect),
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

/// The recorded answer in the same form; of several that upstream can give, ours if it is one.
fn expected(got: &Compared, ruled: &Ruled<'_>, expect: &Expect, versions: bool) -> Compared {
    let compares_parts = expect.ties.is_none() && expect.alternatives.is_none();
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
    let is_tie = match (&got.outcome, &expect.ties) {
        (Outcome::Bundle { name, catalog, .. }, Some(ties)) => {
            // Of bundles that rank the same, the guard takes the lowest name.
            let lowest = ties.iter().filter(|tie| !tie.starts_with("error: ")).min();
            lowest == Some(name) && (catalog == &expect.catalog || expect.catalog.is_none())
        }
        (Outcome::Class(_), Some(ties)) => ties
            .iter()
            .any(|tie| tie.strip_prefix("error: ") == got.text.as_deref()),
        _ => false,
    };
    if is_tie || is_alternative(got, expect) {
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
    let in_ties = expect
        .ties
        .iter()
        .flatten()
        .any(|tie| tie.strip_prefix("error: ") == Some(text));
    let in_alternatives = expect
        .alternatives
        .iter()
        .flatten()
        .any(|other| other["error"] == text);
    in_ties || in_alternatives
}

/// What the controller would record as installed.
fn record(ruled: &Ruled<'_>, gate: BundleReleaseSupport) -> Option<Value> {
    let choice = ruled.resolved()?;
    let recorded = choice.bundle().version.as_ref().ok()?.recorded(gate);
    let mut record = json!({"name": &*choice.bundle().name, "version": recorded.version});
    if let Some(release) = recorded.release {
        record["release"] = json!(release);
    }
    Some(record)
}

fn matched(ruled: &Ruled<'_>, catalog: &str) -> usize {
    let found = ruled
        .matched
        .iter()
        .find(|matched| matched.catalog.name == catalog);
    found.map_or(0, |matched| matched.left.len())
}

fn successors(ruled: &Ruled<'_>, expect: &Expect) -> Option<BTreeMap<String, Vec<String>>> {
    let found = ruled.successors.as_ref()?;
    let expected = expect.successors.as_ref()?;
    let of = |catalog: &String| {
        let accepted = found
            .iter()
            .filter(|accepted| accepted.catalog.name == *catalog);
        let bundle = |package: &olmguard::catalog::Package, index: BundleIndex| {
            package.bundle(index).name.to_string()
        };
        let names = accepted.flat_map(|a| a.bundles.iter().map(|index| bundle(a.package, index)));
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        (catalog.clone(), names)
    };
    Some(expected.keys().map(of).collect())
}

/// Rows that are answered before anyone asks for successors.
fn hides_successors(ruled: &Ruled<'_>) -> bool {
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
