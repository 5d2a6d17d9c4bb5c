//! Row 15a with the images of the bundles: their manifests, and the CRDs that they would replace.

mod ahead;
mod cataloged;
mod crds;
mod warned;

use olmguard_catalog::CrdNames;
use olmguard_catalog::olm::{Gates, Rules};
use olmguard_engine::explain::{Answer, PulledImage, answer, installed_images};
use olmguard_engine::extension::{Extension, Installed};
use olmguard_engine::judge::{
    Basis, Edit, ExemptionKind, Policies, Requester, Token, UpgradePolicies,
};
use olmguard_policy::UpgradePolicy;
use olmguard_preflight::KubernetesVersion;
use olmguard_preflight::bundle::RegistryBundle;
use olmguard_preflight::content::{BundleContents, ClusterObjects, NeededObject, UnreadableBundle};
use serde_json::{Value, json};

use super::{Cluster, OFF, ON, UNKNOWN, bundle_of, checks, extension, modes, watching};

/// The release 1.x of the clusters here.
const MINOR: u8 = 11;

const OLD: &str = "example.com/p:1.0.0";

const NEW: &str = "example.com/p:1.1.0";

fn csv(version: &str, spec: &Value) -> Value {
    let mut csv = json!({"kind": "ClusterServiceVersion", "metadata": {"name": format!("P.v{version}")},
        "spec": {"installModes": [{"type": "AllNamespaces", "supported": true}]}});
    let fields = csv["spec"].as_object_mut().expect("a map");
    fields.extend(spec.as_object().cloned().unwrap_or_default());
    csv
}

/// The CRD `ws.example.com` whose objects have these fields, all strings.
fn crd(scope: &str, fields: &[&str]) -> Value {
    let fields = fields
        .iter()
        .map(|field| ((*field).to_owned(), json!({"type": "string"})));
    let fields = Value::Object(fields.collect());
    let schema = json!({"type": "object", "properties": fields});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "ws.example.com"},
        "spec": {"scope": scope, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}})
}

fn bundle(version: &str, spec: &Value, crds: &[Value]) -> RegistryBundle {
    let objects = [csv(version, spec)].into_iter().chain(crds.iter().cloned());
    RegistryBundle::of("P", objects).expect("it has a CSV")
}

/// A catalog without faults of the bundles, with these contents.
fn cluster(contents: BundleContents) -> Cluster {
    Cluster::new(UNKNOWN, &modes(&["AllNamespaces"])).with_contents(contents)
}

/// The contents of 1.1.0 alone.
fn newer(spec: &Value, crds: &[Value]) -> BundleContents {
    BundleContents::of([(NEW.to_owned(), Ok(bundle("1.1.0", spec, crds)))])
}

/// These bundles in a cluster with these objects, whose CRDs are complete.
fn in_cluster(mut contents: BundleContents, objects: ClusterObjects) -> BundleContents {
    for (name, crd) in &objects.crds {
        contents.compare(name, crd, MINOR);
    }
    contents.with_cluster(objects)
}

/// A cluster with these CRDs.
fn there(contents: BundleContents, crd: Option<Value>) -> BundleContents {
    let crds = crd.map(|crd| ("ws.example.com".to_owned(), crd));
    let objects = ClusterObjects {
        crds: crds.into_iter().collect(),
        ..ClusterObjects::default()
    };
    in_cluster(contents, objects)
}

fn unguarded(range: &str) -> Extension {
    let none = json!({"crdUpgradeSafety": {"enforcement": "None"}});
    let object = json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": "ext"},
        "spec": {"namespace": "ns", "install": {"preflight": none},
            "source": {"sourceType": "Catalog", "catalog": {"packageName": "P", "version": range}}},
    });
    Extension::recognised(&object).expect("an extension")
}

/// The answer to the upgrade from 1.0.0 to 1.1.0.
fn upgraded(cluster: &Cluster) -> Answer {
    let of = |range| extension("ext", range, &Value::Null);
    cluster.updated(&of("1.0.0"), &of("1.1.0"), "1.0.0")
}

#[test]
fn manifests_that_validators_refuse_are_denied() {
    let deployments = json!({"install": {"spec": {"deployments": [{"name": "b"}, {"name": "b"}]}}});
    let answer = upgraded(&cluster(newer(&deployments, &[])));
    assert_eq!(
        answer.message.unwrap(),
        "P: 1.0.0 -> 1.1.0 refused: P.v1.1.0 has manifests that OLM refuses: cluster service version contains duplicate \
         strategy deployment spec 'b' [Preflight]\n\
         Check: deployment-names\n\
         The package author must fix the manifests of 1.1.0.\n\
         Catalog: c\n\
         OLM: error for resolved bundle \"P.v1.1.0\" with version \"1.1.0\": cluster service version contains duplicate \
         strategy deployment spec 'b'\n\
         Help: olmguard explain Preflight"
    );
}

#[test]
fn a_fault_that_is_not_certain_hides_none_that_is() {
    let at_1_5 = |deployments: Value| {
        let spec = json!({"install": {"spec": {"deployments": deployments}},
            "installModes": [{"type": "OwnNamespace", "supported": true}]});
        let cluster = Cluster {
            rules: Rules::new("1.5".parse().unwrap(), Gates::default()),
            ..cluster(newer(&spec, &[]))
        };
        let answer = upgraded(&cluster);
        (answer.token, checks(&answer).join(", "))
    };
    // With its feature gate, 1.5 reads the namespace from an annotation too.
    assert_eq!(
        at_1_5(json!([{"name": "b"}])),
        (
            Token::Resolved,
            "install-mode-unsupported, config-required".to_owned()
        )
    );
    assert_eq!(
        at_1_5(json!([{"name": "b"}, {"name": "b"}])),
        (
            Token::Preflight,
            "install-mode-unsupported, deployment-names".to_owned()
        )
    );
}

#[test]
fn the_image_knows_more_than_the_catalog() {
    let webhooks = json!({"webhookdefinitions": [{"generateName": "w", "type": "ValidatingAdmissionWebhook",
        "deploymentName": "d"}], "install": {"spec": {"deployments": [{"name": "d"}]}},
        "installModes": [{"type": "OwnNamespace", "supported": true}]});
    let cluster = cluster(newer(&webhooks, &[]));
    let answer = upgraded(&cluster);
    assert_eq!(answer.token, Token::Preflight);
    assert_eq!(
        checks(&answer),
        [
            "install-mode-unsupported",
            "webhooks-unsupported",
            "config-required"
        ]
    );
    let watching = |range| extension("ext", range, &watching("ns"));
    let answer = cluster.updated(&watching("1.0.0"), &watching("1.1.0"), "1.0.0");
    assert_eq!(
        (answer.token, checks(&answer).as_slice()),
        (
            Token::Resolved,
            &["install-mode-unsupported", "webhooks-unsupported"][..]
        )
    );
}

#[test]
fn a_crd_of_another_owner_is_denied() {
    let contents = newer(&Value::Null, &[crd("Namespaced", &["a"])]);
    let marked = |labels: Value, annotations: Value| {
        let mut crd = crd("Namespaced", &["a"]);
        crd["metadata"]["labels"] = labels;
        crd["metadata"]["annotations"] = annotations;
        cluster(there(contents.clone(), Some(crd)))
    };
    let answer = marked(json!({}), json!({})).created(&Value::Null);
    assert_eq!(
        answer.message.unwrap(),
        "P: install of >=1.0.0 refused: CRD ws.example.com exists, and does not belong to this ClusterExtension \
         [Preflight]\n\
         Check: exists-unowned\n\
         Mark the CRD so that OLM adopts it, as olmguard explain Preflight says. Deleting it deletes all its objects.\n\
         Catalog: c\n\
         Help: olmguard explain Preflight"
    );
    // Helm adopts objects with its marks, Boxcutter does not. Which of them runs is unknown.
    let marks = json!({"meta.helm.sh/release-name": "ext", "meta.helm.sh/release-namespace": "ns"});
    let helm = json!({"app.kubernetes.io/managed-by": "Helm"});
    let answer = marked(helm, marks).created(&Value::Null);
    assert_eq!(
        (answer.token, checks(&answer).as_slice()),
        (Token::Resolved, &["exists-unowned"][..])
    );
    let other = json!({"olm.operatorframework.io/owner-kind": "ClusterExtension",
        "olm.operatorframework.io/owner-name": "other"});
    let answer = upgraded(&marked(other, json!({})));
    assert_eq!(
        answer.message.unwrap(),
        "P: 1.0.0 -> 1.1.0 refused: CRD ws.example.com belongs to ClusterExtension other [Preflight]\n\
         Check: owned-elsewhere\n\
         Only one ClusterExtension can have a CRD. Deleting other also deletes its CRDs and all their objects. \
         If it does not exist any more, mark the CRD as olmguard explain Preflight says.\n\
         Catalog: c\n\
         Help: olmguard explain Preflight"
    );
    // Most CRDs of an installed extension are its own.
    let answer = upgraded(&marked(json!({}), json!({})));
    assert_eq!((answer.token, checks(&answer).len()), (Token::Resolved, 0));
}

/// A cluster in which these objects exist that 1.1.0 would create in `ns`, each with its metadata.
fn with_others(kind: &str, metadata: &Value) -> Cluster {
    let contents = newer(
        &json!({"install": {"spec": {"deployments": [{"name": "manager"}]}}}),
        &[
            json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}),
        ],
    );
    let made = contents.made_of(NEW, "ns").into_iter();
    let others = made
        .filter(|object| object.kind.kind == kind)
        .map(|object| (object, json!({"metadata": metadata})));
    let objects = ClusterObjects {
        others: others.collect(),
        ..ClusterObjects::default()
    };
    assert_eq!(objects.others.len(), 1);
    cluster(in_cluster(contents, objects))
}

#[test]
fn an_object_that_exists_is_not_taken_over() {
    let plain = json!({"name": "manager", "namespace": "ns"});
    let cluster = with_others("Deployment", &plain);
    assert_eq!(
        cluster.created(&Value::Null).message.unwrap(),
        "P: install of >=1.0.0 refused: Deployment ns/manager exists, and does not belong to this ClusterExtension [Preflight]\n\
         Check: exists-unowned\n\
         Delete it, or mark it so that OLM adopts it, as olmguard explain Preflight says.\n\
         Catalog: c\n\
         Help: olmguard explain Preflight"
    );
    // The installed bundle has created the object.
    assert_eq!(upgraded(&cluster).token, Token::Resolved);
}

#[test]
fn boxcutter_adopts_nothing() {
    let needed = |contents: BundleContents| {
        let cluster = Cluster::new(Some(&["BoxcutterRuntime=true"]), &modes(&["AllNamespaces"]));
        let answer = cluster.with_contents(contents).created(&Value::Null);
        assert_eq!(checks(&answer), ["exists-unowned"]);
        answer.message.unwrap().lines().nth(2).map(str::to_owned)
    };
    let plain = json!({"name": "manager", "namespace": "ns"});
    let of_deployment = with_others("Deployment", &plain).snapshot();
    assert_eq!(
        needed(of_deployment.contents().clone()).as_deref(),
        Some("Delete it: with the feature gate BoxcutterRuntime, OLM adopts nothing.")
    );
    let crd = crd("Namespaced", &["a"]);
    let of_crd = there(
        newer(&Value::Null, std::slice::from_ref(&crd)),
        Some(crd.clone()),
    );
    assert_eq!(
        needed(of_crd).as_deref(),
        Some(
            "With the feature gate BoxcutterRuntime, OLM adopts nothing. Deleting the CRD deletes all its objects."
        )
    );
}

#[test]
fn an_object_of_another_extension_is_not_taken_over() {
    let needed = |kind, namespace: Value| {
        let labels = json!({"olm.operatorframework.io/owner-kind": "ClusterExtension",
            "olm.operatorframework.io/owner-name": "other"});
        let metadata = json!({"name": "x", "namespace": namespace, "labels": labels});
        let answer = with_others(kind, &metadata).created(&Value::Null);
        assert_eq!(checks(&answer), ["owned-elsewhere"]);
        let message = answer.message.unwrap();
        let lines: Vec<_> = message.lines().map(str::to_owned).collect();
        [lines[0].clone(), lines[2].clone()]
    };
    assert_eq!(
        needed("Deployment", "ns".into()),
        [
            "P: install of >=1.0.0 refused: Deployment ns/x belongs to ClusterExtension other [Preflight]",
            "Create the ClusterExtension with another spec.namespace.",
        ]
    );
    assert_eq!(
        needed("PriorityClass", Value::Null),
        [
            "P: install of >=1.0.0 refused: PriorityClass x belongs to ClusterExtension other [Preflight]",
            "Only one ClusterExtension can have it: delete other first.",
        ]
    );
}

#[test]
fn a_kind_that_the_cluster_does_not_serve_is_denied() {
    let monitor = json!({"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor", "metadata": {"name": "m"}});
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}});
    let contents = newer(&Value::Null, &[monitor, config]);
    let kinds = contents.kinds();
    assert_eq!(kinds.len(), 2);
    let cluster = |unserved| {
        let objects = ClusterObjects {
            unserved,
            ..ClusterObjects::default()
        };
        cluster(in_cluster(contents.clone(), objects))
    };
    let monitors = kinds.iter().filter(|kind| kind.kind == "ServiceMonitor");
    let answer = upgraded(&cluster(monitors.cloned().collect()));
    assert_eq!(
        answer.message.unwrap(),
        "P: 1.0.0 -> 1.1.0 refused: P.v1.1.0 has an object of kind ServiceMonitor in monitoring.coreos.com/v1, which the \
         cluster does not serve [Preflight]\n\
         Check: kind-not-served\n\
         First install what provides this kind.\n\
         Catalog: c\n\
         Help: olmguard explain Preflight"
    );
    let answer = upgraded(&cluster(std::collections::BTreeSet::new()));
    assert_eq!(answer.token, Token::Resolved);
}

#[test]
fn webhooks_need_cert_manager_where_it_gives_their_certificates() {
    let webhooks = json!({"webhookdefinitions": [{"generateName": "w.example.com", "type": "ValidatingAdmissionWebhook",
        "deploymentName": "d"}], "install": {"spec": {"deployments": [{"name": "d"}]}}});
    let contents = newer(&webhooks, &[]);
    let unserved = contents.kinds();
    let objects = ClusterObjects {
        unserved,
        ..ClusterObjects::default()
    };
    let contents = in_cluster(contents, objects);
    let gates = |gates: &'static [&'static str]| {
        let cluster = Cluster::new(Some(gates), &modes(&["AllNamespaces"]));
        upgraded(&cluster.with_contents(contents.clone()))
    };
    let answer = gates(&[]);
    assert_eq!(
        answer.message.unwrap(),
        "P: 1.0.0 -> 1.1.0 refused: P.v1.1.0 has webhooks, and the cluster has no cert-manager for their certificates \
         [Preflight]\n\
         Check: webhook-provider-missing\n\
         First install cert-manager.\n\
         Catalog: c\n\
         Help: olmguard explain Preflight"
    );
    let service_ca = gates(&[
        "WebhookProviderCertManager=false",
        "WebhookProviderOpenshiftServiceCA=true",
    ]);
    assert_eq!(service_ca.token, Token::Resolved);
}

#[test]
fn boxcutter_makes_crds_before_their_objects_and_helm_does_not() {
    let mut own = crd("Namespaced", &["a"]);
    own["spec"]["group"] = "monitoring.coreos.com".into();
    own["spec"]["names"] = json!({"kind": "ServiceMonitor"});
    let monitor = json!({"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor", "metadata": {"name": "m"}});
    let contents = newer(&Value::Null, &[own, monitor]);
    let kinds = contents.kinds().into_iter();
    let objects = ClusterObjects {
        unserved: kinds.filter(|kind| kind.kind == "ServiceMonitor").collect(),
        ..ClusterObjects::default()
    };
    let contents = in_cluster(contents, objects);
    for (gates, token) in [
        (&[][..], Token::Preflight),
        (&["BoxcutterRuntime=true"], Token::Resolved),
    ] {
        let cluster = Cluster::new(Some(gates), &modes(&["AllNamespaces"]));
        let answer = upgraded(&cluster.with_contents(contents.clone()));
        assert_eq!(answer.token, token, "{gates:?}");
    }
}

#[test]
fn a_revision_of_boxcutter_has_at_most_fifty_objects_in_a_phase() {
    let map = |at| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("m{at}")}});
    let maps = |count: usize| newer(&Value::Null, &(0..count).map(map).collect::<Vec<_>>());
    let answer = |gates: Option<&[&str]>, count| {
        let cluster = Cluster::new(gates, &modes(&["AllNamespaces"]));
        upgraded(&cluster.with_contents(maps(count)))
    };
    let on: Option<&[&str]> = Some(&["BoxcutterRuntime=true"]);
    assert_eq!(
        answer(on, 51).message.unwrap(),
        "P: 1.0.0 -> 1.1.0 refused: P.v1.1.0 makes more than 50 objects in one phase, and OLM accepts no more [Preflight]\n\
         Check: revision-too-many-objects\n\
         Only a version with fewer objects in this phase can be installed.\n\
         Catalog: c\n\
         Help: olmguard explain Preflight"
    );
    for (gates, count, token, found) in [
        (on, 50, Token::Resolved, 0),
        (OFF, 51, Token::Resolved, 0),
        (UNKNOWN, 51, Token::Resolved, 1),
    ] {
        let answer = answer(gates, count);
        assert_eq!(
            (answer.token, answer.checks.len()),
            (token, found),
            "{gates:?}"
        );
    }
}

#[test]
fn an_edit_that_ends_the_bypass_and_sets_a_configuration_is_checked() {
    let cluster = cluster(BundleContents::default());
    let bypassed = |config: &Value| {
        let object = json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": "ext"},
            "spec": {"namespace": "ns", "config": config, "source": {"sourceType": "Catalog",
                "catalog": {"packageName": "P", "version": "1.1.0", "upgradeConstraintPolicy": "SelfCertified"}}},
        });
        Extension::recognised(&object).expect("an extension")
    };
    let old = bypassed(&Value::Null);
    let of = |config: &Value| extension("ext", "1.1.0", config);
    let answer = cluster.updated(&old, &of(&watching("ns")), "1.0.0");
    assert_eq!(
        (answer.token, checks(&answer).as_slice()),
        (Token::Preflight, &["config-invalid"][..])
    );
    let answer = cluster.updated(&old, &of(&Value::Null), "1.0.0");
    assert_eq!(answer.exemption.unwrap().kind, ExemptionKind::Stricter);
}

/// The fault of the bundle is a warning, and does not hide a rule.
#[test]
fn an_edit_that_ends_the_bypass_is_denied_by_rules_and_by_no_fault_of_the_bundle() {
    let monitor = json!({"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor", "metadata": {"name": "m"}});
    let contents = newer(&Value::Null, &[monitor]);
    let objects = ClusterObjects {
        unserved: contents.kinds(),
        ..ClusterObjects::default()
    };
    let cluster = cluster(in_cluster(contents, objects));
    let of = |bypass: &str| {
        let object = json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": "ext"},
            "spec": {"namespace": "ns", "source": {"sourceType": "Catalog",
                "catalog": {"packageName": "P", "version": "1.1.0", "upgradeConstraintPolicy": bypass}}},
        });
        Extension::recognised(&object).expect("an extension")
    };
    let answered = |policies: &Policies| {
        let snapshot = cluster.snapshot();
        let basis = Basis {
            snapshot: &snapshot,
            policies,
        };
        let edit = Edit {
            new: &of("CatalogProvided"),
            old: Some(&of("SelfCertified")),
            installed: &bundle_of("1.0.0"),
            schema: &[],
            requester: Requester::unknown(),
        };
        answer(basis, &edit)
    };
    let allowed = answered(&Policies::default());
    assert_eq!(allowed.exemption.unwrap().kind, ExemptionKind::Stricter);
    assert_eq!(
        allowed.warnings,
        [
            "OLM will not install this: P.v1.1.0 has an object of kind Serv...itor in moni...m/v1, which the cluster does \
             not serv..."
        ]
    );
    let policy = json!({"apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy", "metadata": {"name": "p"},
        "spec": {"rules": {"versions": {"deny": "1.1.0"}}}});
    let denied = answered(&Policies {
        upgrades: UpgradePolicies::of([UpgradePolicy::read(&policy)]),
        ..Policies::default()
    });
    assert_eq!(denied.token, Token::Policy);
}

/// While another bundle is installed, only a fault of the configuration itself denies it.
#[test]
fn a_configuration_is_not_denied_for_a_bundle_that_it_does_not_request() {
    let contents = there(
        newer(
            &modes(&["AllNamespaces", "SingleNamespace"]),
            &[crd("Cluster", &["a"])],
        ),
        Some(crd("Namespaced", &["a"])),
    );
    let cluster = Cluster::new(ON, &modes(&["AllNamespaces"])).with_contents(contents);
    let of = |config: &Value| extension("ext", ">=1.0.0", config);
    let answer = cluster.updated(&of(&Value::Null), &of(&watching("a")), "1.0.0");
    assert_eq!(checks(&answer), ["crd-scope"]);
    assert_eq!(answer.exemption.unwrap().kind, ExemptionKind::Reconfigured);
    let answer = cluster.updated(&of(&Value::Null), &of(&watching("A")), "1.0.0");
    assert_eq!(
        (answer.token, checks(&answer).as_slice()),
        (Token::Preflight, &["config-invalid"][..])
    );
}

/// The fault was there before the edit, and the edit does not change it.
#[test]
fn a_configuration_is_not_denied_for_a_fault_of_the_installed_bundle() {
    let mut facts = modes(&["AllNamespaces"]);
    facts["apiServiceDefinitions"] =
        json!({"owned": [{"name": "a", "group": "g", "version": "v1", "kind": "K"}]});
    let cluster = Cluster::new(ON, &facts);
    let of = |config: &Value| extension("ext", "1.1.0", config);
    let unset = cluster.updated(&of(&watching("ns")), &of(&Value::Null), "1.1.0");
    assert_eq!(checks(&unset), ["apiservices-unsupported"]);
    assert_eq!(unset.exemption.unwrap().kind, ExemptionKind::Reconfigured);
    let moved = cluster.updated(
        &extension("ext", "1.0.0", &Value::Null),
        &of(&Value::Null),
        "1.0.0",
    );
    assert_eq!(moved.token, Token::Preflight);
}

#[test]
fn the_images_are_those_of_the_resolved_and_of_the_installed_bundle() {
    let cluster = cluster(BundleContents::default());
    let of = |answer: &Answer| {
        let installed = installed_images(&cluster.snapshot(), answer);
        (
            answer.image.clone(),
            installed.into_iter().collect::<Vec<_>>(),
        )
    };
    let pulled = |first_in: Option<&str>| {
        Some(PulledImage {
            reference: NEW.to_owned(),
            crds: CrdNames::default(),
            first_in: first_in.map(str::to_owned),
            needs: first_in
                .map(|namespace| NeededObject::Namespace(namespace.to_owned()))
                .into_iter()
                .collect(),
        })
    };
    let both = (pulled(None), vec![OLD.to_owned()]);
    assert_eq!(of(&upgraded(&cluster)), both);
    // An edit that only changes whether CRDs are compared needs the images too.
    let strict = extension("ext", ">=1.0.0", &Value::Null);
    let on = cluster.updated(&unguarded(">=1.0.0"), &strict, "1.0.0");
    assert_eq!(
        on.exemption.as_ref().unwrap().kind,
        ExemptionKind::Reconfigured
    );
    assert_eq!(of(&on), both);
    assert_eq!(
        of(&cluster.created(&Value::Null)),
        (pulled(Some("ns")), vec![])
    );
    let refused = extension("ext", "9.0.0", &Value::Null);
    let refused = cluster.answer(&refused, None, &Installed::Nothing);
    assert_eq!(refused.image, None);
    let invalid = json!({"image": "team/p:1", "installModes": [{"type": "AllNamespaces", "supported": true}]});
    let invalid = Cluster::new(UNKNOWN, &invalid).created(&Value::Null);
    assert_eq!((invalid.token, invalid.image), (Token::Preflight, None));
    let stays = |range| extension("ext", range, &Value::Null);
    let stays = cluster.updated(&stays("1.0.0"), &stays("1.1.0"), "1.1.0");
    assert_eq!(stays.image, None);
}

#[test]
fn an_image_without_a_bundle_is_denied() {
    let why = "image/manifests: no ClusterServiceVersion found in \"manifests\"";
    let contents = BundleContents::of([(NEW.to_owned(), Err(UnreadableBundle::new(why)))]);
    let answer = upgraded(&cluster(contents));
    assert_eq!(
        answer.message.unwrap(),
        "P: 1.0.0 -> 1.1.0 refused: the image of P.v1.1.0 has no bundle that OLM can read: image/manifests: no \
         ClusterServiceVersion found in \"manifests\" [Preflight]\n\
         Check: bundle-format\n\
         The package author must fix the manifests of 1.1.0.\n\
         Catalog: c\n\
         Help: olmguard explain Preflight"
    );
}
