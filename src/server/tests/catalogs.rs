//! `POST /validate-catalog`: what an edit of a catalog changes, by the extensions of an API server in the test.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use hyper::StatusCode;
use serde_json::{Value, json};

use super::wire::Wire;
use super::{LOOPBACK, Started, listen_on, post_to, start};
use crate::admission::Enforcement;
use crate::cluster::extensions::SharedExtensions;
use crate::server::{CatalogPreviews, Guard, Installations, InstalledExtensions, Limits};
use crate::source::load_bytes;
use crate::tls::{TlsConfig, self_signed};
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Labels, Snapshot};
use olmguard_support::api::{ApiServer, Asked, Trouble};

/// The extensions of the API server.
#[derive(Debug)]
struct Listed(SharedExtensions);

impl InstalledExtensions for Listed {
    fn list(&self) -> Pin<Box<dyn Future<Output = Installations> + Send>> {
        let list = self.0.list();
        Box::pin(async {
            let (extensions, fault) = list.await;
            Installations { extensions, fault }
        })
    }
}

/// A server with the catalogs `hub` (priority 1) and `mirror` (priority 0), which have the same package, and an API
/// server with extensions of it.
pub(super) struct CatalogScene {
    pub(super) started: Started,
    api: ApiServer,
}

impl CatalogScene {
    pub(super) async fn start() -> Self {
        let api = ApiServer::start();
        api.serve(
            "olm.operatorframework.io/v1",
            "clusterextensions",
            "ClusterExtension",
        );
        api.put(EXTENSIONS, extension("any", None));
        api.put(EXTENSIONS, extension("of-hub", Some("a")));
        let rules = Rules::default();
        let catalogs = [("hub", 1, "a"), ("mirror", 0, "b")].map(|(name, priority, tier)| {
            let labels = [("tier".to_owned(), tier.to_owned())];
            CatalogState {
                labels: Labels::with_name(name, labels.into()),
                priority,
                image_ref: Some(format!("example.com/{name}@{}", digest(name))),
                ..load_bytes(name, CATALOG.as_bytes(), &rules)
            }
        });
        let guard = Guard::from(Snapshot::new(rules, catalogs));
        let installed = Listed(SharedExtensions::of(api.client()));
        let previews = CatalogPreviews::new(guard.clone(), Arc::new(installed));
        let certificates = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
        let certificate = certificates.leaf().der().clone();
        let listening = listen_on(LOOPBACK.parse().unwrap(), Limits::default());
        let certified = listening.certify(certificates).previewing(Some(previews));
        let server = certified.open(Arc::new(guard), Enforcement::default());
        let started = Started {
            server,
            certificate,
        };
        Self { started, api }
    }

    /// The status and the reply.
    pub(super) async fn ask(&self, target: &str, review: &Value) -> (u16, Value) {
        ask(&self.started, target, &review.to_string()).await
    }

    pub(super) fn may_not_list(&self) {
        let forbidden = Trouble::Status(StatusCode::FORBIDDEN);
        self.api.trouble(forbidden, is_list);
    }

    pub(super) fn never_lists(&self) {
        self.api.trouble(Trouble::Silent, is_list);
    }

    /// The warnings about an edit that is allowed.
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

async fn ask(started: &Started, target: &str, body: &str) -> (u16, Value) {
    let mut wire = Wire::to(started).await;
    let response = wire.ask(&post_to(target, body, "")).await;
    let reply = serde_json::from_slice(&response.body);
    let text = || Value::from(String::from_utf8_lossy(&response.body));
    (response.status(), reply.unwrap_or_else(|_| text()))
}

fn is_list(asked: &Asked) -> bool {
    asked.path == EXTENSIONS
}

fn digest(name: &str) -> String {
    let digit = if name == "hub" { "1" } else { "2" };
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

/// An update of the catalog `hub` to these fields.
pub(super) fn edit_of(spec: &Value) -> Value {
    review("UPDATE", &catalog(spec), &catalog(&json!({})))
}

#[tokio::test]
async fn a_priority_that_ties_two_catalogs_is_reported() {
    let scene = CatalogScene::start().await;
    assert_eq!(
        scene.warnings(&edit_of(&json!({"priority": 0}))).await,
        [
            "this edit of catalog hub: 1 extension with breaking changes, 0 to review, 0 improved, 1 unchanged",
            "any (p): ambiguous: several catalogs of one priority have the package: hub, mirror",
        ]
    );
}

#[tokio::test]
async fn a_catalog_that_is_unavailable_relabelled_or_deleted_is_missing_to_those_who_select_it() {
    let scene = CatalogScene::start().await;
    let old = catalog(&json!({}));
    let mut relabelled = old.clone();
    relabelled["metadata"]["labels"]["tier"] = json!("c");
    for review in [
        edit_of(&json!({"availabilityMode": "Unavailable"})),
        review("UPDATE", &relabelled, &old),
        review("DELETE", &Value::Null, &old),
    ] {
        assert_eq!(
            scene.warnings(&review).await,
            [
                "this edit of catalog hub: 1 extension with breaking changes, 0 to review, 0 improved, 1 unchanged",
                "of-hub (p): package_gone: no selected catalog has the package any more",
            ]
        );
    }
}

#[tokio::test]
async fn an_image_is_answered_if_its_content_is_loaded() {
    let scene = CatalogScene::start().await;
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
    let scene = CatalogScene::start().await;
    assert_eq!(scene.warnings(&edit_of(&json!({}))).await, [""; 0]);
    assert!(!scene.api.asked().iter().any(is_list));
    // A catalog that nobody loses or gains anything by.
    assert_eq!(
        scene.warnings(&edit_of(&json!({"priority": 9}))).await,
        [""; 0]
    );
    assert!(scene.api.asked().iter().any(is_list));
}

#[tokio::test]
async fn what_cannot_be_listed_is_one_warning() {
    let scene = CatalogScene::start().await;
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
    let scene = CatalogScene::start().await;
    scene.never_lists();
    let edit = edit_of(&json!({"priority": 0}));
    let (status, reply) = scene.ask("/validate-catalog?timeout=300ms", &edit).await;
    assert_eq!((status, &reply["response"]["allowed"]), (200, &json!(true)));
    let expected = json!(["not checked: the answer was not ready in time"]);
    assert_eq!(reply["response"]["warnings"], expected);
}

#[tokio::test]
async fn what_cannot_be_read_is_allowed_with_a_warning_or_is_no_review() {
    let scene = CatalogScene::start().await;
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
    let scene = CatalogScene::start().await;
    let (_, text) = scene.ask("/other", &json!({})).await;
    let expected = "not found: expected /validate, /validate-policy or /validate-catalog\n";
    assert_eq!(text, json!(expected));
}

const EXTENSIONS: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";

const CATALOG: &str = r#"
    {"schema": "olm.package", "name": "p"}
    {"schema": "olm.channel", "package": "p", "name": "c", "entries": [{"name": "p.v1"}]}
    {"schema": "olm.bundle", "package": "p", "name": "p.v1", "properties": [
        {"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]}"#;
