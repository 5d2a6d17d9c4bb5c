//! What is read and written of each object.

use hyper::Method;
use serde_json::json;

use super::scene::{
    CONFIGURATIONS, SECRETS, asked, cluster, configuration, content, encoded, published, secret,
    store,
};
use crate::cluster::authority::secret::KEY;
use crate::tls::self_managed::{Store, StoreError, Version};

fn is_conflict(ended: &Result<Version, StoreError>) -> bool {
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
    let gone = store.replace(&Version("7".to_owned()), b"other").await;
    assert!(is_conflict(&gone), "deleted meanwhile");
}

/// One that was made beforehand, for its labels or its owner, counts as one that holds nothing.
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
