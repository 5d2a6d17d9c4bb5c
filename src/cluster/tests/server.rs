//! Whether the API server of the tests does as a real one does.

use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;

use olmguard_support::api::ApiServer;

const SECRETS: &str = "/api/v1/namespaces/olmguard/secrets";

#[tokio::test]
async fn of_two_who_write_on_one_version_the_second_is_told_of_the_conflict() {
    let api = ApiServer::start();
    api.serve("v1", "secrets", "Secret");
    api.put(SECRETS, json!({"metadata": {"name": "ca"}}));
    let secrets: Api<Secret> = Api::namespaced(api.client(), "olmguard");
    let read = secrets.get("ca").await.unwrap();
    let params = PostParams::default();
    let write = || secrets.replace("ca", &params, &read);
    write().await.unwrap();
    let kube::Error::Api(status) = write().await.unwrap_err() else {
        panic!("no answer of the server");
    };
    assert!(status.is_conflict(), "{status:?}");
    let kube::Error::Api(status) = secrets
        .create(&PostParams::default(), &read)
        .await
        .unwrap_err()
    else {
        panic!("no answer of the server");
    };
    assert!(status.is_already_exists(), "{status:?}");
}

#[tokio::test]
async fn a_patch_changes_what_it_names() {
    let api = ApiServer::start();
    api.serve("v1", "secrets", "Secret");
    let labels = json!({"metadata": {"name": "ca", "labels": {"a": "1", "b": "2"}}});
    api.put(SECRETS, labels);
    let secrets: Api<Secret> = Api::namespaced(api.client(), "olmguard");
    let patch = json!({"metadata": {"labels": {"a": null, "c": "3"}}});
    let patched = secrets
        .patch("ca", &PatchParams::default(), &Patch::Merge(patch))
        .await;
    let labels = patched.unwrap().metadata.labels.unwrap();
    let stored = api.object(SECRETS, "ca").unwrap();
    assert_eq!(stored["metadata"]["labels"], json!(labels));
    assert_eq!(
        labels.into_iter().collect::<Vec<_>>(),
        [
            ("b".to_owned(), "2".to_owned()),
            ("c".to_owned(), "3".to_owned())
        ]
    );
}
