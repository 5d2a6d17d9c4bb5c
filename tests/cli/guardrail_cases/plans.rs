//! The paths that `path` finds, the automatic upgrades that it warns about, and its manifests,
//! applied one by one.

use std::path::Path;

use serde_json::{Value, json};

use crate::guardrail_cases::example::{A, B, B_LATER, C, D, Example, run};
use olmguard_support::schema::assert_fits;

/// Each example with a path that its rules change.
const PLANS: [(Example, &[&str]); 5] = [
    (A, &["1.2.3", "1.3.5", "1.5.0"]),
    (B, &["1.2.3", "1.2.9", "1.3.4"]),
    (B_LATER, &["1.2.3", "1.2.10", "1.3.4"]),
    (C, &["1.0.0", "1.1.5", "1.3.0"]),
    (D, &["1.0.0", "1.1.3", "1.2.0", "1.3.0", "1.5.0"]),
];

fn path(example: Example, words: &[&str]) -> (Option<i32>, Value) {
    let words = [&["path", example.package, "-o", "json"], words].concat();
    let ran = example.run(&words, "");
    assert_eq!(ran.stderr, "", "{words:?}");
    let report = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_fits("schemas/olmguard.path.v1.json", &report);
    (ran.code, report)
}

#[test]
fn the_shortest_way_that_the_rules_allow() {
    for (example, plan) in PLANS {
        let [from, hops @ ..] = plan else {
            panic!("no plan: {example:?}");
        };
        let goal = hops.last().unwrap();
        let (code, report) = path(example, &[from, goal]);
        let found = report["hops"].as_array().unwrap();
        let versions = found.iter().map(|hop| hop["version"].as_str().unwrap());
        let versions: Vec<_> = versions.collect();
        assert_eq!((code, &*versions), (Some(0), hops));
        // Every step but the last is there because a rule forbids the direct step to the target.
        for (hop, start) in found.iter().zip(plan) {
            let bend = &hop["bent_by"];
            if hop["version"] == **goal {
                assert_eq!(*bend, Value::Null);
            } else {
                assert_eq!(
                    (&bend["from"], &bend["to"]),
                    (&Value::from(*start), &Value::from(*goal))
                );
                assert_ne!(bend["guardrails"][0]["rule"], Value::Null);
            }
        }
        assert_eq!(report["barred"], Value::Null);
    }
}

#[test]
fn each_manifest_is_admitted_and_leads_no_further_than_its_hop() {
    for (example, plan) in PLANS {
        let [from, .., goal] = plan else {
            panic!("no plan: {example:?}");
        };
        let words = ["path", example.package, from, goal, "-o", "yaml"];
        let ran = example.run(&words, "");
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
        let manifests: Vec<_> = ran.stdout.split_terminator("---\n").skip(1).collect();
        assert_eq!(manifests.len() + 1, plan.len());
        for (manifest, step) in manifests.iter().zip(plan.windows(2)) {
            let installed = format!("--installed={}={}", example.package, step[0]);
            let judged = example.run(&["check", "-f", "-", "-o", "json", &installed], manifest);
            let report: Value = serde_json::from_str(&judged.stdout).expect("JSON");
            let result = &report["results"][0];
            assert_eq!(
                (judged.code, &result["token"]),
                (Some(0), &"Resolved".into())
            );
            assert_eq!(result["resolved"]["version"], *step[1]);
            // Once it is installed, there are no automatic upgrades.
            let words = [
                "path",
                example.package,
                step[1],
                "--range",
                step[1],
                "-o",
                "json",
            ];
            let stays: Value = serde_json::from_str(&example.run(&words, "").stdout).expect("JSON");
            assert_eq!(stays["walks"][0]["steps"], Value::Array(Vec::new()));
        }
    }
}

#[test]
fn a_walk_that_nobody_edits_is_told_with_what_forbids_it() {
    for (example, plan) in PLANS {
        let (_, report) = path(example, &[plan[0]]);
        let step = &report["walks"][0]["forbidden"][0];
        assert_eq!(step["from"], *plan[0], "{example:?}");
        assert_eq!(step["guardrails"][0]["by"], "author");
        assert_eq!(step["guardrails"][0]["place"], "hub");
        let (_, classic) = path(example, &[plan[0], "--olm=v0", "--channel=stable"]);
        let step = &classic["walks"][0]["forbidden"][0];
        assert_eq!(step["from"], *plan[0], "{example:?}");
    }
}

#[test]
fn where_rules_leave_no_way_the_edges_and_what_forbids_them_are_told() {
    let (code, report) = path(C, &["1.0.0", "2.0.0"]);
    assert_eq!((code, &report["hops"]), (Some(1), &Value::Null));
    let barred = &report["barred"];
    assert_eq!(barred["bundles"][0]["version"], "2.0.0");
    let reasons = &barred["forbidden"][0]["guardrails"];
    assert_eq!(reasons[0]["kind"], "Graph");
    // Without a target, the path ends below the version that edges alone allow.
    let (code, report) = path(C, &["1.0.0"]);
    assert_eq!((code, &report["to"]["version"]), (Some(0), &"1.3.0".into()));
    assert_eq!(report["barred"]["bundles"][0]["version"], "2.0.0");
}

#[test]
fn the_rules_of_an_administrator_bend_ways_too() {
    let imposed = "--guardrails=tests/guardrails/cases/imposed.yaml";
    let (code, report) = path(A, &["1.2.3", "1.5.0", imposed]);
    let hops = report["hops"].as_array().unwrap();
    let versions: Vec<_> = hops
        .iter()
        .map(|hop| hop["version"].as_str().unwrap())
        .collect();
    assert_eq!((code, versions), (Some(0), vec!["1.3.5", "1.4.2", "1.5.0"]));
    // From 1.3.5 on, the author allows everything.
    let reasons = hops[1]["bent_by"]["guardrails"].as_array().unwrap();
    assert_eq!(reasons.len(), 1);
    let expected = ("administrator", "rest-at-1.4", "we train on 1.4");
    let told = |key: &str| reasons[0][key].as_str().unwrap();
    assert_eq!((told("by"), told("rule"), told("reason")), expected);
}

/// Returns the versions on the path of a graph, and the exit code of the command.
fn drawn(example: Example, words: &[&str]) -> (Option<i32>, Vec<String>) {
    let words = [&["graph", example.package, "-o", "json"], words].concat();
    let ran = example.run(&words, "");
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_fits("schemas/olmguard.graph.v1.json", &report);
    let way = report["walk"]["way"].as_array().unwrap().iter();
    let name = |hop: &Value| hop["to"].as_str().unwrap().to_owned();
    (ran.code, way.map(name).collect())
}

#[test]
fn the_way_in_a_graph_is_that_of_path() {
    for (example, plan) in PLANS {
        let [from, hops @ .., goal] = plan else {
            panic!("no plan: {example:?}");
        };
        let name = |version: &&str| format!("{}.v{version}", example.package);
        let hops: Vec<_> = hops.iter().chain([goal]).map(name).collect();
        assert_eq!(
            drawn(example, &["--from", from, "--to", goal]),
            (Some(0), hops)
        );
        // Nothing keeps OLM v0 from the forbidden step.
        let classic = ["--from", from, "--olm=v0", "--channel=stable"];
        let (code, hops) = drawn(example, &classic);
        assert_eq!((code, hops.len()), (Some(0), 1), "{example:?}");
    }
    assert_eq!(
        drawn(C, &["--from=1.0.0", "--to=2.0.0"]),
        (Some(1), Vec::new())
    );
}

/// Returns a chain of versions in its own catalog, with rules.
pub(crate) fn chain(length: u32, rules: &Value) -> String {
    let name = |minor: u32| format!("chain-operator.v1.{minor}.0");
    let entry = |minor: u32| match minor.checked_sub(1) {
        Some(before) => json!({"name": name(minor), "replaces": name(before)}),
        None => json!({"name": name(minor)}),
    };
    let entries: Vec<_> = (0..length).map(entry).collect();
    let bundle = |minor: u32| {
        let value = json!({"packageName": "chain-operator", "version": format!("1.{minor}.0")});
        json!({"schema": "olm.bundle", "package": "chain-operator", "name": name(minor),
            "properties": [{"type": "olm.package", "value": value}]})
    };
    let channel = json!({"schema": "olm.channel", "package": "chain-operator", "name": "stable",
        "entries": entries});
    let guardrails = json!({"schema": "olmguard.guardrails.v1alpha1", "package": "chain-operator",
        "rules": rules});
    let blobs = [channel, guardrails].into_iter();
    let blobs = blobs.chain((0..length).map(bundle));
    blobs.map(|blob| blob.to_string() + "\n").collect()
}

#[test]
fn of_a_very_long_way_not_every_hop_is_compared_and_that_is_said() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases-chain.json");
    let none_forbidden = json!([{"id": "releases", "kind": "Prerelease", "action": "Deny"}]);
    let catalog = format!("--catalog=hub={}", file.display());
    let note = "olmguard checked only the first 64 steps for";
    for (length, is_long) in [(65, false), (67, true)] {
        std::fs::write(&file, chain(length, &none_forbidden)).unwrap();
        let goal = format!("1.{}.0", length - 1);
        let ran = run(&["path", "chain-operator", "1.0.0", &goal, &catalog], "");
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
        assert_eq!(ran.stdout.contains(note), is_long, "{}", ran.stdout);
    }
}
