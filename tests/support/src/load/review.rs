//! An admission review of some 6 KB, as an API server sends it: an update with managed fields, the
//! annotation of `kubectl apply`, and the object before and after.

use serde_json::{Value, json};

/// The uid of each review.
pub const UID: &str = "705ab4f5-6393-11e8-b7cc-42010a800002";

/// The uid as an answer contains it.
pub const UID_TOLD: &str = r#""uid":"705ab4f5-6393-11e8-b7cc-42010a800002""#;

/// An edit of an extension.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    pub package: &'a str,
    pub catalog: &'a str,
    /// The installed bundle and its version.
    pub installed: (&'a str, &'a str),
    /// The requested version. If it is the installed one, the edit changes a label.
    pub wanted: &'a str,
}

/// Returns the bytes of a request that posts this body.
pub fn post(body: &str) -> Vec<u8> {
    format!(
        "POST /validate?timeout=5s HTTP/1.1\r\nhost: olmguard.olmguard-system.svc:443\r\n\
         user-agent: kube-apiserver-admission\r\naccept: application/json, */*\r\n\
         content-type: application/json\r\naccept-encoding: gzip\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

impl Edit<'_> {
    /// Returns the body of the review.
    pub fn review(&self) -> String {
        let is_label = self.wanted == self.installed.1;
        let team = if is_label { "delivery" } else { BEFORE };
        let kind = json!({"group": GROUP, "version": "v1", "kind": "ClusterExtension"});
        let resource = json!({"group": GROUP, "version": "v1", "resource": "clusterextensions"});
        json!({
            "kind": "AdmissionReview",
            "apiVersion": "admission.k8s.io/v1",
            "request": {
                "uid": UID,
                "kind": kind,
                "resource": resource,
                "requestKind": kind,
                "requestResource": resource,
                "name": self.package,
                "operation": "UPDATE",
                "userInfo": {
                    "username": "system:serviceaccount:argocd:argocd-application-controller",
                    "uid": "c9f4f7b4-2f0e-4a56-9d53-6a2f3c6c9f10",
                    "groups": ["system:serviceaccounts", "system:authenticated"],
                },
                "object": self.object(self.wanted, 8, team),
                "oldObject": self.object(self.installed.1, 7, BEFORE),
                "dryRun": false,
                "options": {
                    "kind": "PatchOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "kubectl-client-side-apply",
                },
            }
        })
        .to_string()
    }

    fn object(&self, version: &str, generation: u32, team: &str) -> Value {
        let applied = json!({
            "apiVersion": API_VERSION, "kind": "ClusterExtension",
            "metadata": {"annotations": {}, "name": self.package},
            "spec": self.spec(version),
        });
        json!({
            "apiVersion": API_VERSION,
            "kind": "ClusterExtension",
            "metadata": {
                "name": self.package,
                "uid": "0b7b3f9e-8a2f-4f6c-b5f6-2f3f0c4f1d7a",
                "resourceVersion": "184467",
                "generation": generation,
                "creationTimestamp": "2026-03-01T08:15:00Z",
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()},
                "labels": {"app.kubernetes.io/managed-by": "argocd", "team": team},
                "finalizers": [
                    "olm.operatorframework.io/cleanup-contentmanager-cache",
                    "olm.operatorframework.io/cleanup-unpack-cache",
                ],
                "managedFields": [by_apply(), by_controller()],
            },
            "spec": self.spec(version),
            "status": self.status(),
        })
    }

    fn spec(&self, version: &str) -> Value {
        json!({
            "namespace": format!("{}-system", self.package),
            "serviceAccount": {"name": format!("{}-installer", self.package)},
            "source": {"sourceType": "Catalog", "catalog": {
                "packageName": self.package,
                "version": version,
                "selector": {"matchLabels": {"olm.operatorframework.io/metadata.name": self.catalog}},
                "upgradeConstraintPolicy": "CatalogProvided",
            }},
        })
    }

    fn status(&self) -> Value {
        let (bundle, version) = self.installed;
        let message = format!(
            "Installed bundle registry.example/{}/bundle successfully",
            self.package
        );
        let condition = |kind: &str, status: &str, reason: &str, message: &str| {
            json!({
                "type": kind, "status": status, "reason": reason, "message": message,
                "lastTransitionTime": "2026-03-01T08:16:12Z", "observedGeneration": 7,
            })
        };
        json!({
            "conditions": [
                condition("Deprecated", "False", "Deprecated", ""),
                condition("PackageDeprecated", "False", "Deprecated", ""),
                condition("ChannelDeprecated", "False", "Deprecated", ""),
                condition("BundleDeprecated", "False", "Deprecated", ""),
                condition("Installed", "True", "Succeeded", &message),
                condition("Progressing", "True", "Succeeded", "desired state reached"),
            ],
            "install": {"bundle": {"name": bundle, "version": version}},
        })
    }
}

fn by_apply() -> Value {
    json!({
        "manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": API_VERSION,
        "time": "2026-03-01T08:15:00Z", "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:metadata": {"f:annotations": {".": {}, "f:kubectl.kubernetes.io/last-applied-configuration": {}},
                "f:labels": {".": {}, "f:app.kubernetes.io/managed-by": {}, "f:team": {}}},
            "f:spec": {".": {}, "f:namespace": {}, "f:serviceAccount": {".": {}, "f:name": {}},
                "f:source": {".": {}, "f:catalog": {".": {}, "f:packageName": {}, "f:selector": {},
                    "f:upgradeConstraintPolicy": {}, "f:version": {}}, "f:sourceType": {}}},
        },
    })
}

fn by_controller() -> Value {
    json!({
        "manager": "operator-controller", "operation": "Update", "apiVersion": API_VERSION,
        "time": "2026-03-01T08:16:12Z", "fieldsType": "FieldsV1", "subresource": "status",
        "fieldsV1": {"f:status": {".": {},
            "f:conditions": {".": {},
                "k:{\"type\":\"Installed\"}": {".": {}, "f:lastTransitionTime": {}, "f:message": {},
                    "f:observedGeneration": {}, "f:reason": {}, "f:status": {}, "f:type": {}},
                "k:{\"type\":\"Progressing\"}": {".": {}, "f:lastTransitionTime": {}, "f:message": {},
                    "f:observedGeneration": {}, "f:reason": {}, "f:status": {}, "f:type": {}}},
            "f:install": {".": {}, "f:bundle": {".": {}, "f:name": {}, "f:version": {}}}}},
    })
}

/// The team in the label before the edit.
const BEFORE: &str = "platform";
const GROUP: &str = "olm.operatorframework.io";
const API_VERSION: &str = "olm.operatorframework.io/v1";
