//! A lease between replicas that share an API server, in virtual time.

use hyper::StatusCode;
use serde_json::Value;
use tokio::time::{advance, sleep};

use super::*;
use olmguard_support::api::{ApiServer, Trouble};

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/olmguard/leases";

fn cluster() -> ApiServer {
    let api = ApiServer::start();
    api.serve("coordination.k8s.io/v1", "leases", "Lease");
    api
}

fn lease(api: &ApiServer, holder: &str) -> Lease {
    Lease::new(api.client(), "olmguard", "duty", holder.to_owned())
}

fn spec(api: &ApiServer) -> Value {
    api.object(LEASES, "duty").expect("a lease")["spec"].take()
}

#[tokio::test(start_paused = true)]
async fn the_first_has_it_for_as_long_as_it_renews() {
    let api = cluster();
    let (mut one, mut other) = (lease(&api, "one"), lease(&api, "other"));
    assert_eq!(one.round().await, Ok(Held::Yes));
    let acquired = spec(&api)["acquireTime"].take();
    for _ in 0..20 {
        assert_eq!(other.round().await, Ok(Held::No));
        sleep(pause()).await;
        assert_eq!(one.round().await, Ok(Held::Yes));
    }
    let spec = spec(&api);
    assert_eq!(spec["holderIdentity"], "one");
    assert_eq!(spec["acquireTime"], acquired);
    assert_eq!(spec["leaseTransitions"], 0);
    assert_eq!(spec["leaseDurationSeconds"], 30);
}

#[tokio::test(start_paused = true)]
async fn whoever_no_longer_renews_loses_it_before_another_takes_it() {
    let api = cluster();
    let (mut one, mut other) = (lease(&api, "one"), lease(&api, "other"));
    assert_eq!(one.round().await, Ok(Held::Yes));
    assert_eq!(other.round().await, Ok(Held::No));
    advance(Duration::from_secs(29)).await;
    assert_eq!(other.round().await, Ok(Held::No));
    assert_eq!(one.is_held(), Held::No);
    advance(Duration::from_secs(1)).await;
    assert_eq!(other.round().await, Ok(Held::Yes));
    assert_eq!(spec(&api)["leaseTransitions"], 1);
    assert_eq!(one.round().await, Ok(Held::No));
    assert_eq!(one.until(), None);
}

#[tokio::test(start_paused = true)]
async fn of_two_who_take_it_one_has_it() {
    let api = cluster();
    let (mut one, mut other) = (lease(&api, "one"), lease(&api, "other"));
    let (first, second) = tokio::join!(one.round(), other.round());
    let held = [first, second].map(|round| round == Ok(Held::Yes));
    assert_eq!(held.iter().filter(|held| **held).count(), 1, "{held:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_given_back_is_free() {
    let api = cluster();
    let released = serde_json::json!({
        "metadata": {"name": "duty"}, "spec": {"holderIdentity": "", "leaseTransitions": 4},
    });
    api.put(LEASES, released);
    assert_eq!(lease(&api, "one").round().await, Ok(Held::Yes));
    assert_eq!(spec(&api)["leaseTransitions"], 5);
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_it_is_held_no_longer_than_it_can_be() {
    let api = cluster();
    let mut one = lease(&api, "one");
    assert_eq!(one.round().await, Ok(Held::Yes));
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
    let said = one.round().await.expect_err("no answer");
    assert_eq!(said, "the API server answers 403: as the test says");
    assert_eq!(one.is_held(), Held::Yes);
    advance(DEADLINE).await;
    assert_eq!(one.is_held(), Held::No);
    api.heal();
    assert_eq!(one.round().await, Ok(Held::Yes));
}

#[test]
fn pauses_are_apart_and_short_of_the_deadline() {
    for _ in 0..100 {
        let pause = pause();
        assert!(pause >= RETRY && pause <= RETRY * 6 / 5, "{pause:?}");
    }
    assert_ne!(holder(), holder());
}
