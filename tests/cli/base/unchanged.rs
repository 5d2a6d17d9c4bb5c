//! Unchanged files: they are not read from the repository, and not parsed twice.

use std::fs;

use super::repository::{CATALOG, Repository};
use crate::check::scene::{Ran, asking, cluster_catalog};

/// Returns every kind of document, one of them broken.
fn all_kinds() -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\n---\n{}---\n{}---\n\
         apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\n---\n{REVIEW}---\n\
         apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: s}}\n",
        asking("a", "version: 1.0.0"),
        cluster_catalog("hub", "spec: {priority: 3}\n"),
    )
}

#[test]
fn what_is_no_extension_is_read_as_without_a_base() {
    let text = all_kinds();
    let repository = Repository::with(&[("apps/all.yaml", &text)]);
    let run = |more: &[&str]| {
        let ran = repository.run(&[&["-f", "apps", CATALOG, "-o=json"], more].concat());
        (ran.json(), ran)
    };
    let (alone, ran_alone) = run(&[]);
    let (based, ran_based) = run(&["--base=main"]);
    assert!(ran_alone.stderr.contains("apps/all.yaml:"), "{ran_alone:?}");
    let ended = |ran: Ran| (ran.code, ran.stderr);
    assert_eq!(ended(ran_based), ended(ran_alone));
    assert_eq!(based["catalogs"], alone["catalogs"]);
    assert_eq!(based["summary"]["other_kinds"], 2);
    assert_eq!(alone["summary"]["other_kinds"], 2);
    assert_eq!(based["summary"]["unchanged"], 1);
    assert_eq!(based["results"][0]["name"], "r");
    assert_eq!(based["results"][0], alone["results"][1]);
}

#[test]
fn an_object_is_not_missed_if_an_input_has_its_content() {
    let repository = Repository::with(&[("apps/a.yaml", &asking("a", "version: 1.0.0"))]);
    let id = repository.git(&["rev-parse", "main:apps/a.yaml"]);
    let object = repository.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    fs::remove_file(object).expect("an object");
    let renamed = repository.path("apps/b.yaml");
    fs::rename(repository.path("apps/a.yaml"), renamed).expect("a file");
    let (code, report) = repository.json("main", &[]);
    assert_eq!(
        (code, &report["summary"]["unchanged"]),
        (0, &1.into()),
        "{report}"
    );
}

const REVIEW: &str = "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  uid: '1'\n  \
    operation: CREATE\n  object:\n    apiVersion: olm.operatorframework.io/v1\n    \
    kind: ClusterExtension\n    metadata: {name: r}\n    \
    spec: {source: {catalog: {packageName: lantern-operator}}}\n";
