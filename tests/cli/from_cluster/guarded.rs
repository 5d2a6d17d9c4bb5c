//! A cluster with a healthy webhook, for the doctor.

use axum::http::StatusCode;
use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};

use super::scene::Scene;
use olmguard_support::api_server::EXTENSIONS;

/// A CA and its leaf for the name that API servers use.
pub(super) struct Certificates {
    pub(super) ca: String,
    pub(super) chain: String,
}

pub(super) fn certificates(ca: &str) -> Certificates {
    let (issuer, ca) = authority(ca);
    let key = KeyPair::generate().expect("a key");
    let names = vec!["olmguard.olmguard-system.svc".to_owned()];
    let leaf = CertificateParams::new(names).expect("a name");
    let leaf = leaf.signed_by(&key, &issuer).expect("a leaf");
    Certificates {
        ca: ca.pem(),
        chain: leaf.pem(),
    }
}

fn authority(name: &str) -> (Issuer<'static, KeyPair>, Certificate) {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).expect("a certificate");
    (Issuer::new(params, key), certificate)
}

/// Returns a cluster with a healthy webhook: one replica, reached through the proxy.
pub(super) fn scene() -> Scene {
    let scene = Scene::new();
    let certificates = certificates("guard");
    let api = &scene.api;
    api.put("/version", &version());
    api.put(CONFIGURATION, &configuration(Some(&certificates.ca)));
    api.put(SERVICE, &service());
    api.put(
        SLICES,
        &slices(&json!({"kind": "Pod", "name": "olmguard-1"}), "10.0.0.1"),
    );
    api.put(DEPLOYMENT, &deployment(1));
    let review = json!({
        "kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
        "spec": {}, "status": {"allowed": true},
    });
    api.put(REVIEWS, &review);
    says_of_itself(&scene, PROXY, &certificates.chain);
    let denial =
        format!("admission webhook \"validate.olmguard.dev\" denied the request: {DENIAL}");
    api.answer(
        EXTENSIONS,
        StatusCode::FORBIDDEN,
        &status(403, "Forbidden", &denial),
    );
    scene
}

pub(super) fn says_of_itself(scene: &Scene, prefix: &str, chain: &str) {
    let api = &scene.api;
    let answer = |path: &str, body: &str| {
        api.answer(&format!("{prefix}{path}"), StatusCode::OK, body);
    };
    answer("/readyz", &ready().to_string());
    answer(
        "/metrics",
        &format!("# HELP\nolmguard_build_info{{version=\"{VERSION}\"}} 1\n"),
    );
    answer("/certificate", chain);
}

/// Returns the answer of a ready replica to `/readyz?format=json`.
fn ready() -> Value {
    let check = |name: &str, message: &str, catalogs: Value, olm: Value| json!({"name": name, "ok": true, "message": message, "catalogs": catalogs, "olm": olm});
    let counts = json!({"available": 1, "loaded": 1, "faulty": 0, "heldBack": 0});
    let olm = "OLM 1.11 (image tag v1.11.0), no feature gates";
    json!({
        "schema": "olmguard.readiness/v1", "ready": true, "reason": null,
        "checks": [
            check("certificate", "well", Value::Null, Value::Null),
            check("watch", "watched", Value::Null, Value::Null),
            check("catalogs", "1 of 1 loaded", counts, Value::Null),
            check("olm", olm, Value::Null, json!("found")),
        ],
    })
}

fn version() -> Value {
    json!({
        "major": "1", "minor": "35", "gitVersion": "v1.35.4", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "go1.26", "compiler": "gc", "platform": "linux/amd64",
    })
}

/// Returns the shipped configuration, as an API server returns it.
pub(super) fn configuration(ca: Option<&str>) -> Value {
    let shipped = include_str!("../../../deploy/base/validating-webhook-configuration.yaml");
    let document = olmguard::manifest::documents(shipped.as_bytes()).next();
    let mut object = document.expect("one").expect("YAML").value;
    let webhook = &mut object["webhooks"][0];
    webhook["namespaceSelector"] = json!({});
    webhook["objectSelector"] = json!({});
    webhook["failurePolicy"] = json!("Ignore");
    webhook["timeoutSeconds"] = json!(5);
    if let Some(ca) = ca {
        let bundle = k8s_openapi::ByteString(ca.as_bytes().to_vec());
        webhook["clientConfig"]["caBundle"] = json!(bundle);
    }
    object
}

fn service() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "olmguard"},
        "spec": {"type": "ClusterIP", "ports": [{"name": "https", "port": 443, "targetPort": 9443}]},
    })
}

pub(super) fn slices(target: &Value, address: &str) -> Value {
    let endpoint =
        json!({"addresses": [address], "conditions": {"ready": true}, "targetRef": target});
    json!({"metadata": {}, "items": [
        {"metadata": {"name": "olmguard-x"}, "addressType": "IPv4", "endpoints": [endpoint]},
    ]})
}

pub(super) fn deployment(ready: i32) -> Value {
    let args = ["serve", "--olm-namespace", "olmv1-system"];
    let env = json!([{"name": "OLMGUARD_CERTS", "value": "self-managed"}]);
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "olmguard"},
        "spec": {"replicas": 1, "selector": {}, "template": {"spec": {
            "serviceAccountName": "olmguard", "containers": [{"name": "olmguard", "args": args, "env": env}],
        }}},
        "status": {"readyReplicas": ready, "updatedReplicas": 1},
    })
}

pub(super) fn status(code: u16, reason: &str, message: &str) -> String {
    json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
        "message": message, "code": code,
    })
    .to_string()
}

pub(super) const CONFIGURATION: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/olmguard";
pub(super) const SERVICE: &str = "/api/v1/namespaces/olmguard-system/services/olmguard";
pub(super) const SLICES: &str =
    "/apis/discovery.k8s.io/v1/namespaces/olmguard-system/endpointslices";
pub(super) const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/olmguard-system/deployments/olmguard";
pub(super) const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
pub(super) const PROXY: &str = "/api/v1/namespaces/olmguard-system/pods/olmguard-1:8080/proxy";
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
const DENIAL: &str = "olmguard-doctor: install of any version refused: the catalog selector is not \
    valid [InvalidSelector]\nUse valid keys and values";
