//! The place of an extension in a result.

use serde_json::Value;

use super::scene::{CATALOG, Scene, asking, scene};

/// Returns `FILE:DOCUMENT:LINE:COLUMN NAME` of each result.
#[track_caller]
fn places(scene: &Scene, arguments: &[&str]) -> Vec<String> {
    let (_, report) = scene.json(&[arguments, &[CATALOG, "--no-schema"]].concat());
    let place = |result: &Value| {
        format!(
            "{}:{}:{}:{} {}",
            result["file"].as_str().expect("a text"),
            result["document"],
            result["line"],
            result["column"],
            result["name"].as_str().unwrap_or("-"),
        )
    };
    report["results"]
        .as_array()
        .expect("a list")
        .iter()
        .map(place)
        .collect()
}

#[test]
fn it_is_that_of_the_version_if_one_is_written_and_else_of_the_package() {
    let package = "10:20";
    let version = "11:16";
    for (field, expected) in [
        ("version: \"1.1.0\"", version),
        ("version: ''", version),
        ("version: 1.0", version),
        ("version: [1.1.0]", version),
        ("version: {is: 1}", version),
        ("version: null", package),
        ("channels: [stable]", package),
        ("channels: stable", package),
    ] {
        let scene = scene(&[("a.yaml", &asking("a", field))]);
        let expected = format!("a.yaml:0:{expected} a");
        assert_eq!(places(&scene, &["-f", "a.yaml"]), [expected], "{field}");
    }
}

#[test]
fn every_shape_has_its_own_field() {
    let flat = "kind: Operator\napiVersion: operators.operatorframework.io/v1alpha1\n\
                metadata: {name: a}\nspec:\n  packageName: lantern-operator\n  version: 1.0\n";
    let old = "kind: ClusterExtension\napiVersion: olm.operatorframework.io/v1alpha1\n\
               metadata: {name: a}\nspec:\n  packageName: lantern-operator\n  version: true\n";
    let nested = asking("a", "version: 7").replace("io/v1\n", "io/v1alpha1\n");
    let json = "{\"kind\": \"ClusterExtension\", \"apiVersion\": \"olm.operatorframework.io/v1\",\n\
                \"spec\": {\"source\": {\"catalog\": {\"packageName\": \"ä\", \"version\": 1}}}}";
    let scene = scene(&[
        ("flat", flat),
        ("old", old),
        ("nested", &nested),
        ("json", json),
        (
            "typo",
            &asking("a", "package: b").replace("packageName:", "packagename:"),
        ),
    ]);
    for (file, expected) in [
        ("flat", "flat:0:6:12 a"),
        ("old", "old:0:6:12 a"),
        ("nested", "nested:0:11:16 a"),
        ("json", "json:0:2:64 -"),
        // The field is missing, so the place is that of its nearest parent.
        ("typo", "typo:0:10:7 a"),
    ] {
        assert_eq!(places(&scene, &["-f", file]), [expected]);
    }
}

#[test]
fn items_of_lists_are_results_of_their_own() {
    let list = "\
# a file of two documents
apiVersion: v1
kind: List
items:
- apiVersion: olm.operatorframework.io/v1
  kind: ClusterExtension
  metadata: {name: a}
  spec: {source: {catalog: {packageName: lantern-operator}}}
- apiVersion: olm.operatorframework.io/v1
  kind: ClusterExtensionList
  items:
  - metadata: {name: b}
    spec: {source: {catalog: {packageName: lantern-operator, version: 1.1.0}}}
---
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {generateName: c-}
spec: {source: {catalog: {packageName: lantern-operator, version: 1.1.0}}}
";
    let scene = scene(&[("list.yaml", list)]);
    assert_eq!(
        places(&scene, &["-f", "list.yaml"]),
        [
            "list.yaml:0:8:42 a",
            "list.yaml:0:13:71 b",
            "list.yaml:1:18:67 -"
        ]
    );
}
