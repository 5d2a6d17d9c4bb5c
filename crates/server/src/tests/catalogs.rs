//! `POST /validate-catalog`: the effects of a catalog edit, with extensions that the test lists.

use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use serde_json::{Value, json};

use super::protocol::Wire;
use super::{LOOPBACK, Started, listen_on, post_to, start};
use crate::tls::{TlsConfig, self_signed};
use crate::{CatalogPreviews, Guard, Installations, Limits, ListExtensions};
use olmguard_admission::{Enforcement, Mode};
use olmguard_catalog::olm::Rules;
use olmguard_engine::extension::{Extension, Shape};
use olmguard_engine::judge::{Policies, UpgradePolicies};
use olmguard_engine::snapshot::{CatalogState, Labels, Snapshot};
use olmguard_fixtures::question::content;
use olmguard_policy::UpgradePolicy;

/// The extensions of the cluster, and how often they were listed.
#[derive(Debug, Default)]
struct Cluster {
    extensions: Vec<Extension>,
    trouble: Option<Trouble>,
    lists: usize,
}

/// Why a list brings no extensions.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Forbidden,
    Silent,
    Panic,
}

/// Lists the extensions of the cluster.
#[derive(Clone, Debug, Default)]
struct Listed(Arc<Mutex<Cluster>>);

impl Listed {
    fn put(&self, object: &Value) {
        let extension = Extension::read(Shape::V1, object);
        self.0.lock().unwrap().extensions.push(extension);
    }
}

impl ListExtensions for Listed {
    fn list(&self) -> Pin<Box<dyn Future<Output = Installations> + Send>> {
        let mut cluster = self.0.lock().unwrap();
        cluster.lists += 1;
        match cluster.trouble {
            None => Box::pin(ready(Installations {
                extensions: cluster.extensions.as_slice().into(),
                fault: None,
            })),
            Some(Trouble::Forbidden) => Box::pin(ready(Installations {
                extensions: [].into(),
                fault: Some(format!(
                    "installed extensions are unknown: {}",
                    "no ".repeat(90)
                )),
            })),
            Some(Trouble::Silent) => Box::pin(pending()),
            Some(Trouble::Panic) => Box::pin(async { panic!("a bug") }),
        }
    }
}

/// A server with the catalogs `hub` (priority 1) and `mirror` (priority 0), which have the same package, and
/// extensions of it.
pub(super) struct CatalogScene {
    pub(super) started: Started,
    listed: Listed,
}

impl CatalogScene {
    pub(super) fn start() -> Self {
        Self::of(None, Mode::Enforce)
    }

    /// Returns the same with a catalog of a newer version, and an upgrade policy that denies this version.
    pub(super) fn denying(mode: Mode) -> Self {
        Self::of(Some("2.0.0"), mode)
    }

    fn of(denied: Option<&str>, mode: Mode) -> Self {
        let listed = Listed::default();
        listed.put(&extension("any", None));
        listed.put(&extension("of-hub", Some("a")));
        let rules = Rules::default();
        let mut catalogs = vec![
            catalog_of("hub", 1, "a", CATALOG),
            catalog_of("mirror", 0, "b", CATALOG),
        ];
        let mut policies = Policies::default();
        if let Some(version) = denied {
            let mut open = extension("open", Some("a"));
            open["spec"]["source"]["catalog"]["version"] = json!(">=1.0.0");
            listed.put(&open);
            catalogs.push(catalog_of("newer", -1, "c", NEWER));
            policies.upgrades = UpgradePolicies::of([UpgradePolicy::read(&json!({
                "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
                "metadata": {"name": "production"},
                "spec": {"rules": {"versions": {"deny": version}}},
            }))]);
        }
        let guard = Guard::from(Snapshot::new(rules, catalogs));
        let guard = guard.with_policies(Arc::new(ArcSwap::from_pointee(policies)));
        let previews = CatalogPreviews::new(guard.clone(), Arc::new(listed.clone()));
        let certificates = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
        let certificate = certificates.leaf().der().clone();
        let listening = listen_on(LOOPBACK.parse().unwrap(), Limits::default());
        let certified = listening.certify(certificates).previewing(Some(previews));
        let enforcement = Enforcement {
            mode,
            ..Enforcement::default()
        };
        let server = certified.open(Arc::new(guard), enforcement);
        let started = Started {
            server,
            certificate,
        };
        Self { started, listed }
    }

    /// Returns the status and the reply.
    pub(super) async fn ask(&self, target: &str, review: &Value) -> (u16, Value) {
        ask(&self.started, target, &review.to_string()).await
    }

    pub(super) fn may_not_list(&self) {
        self.listed.0.lock().unwrap().trouble = Some(Trouble::Forbidden);
    }

    pub(super) fn never_lists(&self) {
        self.listed.0.lock().unwrap().trouble = Some(Trouble::Silent);
    }

    fn lists(&self) -> usize {
        self.listed.0.lock().unwrap().lists
    }

    /// Returns the warnings about an edit that is allowed.
    async fn warnings(&self, review: &Value) -> Vec<String> {
        let (status, reply) = self.ask("/validate-catalog", review).await;
        assert_eq!(status, 200, "{reply}");
        let response = &reply["response"];
        let answered = (&response["uid"], &response["allowed"]);
        assert_eq!(answered, (&json!("u"), &json!(true)));
        let warnings = response["warnings"].as_array().into_iter().flatten();
        let warnings = warnings.map(|warning| warning.as_str().unwrap().to_owned());
        warnings.collect()
    }
}

fn catalog_of(name: &str, priority: i32, tier: &str, fbc: &str) -> CatalogState {
    let labels = [("tier".to_owned(), tier.to_owned())];
    CatalogState {
        labels: Labels::with_name(name, labels.into()),
        priority,
        image_ref: Some(format!("example.com/{name}@{}", digest(name))),
        ..CatalogState::named(name, content(fbc, &Rules::default()))
    }
}

async fn ask(started: &Started, target: &str, body: &str) -> (u16, Value) {
    let mut wire = Wire::to(started).await;
    let response = wire.ask(&post_to(target, body, "")).await;
    let reply = serde_json::from_slice(&response.body);
    let text = || Value::from(String::from_utf8_lossy(&response.body));
    (response.status(), reply.unwrap_or_else(|_| text()))
}

fn digest(name: &str) -> String {
    let digit = match name {
        "hub" => "1",
        "mirror" => "2",
        _ => "3",
    };
    format!("sha256:{}", digit.repeat(64))
}

fn extension(name: &str, tier: Option<&str>) -> Value {
    let mut object = json!({
        "metadata": {"name": name},
        "spec": {"namespace": "ns", "source": {"sourceType": "Catalog",
            "catalog": {"packageName": "p", "version": "1.0.0"}}},
        "status": {"install": {"bundle": {"name": "p.v1", "version": "1.0.0"}}},
    });
    if let Some(tier) = tier {
        object["spec"]["source"]["catalog"]["selector"] = json!({"matchLabels": {"tier": tier}});
    }
    object
}

fn catalog(spec: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": "hub", "labels": {"tier": "a"}},
        "spec": {"source": {"type": "Image", "image": {"ref": "example.com/hub:v1"}}, "priority": 1},
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
    object
}

fn review(operation: &str, object: &Value, old: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": operation, "object": object, "oldObject": old,
            "kind": {"group": "olm.operatorframework.io", "version": "v1", "kind": "ClusterCatalog"},
        },
    })
}

/// Returns an update of the catalog `hub` to these fields.
pub(super) fn edit_of(spec: &Value) -> Value {
    review("UPDATE", &catalog(spec), &catalog(&json!({})))
}

#[tokio::test]
async fn a_priority_that_ties_two_catalogs_is_reported() {
    let scene = CatalogScene::start();
    assert_eq!(
        scene.warnings(&edit_of(&json!({"priority": 0}))).await,
        [
            "this edit of catalog hub: 1 extension with breaking changes, 0 to review, 0 improved, 1 unchanged",
            "any (p): ambiguous: 2 catalogs of the same priority (0) offer it",
        ]
    );
}

#[tokio::test]
async fn a_catalog_that_is_unavailable_relabelled_or_deleted_is_missing_to_those_who_select_it() {
    let scene = CatalogScene::start();
    let old = catalog(&json!({}));
    let mut relabelled = old.clone();
    relabelled["metadata"]["labels"]["tier"] = json!("c");
    let gone = "the selector matches no ClusterCatalog";
    for (review, reason) in [
        (
            edit_of(&json!({"availabilityMode": "Unavailable"})),
            "every ClusterCatalog that matches is Unavailable",
        ),
        (review("UPDATE", &relabelled, &old), gone),
        (review("DELETE", &Value::Null, &old), gone),
    ] {
        assert_eq!(
            scene.warnings(&review).await,
            [
                "this edit of catalog hub: 1 extension with breaking changes, 0 to review, 0 improved, 1 unchanged",
                &*format!("of-hub (p): undecided: {reason}"),
            ]
        );
    }
}

#[tokio::test]
async fn an_image_is_answered_if_its_content_is_loaded() {
    let scene = CatalogScene::start();
    let image = |image: String| edit_of(&json!({"source": {"image": {"ref": image}}}));
    let known = image(format!("example.com/hub@{}", digest("mirror")));
    let expected = "the new image has the content of catalog mirror: checked with it";
    assert_eq!(scene.warnings(&known).await, [expected]);
    let unknown = "not checked: the content that catalog hub will have is not loaded here";
    let tag = image("example.com/hub:v2".to_owned());
    assert_eq!(scene.warnings(&tag).await, [unknown]);
    let new = review("CREATE", &catalog(&json!({})), &Value::Null);
    assert_eq!(scene.warnings(&new).await, [unknown]);
    let both = edit_of(&json!({"priority": 0, "source": {"image": {"ref": "example.com/hub:v2"}}}));
    assert_eq!(
        scene.warnings(&both).await[..2],
        [
            "the content of the new image is not loaded here: checked with what catalog hub has now",
            "this edit of catalog hub: 1 extension with breaking changes, 0 to review, 0 improved, 1 unchanged",
        ]
    );
}

#[tokio::test]
async fn an_edit_without_an_effect_lists_nothing() {
    let scene = CatalogScene::start();
    assert_eq!(scene.warnings(&edit_of(&json!({}))).await, [""; 0]);
    assert_eq!(scene.lists(), 0);
    // A catalog that does not affect any extension.
    assert_eq!(
        scene.warnings(&edit_of(&json!({"priority": 9}))).await,
        [""; 0]
    );
    assert_eq!(scene.lists(), 1);
}

/// Returns the edit of the catalog `hub` to the image of the newer catalog.
pub(super) fn upgrade() -> Value {
    let image = format!("example.com/hub@{}", digest("newer"));
    edit_of(&json!({"source": {"image": {"ref": image}}}))
}

#[tokio::test]
async fn an_edit_that_makes_olm_install_what_a_policy_denies_is_denied() {
    let scene = CatalogScene::denying(Mode::Enforce);
    let (status, reply) = scene.ask("/validate-catalog", &upgrade()).await;
    assert_eq!(status, 200);
    let response = &reply["response"];
    assert_eq!(response["allowed"], false, "{reply}");
    let cause = "OLM would upgrade open (p) automatically to 2.0.0: policy production denies 2.0.0 (versions.deny: 2.0.0)";
    let message = format!(
        "ClusterCatalog hub: {cause} [Policy]\n\
         Fix: first set the version of these extensions to a range that the policy allows"
    );
    assert_eq!(
        response["status"],
        json!({
            "status": "Failure", "message": message, "reason": "Forbidden", "code": 403,
            "details": {
                "name": "hub", "group": "olm.operatorframework.io", "kind": "ClusterCatalog",
                "causes": [{"reason": "Policy", "message": cause}],
            },
        })
    );
    assert!(response["warnings"].is_array(), "{reply}");
}

#[tokio::test]
async fn a_denied_edit_is_only_warned_of_in_observe_mode() {
    let scene = CatalogScene::denying(Mode::Observe);
    let warnings = scene.warnings(&upgrade()).await;
    let first = "allowed in observe mode: ClusterCatalog hub: OLM would upgrade";
    assert!(warnings[0].starts_with(first), "{warnings:?}");
    assert!(warnings.iter().all(|one| one.chars().count() <= 120));
    assert!(warnings.len() <= 5);
}

/// A faulty catalog can always be removed, whatever OLM then installs from another one.
#[tokio::test]
async fn no_policy_denies_that_a_catalog_is_taken_away() {
    let scene = CatalogScene::denying(Mode::Enforce);
    let open = |tier: &str| {
        let mut open = extension("open", None);
        open["spec"]["source"]["catalog"]["version"] = json!(">=1.0.0");
        let wanted = json!([{"key": "tier", "operator": "In", "values": ["a", tier]}]);
        open["spec"]["source"]["catalog"]["selector"] = json!({"matchExpressions": wanted});
        open
    };
    scene.listed.put(&open("c"));
    for review in [
        edit_of(&json!({"availabilityMode": "Unavailable"})),
        review("DELETE", &Value::Null, &catalog(&json!({}))),
    ] {
        let warnings = scene.warnings(&review).await;
        let moves = "open (p): forbidden: policy production denies 2.0.0 (versions.deny: 2.0.0)";
        assert!(warnings.iter().any(|one| one == moves), "{warnings:?}");
    }
    let lowered = edit_of(&json!({"priority": -5}));
    let (_, reply) = scene.ask("/validate-catalog", &lowered).await;
    assert_eq!(reply["response"]["allowed"], false, "{reply}");
}

#[tokio::test]
async fn what_cannot_be_listed_is_one_warning() {
    let scene = CatalogScene::start();
    scene.may_not_list();
    let warnings = scene.warnings(&edit_of(&json!({"priority": 0}))).await;
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(
        warning.starts_with("installed extensions are unknown: "),
        "{warning}"
    );
    assert!(warning.chars().count() <= 120, "{warning}");
}

#[tokio::test]
async fn a_list_that_does_not_come_delays_nothing_beyond_the_deadline() {
    let scene = CatalogScene::start();
    scene.never_lists();
    let edit = edit_of(&json!({"priority": 0}));
    let (status, reply) = scene.ask("/validate-catalog?timeout=300ms", &edit).await;
    assert_eq!((status, &reply["response"]["allowed"]), (200, &json!(true)));
    let expected = json!(["not checked: the answer was not ready in time"]);
    assert_eq!(reply["response"]["warnings"], expected);
}

#[tokio::test]
async fn a_panic_over_an_edit_is_counted_and_loses_no_connection() {
    let scene = CatalogScene::start();
    scene.listed.0.lock().unwrap().trouble = Some(Trouble::Panic);
    let edit = edit_of(&json!({"priority": 0}));
    let (status, text) = scene.ask("/validate-catalog", &edit).await;
    let expected = "internal fault: the review cannot be answered; please report this\n";
    assert_eq!((status, text), (500, json!(expected)));
    assert_eq!(scene.started.told("olmguard_panics_total "), 1);
}

#[tokio::test]
async fn what_cannot_be_read_is_allowed_with_a_warning_or_is_no_review() {
    let scene = CatalogScene::start();
    assert_eq!(
        scene.warnings(&edit_of(&json!({"priority": "high"}))).await,
        [
            "not checked: ClusterCatalog \"hub\": spec.priority is \"high\": expected a whole number of 32 bits"
        ]
    );
    for body in ["", "{", "null", "{}", "\u{1b}"] {
        let (status, _) = ask(&scene.started, "/validate-catalog", body).await;
        assert_eq!(status, 400, "{body:?}");
    }
}

#[tokio::test]
async fn without_the_flag_there_is_no_such_path() {
    let started = start(LOOPBACK).await;
    let (status, text) = ask(&started, "/validate-catalog", "{}").await;
    let expected = "not found: expected /validate or /validate-policy\n";
    assert_eq!((status, text), (404, json!(expected)));
    let scene = CatalogScene::start();
    let (_, text) = scene.ask("/other", &json!({})).await;
    let expected = "not found: expected /validate, /validate-policy or /validate-catalog\n";
    assert_eq!(text, json!(expected));
}

const CATALOG: &str = r#"
    {"schema": "olm.package", "name": "p"}
    {"schema": "olm.channel", "package": "p", "name": "c", "entries": [{"name": "p.v1"}]}
    {"schema": "olm.bundle", "package": "p", "name": "p.v1", "properties": [
        {"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]}"#;

/// A catalog with a successor of that version.
const NEWER: &str = r#"
    {"schema": "olm.package", "name": "p"}
    {"schema": "olm.channel", "package": "p", "name": "c", "entries": [
        {"name": "p.v1"}, {"name": "p.v2", "replaces": "p.v1"}]}
    {"schema": "olm.bundle", "package": "p", "name": "p.v1", "properties": [
        {"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]}
    {"schema": "olm.bundle", "package": "p", "name": "p.v2", "properties": [
        {"type": "olm.package", "value": {"packageName": "p", "version": "2.0.0"}}]}"#;
