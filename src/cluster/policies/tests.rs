//! The watches against a server that is told how to misbehave, in virtual time.

mod faults;
mod permission;
mod status;
mod table;
mod unlisted;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::*;
use crate::telemetry::Metrics;
use crate::tls::SystemClock;
use olmguard_support::api::ApiServer;
use olmguard_support::moved::Moved;

const GROUP: &str = "olmguard.dev/v1alpha1";
const UPGRADE_POLICIES: &str = "/apis/olmguard.dev/v1alpha1/upgradepolicies";
const UPGRADE_GUARDRAILS: &str = "/apis/olmguard.dev/v1alpha1/upgradeguardrails";

/// A cluster, and what is made of it.
struct Scene {
    api: ApiServer,
    store: Arc<PolicyStore>,
    board: Arc<PolicyBoard>,
    metrics: Metrics,
    reports: watch::Receiver<Reports>,
}

/// A cluster with both definitions.
fn cluster() -> ApiServer {
    let api = ApiServer::start();
    serve(&api);
    api
}

fn serve(api: &ApiServer) {
    api.serve(GROUP, "upgradepolicies", "UpgradePolicy");
    api.serve(GROUP, "upgradeguardrails", "UpgradeGuardrails");
}

fn policy(name: &str, rules: &Value) -> Value {
    json!({
        "apiVersion": GROUP, "kind": "UpgradePolicy",
        "metadata": {"name": name, "uid": name, "generation": 1},
        "spec": {"rules": rules},
    })
}

fn guardrails(name: &str, package: &Value) -> Value {
    let rules = json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 1}]);
    json!({
        "apiVersion": GROUP, "kind": "UpgradeGuardrails", "metadata": {"name": name},
        "spec": {"package": package, "rules": rules},
    })
}

impl Scene {
    fn of(api: ApiServer) -> Self {
        Self::expecting(api, ExpectedPermission::default())
    }

    fn expecting(api: ApiServer, expected: ExpectedPermission) -> Self {
        let (scene, sender) = Self::idle(api);
        let listener = scene.listener();
        listener.begin();
        tokio::spawn(follow(scene.api.client(), expected, listener, sender));
        scene
    }

    /// One in which nothing is followed.
    fn idle(api: ApiServer) -> (Self, watch::Sender<Reports>) {
        let (sender, reports) = watch::channel(Reports::default());
        let scene = Self {
            api,
            store: Arc::default(),
            board: Arc::default(),
            metrics: Metrics::new(),
            reports,
        };
        (scene, sender)
    }

    fn listener(&self) -> PolicyListener {
        PolicyListener {
            store: Arc::clone(&self.store),
            board: Arc::clone(&self.board),
            metrics: Arc::clone(&self.metrics.policies),
            watches: Arc::clone(&self.metrics.watches),
            clock: Arc::new(SystemClock),
        }
    }

    /// The names of the policies in force, and the places of the guardrails.
    fn in_force(&self) -> Vec<String> {
        let current = self.store.current().load_full();
        let policies = current
            .upgrades
            .iter()
            .map(|policy| policy.name().to_owned());
        let guardrails = current.guardrails.iter().map(|by| by.place.to_string());
        policies.chain(guardrails).collect()
    }

    /// Why not all policies are known.
    fn unlisted(&self) -> Option<String> {
        let current = self.store.current().load_full();
        current.unlisted.as_deref().map(str::to_owned)
    }

    /// The metric: whether all policies are known, and all guardrails.
    fn known(&self) -> [u8; 2] {
        let text = self.metrics.render();
        ["UpgradePolicy", "UpgradeGuardrails"].map(|kind| {
            let series = format!("olmguard_policies_known{{kind=\"{kind}\"}} ");
            let value = text.lines().find_map(|line| line.strip_prefix(&series));
            value.expect("a series").parse().expect("0 or 1")
        })
    }

    /// Waits until these are in force; how long that takes.
    async fn has(&self, expected: &[&str]) -> Duration {
        let begun = Instant::now();
        while self.in_force() != expected {
            let late = begun.elapsed() > Duration::from_mins(10);
            assert!(!late, "{:?}, expected {expected:?}", self.in_force());
            sleep(Duration::from_millis(10)).await;
        }
        begun.elapsed()
    }

    /// Waits until probes are told this.
    async fn says(&self, expected: Result<&str, &str>) {
        let begun = Instant::now();
        let words = |expected: &str| expected.to_owned();
        let expected = expected.map(words).map_err(words);
        while self.words() != expected {
            let late = begun.elapsed() > Duration::from_mins(10);
            assert!(!late, "{:?}, expected {expected:?}", self.words());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// What probes are told.
    fn words(&self) -> Result<String, String> {
        let state = self.board.state();
        let words = state.map(|listed| listed.to_string());
        words.map_err(|unlisted| unlisted.to_string())
    }
}

#[tokio::test(start_paused = true)]
async fn what_there_is_is_in_force_and_what_changes_is_at_once() {
    let api = cluster();
    api.put(UPGRADE_POLICIES, policy("b", &json!({"step": "Minor"})));
    let scene = Scene::of(api);
    assert_eq!(
        scene.words(),
        Err("not listed yet".to_owned()),
        "nothing is judged before it is known"
    );
    scene.has(&["b"]).await;
    scene
        .says(Ok("1 UpgradePolicy accepted; 0 UpgradeGuardrails accepted"))
        .await;
    scene.api.put(UPGRADE_POLICIES, policy("a", &json!({})));
    assert!(scene.has(&["a", "b"]).await < Duration::from_secs(1));
    scene.api.put(
        UPGRADE_GUARDRAILS,
        guardrails("lantern", &json!("lantern-operator")),
    );
    let taken = scene.has(&["a", "b", "UpgradeGuardrails lantern"]).await;
    assert!(taken < Duration::from_secs(1), "{taken:?}");
    let current = scene.store.current().load_full();
    assert_eq!(current.guardrails.on("lantern-operator").count(), 1);
    assert_eq!(current.guardrails.on("other").count(), 0);
    scene.api.delete(UPGRADE_POLICIES, "b");
    assert!(scene.has(&["a", "UpgradeGuardrails lantern"]).await < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_is_in_force_and_says_so() {
    let api = cluster();
    api.put(UPGRADE_POLICIES, policy("bad", &json!({"step": "Tiny"})));
    api.put(UPGRADE_POLICIES, policy("good", &json!({"step": "Minor"})));
    api.put(UPGRADE_GUARDRAILS, guardrails("any", &json!(7)));
    let scene = Scene::of(api);
    let mut moved = Moved::default();
    moved.look(&scene.metrics.render());
    scene.has(&["bad", "good", "UpgradeGuardrails any"]).await;
    scene
        .says(Ok(
            "1 UpgradePolicy accepted, 1 not accepted and denying upgrades; the first: bad: \
             spec.rules.step: unknown value \"Tiny\": expected one of Patch, Minor, Major; \
             0 UpgradeGuardrails accepted, 1 not accepted and denying upgrades; the first: any: \
             spec.package: expected a string, found integer",
        ))
        .await;
    let current = scene.store.current().load_full();
    assert!(current.guardrails.on("other").any(|by| by.stated.is_err()));
    moved.look(&scene.metrics.render());
    let rows = include_str!("../../../tests/server/telemetry/moved/policies.txt");
    assert_eq!(moved.still(rows), [""; 0]);
    scene.api.put(UPGRADE_POLICIES, {
        let mut mended = policy("bad", &json!({"step": "Patch"}));
        mended["metadata"]["generation"] = json!(2);
        mended
    });
    scene.api.delete(UPGRADE_GUARDRAILS, "any");
    scene
        .says(Ok("2 UpgradePolicy accepted; 0 UpgradeGuardrails accepted"))
        .await;
}

#[tokio::test(start_paused = true)]
async fn files_and_objects_are_in_force_together() {
    let scene = Scene::of(cluster());
    scene
        .api
        .put(UPGRADE_GUARDRAILS, guardrails("lantern", &json!("p")));
    scene.has(&["UpgradeGuardrails lantern"]).await;
    let mut files = olmguard_catalog::guardrail::AdministratorGuardrails::default();
    let whole = olmguard_catalog::guardrail::UnreadGuardrails {
        path: String::new(),
        problem: olmguard_catalog::guardrail::Problem::Text("broken".to_owned()),
    };
    files.add_unread("rules.yaml:1".into(), whole);
    scene.store.put_files(files);
    assert_eq!(
        scene.in_force(),
        ["rules.yaml:1", "UpgradeGuardrails lantern"]
    );
    scene.api.put(UPGRADE_POLICIES, policy("a", &json!({})));
    scene
        .has(&["a", "rules.yaml:1", "UpgradeGuardrails lantern"])
        .await;
}
