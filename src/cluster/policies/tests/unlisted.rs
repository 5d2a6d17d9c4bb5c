//! Policies that are not all known yet are not no policies.

use hyper::StatusCode;
use tokio::sync::mpsc;

use super::super::follow::{State, Watches};
use super::*;
use crate::cluster::watch::WatchEvent;
use olmguard_support::api::Trouble;

const LISTING: &str = "not listed yet";

#[tokio::test(start_paused = true)]
async fn from_the_start_until_both_kinds_are_listed_not_all_are_known() {
    let api = cluster();
    api.put(UPGRADE_POLICIES, policy("a", &json!({})));
    for status in [
        StatusCode::FORBIDDEN,
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::NOT_FOUND,
    ] {
        api.trouble(Trouble::Status(status), |asked| {
            asked.path.contains("/upgradeguardrails")
        });
        let scene = Scene::of(api.clone());
        assert_eq!(scene.unlisted().as_deref(), Some(LISTING));
        assert_eq!(scene.known(), [0, 0]);
        // What is listed is in force already.
        scene.has(&["a"]).await;
        let code = status.as_u16();
        let why = format!(
            "UpgradeGuardrails not listed yet: the API server answers {code}: as the test says"
        );
        scene.says(Err(&why)).await;
        assert_eq!(scene.unlisted(), Some(why));
        api.heal();
        scene
            .says(Ok("1 UpgradePolicy accepted; 0 UpgradeGuardrails accepted"))
            .await;
        assert_eq!((scene.unlisted(), scene.known()), (None, [1, 1]));
    }
}

/// Nobody knows what the new kind has.
#[tokio::test(start_paused = true)]
async fn a_kind_that_is_defined_later_and_cannot_be_listed_is_not_known() {
    let scene = Scene::of(ApiServer::start());
    let none = "no UpgradePolicy in this cluster; no UpgradeGuardrails in this cluster";
    scene.says(Ok(none)).await;
    scene
        .api
        .trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
            asked.path.ends_with("/upgradepolicies")
        });
    serve(&scene.api);
    let why = "UpgradePolicy not listed yet: the API server answers 403: as the test says";
    scene.says(Err(why)).await;
    assert_eq!(scene.unlisted().as_deref(), Some(why));
    scene.api.heal();
    scene
        .says(Ok("0 UpgradePolicy accepted; 0 UpgradeGuardrails accepted"))
        .await;
    assert_eq!(scene.unlisted(), None);
}

/// The senders of the four watches.
struct Senders {
    policies: mpsc::Sender<WatchEvent<Value>>,
    guardrails: mpsc::Sender<WatchEvent<Value>>,
    policy: mpsc::Sender<WatchEvent<Value>>,
    binding: mpsc::Sender<WatchEvent<Value>>,
}

fn watches() -> (Senders, Watches) {
    let (policies, policies_of) = mpsc::channel(1);
    let (guardrails, guardrails_of) = mpsc::channel(1);
    let (policy, policy_of) = mpsc::channel(1);
    let (binding, binding_of) = mpsc::channel(1);
    let senders = Senders {
        policies,
        guardrails,
        policy,
        binding,
    };
    let watches = Watches {
        policies: policies_of,
        guardrails: guardrails_of,
        policy: policy_of,
        binding: binding_of,
    };
    (senders, watches)
}

/// A watch that ends is no watch without news.
#[tokio::test(start_paused = true)]
async fn following_ends_with_any_of_its_watches_and_what_it_knew_stays_in_force() {
    let (scene, _) = Scene::idle(ApiServer::start());
    for ended in 0..4 {
        let listener = scene.listener();
        listener.begin();
        let (senders, watches) = watches();
        let (reports, _) = watch::channel(Reports::default());
        let state = State::new(ExpectedPermission::default(), listener, reports);
        let following = tokio::spawn(state.run(watches));
        let listed = WatchEvent::Listed(vec![policy("a", &json!({}))]);
        senders.policies.send(listed).await.expect("it listens");
        let listed = WatchEvent::Listed(Vec::new());
        senders.guardrails.send(listed).await.expect("it listens");
        for sender in [&senders.policy, &senders.binding] {
            sender.send(WatchEvent::Absent).await.expect("it listens");
        }
        scene.has(&["a"]).await;
        while scene.unlisted().is_some() {
            sleep(Duration::from_millis(10)).await;
        }
        let Senders {
            policies,
            guardrails,
            policy,
            binding,
        } = senders;
        let mut all = vec![policies, guardrails, policy, binding];
        drop(all.remove(ended));
        following.await.expect("it ends in good order");
        assert_eq!(
            (scene.in_force(), scene.unlisted()),
            (vec!["a".to_owned()], None)
        );
    }
    // The next try knows nothing yet, and replaces nothing by that.
    let (senders, watches) = watches();
    let (reports, _) = watch::channel(Reports::default());
    let state = State::new(ExpectedPermission::default(), scene.listener(), reports);
    tokio::spawn(state.run(watches));
    let listed = WatchEvent::Listed(vec![guardrails("g", &json!("p"))]);
    senders.guardrails.send(listed).await.expect("it listens");
    scene.says(Err("UpgradePolicy not listed yet")).await;
    assert_eq!(
        (scene.in_force(), scene.unlisted()),
        (vec!["a".to_owned()], None)
    );
    senders
        .policies
        .send(WatchEvent::Absent)
        .await
        .expect("it listens");
    for sender in [&senders.policy, &senders.binding] {
        sender.send(WatchEvent::Absent).await.expect("it listens");
    }
    scene.has(&["UpgradeGuardrails g"]).await;
}
