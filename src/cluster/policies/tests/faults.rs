//! What becomes of the policies when the cluster does not answer, or has no such kinds.

use hyper::StatusCode;

use super::*;
use olmguard_support::api::Trouble;

#[tokio::test(start_paused = true)]
async fn while_the_watch_is_lost_the_last_good_ones_stay() {
    let api = cluster();
    api.put(UPGRADE_POLICIES, policy("a", &json!({})));
    let scene = Scene::of(api);
    scene.has(&["a"]).await;
    scene
        .says(Ok("1 UpgradePolicy accepted; 0 UpgradeGuardrails accepted"))
        .await;
    scene
        .api
        .trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
            asked.path.contains("upgradepolicies")
        });
    scene.api.break_watches();
    let lost = "1 UpgradePolicy accepted, the last good ones stay in use: the API server answers 403: \
                as the test says; 0 UpgradeGuardrails accepted";
    scene.says(Ok(lost)).await;
    assert_eq!(scene.in_force(), ["a"]);
    scene.api.heal();
    scene.api.put(UPGRADE_POLICIES, policy("b", &json!({})));
    scene.has(&["a", "b"]).await;
    scene
        .says(Ok("2 UpgradePolicy accepted; 0 UpgradeGuardrails accepted"))
        .await;
}

#[tokio::test(start_paused = true)]
async fn policies_that_are_too_costly_together_are_not_accepted() {
    let api = cluster();
    let costly = json!({"conditions": [
        {"expression": "user.groups.all(g, user.groups.all(h, g != h || true))"},
    ]});
    let names: Vec<_> = (0..100).map(|number| format!("p{number:02}")).collect();
    for name in &names {
        api.put(UPGRADE_POLICIES, policy(name, &costly));
    }
    let scene = Scene::of(api);
    let expected: Vec<_> = names.iter().map(String::as_str).collect();
    scene.has(&expected).await;
    let reported = scene.reports.borrow().faults("UpgradePolicy");
    let reported: Vec<_> = reported.into_iter().map(|(name, _)| name).collect();
    let current = scene.store.current().load_full();
    let invalid = current.upgrades.iter().filter(|it| !it.faults().is_empty());
    let invalid: Vec<_> = invalid.map(|policy| policy.name().to_owned()).collect();
    assert_eq!(reported, invalid);
    assert!((1..96).contains(&reported.len()), "{reported:?}");
    assert!(names.ends_with(&reported));
}

#[tokio::test(start_paused = true)]
async fn before_the_first_list_nothing_is_judged() {
    let api = cluster();
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
        asked.path.contains("upgradepolicies")
    });
    let scene = Scene::of(api);
    let why = "UpgradePolicy not listed yet: the API server answers 403: as the test says";
    scene.says(Err(why)).await;
    assert_eq!(
        (scene.unlisted().as_deref(), scene.known()),
        (Some(why), [0, 1])
    );
    scene.api.heal();
    scene
        .says(Ok("0 UpgradePolicy accepted; 0 UpgradeGuardrails accepted"))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_without_the_definitions_is_judged_without() {
    let scene = Scene::of(ApiServer::start());
    let none = "no UpgradePolicy in this cluster; no UpgradeGuardrails in this cluster";
    scene.says(Ok(none)).await;
    assert_eq!((scene.unlisted(), scene.known()), (None, [1, 1]));
    serve(&scene.api);
    scene.api.put(UPGRADE_POLICIES, policy("a", &json!({})));
    assert!(scene.has(&["a"]).await < Duration::from_secs(10));
}

/// An API server that starts can say so for a moment, and a definition can be restored.
#[tokio::test(start_paused = true)]
async fn objects_of_a_kind_that_is_gone_stay_in_force_for_minutes() {
    let api = cluster();
    api.put(UPGRADE_POLICIES, policy("a", &json!({})));
    let scene = Scene::of(api);
    scene.has(&["a"]).await;
    let gone = |scene: &Scene| {
        let missing = Trouble::Status(StatusCode::NOT_FOUND);
        scene.api.trouble(missing, |_| true);
        scene.api.break_watches();
    };
    gone(&scene);
    sleep(Duration::from_mins(4)).await;
    let kept = "1 UpgradePolicy accepted, kept for now although the cluster no longer serves the kind; \
                no UpgradeGuardrails in this cluster";
    scene.says(Ok(kept)).await;
    assert_eq!(scene.known(), [0, 1]);
    scene.api.heal();
    scene
        .says(Ok("1 UpgradePolicy accepted; 0 UpgradeGuardrails accepted"))
        .await;
    assert_eq!(
        (scene.in_force(), scene.known()),
        (vec!["a".to_owned()], [1, 1])
    );
    gone(&scene);
    assert!(scene.has(&[]).await >= Duration::from_mins(5));
    scene
        .says(Ok(
            "no UpgradePolicy in this cluster; no UpgradeGuardrails in this cluster",
        ))
        .await;
    assert_eq!((scene.unlisted(), scene.known()), (None, [1, 1]));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_taken_again_reads_nothing_twice() {
    let api = cluster();
    api.put(UPGRADE_POLICIES, policy("a", &json!({})));
    let scene = Scene::of(api);
    scene.has(&["a"]).await;
    let before = scene.store.current().load_full();
    scene.api.compact();
    scene.api.end_watches();
    sleep(Duration::from_mins(2)).await;
    let after = scene.store.current().load_full();
    assert!(Arc::ptr_eq(&before, &after), "nothing has changed");
}
