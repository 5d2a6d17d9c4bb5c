//! The rights of a pod in `docs/security.md` are those in the manifests.

use std::collections::BTreeSet;

use olmguard::manifest::documents;
use serde_json::Value;

use crate::manifests::{read, rendered};

/// Verbs, resource, name and place, in the words of the page.
type Right = [String; 4];

#[test]
fn the_page_has_every_right_of_every_mode() {
    let page = page();
    for (name, text) in rendered() {
        let mode = MODES.into_iter().find(|mode| name.contains(mode));
        let mode = mode.expect("a mode");
        let said = page.iter().filter(|(of, _)| of == "all" || of == mode);
        let said: BTreeSet<_> = said.map(|(_, right)| right.clone()).collect();
        assert_eq!(rights(&text), said, "{name}");
    }
}

/// These rights are not in any rendered manifest, because a component adds them.
#[test]
fn the_page_has_every_right_of_a_component() {
    for component in [
        "audit",
        "catalog-preview",
        "events",
        "pull",
        "secure-metrics",
    ] {
        let said = page().into_iter().filter(|(of, _)| of == component);
        let said: BTreeSet<_> = said.map(|(_, right)| right).collect();
        let rights_of = rights(&read(&format!("deploy/components/{component}/rbac.yaml")));
        assert_eq!(rights_of, said);
        for (name, text) in rendered() {
            assert!(rights(&text).is_disjoint(&rights_of), "{name}");
        }
    }
}

/// A role for another account would be missing in the tables.
#[test]
fn every_role_is_for_the_one_account() {
    for (name, text) in rendered() {
        let objects = objects(&text);
        let subjects = objects.iter().filter_map(|object| object.get("subjects"));
        let subjects: BTreeSet<_> = subjects.map(ToString::to_string).collect();
        let account =
            r#"[{"kind":"ServiceAccount","name":"olmguard","namespace":"olmguard-system"}]"#;
        assert_eq!(subjects, BTreeSet::from([account.to_owned()]), "{name}");
    }
}

/// Returns the rows of the table, each with its mode.
fn page() -> Vec<(String, Right)> {
    let page = read("docs/security.md");
    let (_, table) = page.split_once(HEAD).expect("the table of rights");
    let rows = table
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    let rows: Vec<_> = rows
        .map(|row| {
            let cells: Vec<_> = row
                .split('|')
                .map(|cell| cell.trim().replace('`', ""))
                .collect();
            let [_, mode, verbs, resource, name, place, gain, _] = &cells[..] else {
                panic!("a row has six cells: {row}")
            };
            assert!(!gain.is_empty(), "{row}");
            let right = [verbs, resource, name, place].map(Clone::clone);
            (mode.clone(), right)
        })
        .collect();
    assert!(rows.len() > 5, "{rows:?}");
    rows
}

/// Returns each rule of each role of a manifest.
fn rights(manifest: &str) -> BTreeSet<Right> {
    let objects = objects(manifest);
    let roles = objects.iter().filter(|object| object["rules"].is_array());
    roles
        .flat_map(|role| {
            let each = role["rules"].as_array().expect("rules").iter();
            each.map(|rule| right(rule, place(role)))
        })
        .collect()
}

fn right(rule: &Value, place: &str) -> Right {
    let list = |field: &str| {
        let items = rule[field].as_array().into_iter().flatten();
        let items = items.map(|item| item.as_str().expect("a text"));
        items.collect::<Vec<_>>().join(", ")
    };
    let name = Some(list("resourceNames")).filter(|names| !names.is_empty());
    assert!(rule.get("nonResourceURLs").is_none(), "{rule}");
    [
        list("verbs"),
        list("resources"),
        name.unwrap_or_else(|| "any".to_owned()),
        place.to_owned(),
    ]
}

/// Returns the scope of a role.
fn place(role: &Value) -> &'static str {
    let namespace = role.pointer("/metadata/namespace");
    match (role["kind"].as_str(), namespace.and_then(Value::as_str)) {
        (Some("ClusterRole"), None) => "the cluster",
        (Some("Role"), Some("olmguard-system")) => "its own namespace",
        (Some("Role"), Some("default")) => "the namespace default",
        (Some("Role"), Some("olmv1-system" | "openshift-operator-controller")) => {
            "the namespace of OLM"
        }
        _ => panic!("a role at another place: {role}"),
    }
}

fn objects(manifest: &str) -> Vec<Value> {
    let objects = documents(manifest.as_bytes());
    // The webhook configuration has rules, too, but on a lower level.
    objects.map(|object| object.expect("YAML").value).collect()
}

const MODES: [&str; 3] = ["self-managed", "cert-manager", "service-ca"];
const HEAD: &str = "| mode | verbs | resource | name | where | what an attacker gains |\n";
