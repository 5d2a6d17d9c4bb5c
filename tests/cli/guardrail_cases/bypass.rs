//! `path` for an extension with the override, where an administrator's rule still applies.

use std::path::Path;

use serde_json::{Value, json};

use crate::guardrail_cases::example::{A, run};
use olmguard_support::schema::assert_fits;

/// Writes an administrator's rule to a file, and returns the flag for it.
fn imposed(file: &str, rule: &Value) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    let stated = json!({"schema": "olmguard.guardrails.v1alpha1", "package": A.package,
        "rules": [rule]});
    std::fs::write(&path, stated.to_string()).unwrap();
    format!("--guardrails={}", path.display())
}

fn through_1_3(bypassable: bool) -> Value {
    json!({"id": "rest-in-1.3", "kind": "PassThrough", "via": ">=1.3.0 <1.4.0-0",
        "from": "<1.3.0", "to": ">=1.4.0-0", "bypassable": bypassable})
}

fn never_1_5() -> Value {
    json!({"id": "never-1.5", "kind": "PassThrough", "via": "9.0.0", "from": "<1.5.0",
        "to": "1.5.0"})
}

/// Returns the extension with the override.
fn free(range: Option<&str>) -> Value {
    let mut extension = A.extension("1.2.3", range);
    extension["spec"]["source"]["catalog"]["upgradeConstraintPolicy"] = json!("SelfCertified");
    extension
}

fn path(goal: &[&str], guardrails: &str) -> (Option<i32>, Value) {
    let words = [
        "path", A.package, "1.2.3", "-f", "-", "-o", "json", guardrails,
    ];
    let ran = A.run(&[&words, goal].concat(), &free(None).to_string());
    assert_eq!(ran.stderr, "", "{goal:?}");
    let report = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_fits("schemas/olmguard.path.v1.json", &report);
    (ran.code, report)
}

fn versions(report: &Value) -> Vec<&str> {
    let hops = report["hops"].as_array().unwrap().iter();
    hops.map(|hop| hop["version"].as_str().unwrap()).collect()
}

#[test]
fn the_way_is_the_one_that_check_advises() {
    let guardrails = imposed("bypass-holds.json", &through_1_3(false));
    let words = ["check", "-f", "-", "-o", "json", &*guardrails];
    let denied = A.run(&words, &free(Some("1.5.0")).to_string());
    let denied: Value = serde_json::from_str(&denied.stdout).expect("JSON");
    let advised = &denied["results"][0]["path"];
    assert_eq!(*advised, json!(["1.2.3", "1.3.5", "1.5.0"]), "{denied}");
    for goal in [&["1.5.0"][..], &[]] {
        let (code, report) = path(goal, &guardrails);
        assert_eq!((code, versions(&report)), (Some(0), vec!["1.3.5", "1.5.0"]));
        let bend = &report["hops"][0]["bent_by"];
        assert_eq!(
            (&bend["from"], &bend["to"]),
            (&json!("1.2.3"), &json!("1.5.0"))
        );
        let reasons = bend["guardrails"].as_array().unwrap().iter();
        let told: Vec<_> = reasons.map(|why| (&why["rule"], &why["lifted"])).collect();
        let (author, administrator) = (json!("via-1.3"), json!("rest-in-1.3"));
        let (yes, no) = (json!(true), json!(false));
        // The rule that still applies comes first.
        assert_eq!(told, [(&administrator, &no), (&author, &yes)]);
        assert_eq!(report["hops"][1]["bent_by"], Value::Null);
    }
}

#[test]
fn each_of_its_manifests_is_admitted() {
    let guardrails = imposed("bypass-manifests.json", &through_1_3(false));
    let words = [
        "path",
        A.package,
        "1.2.3",
        "-f",
        "-",
        "-o",
        "yaml",
        &*guardrails,
    ];
    let mut extension = free(None);
    // The installed version is then given with each step.
    extension.as_object_mut().unwrap().remove("status");
    let ran = A.run(&words, &extension.to_string());
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let manifests: Vec<_> = ran.stdout.split_terminator("---\n").skip(1).collect();
    assert_eq!(manifests.len(), 2);
    for (manifest, from) in manifests.iter().zip(["1.2.3", "1.3.5"]) {
        let installed = format!("--installed=light={from}");
        let catalog = format!("--catalog={}", A.catalog());
        let words = ["check", "-f", "-", &installed, &catalog, &guardrails];
        let judged = run(&words, manifest);
        assert_eq!((judged.code, &*judged.stderr), (Some(0), ""));
    }
}

#[test]
fn what_the_bypass_lifts_bends_nothing() {
    let guardrails = imposed("bypass-lifts.json", &through_1_3(true));
    for goal in [&["1.5.0"][..], &[]] {
        let (code, report) = path(goal, &guardrails);
        assert_eq!((code, versions(&report)), (Some(0), vec!["1.5.0"]));
        assert_eq!(report["hops"][0]["bent_by"], Value::Null);
        assert_eq!(report["barred"], Value::Null);
    }
}

#[test]
fn where_nothing_leads_to_the_goal_the_edit_is_told_and_how_far_was_looked() {
    let guardrails = imposed("bypass-never.json", &never_1_5());
    let words = ["path", A.package, "1.2.3", "1.5.0", "-f", "-", &*guardrails];
    let ran = A.run(&words, &free(None).to_string());
    assert_eq!((ran.code, &*ran.stderr), (Some(1), ""));
    let first = "beacon-operator: 1.2.3 -> 1.5.0: no upgrade path found\n";
    assert!(ran.stdout.starts_with(first), "{}", ran.stdout);
    let edit = "\nOne edit without guardrails\n  1.2.3 -> 1.5.0\nForbidden     1.2.3 -> 1.5.0: ";
    assert!(ran.stdout.contains(edit), "{}", ran.stdout);
    let note = "\nNote          the search considered only upgrade edges; the override may allow\n                other \
                paths\n";
    assert!(ran.stdout.ends_with(note), "{}", ran.stdout);
    // Without a target, the path ends below the edit that the rule forbids.
    let (code, report) = path(&[], &guardrails);
    assert_eq!((code, versions(&report)), (Some(0), vec!["1.4.2"]));
    assert_eq!(report["barred"]["bundles"][0]["version"], "1.5.0");
}
