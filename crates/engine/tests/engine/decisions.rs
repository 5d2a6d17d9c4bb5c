//! The decision vectors: the answers of the real resolver, release by release.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there"
)]

use std::collections::HashMap;
use std::path::Path;

use olmguard_catalog::version::BundleReleaseSupport;
use serde::Deserialize;
use serde_json::Value;

use crate::compared::compare;
use crate::recorded::{Bench, Case, Expect};
use olmguard_fixtures::shared::shared;
use olmguard_fixtures::tally::Tally;

const FOLDER: &str = "vectors/decisions";

#[test]
fn cases() {
    match shared() {
        Some(shared) => recorded("cases", &shared.join(FOLDER)),
        None => println!("left out: decisions/cases.jsonl, no shared folder"),
    }
}

/// These vectors contain their catalogs, so a sample in this repository is enough.
#[test]
fn synthetic() {
    let shared = shared().unwrap_or_default();
    recorded("synthetic", &shared.join(FOLDER));
}

fn recorded(file: &str, folder: &Path) {
    let name = format!("decisions/{file}.jsonl");
    let mut tally = Tally::default();
    let off = Bench::new("1.11", &[], folder);
    let on = Bench::new("1.11", &["BundleReleaseSupport=true"], folder);
    for case in olmguard_fixtures::vectors::cases::<Case>(&name) {
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
    let mut cases: Vec<Case> = olmguard_fixtures::vectors::cases("decisions/cases.jsonl");
    cases.extend(olmguard_fixtures::vectors::cases::<Case>(
        "decisions/synthetic.jsonl",
    ));
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
    for case in olmguard_fixtures::vectors::cases::<Case>(name) {
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

/// The recorded releases, and our releases that each represents.
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
    let lines = olmguard_fixtures::vectors::cases::<Listed<Expect>>(name).into_iter();
    lines
        .map(|line| ((line.id, line.release, line.gate), line.expect))
        .collect()
}

fn listed_fields(name: &str) -> HashMap<Key, Value> {
    let lines = olmguard_fixtures::vectors::cases::<Listed<Value>>(name).into_iter();
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
