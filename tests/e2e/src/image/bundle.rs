//! What stands in a bundle of the format `registry+v1`.

use serde_json::{Map, Value, json};

/// What `metadata/annotations.yaml` and the image's labels say of a bundle.
pub(super) fn annotations(package: &str) -> Map<String, Value> {
    [
        ("mediatype.v1", "registry+v1"),
        ("manifests.v1", "manifests/"),
        ("metadata.v1", "metadata/"),
        ("package.v1", package),
    ]
    .into_iter()
    .map(|(key, value)| {
        let key = format!("operators.operatorframework.io.bundle.{key}");
        (key, Value::from(value))
    })
    .collect()
}

/// A `ClusterServiceVersion` with one Deployment, its name beside its spec.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it becomes a part of what is made"
)]
pub(super) fn service_version(package: &str, name: &str, deployment: Value) -> Value {
    let modes = [
        "OwnNamespace",
        "SingleNamespace",
        "MultiNamespace",
        "AllNamespaces",
    ]
    .map(|mode| json!({ "type": mode, "supported": mode == "AllNamespaces" }));
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": { "name": name, "annotations": {} },
        "spec": {
            "displayName": package,
            "installModes": modes,
            "install": {
                "strategy": "deployment",
                "spec": { "deployments": [deployment] },
            },
        },
    })
}

/// A Deployment that wants no pod, which has the same name in every version.
pub(super) fn deployment(package: &str, version: &str) -> Value {
    let labels = json!({ "app": package });
    json!({
        "name": package,
        "spec": {
            "replicas": 0,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "serviceAccountName": package,
                    "containers": [{ "name": "manager", "image": format!("none/{package}:{version}") }],
                },
            },
        },
    })
}
