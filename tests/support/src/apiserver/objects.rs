//! The objects that olmguard reads.

use serde_json::{Value, json};

/// Their kinds: group and version, plural, and kind.
pub const KINDS: [(&str, &str, &str); 3] = [
    (
        "olm.operatorframework.io/v1",
        "clustercatalogs",
        "ClusterCatalog",
    ),
    (
        "olm.operatorframework.io/v1",
        "clusterextensions",
        "ClusterExtension",
    ),
    ("apps/v1", "deployments", "Deployment"),
];

/// The collection of catalogs.
pub const CATALOGS: &str = "/apis/olm.operatorframework.io/v1/clustercatalogs";
/// The collection of OLM's Deployments.
pub const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/olmv1-system/deployments";

/// Returns a catalog that serves content below `base`. Each number gives another digest.
pub fn catalog(name: &str, digest: u64, base: &str) -> Value {
    let image = format!("registry.example/{name}@sha256:{digest:064x}");
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {"name": name},
        "spec": {"priority": 0, "source": {"type": "Image", "image": {"ref": image}}},
        "status": {
            "conditions": [{"type": "Serving", "status": "True", "reason": "Available"}],
            "resolvedSource": {"type": "Image", "image": {"ref": image}},
            "lastUnpacked": "2026-11-21T10:00:00Z",
            "urls": {"base": base},
        },
    })
}

/// Returns the Deployment of OLM in this release, such as `v1.11.0`.
pub fn operator_controller(release: &str) -> Value {
    let image = format!("registry.example/operator-framework/operator-controller:{release}");
    let container = json!({"name": "manager", "image": image, "command": ["/operator-controller"]});
    let labels = json!({"app.kubernetes.io/name": "operator-controller"});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "operator-controller-controller-manager", "namespace": "olmv1-system",
            "generation": 1,
        },
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    })
}
