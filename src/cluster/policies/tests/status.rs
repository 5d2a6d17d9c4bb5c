//! The status that is written into the objects.

use futures_util::FutureExt;
use hyper::StatusCode;

use super::*;
use crate::cluster::lease::Leadership;
use crate::cluster::policies::status::{MatchedExtensions, NamedSubject, all_due};
use olmguard_support::api::{Asked, Trouble};

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/olmguard/leases";

const EXTENSIONS: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";

/// A cluster with leases and extensions.
fn whole_cluster() -> ApiServer {
    let api = cluster();
    api.serve("coordination.k8s.io/v1", "leases", "Lease");
    api.serve(
        "olm.operatorframework.io/v1",
        "clusterextensions",
        "ClusterExtension",
    );
    api
}

fn reporting(api: ApiServer) -> Scene {
    let scene = Scene::of(api);
    let client = scene.api.client();
    let reports = scene.reports.clone();
    let (leadership, keeping) = Leadership::of(client.clone(), "olmguard");
    tokio::spawn(keeping);
    tokio::spawn(report(client, leadership, Arc::new(SystemClock), reports));
    scene
}

fn extension(name: &str, package: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": name},
        "spec": {"source": {"sourceType": "Catalog", "catalog": {"packageName": package}}},
    })
}

/// Waits until the status of an object is this, but for times.
async fn has_status(scene: &Scene, collection: &str, name: &str, expected: &Value) {
    let begun = Instant::now();
    loop {
        let mut status = scene.api.object(collection, name).expect("an object")["status"].take();
        if let Some(condition) = status.pointer_mut("/conditions/0") {
            let time = condition["lastTransitionTime"].take();
            assert!(
                time.as_str().is_some_and(|time| time.ends_with('Z')),
                "{time}"
            );
            condition
                .as_object_mut()
                .expect("an object")
                .remove("lastTransitionTime");
        }
        if status == *expected {
            return;
        }
        assert!(begun.elapsed() < Duration::from_mins(10), "{status}");
        sleep(Duration::from_millis(10)).await;
    }
}

fn accepted(generation: i64, matched: i64) -> Value {
    json!({
        "observedGeneration": generation, "matched": matched,
        "conditions": [{
            "type": "Accepted", "status": "True", "reason": "Valid", "observedGeneration": generation,
            "message": "olmguard checks edits by this object",
        }],
    })
}

#[tokio::test(start_paused = true)]
async fn acceptance_and_matches_are_reported_and_follow_every_change() {
    let api = whole_cluster();
    let mut only_a = policy("a", &json!({"step": "Minor"}));
    only_a["spec"]["match"] = json!({"packages": ["argocd-*"]});
    api.put(UPGRADE_POLICIES, only_a.clone());
    api.put(EXTENSIONS, extension("one", "argocd-operator"));
    api.put(EXTENSIONS, extension("two", "other"));
    let scene = reporting(api);
    has_status(&scene, UPGRADE_POLICIES, "a", &accepted(1, 1)).await;
    scene
        .api
        .put(EXTENSIONS, extension("three", "argocd-image-updater"));
    has_status(&scene, UPGRADE_POLICIES, "a", &accepted(1, 2)).await;
    scene.api.delete(EXTENSIONS, "one");
    has_status(&scene, UPGRADE_POLICIES, "a", &accepted(1, 1)).await;
    let mut bad = scene.api.object(UPGRADE_POLICIES, "a").expect("an object");
    bad["metadata"]["generation"] = json!(2);
    bad["spec"]["rules"] = json!({"step": "Tiny"});
    scene.api.put(UPGRADE_POLICIES, bad);
    let refused = json!({
        "observedGeneration": 2, "matched": 1,
        "conditions": [{
            "type": "Accepted", "status": "False", "reason": "Invalid", "observedGeneration": 2,
            "message": "spec.rules.step: unknown value \"Tiny\": expected one of Patch, Minor, Major",
        }],
    });
    has_status(&scene, UPGRADE_POLICIES, "a", &refused).await;
}

#[tokio::test(start_paused = true)]
async fn guardrails_are_reported_without_matches() {
    let api = whole_cluster();
    api.put(UPGRADE_GUARDRAILS, guardrails("lantern", &json!("p")));
    let scene = reporting(api);
    let expected = json!({"conditions": [{
        "type": "Accepted", "status": "True", "reason": "Valid",
        "message": "olmguard checks edits by this object",
    }]});
    has_status(&scene, UPGRADE_GUARDRAILS, "lantern", &expected).await;
}

/// The requested status is written once, by the holder of the lease.
#[tokio::test(start_paused = true)]
async fn a_status_is_written_only_when_it_changes_and_by_one_replica() {
    let api = whole_cluster();
    api.put(UPGRADE_POLICIES, policy("a", &json!({})));
    let scene = reporting(api.clone());
    let _other = reporting(api.clone());
    has_status(&scene, UPGRADE_POLICIES, "a", &accepted(1, 0)).await;
    sleep(Duration::from_mins(10)).await;
    let asked = api.asked();
    let writes: Vec<_> = asked
        .iter()
        .filter(|asked| asked.path.ends_with("/a/status"))
        .collect();
    assert_eq!(writes.len(), 1);
    assert_eq!(writes[0].param("fieldManager"), Some("olmguard"));
    assert_eq!(writes[0].param("force"), Some("true"));
    let lists = asked
        .iter()
        .filter(|asked| asked.path == EXTENSIONS && !asked.is_watch());
    assert_eq!(lists.count(), 1, "only the holder lists extensions");
    assert!(api.object(LEASES, "olmguard-policies").is_some());
}

#[tokio::test(start_paused = true)]
async fn without_leases_everything_else_goes_on() {
    let api = cluster();
    api.put(UPGRADE_POLICIES, policy("a", &json!({})));
    let scene = reporting(api);
    scene.has(&["a"]).await;
    scene
        .says(Ok("1 UpgradePolicy accepted; 0 UpgradeGuardrails accepted"))
        .await;
    sleep(Duration::from_mins(1)).await;
    let status = scene.api.object(UPGRADE_POLICIES, "a").expect("an object");
    assert_eq!(status.get("status"), None);
}

/// The retry needs no other change.
#[tokio::test(start_paused = true)]
async fn a_status_that_cannot_be_written_is_tried_again() {
    for trouble in [
        Trouble::Status(StatusCode::SERVICE_UNAVAILABLE),
        Trouble::Refused,
    ] {
        let api = whole_cluster();
        for name in ["a", "b"] {
            api.put(UPGRADE_POLICIES, policy(name, &json!({})));
        }
        api.trouble(trouble, |asked| asked.path.ends_with("/a/status"));
        let scene = reporting(api);
        has_status(&scene, UPGRADE_POLICIES, "b", &accepted(1, 0)).await;
        sleep(Duration::from_mins(30)).await;
        let asked = scene.api.asked();
        let tries = asked.iter().filter(|one| one.path.ends_with("/a/status"));
        let tries = tries.count();
        assert!((8..30).contains(&tries), "{tries} tries in half an hour");
        scene.api.heal();
        has_status(&scene, UPGRADE_POLICIES, "a", &accepted(1, 0)).await;
    }
}

/// The watch continues while a write waits for its answer.
#[tokio::test(start_paused = true)]
async fn extensions_are_followed_while_a_status_is_written() {
    let api = whole_cluster();
    api.put(UPGRADE_POLICIES, policy("a", &json!({})));
    api.trouble(Trouble::Silent, |asked| asked.path.ends_with("/a/status"));
    let scene = reporting(api);
    let asked = |scene: &Scene, is: fn(&Asked) -> bool| {
        scene.api.asked().iter().filter(|one| is(one)).count()
    };
    let writes = |asked: &Asked| asked.path.ends_with("/a/status");
    let watches = |asked: &Asked| asked.path == EXTENSIONS && asked.is_watch();
    let at_least = async |count: usize, is: fn(&Asked) -> bool| {
        let begun = Instant::now();
        while asked(&scene, is) < count {
            assert!(begun.elapsed() < Duration::from_secs(20), "it stands still");
            sleep(Duration::from_millis(10)).await;
        }
    };
    at_least(1, writes).await;
    // More events than the channel can buffer.
    for number in 0..100 {
        let name = format!("e{number}");
        scene.api.put(EXTENSIONS, extension(&name, "p"));
    }
    let before = asked(&scene, watches);
    scene.api.end_watches();
    at_least(before + 1, watches).await;
    assert_eq!(asked(&scene, writes), 1, "it is not answered yet");
    scene.api.heal();
    has_status(&scene, UPGRADE_POLICIES, "a", &accepted(1, 100)).await;
}

/// Each written status is an event of its object.
#[tokio::test(start_paused = true)]
async fn many_statuses_at_once_are_reported_together() {
    let api = whole_cluster();
    let names: Vec<_> = (0..60).map(|number| format!("p{number}")).collect();
    for name in &names {
        api.put(UPGRADE_POLICIES, policy(name, &json!({})));
    }
    let scene = reporting(api);
    let mut reports = scene.reports.clone();
    let counting = tokio::spawn(async move {
        let mut count = 0;
        let pause = Duration::from_mins(2);
        while tokio::time::timeout(pause, reports.changed()).await.is_ok() {
            count += 1;
        }
        count
    });
    for name in &names {
        has_status(&scene, UPGRADE_POLICIES, name, &accepted(1, 0)).await;
    }
    let count = counting.await.expect("it counts");
    assert!(count <= 4, "{count} reports of 60 statuses");
}

/// A thread that serves must not compare many policies with many extensions.
#[test]
fn matches_are_counted_on_another_thread() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(1).build();
    runtime.unwrap().block_on(async {
        let api = whole_cluster();
        for number in 0..30 {
            api.put(UPGRADE_POLICIES, policy(&format!("p{number}"), &json!({})));
        }
        let scene = Scene::of(api);
        let mut reports = scene.reports.clone();
        let known = reports.wait_for(|reports| reports.of("UpgradePolicy").count() == 30);
        let known = known.await.unwrap().clone();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let holding = tokio::task::spawn_blocking(move || held.recv());
        let due = all_due(known, MatchedExtensions::default(), String::new());
        let mut due = std::pin::pin!(due);
        assert!(due.as_mut().now_or_never().is_none());
        drop(release);
        assert_eq!(due.await.len(), 30);
        assert!(holding.await.unwrap().is_err());
    });
}

// === Policies while the cluster does not answer, or does not serve the kinds ===

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

/// A starting API server can report this for a moment, and a definition can be restored.
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

/// The definition of extensions can be removed while no watch runs.
#[test]
fn extensions_that_are_absent_leave_other_numbers() {
    let listed = |objects: Vec<NamedSubject>| WatchEvent::Listed(objects);
    let mut known = MatchedExtensions::default();
    assert!(known.take(listed(Vec::new())), "asked for the first time");
    assert!(!known.take(WatchEvent::Absent), "there were none");
    let one = NamedSubject::read(extension("a", "lantern"));
    assert!(known.take(listed(vec![one])));
    assert!(known.take(WatchEvent::Absent), "there was one");
    assert!(!known.take(WatchEvent::Absent));
}
