//! `olmguard diff` with installed extensions: from manifests, a snapshot and a cluster.

use std::fs;
use std::path::Path;

use olmguard_support::schema::assert_fits;
use serde_json::{Value, json};

use super::from_cluster::scene::{Ran, Scene};

/// Returns an extension of the package in the authoring examples.
fn extension(name: &str, version: &Value) -> Value {
    let bundle = version.as_str().unwrap_or("1.1.0");
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": name},
        "spec": {
            "namespace": "lantern",
            "source": {"sourceType": "Catalog", "catalog": {"packageName": "lantern"}},
        },
        "status": {"install": {"bundle": {"name": format!("lantern.v{bundle}"), "version": version}}},
    })
}

/// Returns a cluster with these extensions, and both catalogs in the directory.
fn scene(extensions: &[Value]) -> Scene {
    let scene = Scene::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/authoring");
    for file in ["lantern.yaml", "withdrawn.yaml"] {
        let text = fs::read_to_string(examples.join(file)).expect(file);
        scene.write(file, &text);
    }
    scene.api.extensions(extensions);
    let list = json!({"apiVersion": "v1", "kind": "List", "items": extensions});
    scene.write("list.json", &list.to_string());
    scene
}

fn two() -> Scene {
    scene(&[
        extension("shop", &"1.1.0".into()),
        extension("search", &"1.1.0".into()),
    ])
}

fn diff(scene: &Scene, flags: &[&str]) -> Ran {
    scene.run(&[&["diff", "lantern.yaml", "withdrawn.yaml"], flags].concat())
}

const MANIFESTS: &str = "--extensions=list.json";
const CLUSTER: &[&str] = &["--from-cluster", "--kubeconfig=kubeconfig"];

const TEXT: &str = "\
OLM v1 users: 3 breaking changes, 0 to review, 0 improvements, in 1 package; 2 of 3 changes concern installed extensions

package lantern
  NEWLY STRANDED: no upgrade to a higher version any more
    lantern.v1.1.0: could upgrade to lantern.v1.1.1; concerns 2 installed extensions: search, shop
  OTHER BUNDLE: a version that users may have installed has changed
    lantern.v1.1.0 (1.1.0) now has image \"quay.example/lantern:1.1.0-rebuilt\"; before: \
\"quay.example/lantern:1.1.0\"; concerns 2 installed extensions: search, shop
  No installed extension is concerned by:
  BUNDLE REMOVED: users who pin this version find no bundle
    lantern.v1.1.1 (1.1.1)
";

#[test]
fn files_without_an_extension_are_warned_of() {
    let ran = diff(&two(), &["--extensions=lantern.yaml"]);
    assert_eq!(
        (ran.code, &*ran.stderr),
        (
            Some(1),
            "warning: --extensions: no ClusterExtension in these files, so no change concerns an installed extension\n"
        )
    );
}

#[test]
fn manifests_a_snapshot_and_a_cluster_give_the_same_weights() {
    let scene = two();
    let manifests = diff(&scene, &[MANIFESTS]);
    assert_eq!(
        (manifests.code, &*manifests.stdout, &*manifests.stderr),
        (Some(1), TEXT, "")
    );
    assert_eq!(diff(&scene, CLUSTER), manifests);
    let asked = scene.api.asked();
    assert!(asked.iter().all(|(method, _)| method == "GET"), "{asked:?}");
    assert!(
        !asked.iter().any(|(_, path)| path.contains("catalog")),
        "{asked:?}"
    );
    let save = ["snapshot", "save", "--kubeconfig=kubeconfig", "saved"];
    assert_eq!(scene.run(&save).code, Some(0));
    assert_eq!(diff(&scene, &["--snapshot=saved"]), manifests);
}

#[test]
fn json_has_all_names_and_is_as_before_without_them() {
    let scene = two();
    let report = |flags: &[&str]| -> Value {
        let ran = diff(&scene, &[flags, &["-o", "json"]].concat());
        let report = serde_json::from_str(&ran.stdout).expect("one object");
        assert_fits("schemas/olmguard.diff.v1.json", &report);
        report
    };
    let with = report(&[MANIFESTS]);
    assert_eq!(with["concerning"], 2);
    let changes = with["packages"][0]["changes"].as_array().expect("a list");
    let of = |change: &Value| (change["kind"].clone(), change["extensions"].clone());
    let both = json!(["search", "shop"]);
    let expected = [
        (json!("newly-stranded"), both.clone()),
        (json!("other-bundle"), both),
        (json!("bundle-removed"), json!([])),
    ];
    assert_eq!(changes.iter().map(of).collect::<Vec<_>>(), expected);
    let without = report(&[]);
    assert_eq!(without.get("concerning"), None);
    assert_eq!(without["packages"][0]["changes"][0].get("extensions"), None);
}

#[test]
fn markdown_is_a_table() {
    let scene = scene(&[extension("a|b", &"1.1.0".into())]);
    let ran = diff(&scene, &[MANIFESTS, "-o", "markdown"]);
    let expected = "\
<!-- olmguard diff -->
### olmguard diff: OLM v1 users: 3 breaking changes, 0 to review, 0 improvements, in 1 package; 2 of 3 changes concern \
installed extensions

| level | package | change | details | installed extensions |
| --- | --- | --- | --- | --- |
| harmful | `lantern` | newly-stranded | `lantern.v1.1.0: could upgrade to lantern.v1.1.1` | 1: `a\\|b` |
| harmful | `lantern` | other-bundle | `lantern.v1.1.0 (1.1.0) now has image \
\"quay.example/lantern:1.1.0-rebuilt\"; before: \"quay.example/lantern:1.1.0\"` | 1: `a\\|b` |
| harmful | `lantern` | bundle-removed | `lantern.v1.1.1 (1.1.1)` | 0 |
";
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (Some(1), expected, "")
    );
    let without = diff(&scene, &["-o", "markdown"]).stdout;
    assert!(
        without.contains("| harmful | `lantern` | bundle-removed | `lantern.v1.1.1 (1.1.1)` |\n"),
        "{without}"
    );
}

#[test]
fn what_is_not_known_to_be_installed_is_said_and_the_changes_are_reported() {
    let scene = scene(&[
        extension("shop", &"1.1.0".into()),
        extension("broken", &1.into()),
    ]);
    let ran = diff(&scene, CLUSTER);
    assert_eq!(ran.code, Some(4));
    assert!(
        ran.stdout
            .contains("concerns 1 installed extension: shop\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(
        ran.stderr,
        "warning: extension \"broken\": the installed version is unknown, so no change counts for it\n"
    );
    // A difference in another package does not matter.
    scene.write("other.yaml", "---\nschema: olm.package\nname: other\n");
    let ran = scene.run(&[
        "diff",
        "lantern.yaml",
        "other.yaml",
        "--package=other",
        MANIFESTS,
    ]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let nowhere = scene
        .api
        .kubeconfig()
        .replace(&scene.api.port.to_string(), "1");
    scene.write("kubeconfig", &nowhere);
    let ran = diff(&scene, CLUSTER);
    assert_eq!(ran.code, Some(4));
    assert!(
        ran.stdout
            .contains("; 0 of 3 changes concern installed extensions\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.contains("error: "), "{}", ran.stderr);
    scene.write("cut", "cut");
    let ran = diff(&scene, &["--snapshot=cut"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.starts_with("error: cut: "), "{}", ran.stderr);
    let ran = diff(&scene, &["--extensions=gone.json"]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stderr.starts_with("error: gone.json: "),
        "{}",
        ran.stderr
    );
}

#[test]
fn flags_that_contradict_each_other_are_wrong_usage() {
    let scene = two();
    for (flags, part) in [
        (
            &["--olm=v0", MANIFESTS][..],
            "error: --olm v0 is about Subscriptions, and --extensions, ",
        ),
        (&[MANIFESTS, "--from-cluster"], "cannot be used with"),
        (
            &["--snapshot=saved", "--from-cluster"],
            "error: --snapshot and --from-cluster ",
        ),
        (
            &["--kubeconfig=kubeconfig"],
            "error: --kubeconfig needs a cluster",
        ),
    ] {
        let ran = diff(&scene, flags);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{flags:?}");
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
}
