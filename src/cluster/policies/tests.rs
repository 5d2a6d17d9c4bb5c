//! The watches against a server with scripted faults, in virtual time.

mod status;

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};

use super::*;
use crate::cluster::policies::follow::{WatchedPolicies, Watches};
use crate::cluster::policies::table::{DOUBT, ObjectTable};
use crate::cluster::watch::WatchEvent;
use crate::cluster::{FaultClass, WatchFault};
use olmguard_catalog::guardrail::{GuardrailsObject, ImposedBy};
use olmguard_fixtures::moved::Moved;
use olmguard_server::telemetry::Metrics;
use olmguard_server::tls::SystemClock;
use olmguard_support::api::{ApiServer, Trouble};

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

    /// Returns the names of the policies in force, and the locations of the guardrails.
    fn in_force(&self) -> Vec<String> {
        let current = self.store.current().load_full();
        let policies = current
            .upgrades
            .iter()
            .map(|policy| policy.name().to_owned());
        let guardrails = current.guardrails.iter().map(|by| by.place.to_string());
        policies.chain(guardrails).collect()
    }

    /// Returns the reason why not all policies are known.
    fn unlisted(&self) -> Option<String> {
        let current = self.store.current().load_full();
        current.unlisted.as_deref().map(str::to_owned)
    }

    /// Returns the metric: whether all policies are known, and all guardrails.
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

    /// Waits until probes report this.
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

    /// Returns the answer to probes.
    fn words(&self) -> Result<String, String> {
        let CheckReadiness { known, message, .. } = self.board.readiness();
        if known { Ok(message) } else { Err(message) }
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

/// A definition can be added whose objects no replica can list. In that case no replica may become unready.
#[test]
fn what_was_known_once_stays_ready() {
    let absent = |kind| ListedKind {
        kind,
        presence: Presence::Absent,
        count: 0,
        invalid: Vec::new(),
        fault: None,
    };
    let known = ListedPolicies {
        policies: absent("UpgradePolicy"),
        guardrails: absent("UpgradeGuardrails"),
    };
    let unlisted = UnlistedCause::Kind {
        kind: "UpgradePolicy",
        fault: None,
    };
    let board = PolicyBoard::default();
    board.put(Err(unlisted.clone()));
    let why = "UpgradePolicy not listed yet";
    let said = || {
        let CheckReadiness {
            ok, known, message, ..
        } = board.readiness();
        (ok, known, message)
    };
    assert_eq!(said(), (false, false, why.to_owned()));
    board.put(Ok(known.clone()));
    assert_eq!(said(), (true, true, known.to_string()));
    board.put(Err(unlisted.clone()));
    let words = format!("{why}, so edits can be undecided");
    assert_eq!(said(), (true, false, words), "an audit waits");
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
    let mut files = AdministratorGuardrails::default();
    let whole = olmguard_catalog::guardrail::UnreadGuardrails {
        path: String::new(),
        problem: olmguard_catalog::guardrail::GuardrailProblem::Text("broken".to_owned()),
    };
    let by = ImposedBy {
        place: "rules.yaml:1".into(),
        stated: Err(whole),
    };
    files.add(None, by);
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

// === Whether the API server checks the permission `bypass` ===

const REGISTRATION: &str = "admissionregistration.k8s.io/v1";

const POLICIES_OF_API: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";

const BINDINGS_OF_API: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

fn expected() -> ExpectedPermission {
    ExpectedPermission {
        policies: vec![json!({"failurePolicy": "Fail"})],
        binding: json!({"validationActions": ["Deny"]}),
    }
}

fn object(spec: &Value) -> Value {
    json!({"metadata": {"name": BYPASS}, "spec": spec})
}

/// Waits until the one policy has this fault, or none.
async fn is_faulty(scene: &Scene, fault: Option<&str>) {
    let begun = Instant::now();
    loop {
        let current = scene.store.current().load_full();
        let policy = current.upgrades.iter().next();
        let found = policy.map(|policy| policy.faults().first().map(ToString::to_string));
        if found
            .as_ref()
            .is_some_and(|found| found.as_deref() == fault)
        {
            return;
        }
        assert!(
            begun.elapsed() < Duration::from_mins(10),
            "{found:?}, expected {fault:?}"
        );
        sleep(Duration::from_millis(10)).await;
    }
}

const NOT_CHECKED: &str = "spec.rules.bypass: ByPermission needs the ValidatingAdmissionPolicy of olmguard, \
     which is not in use here: install it, or write Deny";

#[tokio::test(start_paused = true)]
async fn by_permission_is_accepted_where_the_api_server_asks() {
    let api = cluster();
    api.serve(
        REGISTRATION,
        "validatingadmissionpolicies",
        "ValidatingAdmissionPolicy",
    );
    api.serve(
        REGISTRATION,
        "validatingadmissionpolicybindings",
        "ValidatingAdmissionPolicyBinding",
    );
    api.put(
        UPGRADE_POLICIES,
        policy("a", &json!({"bypass": "ByPermission"})),
    );
    let scene = Scene::expecting(api, expected());
    is_faulty(&scene, Some(NOT_CHECKED)).await;
    scene
        .api
        .put(POLICIES_OF_API, object(&expected().policies[0]));
    sleep(Duration::from_secs(1)).await;
    is_faulty(&scene, Some(NOT_CHECKED)).await;
    scene.api.put(BINDINGS_OF_API, object(&expected().binding));
    is_faulty(&scene, None).await;
    // An administrator has disabled it.
    scene.api.put(
        BINDINGS_OF_API,
        object(&json!({"validationActions": ["Audit"]})),
    );
    is_faulty(&scene, Some(NOT_CHECKED)).await;
    scene.api.put(BINDINGS_OF_API, object(&expected().binding));
    is_faulty(&scene, None).await;
    scene.api.delete(POLICIES_OF_API, BYPASS);
    is_faulty(&scene, Some(NOT_CHECKED)).await;
}

#[tokio::test(start_paused = true)]
async fn by_permission_is_not_accepted_where_that_cannot_be_known() {
    let api = cluster();
    api.put(
        UPGRADE_POLICIES,
        policy("a", &json!({"bypass": "ByPermission"})),
    );
    let scene = Scene::expecting(api, expected());
    is_faulty(&scene, Some(NOT_CHECKED)).await;
    let mut reports = scene.reports.clone();
    reports.changed().await.expect("it goes on");
    let words = "0 UpgradePolicy accepted, 1 not accepted and denying upgrades; the first: a: ";
    let words = format!("{words}{NOT_CHECKED}; 0 UpgradeGuardrails accepted");
    scene.says(Ok(&words)).await;
}

// === The time at which the objects of a removed kind are dropped, by the time of each answer ===

const MINUTE: Duration = Duration::from_mins(1);

/// A second less than it takes.
const JUST_BEFORE: Duration = Duration::from_secs(60 + 5 * 60 - 1);

fn lost() -> WatchEvent<Value> {
    WatchEvent::Lost(WatchFault {
        class: FaultClass::Unreachable,
        words: "no connection".to_owned(),
    })
}

/// Whether the object is in use after these events, each at its time, and whether all objects are known.
async fn after(events: &[(Duration, WatchEvent<Value>)]) -> (bool, bool) {
    let begun = Instant::now();
    let mut table = ObjectTable::<GuardrailsObject>::default();
    let listed = WatchEvent::Listed(vec![guardrails("g", &json!("p"))]);
    table.take(listed, begun).await;
    for (after, event) in events {
        table.take(event.clone(), begun + *after).await;
    }
    (table.iter().count() == 1, table.is_known())
}

#[tokio::test]
async fn objects_are_dropped_after_minutes_in_which_no_answer_was_another() {
    let gone = || WatchEvent::Absent;
    let rows = [
        (vec![], (true, true)),
        (vec![(MINUTE, gone())], (true, false)),
        // One answer is not sufficient, however late the next one is.
        (vec![(MINUTE, gone()), (JUST_BEFORE, gone())], (true, false)),
        (
            vec![(MINUTE, gone()), (MINUTE + DOUBT, gone())],
            (false, true),
        ),
        (
            vec![(MINUTE, gone()), (2 * MINUTE, WatchEvent::Found)],
            (true, false),
        ),
        // The kind was served in the meantime.
        (
            vec![
                (MINUTE, gone()),
                (2 * MINUTE, WatchEvent::Found),
                (3 * MINUTE, gone()),
                (MINUTE + DOUBT, gone()),
            ],
            (true, false),
        ),
        (
            vec![
                (MINUTE, gone()),
                (
                    2 * MINUTE,
                    WatchEvent::Listed(vec![guardrails("g", &json!("p"))]),
                ),
                (MINUTE + DOUBT, gone()),
            ],
            (true, false),
        ),
        // It is unknown what was served while there was no answer.
        (
            vec![
                (MINUTE, gone()),
                (3 * MINUTE, lost()),
                (MINUTE + DOUBT, gone()),
            ],
            (true, false),
        ),
        (
            vec![
                (MINUTE, gone()),
                (3 * MINUTE, lost()),
                (3 * MINUTE + DOUBT, gone()),
            ],
            (false, true),
        ),
    ];
    for (events, expected) in rows {
        assert_eq!(after(&events).await, expected, "{events:?}");
    }
}

#[tokio::test]
async fn a_kind_without_objects_is_known_to_be_absent_at_once() {
    let now = Instant::now();
    let mut table = ObjectTable::<GuardrailsObject>::default();
    assert!(!table.is_known());
    table.take(WatchEvent::Absent, now).await;
    assert!(table.is_known());
    table.take(WatchEvent::Found, now).await;
    assert!(!table.is_known(), "it is defined and not listed");
    table.take(lost(), now).await;
    assert!(!table.is_known());
    table.take(WatchEvent::Listed(Vec::new()), now).await;
    table.take(WatchEvent::Absent, now).await;
    assert!(table.is_known());
}

// === Policies that are partly known do not count as absent ===

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
        // The listed objects are already in force.
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

/// The objects of the new kind are unknown.
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
    let latched = format!("{why}, so edits can be undecided");
    scene.says(Err(&latched)).await;
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
        let state = WatchedPolicies::new(ExpectedPermission::default(), listener, reports);
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
    let state = WatchedPolicies::new(ExpectedPermission::default(), scene.listener(), reports);
    tokio::spawn(state.run(watches));
    let listed = WatchEvent::Listed(vec![guardrails("g", &json!("p"))]);
    senders.guardrails.send(listed).await.expect("it listens");
    let why = "UpgradePolicy not listed yet, so edits can be undecided";
    scene.says(Err(why)).await;
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
