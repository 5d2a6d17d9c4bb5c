//! The content of a bundle in the format `registry+v1`.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::Image;

/// The source of a bundle image. It can contain faults on purpose.
#[derive(Debug, Clone)]
pub(crate) struct BundleSource {
    /// The package in its annotations.
    pub(crate) package: String,
    /// The `ClusterServiceVersion`.
    pub(crate) csv: Value,
    /// Additional objects, each in its own file.
    pub(crate) beside: Vec<Value>,
    /// Other files by their paths, which can replace those above.
    pub(crate) files: Vec<(&'static str, String)>,
    /// Files to omit.
    pub(crate) without: Vec<&'static str>,
}

impl BundleSource {
    /// Creates the smallest bundle that can be installed.
    pub(crate) fn new(package: &str, name: &str, version: &str) -> Self {
        Self::of(package, name, deployment(package, version))
    }

    /// Creates a bundle with this Deployment, given by its name and spec.
    pub(crate) fn of(package: &str, name: &str, deployment: Value) -> Self {
        Self {
            package: package.to_owned(),
            csv: service_version(package, name, deployment),
            beside: Vec::new(),
            files: Vec::new(),
            without: Vec::new(),
        }
    }

    /// Adds an object.
    pub(crate) fn beside(mut self, object: Value) -> Self {
        self.beside.push(object);
        self
    }

    /// Builds the image.
    pub(crate) fn image(&self) -> Result<Image> {
        let annotations = annotations(&self.package);
        let named = json!({ "annotations": annotations }).to_string();
        let mut files = vec![
            (CSV.to_owned(), self.csv.to_string()),
            (ANNOTATIONS.to_owned(), named),
        ];
        let beside = self.beside.iter().enumerate();
        files.extend(beside.map(|(at, it)| (format!("manifests/beside{at}.json"), it.to_string())));
        files.extend(
            self.files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), text.clone())),
        );
        files.retain(|(path, _)| !self.without.contains(&path.as_str()));
        let files: Vec<(&str, &[u8])> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_bytes()))
            .collect();
        let labels: Vec<(&str, &str)> = annotations
            .iter()
            .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
            .collect();
        Image::new(&files, &labels)
    }
}

/// The path of the `ClusterServiceVersion`.
pub(crate) const CSV: &str = "manifests/csv.json";

/// The path of the annotations.
pub(crate) const ANNOTATIONS: &str = "metadata/annotations.yaml";

/// Returns the annotations in `metadata/annotations.yaml` and in the image's labels.
fn annotations(package: &str) -> Map<String, Value> {
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

/// Returns a `ClusterServiceVersion` with one Deployment, given by its name and spec.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it becomes a part of what is made"
)]
fn service_version(package: &str, name: &str, deployment: Value) -> Value {
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

/// Returns a Deployment without pods, which has the same name in every version.
fn deployment(package: &str, version: &str) -> Value {
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
