//! Replicas that store their authority in a cluster, from their start on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::{Method, StatusCode};
use tokio::io::duplex;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::{
    CONFIGURATIONS, SECRETS, asked, cluster, configuration, content, encoded, names, new_clock,
    place, published, store_in,
};
use crate::cluster::authority::bundle::GRACE;
use olmguard_server::tls::self_managed::{SelfManaged, serve};
use olmguard_server::tls::test_util::{TestClock, client};
use olmguard_server::tls::{Certificates, Clock, TlsConfig, TlsError};
use olmguard_support::api::{ApiServer, Trouble};

const DAY: i64 = 24 * 60 * 60;
/// Long enough for every replica to renew once.
pub(super) const A_LOOK: Duration = Duration::from_mins(1);

pub(super) async fn replica(
    api: &ApiServer,
    clock: &Arc<TestClock>,
) -> Result<Certificates, TlsError> {
    let managed = SelfManaged {
        store: store_in(api, place(), clock),
        names: names(),
        terms: TlsConfig::default(),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
    };
    serve(managed, Arc::new(())).await
}

/// Returns the bundle, which is the same in every webhook of ours.
#[track_caller]
pub(super) fn bundle(api: &ApiServer) -> String {
    let (_, bundles) = published(api);
    assert_eq!(bundles[0], bundles[2]);
    assert_eq!(bundles[1], "other");
    bundles[0].clone()
}

fn authorities(bundle: &str) -> usize {
    bundle.matches("BEGIN CERTIFICATE").count()
}

/// A client that trusts the published bundle accepts the certificate of each replica.
async fn all_connect(api: &ApiServer, clock: &Arc<TestClock>, replicas: &[Certificates]) {
    let client = TlsConnector::from(client(&bundle(api), clock));
    for replica in replicas {
        let (near, far) = duplex(1 << 14);
        let server = TlsAcceptor::from(replica.server_config());
        let name = names().remove(0);
        let (shown, taken) = tokio::join!(server.accept(near), client.connect(name, far));
        shown.unwrap();
        taken.unwrap();
        assert_eq!(replica.fitness(clock.now()), Ok(()));
    }
}

#[tokio::test(start_paused = true)]
async fn two_that_start_together_agree_on_one_authority_and_publish_it_once() {
    for _ in 0..20 {
        let (api, clock) = (cluster(), new_clock());
        let (one, other) = tokio::join!(replica(&api, &clock), replica(&api, &clock));
        let replicas = [one.unwrap(), other.unwrap()];
        assert_eq!(authorities(&bundle(&api)), 1);
        all_connect(&api, &clock, &replicas).await;
        let (stored, _) = published(&api);
        let writes = asked(&api, &Method::PATCH, CONFIGURATIONS);
        assert!((1..=2).contains(&writes), "{writes} tries to write it");
        tokio::time::sleep(A_LOOK * 10).await;
        assert_eq!(published(&api).0, stored, "it stays as it is");
        assert_eq!(asked(&api, &Method::PATCH, CONFIGURATIONS), writes);
    }
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_tried_again() {
    let (api, clock) = (cluster(), new_clock());
    let conflicts = AtomicUsize::new(3);
    api.trouble(Trouble::Status(StatusCode::CONFLICT), move |asked| {
        let is_write = asked.method == Method::PATCH || asked.method == Method::POST;
        let count = |left: usize| left.checked_sub(1);
        is_write
            && conflicts
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, count)
                .is_ok()
    });
    let replicas = [replica(&api, &clock).await.unwrap()];
    all_connect(&api, &clock, &replicas).await;
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_was_deleted_is_put_back() {
    let (api, clock) = (cluster(), new_clock());
    let first = replica(&api, &clock).await.unwrap();
    let (before, leaf) = (content(&api), first.leaf());
    let trusted = bundle(&api);
    api.delete(SECRETS, "olmguard-tls");
    tokio::time::sleep(A_LOOK).await;
    assert_eq!(content(&api), before);
    assert_eq!((bundle(&api), first.leaf()), (trusted, leaf));
    let second = replica(&api, &clock).await.unwrap();
    all_connect(&api, &clock, &[first, second]).await;
}

#[tokio::test(start_paused = true)]
async fn a_bundle_that_was_taken_out_is_put_back() {
    let (api, clock) = (cluster(), new_clock());
    let replicas = [replica(&api, &clock).await.unwrap()];
    let trusted = bundle(&api);
    let mut applied = configuration();
    applied["metadata"]["labels"]["revision"] = "2".into();
    applied["webhooks"][0]["clientConfig"]["caBundle"] = "".into();
    api.put(CONFIGURATIONS, applied);
    tokio::time::sleep(A_LOOK).await;
    assert_eq!(bundle(&api), trusted);
    let (stored, _) = published(&api);
    assert_eq!(stored["metadata"]["labels"]["revision"], "2");
    all_connect(&api, &clock, &replicas).await;
}

#[tokio::test(start_paused = true)]
async fn old_and_new_are_published_together_while_one_replaces_the_other() {
    let (api, clock) = (cluster(), new_clock());
    let (one, other) = tokio::join!(replica(&api, &clock), replica(&api, &clock));
    let replicas = [one.unwrap(), other.unwrap()];
    let first = bundle(&api);
    clock.jump(244 * DAY);
    tokio::time::sleep(A_LOOK).await;
    let both = bundle(&api);
    assert!(both.starts_with(&first));
    assert_eq!(authorities(&both), 2);
    for _ in 0..9 * 24 {
        all_connect(&api, &clock, &replicas).await;
        clock.jump(DAY / 24);
        tokio::time::sleep(A_LOOK).await;
    }
    let last = bundle(&api);
    assert_eq!(authorities(&last), 1);
    assert!(both.ends_with(&last), "the old one is gone");
    all_connect(&api, &clock, &replicas).await;
}

/// While the API server is unavailable, the served certificate stays in use, and a start waits.
#[tokio::test(start_paused = true)]
async fn without_the_cluster_nothing_that_is_served_ends() {
    let (api, clock) = (cluster(), new_clock());
    let replicas = [replica(&api, &clock).await.unwrap()];
    api.trouble(Trouble::Silent, |_| true);
    tokio::time::sleep(A_LOOK * 10).await;
    all_connect(&api, &clock, &replicas).await;
    let back = async {
        tokio::time::sleep(A_LOOK * 10).await;
        api.heal();
    };
    let (late, ()) = tokio::join!(replica(&api, &clock), back);
    all_connect(&api, &clock, &[late.unwrap()]).await;
    clock.jump(5 * DAY);
    tokio::time::sleep(A_LOOK * 2).await;
    all_connect(&api, &clock, &replicas).await;
}

/// The configuration may be applied after the program has started, or removed to disable the webhook.
#[tokio::test(start_paused = true)]
async fn a_configuration_that_comes_later_is_found() {
    let (api, clock) = (cluster(), new_clock());
    api.delete(CONFIGURATIONS, "olmguard");
    let replicas = [replica(&api, &clock).await.unwrap()];
    let before = replicas[0].leaf();
    clock.jump(5 * DAY);
    tokio::time::sleep(A_LOOK).await;
    assert_ne!(replicas[0].leaf(), before, "it renews all the same");
    api.put(CONFIGURATIONS, configuration());
    tokio::time::sleep(A_LOOK).await;
    all_connect(&api, &clock, &replicas).await;
}

/// A rollout from an authority that is stored elsewhere: until its pods have ended, they are called too.
#[tokio::test(start_paused = true)]
async fn an_authority_that_was_trusted_before_is_trusted_while_pods_of_it_go() {
    let (api, clock) = (cluster(), new_clock());
    let elsewhere = cluster();
    let _old = replica(&elsewhere, &clock).await.unwrap();
    let old = bundle(&elsewhere);
    let mut trusting = configuration();
    for at in [0, 2] {
        let bundle = encoded(old.as_bytes());
        trusting["webhooks"][at]["clientConfig"]["caBundle"] = bundle.into();
    }
    api.put(CONFIGURATIONS, trusting);
    let new = replica(&api, &clock).await.unwrap();
    let writes = asked(&api, &Method::PATCH, CONFIGURATIONS);
    for _ in 0..10 {
        tokio::time::sleep(A_LOOK).await;
        let both = bundle(&api);
        assert_eq!(authorities(&both), 2);
        assert!(both.contains(&old));
    }
    assert_eq!(asked(&api, &Method::PATCH, CONFIGURATIONS), writes);
    tokio::time::sleep(GRACE).await;
    assert_eq!(authorities(&bundle(&api)), 1);
    all_connect(&api, &clock, &[new]).await;
}
