//! The cost of comparing the CRDs of a bundle with earlier CRDs: 200 CRDs of 300 KB, read and compared. Also the cost
//! of an answer with the contents of bundle images and the CRDs of the cluster, in turns with answers without images.

use std::hint::black_box;

use olmguard_figures::{Aim, Figure, Unit};
use olmguard_preflight::bundle::RegistryBundle;
use olmguard_preflight::content::{
    BundleContents, ClusterObjects, UnreadableBundle, owned as owned_by,
};
use olmguard_preflight::crd::{ComparedCrd, ComparisonBudget, CrdGeneration, compare};
use serde_json::{Map, Value, json};

use crate::policies;
use crate::run::Run;
use crate::turns::each;

pub(crate) fn measure(run: &Run) {
    crds(run);
    answers(run);
}

fn crds(run: &Run) {
    let generation = CrdGeneration::of(11);
    let (old, new) = (crd(9), crd(8));
    let size = old.to_string().len();
    assert!((300_000..320_000).contains(&size), "{size} bytes");
    let count = run.count(200, 1);
    let seconds = each(run, || {
        for _ in 0..count {
            let read = |object| ComparedCrd::read(object).expect("a CRD");
            let compared = compare(
                &read(black_box(&old)),
                &read(&new),
                generation,
                &mut ComparisonBudget::default(),
            );
            let compared = compared.expect("within the limits");
            assert!(!compared.worst_first().is_empty(), "a bound has changed");
        }
    });
    run.note(&Figure {
        aim: Some(Aim::AtMost(200.0)),
        ..run.figure(
            "200 CRDs of 300 KB, each with one stricter bound",
            Unit::Milliseconds,
            seconds * 1e3,
        )
    });
}

fn answers(run: &Run) {
    let without = policies::snapshot_of_chain();
    let with = policies::snapshot_of_chain().with_contents(contents());
    for (case, version, token) in [
        ("an upgrade that is allowed", "1.1.0", "Resolved"),
        ("a range of 30 steps", ">=1.0.0 <2", "Resolved"),
        (
            "a version without an upgrade edge",
            "1.30.0",
            "NotASuccessor",
        ),
    ] {
        let ask = |snapshot| policies::ask_of_chain(run, snapshot, version, token);
        let (mut few, mut many) = (Vec::new(), Vec::new());
        for _ in 0..run.count(5, 1) {
            few.extend(ask(&without));
            many.extend(ask(&with));
        }
        policies::note(run, &format!("{case}, without images"), few);
        policies::note(run, &format!("{case}, with images and a cluster"), many);
    }
}

/// A bundle of 20 CRDs, ten permissions and five webhooks, and the same CRDs in the cluster.
fn contents() -> BundleContents {
    let named = |at: usize| format!("lanterns{at}.example.com");
    let crds = (0..20).map(|at| {
        let mut crd = crd(9);
        crd["metadata"]["name"] = named(at).into();
        crd
    });
    let crds: Vec<_> = crds.collect();
    let owned: Vec<_> = (0..20).map(|at| json!({"name": named(at)})).collect();
    let permission = json!({"serviceAccountName": "manager", "rules": []});
    let webhooks = (0..5).map(|at| {
        json!({"type": "ValidatingAdmissionWebhook", "generateName": format!("v{at}.lanterns.example.com"), "deploymentName": "manager"})
    });
    let csv = json!({"kind": "ClusterServiceVersion", "metadata": {"name": "chain"}, "spec": {
        "installModes": [{"type": "AllNamespaces", "supported": true}],
        "customresourcedefinitions": {"owned": owned},
        "webhookdefinitions": webhooks.collect::<Vec<_>>(),
        "install": {"spec": {
            "deployments": [{"name": "manager"}],
            "clusterPermissions": vec![permission; 10],
        }},
    }});
    let bundle = RegistryBundle::of("chain-operator", crds.iter().cloned().chain([csv]));
    let bundle = bundle.map_err(|error| UnreadableBundle::new(&error.to_string()));
    let mut contents = BundleContents::of([(policies::CHAIN_IMAGE.to_owned(), bundle)]);
    for (at, crd) in crds.iter().enumerate() {
        contents.compare(&named(at), crd, 11);
    }
    let marked = |crd: &Value| {
        let mut crd = owned_by(crd);
        crd["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "Helm"});
        crd["metadata"]["annotations"] =
            json!({"meta.helm.sh/release-name": "odh", "meta.helm.sh/release-namespace": "odh"});
        crd
    };
    let crds = crds
        .iter()
        .enumerate()
        .map(|(at, crd)| (named(at), marked(crd)));
    contents.with_cluster(ClusterObjects {
        crds: crds.collect(),
        ..ClusterObjects::default()
    })
}

/// A CRD with a large schema, in which one field has this maximum.
fn crd(maximum: u32) -> Value {
    let mut spec = properties(2);
    spec.insert(
        "size".to_owned(),
        json!({"type": "integer", "maximum": maximum}),
    );
    let schema =
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "lanterns.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Lantern", "plural": "lanterns"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
        "status": {"storedVersions": ["v1"]},
    })
}

/// Fields like those of a pod template: a few levels of objects, with leaves of all types and descriptions.
fn properties(levels: u32) -> Map<String, Value> {
    let fields = (0..FIELDS).map(|number| {
        let description = format!("What field {number} means to the operator, in a sentence of usual length.");
        let field = match number % 4 {
            _ if levels > 0 && number < FIELDS / 2 => json!({
                "type": "object", "description": description, "properties": properties(levels - 1),
            }),
            0 => json!({"type": "string", "description": description, "maxLength": 253, "pattern": "^[a-z]"}),
            1 => json!({"type": "integer", "description": description, "minimum": 0, "maximum": 9}),
            2 => json!({"type": "array", "description": description, "items": {"type": "string"}, "maxItems": 8}),
            _ => json!({"type": "string", "description": description, "enum": ["Always", "Never"]}),
        };
        (format!("field{number}"), field)
    });
    fields.collect()
}

const FIELDS: u32 = 20;
