//! First installations, and upgrades with a faulty bundle.

use anyhow::Result;
use serde_json::{Value, json};

use super::bundles::{self, crd, put, smallest, take, with_crd};
use crate::image::bundle::{ANNOTATIONS, BundleSource, CSV};
use crate::registry::Registry;

/// An extension and the bundle that an edit requests.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// The name of the extension, its namespace and its package.
    pub(super) name: &'static str,
    /// Objects that exist in the cluster.
    pub(super) there: Vec<Value>,
    /// The installed bundle.
    pub(super) from: Option<BundleSource>,
    /// The requested bundle.
    pub(super) to: BundleSource,
    /// The reference of the catalog to the image, made from one with a digest.
    pub(super) reference: fn(&str) -> String,
    /// Additional fields of the extension's spec.
    pub(super) spec: Value,
}

/// The installed version and the requested version.
pub(super) const FROM: &str = "1.0.0";
pub(super) const TO: &str = "1.1.0";

impl Case {
    /// Creates a first installation of a changed smallest bundle.
    pub(super) fn new(name: &'static str, change: impl FnOnce(&mut BundleSource)) -> Self {
        let mut to = smallest(name, TO);
        change(&mut to);
        Self::of(name, to)
    }

    pub(super) fn of(name: &'static str, to: BundleSource) -> Self {
        Self {
            name,
            there: Vec::new(),
            from: None,
            to,
            reference: str::to_owned,
            spec: json!({}),
        }
    }

    /// Makes the case an upgrade.
    pub(super) fn from(mut self, from: BundleSource) -> Self {
        self.from = Some(from);
        self
    }

    /// Adds an object to the cluster.
    pub(super) fn there(mut self, object: Value) -> Self {
        self.there.push(object);
        self
    }

    /// Sets another reference in the catalog.
    fn referred(mut self, reference: fn(&str) -> String) -> Self {
        self.reference = reference;
        self
    }

    /// Pushes the images, and returns the blobs of the package.
    pub(super) async fn blobs(&self, registry: &Registry) -> Result<Vec<Value>> {
        let package = self.name;
        let mut blobs = vec![
            json!({ "schema": "olm.package", "name": package, "defaultChannel": "stable" }),
            json!({ "schema": "olm.channel", "package": package, "name": "stable", "entries": [
                { "name": bundles::name(package, FROM) },
                { "name": bundles::name(package, TO), "replaces": bundles::name(package, FROM) },
            ]}),
        ];
        let from = self.from.clone().unwrap_or_else(|| smallest(package, FROM));
        let same: fn(&str) -> String = str::to_owned;
        for (version, source, reference) in [(FROM, &from, same), (TO, &self.to, self.reference)] {
            let pushed = registry
                .push(&format!("bundles/{package}"), &source.image()?)
                .await?;
            let property = json!({ "packageName": package, "version": version });
            blobs.push(json!({
                "schema": "olm.bundle", "package": package, "name": bundles::name(package, version),
                "image": reference(&pushed),
                "properties": [
                    { "type": "olm.package", "value": property },
                    { "type": "olm.csv.metadata", "value": bundles::metadata(source) },
                ],
            }));
        }
        Ok(blobs)
    }
}

/// Returns the cases with the default settings.
pub(super) fn all() -> Vec<Case> {
    [
        images(),
        formats(),
        supported(),
        manifests(),
        of_the_cluster(),
    ]
    .concat()
}

fn images() -> Vec<Case> {
    let plain = |name| Case::new(name, |_| {});
    vec![
        plain("plain"),
        plain("reference-with-tag-and-digest").referred(|image| image.replace('@', ":1@")),
        plain("reference-without-version")
            .referred(|image| image.split('@').next().unwrap_or_default().to_owned()),
        plain("reference-with-capitals").referred(|image| image.replace("bundles", "Bundles")),
        plain("reference-with-short-digest").referred(|image| image[..image.len() - 1].to_owned()),
        plain(CHARACTERS_41),
        plain(CHARACTERS_42),
        plain(CHARACTERS_54),
    ]
}

/// Names that are as long as the label of a Helm release's Secret allows, longer than that, and longer than Helm
/// accepts.
const CHARACTERS_41: &str = "a-name-of-forty-one-characters-is-allowed";
const CHARACTERS_42: &str = "a-name-of-forty-two-characters-is-too-long";
const CHARACTERS_54: &str = "a-name-of-fifty-four-characters-is-more-than-helm-take";

fn formats() -> Vec<Case> {
    let with_file = |name, path, text: &'static str| {
        Case::new(name, |bundle| bundle.files.push((path, text.to_owned())))
    };
    let without = |name, path| Case::new(name, |bundle| bundle.without.push(path));
    vec![
        without("no-annotations", ANNOTATIONS),
        without("no-csv", CSV),
        with_file("a-directory", "manifests/more/a.json", "{}"),
        with_file("a-readme", "manifests/README.md", "Read me.\n"),
        with_file("no-kind", "manifests/a.yaml", "a: b\n"),
        with_file("an-empty-file", "manifests/empty.yaml", ""),
        with_file("two-documents", "manifests/a.yaml", TWO_DOCUMENTS),
        with_file("a-list", "manifests/a.yaml", LIST),
        with_file("other-files", "tests/scorecard.yaml", "a: b\n"),
        Case::new("a-wrong-type", |bundle| {
            put(&mut bundle.csv, "/spec/installModes", json!(5));
        }),
        Case::new("two-csvs", |bundle| {
            let mut first = bundle.csv.clone();
            put(&mut first, "/spec/installModes", json!([]));
            bundle.files.push(("manifests/a.json", first.to_string()));
        }),
        Case::of("upgrade-to-no-csv", {
            let mut bundle = smallest("upgrade-to-no-csv", TO);
            bundle.without.push(CSV);
            bundle
        })
        .from(smallest("upgrade-to-no-csv", FROM)),
    ]
}

const TWO_DOCUMENTS: &str = "\
# Comments are allowed.
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
";

const LIST: &str = "\
{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]}
";

fn supported() -> Vec<Case> {
    let with_modes =
        |name, modes: &[&str]| Case::new(name, |bundle| bundles::support(bundle, modes));
    vec![
        Case::new("an-apiservice", |bundle| {
            let owned = json!({ "owned": [{
                "name": "v1.api.example.com", "group": "api.example.com", "version": "v1", "kind": "Widget",
                "deploymentName": "an-apiservice",
            }] });
            put(&mut bundle.csv, "/spec/apiservicedefinitions", owned);
        }),
        Case::new("a-webhook", |bundle| {
            let webhooks = json!([super::webhooks::webhook("a-webhook")]);
            put(&mut bundle.csv, "/spec/webhookdefinitions", webhooks);
        }),
        with_modes("all-namespaces", &["AllNamespaces"]),
        with_modes("all-and-own", &["AllNamespaces", "OwnNamespace"]),
        with_modes("own-namespace", &["OwnNamespace"]),
        with_modes("several-namespaces", &["MultiNamespace"]),
        with_modes("no-modes", &[]),
    ]
}

fn manifests() -> Vec<Case> {
    let beside = |name, object: Value| Case::new(name, |bundle| bundle.beside.push(object));
    let object = |api_version: &str, kind: &str| json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": "one" } });
    let deployments = "/spec/install/spec/deployments";
    vec![
        beside("a-config-map", object("v1", "ConfigMap")),
        beside("a-service-account", object("v1", "ServiceAccount")),
        beside("a-priority-class", {
            let mut class = object("scheduling.k8s.io/v1", "PriorityClass");
            put(&mut class, "/value", json!(7));
            class
        }),
        beside("a-namespace", object("v1", "Namespace")),
        beside("a-deployment", object("apps/v1", "Deployment")),
        beside("a-custom-resource", object("example.com/v1", "Widget")),
        Case::new("deployment-twice", |bundle| {
            let one = bundle.csv.pointer(&format!("{deployments}/0")).cloned();
            put(
                &mut bundle.csv,
                &format!("{deployments}/-"),
                one.unwrap_or_default(),
            );
        }),
        Case::new("deployment-name", |bundle| {
            put(
                &mut bundle.csv,
                &format!("{deployments}/0/name"),
                json!("-Widget"),
            );
        }),
        Case::new("no-package", |bundle| bundle.package.clear()),
        Case::of(
            "crd-twice",
            with_crd("crd-twice", TO, crd("crd-twice")).beside(crd("crd-twice")),
        ),
        Case::new("crd-missing", |bundle| {
            let with = with_crd("crd-missing", TO, json!({}));
            bundle.csv = with.csv;
        }),
        Case::new("crd-not-owned", |bundle| {
            bundle.beside.push(crd("crd-not-owned"));
        }),
        Case::of("upgrade-to-a-namespace", {
            smallest("upgrade-to-a-namespace", TO).beside(object("v1", "Namespace"))
        })
        .from(smallest("upgrade-to-a-namespace", FROM)),
    ]
}

fn of_the_cluster() -> Vec<Case> {
    let not_served = |name, api_version: &str, kind: &str| {
        let object =
            json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": "one" } });
        Case::new(name, |bundle| bundle.beside.push(object))
    };
    let with_own_crd = |name| Case::of(name, with_crd(name, TO, crd(name)));
    let mut of_another = with_crd("crd-of-another", TO, crd(OWNER));
    take(&mut of_another.csv, "/spec/customresourcedefinitions");
    vec![
        not_served(
            "no-prometheus",
            "monitoring.coreos.com/v1",
            "ServiceMonitor",
        ),
        not_served("no-console", "console.openshift.io/v1", "ConsoleLink"),
        with_own_crd("crd-of-its-own"),
        with_own_crd("crd-of-nobody").there(crd("crd-of-nobody")),
        with_own_crd("crd-of-its-past").there(marked(crd("crd-of-its-past"), "crd-of-its-past")),
        with_own_crd("crd-of-a-past").there(marked(crd("crd-of-a-past"), "some-other")),
        Case::new("deployment-of-nobody", |_| {}).there(deployment_of("deployment-of-nobody")),
        Case::new("deployment-of-its-past", |_| {}).there(marked(
            deployment_of("deployment-of-its-past"),
            "deployment-of-its-past",
        )),
        Case::new("account-of-nobody", |bundle| {
            let permission = json!([{ "serviceAccountName": "account", "rules": [] }]);
            put(
                &mut bundle.csv,
                "/spec/install/spec/permissions",
                permission,
            );
        })
        .there(json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": { "name": "account", "namespace": "account-of-nobody" },
        })),
        Case::new("class-of-nobody", |bundle| {
            bundle.beside.push(class("class-of-nobody"));
        })
        .there(class("class-of-nobody")),
        with_own_crd("new-crd-of-nobody")
            .from(smallest("new-crd-of-nobody", FROM))
            .there(crd("new-crd-of-nobody")),
        with_own_crd("new-crd-of-its-past")
            .from(smallest("new-crd-of-its-past", FROM))
            .there(marked(crd("new-crd-of-its-past"), "new-crd-of-its-past")),
        // This extension owns the CRD that the next one has, too.
        Case::of(OWNER, with_crd(OWNER, TO, crd(OWNER))).from(with_crd(OWNER, FROM, crd(OWNER))),
        Case::of("crd-of-another", of_another),
    ]
}

const OWNER: &str = "owner";

/// Returns the Deployment of a package's smallest bundle, as if another client had created it.
fn deployment_of(package: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": package, "namespace": package },
        "spec": {
            "replicas": 0,
            "selector": { "matchLabels": { "app": package } },
            "template": {
                "metadata": { "labels": { "app": package } },
                "spec": { "containers": [{ "name": "manager", "image": "none/other:1" }] },
            },
        },
    })
}

fn class(name: &str) -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": { "name": name }, "value": 7,
    })
}

/// Marks an object as left behind by a deleted extension.
fn marked(mut object: Value, extension: &str) -> Value {
    put(
        &mut object,
        "/metadata/labels",
        json!({ "app.kubernetes.io/managed-by": "Helm" }),
    );
    put(
        &mut object,
        "/metadata/annotations",
        json!({
            "meta.helm.sh/release-name": extension,
            "meta.helm.sh/release-namespace": extension,
        }),
    );
    object
}
