//! Row 15a on faults of a bundle that only give a warning.

use super::*;

#[test]
fn a_kubernetes_that_is_too_old_is_named() {
    let warnings = |needed: &str, found| {
        let contents = newer(&json!({"minKubeVersion": needed}), &[]);
        let objects = ClusterObjects {
            kubernetes: KubernetesVersion::read(found),
            ..ClusterObjects::default()
        };
        upgraded(&cluster(in_cluster(contents, objects))).warnings
    };
    assert_eq!(
        warnings("1.30.0", "v1.29.7+k3s1"),
        [
            "P.v1.1.0 needs Kubernetes 1.30.0, the cluster has 1.29.7; OLM installs it anyway [min-kube-version]"
        ]
    );
    for (needed, found) in [
        ("1.30.0", "v1.30.0-rc.1"),
        ("1.30.0", ""),
        ("", "v1.30.0"),
        ("soon", "v1.30.0"),
    ] {
        assert_eq!(warnings(needed, found), [""; 0], "{needed:?} {found:?}");
    }
}

/// This fault is found without a cluster.
#[test]
fn webhooks_whose_names_are_too_short_are_named() {
    let spec = |names: &[&str]| {
        let webhooks = names.iter().map(|name| {
            json!({"type": "ValidatingAdmissionWebhook", "generateName": name, "deploymentName": "d"})
        });
        json!({"webhookdefinitions": webhooks.collect::<Vec<_>>(),
            "install": {"spec": {"deployments": [{"name": "d"}]}}})
    };
    let gates = ["WebhookProviderCertManager=true"];
    let warnings = |names: &[&str]| {
        let cluster = Cluster::new(Some(&gates), &modes(&["AllNamespaces"]));
        let contents = newer(&spec(names), &[]);
        upgraded(&cluster.with_contents(contents)).warnings
    };
    assert_eq!(
        warnings(&["p.io"]),
        [
            "the API server refuses webhook p.io of P.v1.1.0: a name needs 3 segments [webhook-name-short]"
        ]
    );
    assert_eq!(
        warnings(&["w", "v", "a.b.c", "u.io"]),
        [
            "the API server refuses webhook u.io and 2 more of P.v1.1.0: a name needs 3 segments [webhook-name-short]"
        ]
    );
    assert_eq!(warnings(&["v.p.io"]), [""; 0]);
}

#[test]
fn a_namespace_that_does_not_exist_is_named_before_a_first_installation() {
    let cluster = |missing: &str| {
        let objects = ClusterObjects {
            missing: [NeededObject::Namespace(missing.to_owned())].into(),
            ..ClusterObjects::default()
        };
        cluster(in_cluster(newer(&Value::Null, &[]), objects))
    };
    assert_eq!(
        cluster("ns").created(&Value::Null).warnings,
        ["namespace ns does not exist, and OLM does not create it [namespace-missing]"]
    );
    assert_eq!(cluster("other").created(&Value::Null).warnings, [""; 0]);
    assert_eq!(upgraded(&cluster("ns")).warnings, [""; 0]);
}

#[test]
fn what_an_installation_needs_and_does_not_exist_is_named() {
    let watched = NeededObject::WatchedNamespace("team".to_owned());
    let account = NeededObject::ServiceAccount {
        namespace: "ns".to_owned(),
        name: "installer".to_owned(),
    };
    let objects = ClusterObjects {
        missing: [watched, account].into(),
        ..ClusterObjects::default()
    };
    let cluster = Cluster::new(ON, &modes(&["AllNamespaces", "SingleNamespace"]));
    let cluster = cluster.with_contents(in_cluster(BundleContents::default(), objects));
    let of_watched = "watched namespace team does not exist, and OLM does not create it [watch-namespace-missing]";
    let object = json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": "ext"},
        "spec": {"namespace": "ns", "serviceAccount": {"name": "installer"}, "config": watching("team"),
            "source": {"sourceType": "Catalog", "catalog": {"packageName": "P"}}},
    });
    let new = Extension::recognised(&object).expect("an extension");
    assert_eq!(
        cluster.answer(&new, None, &Installed::Nothing).warnings,
        [
            of_watched,
            "service account installer in namespace ns does not exist, and OLM does not create it \
             [service-account-missing]",
        ]
    );
    let of = |range: &str, config| extension("ext", range, config);
    let other = watching("team");
    let configured = cluster.updated(&of("1.1.0", &Value::Null), &of("1.1.0", &other), "1.1.0");
    assert_eq!(configured.warnings, [of_watched]);
    let moved = cluster.updated(&of("1.0.0", &other), &of("1.1.0", &other), "1.0.0");
    assert_eq!(moved.warnings, [""; 0]);
}

#[test]
fn kinds_that_a_bundle_needs_and_the_cluster_does_not_serve_are_named() {
    let needs = json!({
        "customresourcedefinitions": {"required": [{"name": "ws.example.com", "version": "v1", "kind": "W"}]},
        "nativeAPIs": [{"group": "", "version": "v1", "kind": "Pod"}, {"group": "apps", "version": "v2", "kind": "Set"}],
    });
    let contents = newer(&needs, &[]);
    let cluster = |served: &str| {
        let kinds = contents.required_kinds().into_iter();
        let objects = ClusterObjects {
            unserved: kinds.filter(|kind| !served.contains(&*kind.kind)).collect(),
            ..ClusterObjects::default()
        };
        cluster(in_cluster(contents.clone(), objects))
    };
    let warnings = |served| upgraded(&cluster(served)).warnings;
    assert_eq!(
        warnings("Pod"),
        [
            "P.v1.1.0 needs Set in apps/v2 and 1 other kind, not served by the cluster; OLM installs it anyway [required-api-missing]"
        ]
    );
    assert_eq!(
        warnings("Pod, Set"),
        [
            "P.v1.1.0 needs W in example.com/v1, not served by the cluster; OLM installs it anyway [required-api-missing]"
        ]
    );
    assert_eq!(warnings("Pod, Set, W"), [""; 0]);
}
