//! What is told where the cluster does not do its part.

use hyper::{Method, StatusCode};
use serde_json::json;

use super::scene::{
    CONFIGURATIONS, SECRETS, cluster, configuration, encoded, place, published, store, store_in,
};
use crate::cluster::authority::secret::KEY;
use crate::tls::self_managed::tests::world::World;
use crate::tls::self_managed::{BundleReaders, Store, StoreError, Version};
use olmguard_support::api::{ApiServer, Trouble};

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
    let version = Version("1".to_owned());
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
    let store = store_in(&api, place, &World::new());
    assert_eq!(
        store.publish("bundle").await.unwrap(),
        BundleReaders::NotAll
    );
    assert_eq!(published(&api).1, ["bundle", "other", "bundle"]);
}

/// Two that write it would do so for ever.
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

/// A test of the patch that fails says the same code: it is told apart by what is there then.
#[tokio::test]
async fn what_is_refused_for_itself_is_no_conflict() {
    let api = cluster();
    troubled(&api, StatusCode::UNPROCESSABLE_ENTITY, Method::PATCH);
    assert_eq!(
        told(store(&api).publish("bundle").await),
        "cannot patch ValidatingWebhookConfiguration \"olmguard\": the API server answers 422: as \
         the test says"
    );
    let version = Version("1".to_owned());
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

/// The text of a reader quotes what it cannot read.
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
