//! The cost of one answer, with message and advice, with many upgrade policies: 1,000 that match nothing, by exact
//! names, by wildcards or by labels, and 20 that match and have every kind of rule.
//!
//! Each case runs in turns with and without policies, in one run. One case is a range for which OLM makes 30 steps,
//! and the policies are applied to each step.

use std::hint::black_box;
use std::time::{Duration, Instant};

use olmguard_catalog::olm::Rules;
use olmguard_engine::explain::answer;
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::{Basis, Edit, Policies, Requester, UpgradePolicies, UserInfo};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_figures::{Aim, Figure, Unit};
use olmguard_fixtures::question::content;
use olmguard_policy::{Moment, UpgradePolicy};
use serde_json::{Value, json};

use crate::run::Run;
use crate::world::{PACKAGE, World};

/// An edit by its name, and the reason codes of its answers without and with policies.
const CASES: [(&str, &str, &str); 4] = [
    ("an upgrade that is allowed", "Resolved", "Resolved"),
    (
        "a version without an upgrade edge",
        "NotASuccessor",
        "NotASuccessor",
    ),
    ("a downgrade", "Downgrade", "Downgrade"),
    ("an upgrade that a policy denies", "Resolved", "Policy"),
];

/// The package that is edited.
struct Package {
    name: &'static str,
    catalog: &'static str,
    installed: &'static str,
    /// The version that each of the cases requests.
    wanted: [&'static str; 4],
}

const OPENDATAHUB: Package = Package {
    name: "opendatahub-operator",
    catalog: "v4.20",
    installed: "2.21.0",
    wanted: ["2.22.0", "2.30.0", "2.10.0", "2.23.0"],
};

const LANTERN: Package = Package {
    name: PACKAGE,
    catalog: "hub",
    installed: "1.0.0",
    wanted: ["1.1.0", "1.3.0", "0.9.0", "1.1.1"],
};

/// A package in which each version replaces the previous one.
const CHAIN: Package = Package {
    name: "chain-operator",
    catalog: "cat",
    installed: "1.0.0",
    wanted: [""; 4],
};

/// The catalog of the chain: 1.0.0 and the 30 versions after it, all with one image.
fn chain() -> String {
    let name = |minor: u32| format!("{}.v1.{minor}.0", CHAIN.name);
    let entry = |minor: u32| match minor {
        0 => json!({"name": name(0)}),
        minor => json!({"name": name(minor), "replaces": name(minor - 1)}),
    };
    let entries: Vec<_> = (0..=30).map(entry).collect();
    let mut blobs = vec![
        json!({"schema": "olm.package", "name": CHAIN.name, "defaultChannel": "stable"}),
        json!({"schema": "olm.channel", "package": CHAIN.name, "name": "stable", "entries": entries}),
    ];
    blobs.extend((0..=30).map(|minor| {
        let package = json!({"packageName": CHAIN.name, "version": format!("1.{minor}.0")});
        json!({
            "schema": "olm.bundle", "package": CHAIN.name, "name": name(minor), "image": CHAIN_IMAGE,
            "properties": [{"type": "olm.package", "value": package}],
        })
    }));
    let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
    lines.join("\n")
}

/// A snapshot with the chain.
pub(crate) fn snapshot_of_chain() -> Snapshot {
    snapshot(&chain())
}

/// The times of answers to a request for a version of the chain, each with this reason code.
pub(crate) fn ask_of_chain(
    run: &Run,
    snapshot: &Snapshot,
    version: &str,
    token: &str,
) -> Vec<Duration> {
    let basis = Basis::without_policies(snapshot);
    CHAIN.ask(run, basis, &CHAIN.extension(version), token)
}

pub(crate) fn measure(run: &Run) {
    let Some(world) = World::of(run) else { return };
    let package = match world {
        World::Whole(_) => OPENDATAHUB,
        World::Small => LANTERN,
    };
    let snapshot_of_package = snapshot(&world.package(package.catalog, package.name));
    let snapshot_of_chain = snapshot_of_chain();
    let [.., denied] = package.wanted;
    for kind in ["names", "wildcards", "labels"] {
        let many = Policies {
            upgrades: UpgradePolicies::of(others(kind).chain(matching(denied))),
            ..Policies::default()
        };
        for (case, version) in CASES.into_iter().zip(package.wanted) {
            compare(
                run,
                (&snapshot_of_package, &package),
                (kind, &many),
                (case, version),
            );
        }
        let case = ("a range of 30 steps", "Resolved", "Resolved");
        compare(
            run,
            (&snapshot_of_chain, &CHAIN),
            (kind, &many),
            (case, ">=1.0.0 <2"),
        );
    }
}

/// Times a case in turns with and without policies.
fn compare(
    run: &Run,
    (snapshot, package): (&Snapshot, &Package),
    (kind, many): (&str, &Policies),
    ((case, alone, policed), version): ((&str, &str, &str), &str),
) {
    let none = Policies::default();
    let [without, with] = [&none, many].map(|policies| Basis { snapshot, policies });
    let extension = package.extension(version);
    let ask = |basis, token| package.ask(run, basis, &extension, token);
    let [mut few, mut times] = [Vec::new(), Vec::new()];
    for _ in 0..run.count(TURNS, 1) {
        few.extend(ask(without, alone));
        times.extend(ask(with, policed));
    }
    if kind == "names" {
        note(run, &format!("{case}, without policies"), few);
    }
    note(run, &format!("{case}, others by {kind}"), times);
}

/// Notes the median and the 99th percentile.
pub(crate) fn note(run: &Run, row: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100);
    let figure = |percent: usize| {
        let time = at(percent).expect("a turn").as_secs_f64() * 1e6;
        run.figure(format!("{row}, p{percent}"), Unit::Microseconds, time)
    };
    run.note(&figure(50));
    run.note(&Figure {
        aim: Some(Aim::AtMost(1000.0)),
        ..figure(99)
    });
}

impl Package {
    fn ask(
        &self,
        run: &Run,
        basis: Basis<'_>,
        extension: &Extension,
        token: &str,
    ) -> Vec<Duration> {
        let requester = Requester {
            user: Some(UserInfo {
                name: "jane".to_owned(),
                groups: vec!["payments".to_owned()],
            }),
            at: Moment::parse("2026-11-20T22:00:00Z").expect("a time"),
        };
        let edit = Edit {
            new: extension,
            old: None,
            installed: &Installed::Bundle(InstalledBundle {
                name: Some(format!("{}.v{}", self.name, self.installed)),
                version: self.installed.to_owned(),
                release: None,
            }),
            schema: &[],
            requester: &requester,
        };
        let timed = (0..run.count(ANSWERS, 2)).map(|_| {
            let start = Instant::now();
            let answer = answer(black_box(basis), black_box(&edit));
            let took = start.elapsed();
            assert_eq!(answer.token.as_str(), token, "{answer:?}");
            took
        });
        timed.collect()
    }

    fn extension(&self, version: &str) -> Extension {
        Extension::read(
            Shape::V1,
            &json!({
                "metadata": {"name": "odh", "labels": {"team": "payments"}},
                "spec": {"namespace": "odh", "source": {"sourceType": "Catalog", "catalog": {
                    "packageName": self.name, "version": version,
                }}},
            }),
        )
    }
}

/// 1,000 policies that match no extension of this bench.
fn others(kind: &'static str) -> impl Iterator<Item = UpgradePolicy> {
    (0..1_000).map(move |number| {
        let matching = match kind {
            "names" => json!({"packages": [format!("operator-{number}")]}),
            "wildcards" => json!({"packages": [format!("operator-{number}-*")]}),
            _ => json!({"extensionSelector": {"matchLabels": {"team": format!("team-{number}")}}}),
        };
        policy(
            &format!("other-{number}"),
            &json!({"match": matching, "rules": {"range": "Pinned"}}),
        )
    })
}

/// 20 policies that match, with every kind of rule. All of them allow a pin of the next minor version.
fn matching(denied: &str) -> impl Iterator<Item = UpgradePolicy> {
    (0..20).map(move |number| {
        let rules = match number % 5 {
            0 => json!({"versions": {"deny": denied}, "range": "Bounded"}),
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

fn snapshot(text: &str) -> Snapshot {
    let rules = Rules::default();
    let state = CatalogState::named("cat", content(text, &rules));
    assert!(state.loaded().is_some(), "it can be read");
    Snapshot::new(rules, [state])
}

/// The image of all bundles of the chain.
pub(crate) const CHAIN_IMAGE: &str = "example.com/chain:v1";

const TURNS: usize = 5;
const ANSWERS: usize = 400;
