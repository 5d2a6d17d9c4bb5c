//! What one answer, with its words and its advice, costs where administrators have many upgrade policies: 1,000 that
//! match nothing, by exact names, by wildcards or by labels, and 20 that match and have every kind of rule.
//!
//! Reads a recorded package through `OLMGUARD_SHARED` (default `../shared`). Each case is asked in turns without
//! policies, in one run.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench prints its figures"
)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use olmguard::source::{Progress, read};
use olmguard_catalog::CatalogBuilder;
use olmguard_catalog::olm::Rules;
use olmguard_engine::explain::answer;
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::{Basis, Edit, Policies, Requester, UpgradePolicies};
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_policy::{Moment, UpgradePolicy};
use serde_json::{Value, json};

const PACKAGE: &str = "opendatahub-operator";
const INSTALLED: &str = "2.21.0";
/// The version that is asked for, and the token of the answer without and with the policies.
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "an upgrade that is allowed",
        "2.22.0",
        "Resolved",
        "Resolved",
    ),
    (
        "one that no edge has",
        "2.30.0",
        "NotASuccessor",
        "NotASuccessor",
    ),
    ("a downgrade", "2.10.0", "Downgrade", "Downgrade"),
    ("one that a policy denies", "2.23.0", "Resolved", "Policy"),
];

fn main() {
    let snapshot = snapshot();
    let none = Policies::default();
    println!(
        "{:28} {:10} {:>10} {:>10} {:>10} {:>10}",
        "answer, us", "others by", "p50 none", "p99 none", "p50", "p99"
    );
    for kind in ["name", "wildcard", "label"] {
        let policies = Policies {
            upgrades: UpgradePolicies::of(others(kind).chain(matching())),
            ..Policies::default()
        };
        for (case, version, without, with) in CASES {
            let extension = extension(version);
            let mut times = [Vec::new(), Vec::new()];
            for turn in 0..2 * TURNS {
                let (policies, token) = [(&none, without), (&policies, with)][turn % 2];
                let basis = Basis {
                    snapshot: &snapshot,
                    policies,
                };
                times[turn % 2].extend(run(basis, &extension, token));
            }
            let [none, many] = times.map(percentiles);
            println!(
                "{case:28} {kind:10} {:>10.1} {:>10.1} {:>10.1} {:>10.1}",
                none.0, none.1, many.0, many.1
            );
        }
    }
}

fn run(basis: Basis<'_>, extension: &Extension, token: &str) -> Vec<Duration> {
    let requester = Requester {
        user: "jane".to_owned(),
        groups: vec!["payments".to_owned()],
        at: Moment::parse("2026-11-20T22:00:00Z").expect("a time"),
    };
    let edit = Edit {
        new: extension,
        old: None,
        installed: &Installed::Bundle(InstalledBundle {
            name: Some(format!("{PACKAGE}.v{INSTALLED}")),
            version: INSTALLED.to_owned(),
            release: None,
        }),
        schema: &[],
        requester: &requester,
    };
    let timed = (0..ANSWERS).map(|_| {
        let start = Instant::now();
        let answer = answer(black_box(basis), black_box(&edit));
        let took = start.elapsed();
        assert_eq!(answer.token.as_str(), token, "{answer:?}");
        took
    });
    timed.collect()
}

/// 1,000 policies that match no extension of this bench.
fn others(kind: &'static str) -> impl Iterator<Item = UpgradePolicy> {
    (0..1_000).map(move |number| {
        let matching = match kind {
            "name" => json!({"packages": [format!("operator-{number}")]}),
            "wildcard" => json!({"packages": [format!("operator-{number}-*")]}),
            _ => json!({"extensionSelector": {"matchLabels": {"team": format!("team-{number}")}}}),
        };
        policy(
            &format!("other-{number}"),
            &json!({"match": matching, "rules": {"range": "Pinned"}}),
        )
    })
}

/// 20 policies that match, with every kind of rule; all let a pin of the next minor version pass.
fn matching() -> impl Iterator<Item = UpgradePolicy> {
    (0..20).map(|number| {
        let rules = match number % 5 {
            0 => json!({"versions": {"deny": "2.23.0 || 1.0.0"}, "range": "Bounded"}),
            1 => json!({"step": "Minor", "prereleases": "Deny"}),
            2 => json!({"catalogs": ["cat"], "deprecated": "Warn"}),
            3 => json!({"windows": [{"schedule": "0 22 * * 1-5", "duration": "6h", "timeZone": "Etc/UTC"}]}),
            _ => json!({"conditions": [{
                "expression": "from == null || to.major == from.major || user.groups.exists(g, g == 'platform')",
                "message": "major upgrades are the platform team's",
            }]}),
        };
        policy(&format!("own-{number}"), &json!({"rules": rules}))
    })
}

fn policy(name: &str, spec: &Value) -> UpgradePolicy {
    let policy = UpgradePolicy::read(&json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
        "metadata": {"name": name}, "spec": spec,
    }));
    assert!(policy.faults().is_empty(), "{:?}", policy.faults());
    policy
}

fn extension(version: &str) -> Extension {
    Extension::read(
        Shape::V1,
        &json!({
            "metadata": {"name": "odh", "labels": {"team": "payments"}},
            "spec": {"namespace": "odh", "source": {"sourceType": "Catalog", "catalog": {
                "packageName": PACKAGE, "version": version,
            }}},
        }),
    )
}

fn snapshot() -> Snapshot {
    let rules = Rules::default();
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("OLMGUARD_SHARED").map_or_else(beside, PathBuf::from);
    let file = shared.join(format!("vectors/decisions/catalogs/{PACKAGE}.jsonl"));
    let mut builder = CatalogBuilder::new(&rules);
    read(&file, &Progress::default(), &mut builder).expect("a recorded package");
    let catalog = builder.finish().expect("no bound").into();
    Snapshot::new(
        rules,
        [CatalogState::named("cat", Content::Loaded(catalog))],
    )
}

/// The median and the 99th percentile in microseconds.
fn percentiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort();
    let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e6;
    (at(50), at(99))
}

const TURNS: usize = 5;
const ANSWERS: usize = 400;
