//! The objects that are checked, and the inputs that they are read from.

use super::scene::{CATALOG, extension, scene};

/// Returns the names of the results, in order.
fn names(report: &serde_json::Value) -> Vec<&str> {
    let results = report["results"].as_array().expect("a list");
    results
        .iter()
        .map(|result| result["name"].as_str().unwrap_or("-"))
        .collect()
}

#[test]
fn files_folders_and_standard_input_are_read_in_the_order_given() {
    let json = "{\"apiVersion\": \"olm.operatorframework.io/v1\", \"kind\": \"ClusterExtension\",
        \"metadata\": {\"name\": \"json\"}, \"spec\": {\"namespace\": \"x\", \"source\": {
        \"sourceType\": \"Catalog\", \"catalog\": {\"packageName\": \"lantern-operator\"}}}}";
    let scene = scene(&[
        ("z.yaml", &extension("z", "1.1.0")),
        ("apps/b.yml", &extension("b", "1.1.0")),
        ("apps/a.json", json),
        ("apps/deep/c.yaml", &extension("c", "1.1.0")),
        ("apps/notes.txt", "kind: ["),
        ("apps/.hidden.yaml", "kind: ["),
    ]);
    let arguments = ["-f", "z.yaml", "-", "-f", "apps", CATALOG, "-o", "json"];
    let ran = scene.run_with(&arguments, &extension("stdin", "1.1.0"));
    let report = ran.json();
    assert_eq!(names(&report), ["z", "stdin", "json", "b", "c"]);
    assert_eq!(report["results"][1]["file"], "-");
    assert_eq!(report["results"][3]["file"], "apps/b.yml");
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_catalog_may_come_from_standard_input() {
    let scene = scene(&[("a.yaml", &extension("a", "1.1.0"))]);
    let hub = include_str!("../../../examples/Resolved/hub.yaml");
    let ran = scene.run_with(&["-f", "a.yaml", "--catalog=hub=-", "-o=json"], hub);
    let token = ran.json()["results"][0]["token"].clone();
    assert_eq!(token, "Resolved", "{}", ran.stderr);
}

#[test]
fn a_broken_document_costs_nothing_but_itself() {
    let (a, b) = (extension("a", "1.1.0"), extension("b", "7.0.0"));
    let scene = scene(&[("a.yaml", &format!("{a}---\nkind: [\n---\n{b}"))]);
    let ran = scene.run(&["-f", "a.yaml", CATALOG, "-o=json"]);
    let report = ran.json();
    assert_eq!((ran.code, names(&report)), (3, vec!["a", "b"]));
    assert_eq!(report["results"][1]["document"], 2);
    assert!(ran.stderr.starts_with("error: a.yaml:"), "{}", ran.stderr);
}

#[test]
fn two_different_objects_of_one_kind_and_name_cannot_both_be_meant() {
    let text = |version| extension("twin", version);
    let catalog = |more| super::scene::cluster_catalog("hub", more);
    let scene = scene(&[
        ("a.yaml", &format!("# first\n{}", text("1.1.0"))),
        (
            "b.yaml",
            &format!("---\n{}---\n{}", catalog(""), text("1.2.0")),
        ),
        ("other/c.yaml", &catalog("spec: {priority: 1}\n")),
    ]);
    scene.misused(
        &["-f", "a.yaml", "b.yaml"],
        "ClusterExtension \"twin\" is defined twice, at a.yaml:2:1 and at b.yaml:7:1, with different content: \
         give one of them another name, or check one file at a time",
    );
    scene.misused(
        &["-f", "b.yaml", "other"],
        "ClusterCatalog \"hub\" is defined twice, at b.yaml:2:1 and at other/c.yaml:1:1, with different content: \
         check one directory for each cluster",
    );
}

#[test]
fn kinds_that_only_look_like_extensions_are_counted() {
    let object = |api_version: &str, kind: &str, name: &str| {
        format!(
            "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}}}\n\
             spec: {{packageName: lantern-operator}}\n---\n"
        )
    };
    let text = [
        object("operators.coreos.com/v1", "Operator", "v0"),
        object(
            "operators.operatorframework.io/v1alpha1",
            "Operator",
            "oldest",
        ),
        object(
            "olm.operatorframework.io/v1alpha1",
            "ClusterExtension",
            "old",
        ),
        object("olm.operatorframework.io/v7", "ClusterExtension", "new"),
        object("v1", "ConfigMap", "map"),
        "just: a mapping\n".to_owned(),
    ];
    let scene = scene(&[("a.yaml", &text.concat())]);
    let (code, report) = scene.json(&["-f", "a.yaml", CATALOG, "--no-schema"]);
    let results = report["results"].as_array().expect("a list");
    let tokens: Vec<_> = results
        .iter()
        .map(|result| result["token"].as_str())
        .collect();
    assert_eq!(names(&report), ["oldest", "old", "new"]);
    assert_eq!(
        tokens,
        [Some("Resolved"), Some("Resolved"), Some("NotJudged")]
    );
    assert_eq!(report["summary"]["other_kinds"], 3);
    assert_eq!(report["summary"]["not_judged"], 1);
    assert_eq!(results[2]["warnings"].as_array().map(Vec::len), Some(1));
    assert_eq!(code, 0);
}

#[test]
fn an_extension_without_a_group_is_a_typo() {
    let text = extension("a", "1.1.0").replace("olm.operatorframework.io/v1", "v1");
    let ran = scene(&[("a.yaml", &text)]).run(&["-f", "a.yaml", CATALOG]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let expected = "apiVersion \"v1\" has no such kind: did you mean olm.operatorframework.io/v1?";
    assert!(ran.stderr.contains(expected), "{ran:?}");
}

#[test]
fn the_rules_of_the_crd_can_be_left_out() {
    let text = extension("a", "1.1.0").replace("  namespace: lantern\n", "");
    let scene = scene(&[("a.yaml", &text)]);
    let tokens =
        |arguments: &[&str]| scene.tokens(&[&["-f", "a.yaml", CATALOG], arguments].concat());
    assert_eq!(tokens(&[]), (1, vec!["InvalidSpec".to_owned()]));
    assert_eq!(tokens(&["--no-schema"]), (0, vec!["Resolved".to_owned()]));
}
