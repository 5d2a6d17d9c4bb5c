use hyper::StatusCode;
use serde_json::json;

use super::*;
use olmguard_support::api::{ApiServer, Asked, Trouble};

const V1: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";

fn cluster(extensions: usize) -> ApiServer {
    let api = ApiServer::start();
    let group_version = "olm.operatorframework.io/v1";
    api.serve(group_version, "clusterextensions", "ClusterExtension");
    for number in 0..extensions {
        let source = json!({"sourceType": "Catalog", "catalog": {"packageName": "p"}});
        api.put(
            V1,
            json!({"metadata": {"name": format!("x-{number:04}")}, "spec": {"source": source}}),
        );
    }
    api
}

fn lists(api: &ApiServer) -> usize {
    let is_first =
        |asked: &Asked| asked.path == V1 && !asked.query.iter().any(|(key, _)| key == "continue");
    api.asked().iter().filter(|asked| is_first(asked)).count()
}

#[tokio::test]
async fn those_who_ask_at_the_same_time_share_one_list() {
    let api = cluster(3);
    let extensions = SharedExtensions::of(api.client());
    let (one, other) = (extensions.list(), extensions.list());
    let ((one, _), (other, fault)) = tokio::join!(one, other);
    assert!(Arc::ptr_eq(&one, &other));
    assert_eq!((one.len(), fault, lists(&api)), (3, None, 1));
    let (later, _) = extensions.list().await;
    assert_eq!((later.len(), lists(&api)), (3, 2));
}

#[tokio::test]
async fn a_list_ends_when_nobody_waits_for_it() {
    let api = cluster(1);
    api.trouble(Trouble::Silent, |asked| asked.path == V1);
    let extensions = SharedExtensions::of(api.client());
    let first = extensions.list();
    let asked = async {
        while lists(&api) == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = first.clone() => panic!("nothing answers"),
        () = asked => {}
    }
    let joined = extensions.list();
    assert!(joined.ptr_eq(&first));
    let old = first.downgrade().expect("it runs");
    drop((first, joined));
    assert!(old.upgrade().is_none());
    assert!(extensions.list().peek().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_never_answered_ends() {
    let api = cluster(1);
    api.trouble(Trouble::Silent, |asked| asked.path == V1);
    let (all, fault) = SharedExtensions::of(api.client()).list().await;
    assert!(all.is_empty());
    let fault = fault.expect("a fault");
    assert!(
        fault.starts_with("installed extensions are unknown: "),
        "{fault}"
    );
}

#[tokio::test]
async fn what_cannot_be_listed_says_why() {
    let api = cluster(1);
    let forbidden = Trouble::Status(StatusCode::FORBIDDEN);
    api.trouble(forbidden, |asked| asked.path == V1);
    let (all, fault) = SharedExtensions::of(api.client()).list().await;
    assert!(all.is_empty());
    assert_eq!(
        fault.as_deref(),
        Some(
            "installed extensions are unknown: cannot list clusterextensions.olm.operatorframework.io: the API \
             server answers 403: as the test says; grant the verb \"list\" on them"
        )
    );
}

#[tokio::test]
async fn only_so_many_bytes_are_kept() {
    let api = cluster(2);
    let channels = vec!["x".repeat(4 << 20); 3];
    let catalog = json!({"packageName": "p", "channels": channels});
    for name in ["y-1", "y-2"] {
        let source = json!({"sourceType": "Catalog", "catalog": catalog});
        api.put(
            V1,
            json!({"metadata": {"name": name}, "spec": {"source": source}}),
        );
    }
    let (all, fault) = SharedExtensions::of(api.client()).list().await;
    assert_eq!(all.len(), 3);
    assert_eq!(
        fault.as_deref(),
        Some(
            "some installed extensions are unknown: cannot list clusterextensions.olm.operatorframework.io: what they \
             request has more than 16777216 bytes"
        )
    );
}
