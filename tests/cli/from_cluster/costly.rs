//! Policies that are too costly together, as reported by each command that reads a set of them.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::policies::{POLICIES, list, object};
use super::scene::{LIVE, Scene};

const WHY: &str = "spec.rules.conditions: the conditions of all UpgradePolicies are too costly together: \
                   expected fewer, simpler or over smaller lists";

/// Returns a policy whose conditions cost more than an eighth of the limit for all policies, and
/// less than a seventh.
fn costly(name: &str) -> Value {
    let all = "user.groups.all(g, user.groups.all(h, g != h || true))";
    let rules = json!({"conditions": [{"expression": all}]});
    object("UpgradePolicy", name, &json!({"rules": rules}))
}

/// Returns one document for each policy. The conditions of the first are at 8:7.
fn file(names: &[&str]) -> String {
    let document = |name: &&str| {
        let lines = [
            "apiVersion: olmguard.dev/v1alpha1",
            "kind: UpgradePolicy",
            &format!("metadata: {{name: {name}}}"),
            "spec:",
            "  match: {namespaces: [other]}",
            "  rules:",
            "    conditions:",
            "    - {expression: \"user.groups.all(g, user.groups.all(h, g != h || true))\"}",
            "---\n",
        ];
        lines.join("\n")
    };
    names.iter().map(document).collect()
}

/// Returns a cluster with these policies and 1.2.0 installed.
fn scene(names: &[&str]) -> Scene {
    let scene = Scene::new();
    scene.installed("1.2.0");
    let policies: Vec<_> = names.iter().map(|name| costly(name)).collect();
    scene.api.answer(POLICIES, StatusCode::OK, &list(&policies));
    scene
}

const SUITE: &str = "\
schema: olmguard.test/v1
catalogs: {hub: hub.yaml}
policies: [policies.yaml]
at: 2026-01-05T22:30:00Z
cases:
- {name: a, extension: {catalog: {packageName: lantern-operator}}, expect: {verdict: allow}}
";

#[test]
fn files_are_bounded_together_by_every_command() {
    let scene = scene(&[]);
    scene.write("hub.yaml", super::scene::HUB);
    scene.write("suite.yaml", SUITE);
    scene.write(
        "policies.yaml",
        &file(&["h", "g", "f", "e", "d", "c", "b", "a"]),
    );
    let found = format!("error: policies.yaml:8:7: UpgradePolicy h: {WHY}\n");
    for words in [
        "check a.yaml --installed=a=1.2.0 --policy=policies.yaml",
        "check a.yaml --installed=a=1.2.0 policies.yaml",
        "audit a.yaml --policy=policies.yaml",
        "audit a.yaml policies.yaml",
        "versions lantern-operator --policy=policies.yaml",
    ] {
        let words: Vec<_> = words.split(' ').chain(["--catalog=hub=hub.yaml"]).collect();
        let ran = scene.run(&words);
        assert_eq!(ran.code, Some(3), "{words:?}: {ran:?}");
        // A command about a package reports in addition that it applies none of them.
        let is_found = match words.first() {
            Some(&"versions") => ran.stderr.starts_with(&found),
            _ => ran.stderr == found,
        };
        assert!(is_found, "{words:?}: {ran:?}");
    }
    let ran = scene.run(&["test", "suite.yaml"]);
    assert!(ran.stderr.contains(&found["error: ".len()..]), "{ran:?}");
    let ran = scene.run(&["lint", "--policy=policies.yaml"]);
    assert!(ran.stdout.contains("policies.yaml:8:7"), "{ran:?}");
    assert_eq!(
        (ran.code, ran.stdout.matches(WHY).count()),
        (Some(1), 1),
        "{ran:?}"
    );
}

#[test]
fn seven_of_them_fit() {
    let scene = scene(&[]);
    scene.write("policies.yaml", &file(&["a", "b", "c", "d", "e", "f", "g"]));
    let ran = scene.run(&["lint", "--policy=policies.yaml"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
}

/// If a file makes the policies of the cluster too costly, that is a warning and not an error of
/// the file.
#[test]
fn policies_of_files_are_bounded_with_those_of_a_cluster_and_a_snapshot() {
    let scene = scene(&["b", "c", "d", "e", "f", "g", "h"]);
    let save = ["snapshot", "save", "--kubeconfig=kubeconfig", "saved"];
    assert_eq!(scene.run(&save).code, Some(0));
    scene.write("first.yaml", &file(&["a"]));
    scene.write("last.yaml", &file(&["i"]));
    scene.write("again.yaml", &file(&["h"]));
    let own = format!("error: last.yaml:8:7: UpgradePolicy i: {WHY}\n");
    let other = format!("warning: UpgradePolicy h: {WHY}\n");
    let saved: &[&str] = &["--snapshot=saved", "--installed=a=1.2.0"];
    for origin in [LIVE, saved] {
        let judged = |flags: &[&str]| {
            let (code, result, stderr) = scene.judged(&[origin, flags].concat());
            (code, result["token"].clone(), stderr)
        };
        assert_eq!(judged(&[]), (Some(0), json!("Resolved"), String::new()));
        assert_eq!(judged(&["--policy=again.yaml"]).2, "");
        for flag in ["--policy=", "-f="] {
            let (code, token, stderr) = judged(&[&*format!("{flag}last.yaml")]);
            assert_eq!((code, token, &*stderr), (Some(3), json!("Resolved"), &*own));
            let (code, token, stderr) = judged(&[&*format!("{flag}first.yaml")]);
            assert_eq!((code, token, &*stderr), (Some(1), json!("Policy"), &*other));
        }
    }
}
