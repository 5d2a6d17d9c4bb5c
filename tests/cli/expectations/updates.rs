//! A case with `old` is an update: it is checked as by `check --base`.

use std::process::Command;

use serde_json::Value;

use super::scene::{Scene, scene, suite};

/// Returns an extension in this namespace, with these fields of the catalog filter and more lines after its spec.
fn extension(namespace: &str, fields: &str, more: &str) -> String {
    format!(
        "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {{name: lantern}}\n\
         spec:\n  namespace: {namespace}\n  serviceAccount: {{name: a}}\n  source:\n    \
         sourceType: Catalog\n    catalog: {{packageName: lantern-operator, {fields}}}\n{more}"
    )
}

fn status(version: &str) -> String {
    format!(
        "status: {{install: {{bundle: {{name: lantern-operator.v{version}, version: {version}}}}}}}\n"
    )
}

/// Returns the only case or result in the output.
fn printed(scene: &Scene, key: &str, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let ended = command
        .args(arguments)
        .arg("-o=json")
        .current_dir(scene.path())
        .env_clear()
        .output();
    let ended = ended.expect("the program starts");
    let report: Value = serde_json::from_slice(&ended.stdout).expect("JSON");
    let list = report.get(key).and_then(Value::as_array);
    let mut list = list.expect("a list").iter();
    let only = list.next().expect("one");
    assert_eq!(list.next(), None, "{report}");
    only.clone()
}

#[test]
fn it_is_judged_as_check_judges_it_against_a_base() {
    let of = |version: &str| extension("a", &format!("version: {version}"), "");
    let open = |more: &str| extension("a", "channels: [stable]", more);
    for (old, new, token) in [
        (of("1.0.0"), of("1.1.0"), "Resolved"),
        (of("1.0.0"), of("1.3.0"), "NotASuccessor"),
        (of("1.2.0"), of("1.1.0"), "Downgrade"),
        (open(&status("1.0.0")), of("1.3.0"), "NotASuccessor"),
        (open(""), of("1.2.0"), "Downgrade"),
        (open(""), of("1.3.0") + &status("1.1.0"), "NotASuccessor"),
        (of("'>=7'"), of("1.3.0"), "Resolved"),
        (of("[1]"), of("1.3.0"), "Resolved"),
        (
            of("1.0.0"),
            extension("b", "version: 1.0.0", ""),
            "InvalidSpec",
        ),
        (
            of("1.0.0"),
            of("1.0.0").replace("lantern-operator", "wick"),
            "InvalidSpec",
        ),
        (
            of("1.0.0"),
            of("1.0.0").replace("metadata: {", "metadata: {labels: {a: b}, "),
            "NotJudged",
        ),
        (
            of("1.0.0").replace("io/v1\n", "io/v7\n"),
            of("1.3.0"),
            "Resolved",
        ),
    ] {
        let case = "- name: a\n  extension: {file: new.yaml}\n  old: {file: old.yaml}\n  \
                    expect: {verdict: allow}\n";
        let files = [
            ("new.yaml", &*new),
            ("old.yaml", &old),
            ("suite.yaml", &suite(case)),
        ];
        let scene = scene(&files);
        let check = [
            "check",
            "-f=new.yaml",
            "--base=./old.yaml",
            "--catalog=hub=hub.yaml",
        ];
        let checked = printed(&scene, "results", &check);
        let tried = printed(&scene, "cases", &["test", "suite.yaml"]);
        assert_eq!(tried["token"], token, "{old}{new}: {tried}");
        for key in ["verdict", "token", "message", "warnings"] {
            assert_eq!(tried[key], checked[key], "{key}: {old}{new}");
        }
    }
}

#[test]
fn what_the_crd_lets_nobody_change_is_said_in_its_words() {
    let case = "- name: a\n  extension: {file: new.yaml}\n  old: {file: old.yaml}\n  \
                expect: {token: InvalidSpec, message: 'spec.namespace: namespace is immutable'}\n";
    let old = extension("a", "version: 1.0.0", "");
    let new = extension("b", "version: 1.1.0", "");
    let scene = scene(&[
        ("new.yaml", &new),
        ("old.yaml", &old),
        ("suite.yaml", &suite(case)),
    ]);
    let ran = scene.run(&["suite.yaml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// Otherwise, the namespace and the name of the service account would differ.
#[test]
fn where_the_fields_of_the_catalog_alone_are_told_the_rest_is_that_of_the_other() {
    let fields = "{catalog: {packageName: lantern-operator, version: 1.0.0}}";
    let later = "{catalog: {packageName: lantern-operator, version: 1.3.0}}";
    for (new, old, token) in [
        ("{file: new.yaml}", fields, "NotASuccessor"),
        (fields, "{file: new.yaml}", "Downgrade"),
        (later, fields, "NotASuccessor"),
        (fields, "{range: 1.0.x}", "Unchanged"),
    ] {
        let case =
            format!("- name: a\n  extension: {new}\n  old: {old}\n  expect: {{token: {token}}}\n");
        let text = extension("a", "version: 1.3.0", "");
        let scene = scene(&[("new.yaml", &text), ("suite.yaml", &suite(&case))]);
        let ran = scene.run(&["suite.yaml"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}
