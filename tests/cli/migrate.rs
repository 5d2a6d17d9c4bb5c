//! `olmguard migrate` with files: its output, its formats and its exit codes.

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use olmguard_support::schema::assert_fits;

const CATALOG: &str = "--catalog=hub=hub.yaml";

/// Returns a directory with catalog `hub` of two versions.
fn scene() -> Folder {
    Folder::of_catalog(&["1.0.0", "1.1.0"])
}

fn migrate(folder: &Folder, arguments: &[&str], stdin: &str) -> Ran {
    folder.run(&[&["migrate"], arguments].concat(), stdin)
}

fn group() -> Value {
    json!({"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": "g", "namespace": "app"}, "status": {"namespaces": [""]}})
}

/// Returns a Subscription of this package, with this bundle installed.
fn subscription(package: &str, installed: &str) -> Value {
    json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
        "metadata": {"name": package, "namespace": "app"},
        "spec": {"name": package, "channel": "a", "source": "hub", "sourceNamespace": "olm"},
        "status": {"installedCSV": installed, "state": "AtLatestKnown"}})
}

/// Returns its `ClusterServiceVersion`.
fn csv(name: &str) -> Value {
    json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": name, "namespace": "app"},
        "spec": {"installModes": [{"type": "AllNamespaces", "supported": true}],
            "customresourcedefinitions": {"owned": [{"name": "w.example.com"}]}},
        "status": {"phase": "Succeeded"}})
}

fn list(items: &[Value]) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

#[test]
fn a_csv_without_a_subscription_is_named() {
    let mut next = csv("p.v1.1.0");
    next["status"]["phase"] = json!("Replacing");
    let objects = [
        group(),
        subscription("p", "p.v1.0.0"),
        csv("p.v1.0.0"),
        next,
        csv("packageserver"),
    ];
    let run = |objects: &[Value]| migrate(&scene(), &["-f", "-", CATALOG], &list(objects));
    assert_eq!(run(&objects).2, "");
    let (code, _, errors) = run(&[&objects[..], &[csv("other.v1.0.0")]].concat());
    let warning = "warning: ClusterServiceVersion app/other.v1.0.0 has no Subscription, so it is not checked\n";
    assert_eq!((code, &*errors), (Some(0), warning));
}

#[test]
fn a_subscription_that_can_move_gets_its_extension_and_its_steps() {
    let scene = scene();
    let objects = list(&[group(), subscription("p", "p.v1.0.0"), csv("p.v1.0.0")]);
    let (code, printed, errors) = migrate(&scene, &["-f", "-", CATALOG], &objects);
    assert_eq!((code, &*errors), (Some(0), ""));
    assert_eq!(
        printed,
        "\
1 Subscription to OLM 1.11: 1 can move

app/p (p 1.0.0): can move to OLM v1
Catalog       hub, for CatalogSource olm/hub
Upgrades      automatic without the version: 1.1.0
Needed        the feature gate BoxcutterRuntime of operator-controller must be
                off: with it, existing CRDs are not adopted
Steps         1. Save the ClusterExtension that -o yaml prints to a file. After
              the next steps olmguard cannot print it again.
              2. Delete the Subscription, so that OLM v0 does not install the
              bundle again.
  kubectl delete subscriptions.operators.coreos.com p -n app
              3. Delete the ClusterServiceVersion. The operator stops; CRDs and
              their objects stay.
  kubectl delete clusterserviceversions.operators.coreos.com p.v1.0.0 -n app
              4. Give the CRDs the marks by which OLM v1 adopts them. Otherwise
              it refuses to install the bundle. From then on, deleting the
              ClusterExtension deletes these CRDs and all their objects.
  kubectl label crd w.example.com app.kubernetes.io/managed-by=Helm \\
  --overwrite
  kubectl annotate crd w.example.com meta.helm.sh/release-name=p \\
  meta.helm.sh/release-namespace=app --overwrite
              5. Apply this ClusterExtension, and no other of the file. Wait
              until it is installed.
  kubectl wait clusterextension p --for=condition=Installed --timeout=10m
              6. Remove the version. OLM v1 then upgrades automatically.
  kubectl patch clusterextension p --type=json -p \\
  '[{\"op\":\"remove\",\"path\":\"/spec/source/catalog/version\"}]'
              7. Delete the OperatorGroup if you created it, and no Subscription
              and no ClusterServiceVersion is left in namespace app.
"
    );
}

#[test]
fn the_manifests_are_yaml_and_say_why_they_are_so() {
    let scene = scene();
    let objects = list(&[
        group(),
        subscription("p", "p.v1.0.0"),
        csv("p.v1.0.0"),
        subscription("q", "q.v1.0.0"),
    ]);
    let (code, printed, errors) = migrate(&scene, &["-f", "-", CATALOG, "-o", "yaml"], &objects);
    assert_eq!(code, Some(1));
    assert_eq!(
        errors,
        "warning: app/q: cannot move to OLM v1: catalog hub does not have this package\n"
    );
    assert!(
        printed.starts_with(
            "---\n# Subscription app/p of package p\n# selector: ClusterCatalog hub for CatalogSource olm/hub\n"
        ),
        "{printed}"
    );
    scene.write("extensions.yaml", &printed);
    let check = ["check", "-f", "extensions.yaml", CATALOG];
    let (_, checked, _) = scene.run(&check, "");
    assert!(checked.ends_with("1 allowed\n"), "{checked}");
}

#[test]
fn the_object_fits_its_schema_and_cannot_comes_first() {
    let scene = scene();
    let mut undecided = subscription("p", "");
    undecided.as_object_mut().expect("a map").remove("status");
    let objects = list(&[group(), undecided, subscription("q", "q.v1.0.0")]);
    let (code, printed, _) = migrate(&scene, &["-f", "-", CATALOG, "-o", "json"], &objects);
    assert_eq!(code, Some(4));
    let report: Value = serde_json::from_str(&printed).expect("JSON");
    assert_fits("schemas/olmguard.migrate.v1.json", &report);
    let verdicts: Vec<_> = report["subscriptions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["verdict"].as_str().expect("a word"))
        .collect();
    assert_eq!(verdicts, ["cannot_move", "undecided"]);
}

#[test]
fn an_extension_of_the_files_counts_as_existing() {
    let scene = scene();
    let extension = json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": "mine"}, "spec": {"namespace": "app",
        "source": {"sourceType": "Catalog", "catalog": {"packageName": "p"}}}});
    let objects = list(&[
        group(),
        subscription("p", "p.v1.0.0"),
        csv("p.v1.0.0"),
        extension,
    ]);
    let (code, printed, _) = migrate(&scene, &["-f", "-", CATALOG], &objects);
    assert_eq!(code, Some(1));
    let reason = "Reason        ClusterExtension mine has this package or this name already\n";
    assert!(printed.contains(reason), "{printed}");
}

#[test]
fn what_cannot_be_used_is_named_with_its_place_and_the_rest_is_reported() {
    let scene = scene();
    scene.write(
        "bad.yaml",
        "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata:\n  name: x\n  namespace: app\n\
         spec:\n  name: 1\n---\nkind: [\n",
    );
    scene.write(
        "good.yaml",
        &list(&[group(), subscription("p", "p.v1.1.0"), csv("p.v1.1.0")]),
    );
    let (code, printed, errors) = migrate(&scene, &["-f", "bad.yaml,good.yaml", CATALOG], "");
    assert_eq!(code, Some(3));
    assert!(
        errors.starts_with(
            "error: bad.yaml:7:9: Subscription \"x\": spec.name is 1: expected a string\nerror: bad.yaml:9:"
        ),
        "{errors}"
    );
    assert!(
        printed.starts_with("1 Subscription to OLM 1.11: 1 can move\n"),
        "{printed}"
    );
}

#[test]
fn an_annotation_that_cannot_be_read_is_named() {
    let scene = scene();
    let mut annotated = csv("p.v1.0.0");
    annotated["metadata"]["annotations"] = json!({"olm.properties": "not json"});
    let objects = list(&[group(), subscription("p", "p.v1.0.0"), annotated]);
    let (code, _, errors) = migrate(&scene, &["-f", "-", CATALOG], &objects);
    let expected = "ClusterServiceVersion \"p.v1.0.0\": metadata.annotations.olm.properties is \"not json\": expected a list \
                    of properties as JSON\n";
    assert!(code == Some(3) && errors.contains(expected), "{errors}");
}

#[test]
fn wrong_usage_says_what_to_give() {
    let scene = scene();
    let rows: [(&[&str], i32, &str); 4] = [
        (
            &[CATALOG],
            2,
            "error: no Subscription is given: expected -f PATH or --from-cluster; a snapshot has no objects of OLM \
             v0\n",
        ),
        (
            &["-f", "x.yaml"],
            2,
            "error: no catalog is given: expected --catalog, --snapshot or --from-cluster\n",
        ),
        (
            &["-f", "gone.yaml", CATALOG],
            3,
            "error: gone.yaml: does not exist: expected a file or a directory\n",
        ),
        (
            &["-f", "hub.yaml", CATALOG],
            0,
            "warning: there is no Subscription, so nothing is reported\n",
        ),
    ];
    for (arguments, code, expected) in rows {
        let (got, _, errors) = migrate(&scene, arguments, "");
        assert_eq!((got, &*errors), (Some(code), expected), "{arguments:?}");
    }
}

/// Control characters of a terminal are neither printed nor used in a command.
#[test]
fn names_that_no_api_server_accepts_are_refused() {
    let scene = scene();
    let mut object = subscription("p", "p.v1.0.0");
    object["metadata"]["name"] = json!("x; rm -rf ~ \u{1b}[31m\u{202e}");
    let (code, _, errors) = migrate(&scene, &["-f", "-", CATALOG], &object.to_string());
    assert_eq!(code, Some(3));
    assert!(!errors.contains(['\u{1b}', '\u{202e}']), "{errors}");
    let mut object = subscription("p", "p.v1.0.0");
    object["spec"]["name"] = json!("$(reboot)\u{1b}");
    let (code, printed, _) = migrate(&scene, &["-f", "-", CATALOG], &object.to_string());
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        !printed.contains("kubectl") && !printed.contains('\u{1b}'),
        "{printed}"
    );
}
