//! A cluster with a webhook configuration, and a store in it.

use std::sync::Arc;

use base64_simd::STANDARD as BASE64;
use hyper::Method;
use rustls::pki_types::ServerName;
use serde_json::{Value, json};

use crate::cluster::authority::secret::KEY;
use crate::cluster::authority::{AuthorityPlace, ClusterStore};
use crate::tls::self_managed::tests::world::World;
use olmguard_support::api::ApiServer;

pub(super) const SECRETS: &str = "/api/v1/namespaces/olmguard-system/secrets";
pub(super) const CONFIGURATIONS: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
pub(super) const NAME: &str = "olmguard.olmguard-system.svc";

/// A cluster in which the webhook is configured, and trusted by nobody yet.
pub(super) fn cluster() -> ApiServer {
    let api = ApiServer::start();
    api.serve("v1", "secrets", "Secret");
    let (group, kind) = (
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
    );
    api.serve(group, "validatingwebhookconfigurations", kind);
    api.put(CONFIGURATIONS, configuration());
    api
}

/// Two webhooks of ours, by service and by URL, and one of somebody else between them.
pub(super) fn configuration() -> Value {
    let webhook = |name: &str, client: Value| {
        json!({"name": name, "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 5, "clientConfig": client})
    };
    let service = json!({"name": "olmguard", "namespace": "olmguard-system", "path": "/validate"});
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "olmguard", "labels": {"app": "olmguard"}},
        "webhooks": [
            webhook("a.example.com", json!({"service": service})),
            webhook("b.example.com", json!({"url": "https://other.example.com/validate", "caBundle": "b3RoZXI="})),
            webhook("c.example.com", json!({"url": format!("https://{NAME}:8443/validate")})),
        ],
    })
}

pub(super) fn store(api: &ApiServer) -> ClusterStore {
    store_in(api, place(), &World::new())
}

/// One that goes by the clock of this world.
pub(super) fn store_in(api: &ApiServer, place: AuthorityPlace, world: &World) -> ClusterStore {
    ClusterStore::new(api.client(), place, Arc::clone(&world.clock) as _)
}

pub(super) fn place() -> AuthorityPlace {
    AuthorityPlace {
        namespace: "olmguard-system".to_owned(),
        secret: "olmguard-tls".to_owned(),
        configurations: vec!["olmguard".to_owned()],
        names: names(),
    }
}

pub(super) fn names() -> Vec<ServerName<'static>> {
    vec![ServerName::try_from(NAME).unwrap()]
}

/// The Secret as it is stored.
pub(super) fn secret(api: &ApiServer) -> Value {
    api.object(SECRETS, "olmguard-tls").unwrap()
}

/// What is stored of ours.
pub(super) fn content(api: &ApiServer) -> Vec<u8> {
    decoded(&secret(api)["data"][KEY])
}

/// The configuration as it is stored, and the bundles of its webhooks.
pub(super) fn published(api: &ApiServer) -> (Value, Vec<String>) {
    let stored = api.object(CONFIGURATIONS, "olmguard").unwrap();
    let webhooks = stored["webhooks"].as_array().unwrap().iter();
    let bundles = webhooks
        .map(|webhook| String::from_utf8(decoded(&webhook["clientConfig"]["caBundle"])).unwrap())
        .collect();
    (stored, bundles)
}

/// How often something of this path was asked for with this method.
pub(super) fn asked(api: &ApiServer, method: &Method, path: &str) -> usize {
    let all = api.asked().into_iter();
    all.filter(|asked| asked.method == *method && asked.path.starts_with(path))
        .count()
}

pub(super) fn encoded(bytes: &[u8]) -> String {
    BASE64.encode_to_string(bytes)
}

/// Of what is not there, nothing.
fn decoded(text: &Value) -> Vec<u8> {
    BASE64
        .decode_to_vec(text.as_str().unwrap_or_default())
        .unwrap()
}
