//! Replicas that share a cluster, and the effects on its objects.

mod replicas;

use std::sync::Arc;
use std::time::Duration;

use base64_simd::STANDARD as BASE64;
use hyper::{Method, StatusCode};
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cluster::authority::{AuthorityPlace, ClusterStore, KEY};
use olmguard_server::tls::self_managed::{BundleReaders, Store, StoreError, StoreVersion};
use olmguard_server::tls::test_util::TestClock;
use olmguard_support::api::{ApiServer, Asked, Trouble};
use replicas::{A_LOOK, bundle, replica};

// === A cluster with a webhook configuration, and a store in it ===

const SECRETS: &str = "/api/v1/namespaces/olmguard-system/secrets";

const CONFIGURATIONS: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

const NAME: &str = "olmguard.olmguard-system.svc";

/// Returns a cluster in which the webhook is configured but not yet trusted.
fn cluster() -> ApiServer {
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

/// Returns two of our webhooks, by service and by URL, with a foreign one between them.
fn configuration() -> Value {
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

fn store(api: &ApiServer) -> ClusterStore {
    store_in(api, place(), &new_clock())
}

/// Returns a store that uses this clock.
fn store_in(api: &ApiServer, place: AuthorityPlace, clock: &Arc<TestClock>) -> ClusterStore {
    ClusterStore::new(api.client(), place, Arc::clone(clock) as _)
}

fn new_clock() -> Arc<TestClock> {
    Arc::new(TestClock::ahead(0))
}

fn place() -> AuthorityPlace {
    AuthorityPlace {
        namespace: "olmguard-system".to_owned(),
        secret: "olmguard-tls".to_owned(),
        configurations: vec!["olmguard".to_owned()],
        names: names(),
    }
}

fn names() -> Vec<ServerName<'static>> {
    vec![ServerName::try_from(NAME).unwrap()]
}

/// Returns the stored Secret.
fn secret(api: &ApiServer) -> Value {
    api.object(SECRETS, "olmguard-tls").unwrap()
}

/// Returns our stored content.
fn content(api: &ApiServer) -> Vec<u8> {
    decoded(&secret(api)["data"][KEY])
}

/// Returns the stored configuration, and the bundles of its webhooks.
fn published(api: &ApiServer) -> (Value, Vec<String>) {
    let stored = api.object(CONFIGURATIONS, "olmguard").unwrap();
    let webhooks = stored["webhooks"].as_array().unwrap().iter();
    let bundles = webhooks
        .map(|webhook| String::from_utf8(decoded(&webhook["clientConfig"]["caBundle"])).unwrap())
        .collect();
    (stored, bundles)
}

/// Returns how often this path was requested with this method.
fn asked(api: &ApiServer, method: &Method, path: &str) -> usize {
    let all = api.asked().into_iter();
    all.filter(|asked| asked.method == *method && asked.path.starts_with(path))
        .count()
}

fn encoded(bytes: &[u8]) -> String {
    BASE64.encode_to_string(bytes)
}

/// Decodes a value; empty if it is missing.
fn decoded(text: &Value) -> Vec<u8> {
    BASE64
        .decode_to_vec(text.as_str().unwrap_or_default())
        .unwrap()
}

// === The parts of each object that are read and written ===

fn is_conflict(ended: &Result<StoreVersion, StoreError>) -> bool {
    matches!(ended, Err(StoreError::Conflict))
}

#[tokio::test]
async fn what_is_stored_is_read_back_with_its_version() {
    let api = cluster();
    let store = store(&api);
    assert!(store.load().await.unwrap().is_none());
    let first = store.create(b"one").await.unwrap();
    let loaded = store.load().await.unwrap().unwrap();
    assert_eq!(
        (&loaded.content[..], &loaded.version),
        (&b"one"[..], &first)
    );
    let second = store.replace(&first, b"two").await.unwrap();
    let loaded = store.load().await.unwrap().unwrap();
    assert_eq!(
        (&loaded.content[..], &loaded.version),
        (&b"two"[..], &second)
    );
    assert_eq!(secret(&api)["type"], "Opaque");
}

#[tokio::test]
async fn whoever_comes_second_is_told() {
    let api = cluster();
    let store = store(&api);
    let first = store.create(b"one").await.unwrap();
    assert!(is_conflict(&store.create(b"other").await));
    store.replace(&first, b"two").await.unwrap();
    assert!(is_conflict(&store.replace(&first, b"other").await));
    assert_eq!(content(&api), b"two");
    api.delete(SECRETS, "olmguard-tls");
    let gone = store.replace(&StoreVersion("7".to_owned()), b"other").await;
    assert!(is_conflict(&gone), "deleted meanwhile");
}

/// A Secret that was created beforehand, for its labels or its owner, counts as empty.
#[tokio::test]
async fn a_secret_of_others_keeps_what_is_theirs() {
    let api = cluster();
    api.put(
        SECRETS,
        json!({"metadata": {"name": "olmguard-tls", "labels": {"team": "a"}},
            "type": "Opaque", "data": {"theirs": encoded(b"x")}}),
    );
    let store = store(&api);
    let empty = store.load().await.unwrap().unwrap();
    assert!(empty.content.is_empty());
    store.replace(&empty.version, b"ours").await.unwrap();
    let stored = secret(&api);
    assert_eq!(stored["metadata"]["labels"], json!({"team": "a"}));
    let expected = json!({"theirs": encoded(b"x"), KEY: encoded(b"ours")});
    assert_eq!(stored["data"], expected);
}

#[tokio::test]
async fn the_bundle_is_put_into_the_webhooks_of_ours_and_nothing_else_is_touched() {
    let api = cluster();
    let store = store(&api);
    store.publish("bundle").await.unwrap();
    let (stored, bundles) = published(&api);
    assert_eq!(bundles, ["bundle", "other", "bundle"]);
    let mut expected = configuration();
    expected["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
    for at in [0, 2] {
        expected["webhooks"][at]["clientConfig"]["caBundle"] = json!(encoded(b"bundle"));
    }
    assert_eq!(stored, expected);
}

#[tokio::test]
async fn what_is_published_is_not_written_again() {
    let api = cluster();
    let store = store(&api);
    for _ in 0..3 {
        store.publish("bundle").await.unwrap();
    }
    assert_eq!(asked(&api, &Method::PATCH, CONFIGURATIONS), 1);
    store.publish("another").await.unwrap();
    assert_eq!(published(&api).1, ["another", "other", "another"]);
}

// === Another client changes the objects of an authority: with a watch, this is noticed immediately ===

const AT_ONCE: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn what_is_taken_away_is_put_back_at_once() {
    let (api, clock) = (cluster(), new_clock());
    let _replica = replica(&api, &clock).await.unwrap();
    tokio::time::sleep(A_LOOK).await;
    let (trusted, kept) = (bundle(&api), content(&api));
    api.put(CONFIGURATIONS, configuration());
    tokio::time::sleep(AT_ONCE).await;
    assert_eq!(bundle(&api), trusted);
    api.delete(SECRETS, "olmguard-tls");
    tokio::time::sleep(AT_ONCE).await;
    assert_eq!(content(&api), kept);
}

#[tokio::test(start_paused = true)]
async fn a_new_authority_is_shown_once_api_servers_have_had_time_to_know_it() {
    let (api, clock) = (cluster(), new_clock());
    let start = Instant::now();
    let _first = replica(&api, &clock).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(2));
    tokio::time::sleep(A_LOOK).await;
    let start = Instant::now();
    let _second = replica(&api, &clock).await.unwrap();
    assert!(
        start.elapsed() < AT_ONCE,
        "an authority that is known needs no time"
    );
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_watch_it_is_looked_for() {
    let (api, clock) = (cluster(), new_clock());
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
        asked.is_watch() || asked.param("fieldSelector").is_some()
    });
    let _replica = replica(&api, &clock).await.unwrap();
    let trusted = bundle(&api);
    api.put(CONFIGURATIONS, configuration());
    tokio::time::sleep(A_LOOK).await;
    assert_eq!(bundle(&api), trusted);
}

#[tokio::test(start_paused = true)]
async fn watches_that_are_ended_immediately_are_paced() {
    let (api, clock) = (cluster(), new_clock());
    let _replica = replica(&api, &clock).await.unwrap();
    api.trouble(Trouble::Empty, Asked::is_watch);
    api.end_watches();
    let watches = || api.asked().into_iter().filter(Asked::is_watch).count();
    let before = watches();
    tokio::time::sleep(A_LOOK).await;
    let after = watches() - before;
    assert!(after > 2 && after < 200, "{after} watches");
}

#[tokio::test(start_paused = true)]
async fn whoever_changes_it_all_the_time_is_not_followed_faster() {
    let (api, clock) = (cluster(), new_clock());
    let _replica = replica(&api, &clock).await.unwrap();
    tokio::time::sleep(A_LOOK).await;
    let before = asked(&api, &Method::PATCH, CONFIGURATIONS);
    for _ in 0..1000 {
        api.put(CONFIGURATIONS, configuration());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let patches = asked(&api, &Method::PATCH, CONFIGURATIONS) - before;
    assert!((2..=20).contains(&patches), "{patches} in ten seconds");
    tokio::time::sleep(AT_ONCE).await;
    // A renewal sends this request; a watch sends a list.
    let renewal = format!("{SECRETS}/olmguard-tls");
    let before = asked(&api, &Method::GET, &renewal);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let looks = asked(&api, &Method::GET, &renewal) - before;
    assert!(looks <= 1, "{looks} in ten seconds of quiet");
}

// === The errors if the cluster fails ===

#[track_caller]
fn told<T>(ended: Result<T, StoreError>) -> String {
    let error = ended.map(drop).unwrap_err();
    assert!(!matches!(error, StoreError::Conflict), "{error:?}");
    error.to_string()
}

fn troubled(api: &ApiServer, code: StatusCode, method: Method) {
    api.trouble(Trouble::Status(code), move |asked| asked.method == method);
}

#[tokio::test]
async fn a_role_that_is_missing_is_named() {
    let api = cluster();
    let store = store(&api);
    let version = StoreVersion("1".to_owned());
    let secret = "Secret \"olmguard-tls\" in namespace \"olmguard-system\"";
    let says = "the API server answers 403: as the test says";
    troubled(&api, StatusCode::FORBIDDEN, Method::GET);
    assert_eq!(
        told(store.load().await),
        format!(
            "no right to get {secret}: expected a role that allows the verb get on secrets; {says}"
        )
    );
    assert_eq!(
        told(store.publish("bundle").await),
        format!(
            "no right to get ValidatingWebhookConfiguration \"olmguard\": expected a role that allows \
             the verb get on validatingwebhookconfigurations; {says}"
        )
    );
    api.heal();
    for method in [Method::POST, Method::PATCH] {
        troubled(&api, StatusCode::FORBIDDEN, method);
    }
    for (verb, told) in [
        ("create", told(store.create(b"x").await)),
        ("patch", told(store.replace(&version, b"x").await)),
        ("patch", told(store.publish("bundle").await)),
    ] {
        let expected = format!("expected a role that allows the verb {verb} on ");
        assert!(told.contains(&expected), "{told}");
    }
}

#[tokio::test]
async fn a_configuration_that_is_missing_is_no_failure_and_others_are_published() {
    let api = cluster();
    let mut place = place();
    place.configurations.insert(0, "absent".to_owned());
    let store = store_in(&api, place, &new_clock());
    assert_eq!(
        store.publish("bundle").await.unwrap(),
        BundleReaders::NotAll
    );
    assert_eq!(published(&api).1, ["bundle", "other", "bundle"]);
}

/// Two writers would overwrite each other forever.
#[tokio::test]
async fn a_configuration_that_another_program_writes_is_left_to_it() {
    let api = cluster();
    for annotation in [
        "cert-manager.io/inject-ca-from",
        "service.beta.openshift.io/inject-cabundle",
    ] {
        let mut injected = configuration();
        injected["metadata"]["annotations"] = json!({annotation: "x"});
        let put = api.put(CONFIGURATIONS, injected);
        assert_eq!(
            told(store(&api).publish("bundle").await),
            format!(
                "ValidatingWebhookConfiguration \"olmguard\" has the annotation {annotation}, so \
                 another program writes its caBundle: expected no such annotation with --certs \
                 self-managed; remove it, or serve the certificate of that program with --tls-cert \
                 and --tls-key"
            )
        );
        assert_eq!(api.object(CONFIGURATIONS, "olmguard"), Some(put));
    }
}

#[tokio::test]
async fn a_configuration_without_a_webhook_of_ours_is_left_alone() {
    let api = cluster();
    let mut others = configuration();
    for at in [2, 0] {
        others["webhooks"].as_array_mut().unwrap().remove(at);
    }
    for webhooks in [others["webhooks"].clone(), json!(null)] {
        others["webhooks"] = webhooks;
        let put = api.put(CONFIGURATIONS, others.clone());
        assert_eq!(
            told(store(&api).publish("bundle").await),
            "ValidatingWebhookConfiguration \"olmguard\" has no webhook that calls \
             olmguard.olmguard-system.svc: expected clientConfig.service or clientConfig.url with \
             a name of --tls-server-name"
        );
        assert_eq!(api.object(CONFIGURATIONS, "olmguard"), Some(put));
    }
}

/// A failed test of the patch has the same status, and is distinguished by the object at that time.
#[tokio::test]
async fn what_is_refused_for_itself_is_no_conflict() {
    let api = cluster();
    troubled(&api, StatusCode::UNPROCESSABLE_ENTITY, Method::PATCH);
    assert_eq!(
        told(store(&api).publish("bundle").await),
        "cannot patch ValidatingWebhookConfiguration \"olmguard\": the API server answers 422: as \
         the test says"
    );
    let version = StoreVersion("1".to_owned());
    let refused = told(store(&api).replace(&version, b"x").await);
    assert!(refused.starts_with("cannot patch Secret "), "{refused}");
}

#[tokio::test]
async fn an_api_server_that_is_away_is_told() {
    let api = cluster();
    api.trouble(Trouble::Refused, |_| true);
    let away = told(store(&api).load().await);
    let secret = "Secret \"olmguard-tls\" in namespace \"olmguard-system\"";
    assert!(
        away.starts_with(&format!("cannot get {secret}: ")),
        "{away}"
    );
}

/// The error of a parser quotes the content that it cannot parse.
#[tokio::test]
async fn nothing_of_a_secret_is_in_a_text() {
    let api = cluster();
    let path = format!("{SECRETS}/olmguard-tls");
    for data in [
        json!("canary"),
        json!({KEY: "canary, which is no base64"}),
        json!({KEY: ["canary"]}),
    ] {
        let body = json!({"metadata": {"name": "olmguard-tls"}, "data": data}).to_string();
        let api = cluster();
        api.route(&path, StatusCode::OK, body);
        let error = store(&api).load().await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains("cannot be read"), "{text}");
        assert!(!text.contains("canary"), "{text}");
    }
    let body = json!({"metadata": {"name": "olmguard-tls"}, "data": {KEY: encoded(b"canary")}});
    api.route(&path, StatusCode::OK, body.to_string());
    let text = told(store(&api).load().await);
    assert_eq!(
        text,
        "the API server returned Secret \"olmguard-tls\" without metadata.resourceVersion"
    );
    let text = format!("{:?}", store(&api));
    assert!(text.contains("olmguard-tls"), "{text}");
}
