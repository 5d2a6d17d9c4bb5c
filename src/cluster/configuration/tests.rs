//! A configuration that changes while a server runs, in virtual time.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::{Method, StatusCode};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhook;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::*;
use crate::cluster::tests::FaultyClock;
use olmguard_fixtures::moved::Moved;
use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::metrics::ConfigurationField;
use olmguard_server::tls::Clock;
use olmguard_support::api::{ApiServer, Trouble};

const GROUP: &str = "admissionregistration.k8s.io/v1";
const PLURAL: &str = "validatingwebhookconfigurations";
const COLLECTION: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/// A server that reads the objects of `api`.
struct Scene {
    api: ApiServer,
    metrics: Metrics,
}

impl Scene {
    fn of(configuration: Option<Value>) -> Self {
        Self::by(configuration, Arc::new(Since(Instant::now())))
    }

    fn by(configuration: Option<Value>, clock: Arc<dyn Clock>) -> Self {
        let api = ApiServer::start();
        api.serve(GROUP, PLURAL, "ValidatingWebhookConfiguration");
        if let Some(configuration) = configuration {
            api.put(COLLECTION, configuration);
        }
        let metrics = Metrics::new();
        let listener = ReadingListener {
            configuration: Arc::clone(&metrics.configuration),
            watches: Arc::clone(&metrics.watches),
            clock,
        };
        tokio::spawn(watch(api.client(), expected(), listener));
        Self { api, metrics }
    }

    /// Returns the fields that are not as shipped, a moment after a reading is due.
    async fn changed(&self) -> Vec<String> {
        sleep(Duration::from_secs(61)).await;
        let text = self.metrics.render();
        let lines = text.lines().filter_map(|line| {
            let line = line.strip_prefix("olmguard_webhook_configuration_changed{field=\"")?;
            line.strip_suffix("\"} 1").map(str::to_owned)
        });
        lines.collect()
    }

    fn of_watch(&self, name: &str) -> f64 {
        let text = self.metrics.render();
        let series = format!("{name}{{resource=\"validatingwebhookconfiguration\"}} ");
        let mut values = text.lines().filter_map(|line| line.strip_prefix(&series));
        values.next().unwrap().parse().unwrap()
    }
}

/// A clock that shows the seconds since the start of the test as seconds since 1970.
#[derive(Debug)]
struct Since(Instant);

impl Clock for Since {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.0.elapsed()
    }
}

fn webhook(resource: &str) -> Value {
    json!({
        "name": "validate.olmguard.dev",
        "clientConfig": {"service": {
            "namespace": "olmguard-system", "name": "olmguard", "path": "/validate", "port": 443,
        }},
        "rules": [{"apiGroups": ["a"], "apiVersions": ["v1"], "operations": ["CREATE"],
                   "resources": [resource], "scope": "Cluster"}],
        "matchConditions": [{"name": "one", "expression": "true"}],
        "sideEffects": "None", "admissionReviewVersions": ["v1"],
    })
}

fn configuration(webhooks: &[Value]) -> Value {
    json!({
        "apiVersion": GROUP, "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "olmguard"}, "webhooks": webhooks,
    })
}

/// The usual form, and one for another resource.
fn expected() -> ExpectedConfiguration {
    let form =
        |resource| -> ValidatingWebhook { serde_json::from_value(webhook(resource)).unwrap() };
    let expected = ExpectedConfiguration {
        name: "olmguard".to_owned(),
        usual: form("x"),
        others: vec![form("older")],
        further: Vec::new(),
    };
    expected.asking("olmguard-system", "olmguard")
}

#[tokio::test(start_paused = true)]
async fn after_a_panic_it_is_read_again() {
    let changed = Some(configuration(&[webhook("other")]));
    let scene = Scene::by(changed, Arc::new(FaultyClock::default()));
    assert_eq!(scene.changed().await, ["rules"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_shipped_in_either_form_is_not_changed() {
    let scene = Scene::of(Some(configuration(&[webhook("x")])));
    assert_eq!(scene.changed().await, NONE);
    let mut older = webhook("older");
    older["clientConfig"]["caBundle"] = json!("YQ==");
    older["failurePolicy"] = json!("Ignore");
    scene.api.put(COLLECTION, configuration(&[older]));
    assert_eq!(scene.changed().await, NONE);
    assert!(scene.of_watch("olmguard_watch_connected") > 0.0);
}

/// A compromised pod in `self-managed` mode can do this with its permission to patch the
/// `caBundle`.
#[tokio::test(start_paused = true)]
async fn what_an_attacker_writes_is_seen_within_a_minute_and_its_end_as_well() {
    let scene = Scene::of(Some(configuration(&[webhook("x")])));
    assert_eq!(scene.changed().await, NONE);
    let mut everything = webhook("*");
    everything["rules"][0]["apiGroups"] = json!(["*"]);
    everything["clientConfig"] = json!({"url": "https://attacker.example.com/"});
    scene
        .api
        .put(COLLECTION, configuration(&[everything.clone()]));
    assert_eq!(scene.changed().await, ["clientConfig", "rules"]);
    everything["name"] = json!("all.example.com");
    let beside = configuration(&[webhook("x"), everything.clone()]);
    scene.api.put(COLLECTION, beside);
    assert_eq!(scene.changed().await, ["webhooks"]);
    scene.api.put(COLLECTION, configuration(&[everything]));
    assert_eq!(scene.changed().await, ["webhook"]);
    scene.api.put(COLLECTION, configuration(&[webhook("x")]));
    assert_eq!(scene.changed().await, NONE);
    scene.api.delete(COLLECTION, "olmguard");
    assert_eq!(scene.changed().await, ["webhook"]);
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_away_leaves_the_last_reading_and_its_age() {
    let mut changed = webhook("x");
    changed["matchConditions"][0]["expression"] = json!("false");
    let scene = Scene::of(Some(configuration(&[changed])));
    assert_eq!(scene.changed().await, ["matchConditions"]);
    for trouble in [
        Trouble::Refused,
        Trouble::Silent,
        Trouble::Empty,
        Trouble::Status(StatusCode::FORBIDDEN),
    ] {
        scene.api.trouble(trouble, |_| true);
        scene.changed().await;
        let read = scene.of_watch(LAST);
        assert_eq!(scene.changed().await, ["matchConditions"], "{trouble:?}");
        let still = scene.of_watch(LAST);
        assert!((still - read).abs() < 1e-9, "{trouble:?}: {read}, {still}");
        assert!(scene.of_watch("olmguard_watch_connected") < 1.0);
        scene.api.heal();
        assert_eq!(scene.changed().await, ["matchConditions"]);
        assert!(scene.of_watch("olmguard_watch_connected") > 0.0);
        assert!(scene.of_watch(LAST) > still, "{trouble:?}");
    }
}

/// Permission to get the one object is sufficient.
#[tokio::test(start_paused = true)]
async fn nothing_but_the_one_object_is_asked_for_once_a_minute() {
    let scene = Scene::of(None);
    for _ in 0..10 {
        assert_eq!(scene.changed().await, ["webhook"]);
    }
    let asked = scene.api.asked();
    assert!((10..=12).contains(&asked.len()), "{}", asked.len());
    for one in asked {
        let path = format!("{COLLECTION}/olmguard");
        assert_eq!((one.method, one.path), (Method::GET, path));
        assert_eq!(one.query, []);
    }
}

#[tokio::test(start_paused = true)]
async fn every_metric_of_the_configuration_moves() {
    let scene = Scene::of(Some(configuration(&[webhook("x")])));
    let mut moved = Moved::default();
    moved.look(&scene.metrics.render());
    scene.changed().await;
    let mut other = webhook("y");
    other["clientConfig"]["service"]["path"] = json!("/other");
    other["matchConditions"] = json!([]);
    other["matchPolicy"] = json!("Exact");
    other["sideEffects"] = json!("NoneOnDryRun");
    other["admissionReviewVersions"] = json!(["v1", "v1beta1"]);
    other["namespaceSelector"] = json!({"matchLabels": {"a": "b"}});
    other["objectSelector"] = json!({"matchLabels": {"c": "d"}});
    let mut beside = webhook("z");
    beside["name"] = json!("all.example.com");
    scene.api.put(COLLECTION, configuration(&[other, beside]));
    assert_eq!(scene.changed().await.len(), 9);
    moved.look(&scene.metrics.render());
    scene.api.delete(COLLECTION, "olmguard");
    scene.changed().await;
    moved.look(&scene.metrics.render());
    scene
        .api
        .trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
    scene.changed().await;
    moved.look(&scene.metrics.render());
    let rows = include_str!("../../../tests/server/telemetry/moved/configuration.txt");
    assert_eq!(moved.still(rows), NONE);
}

const NONE: [&str; 0] = [];
const LAST: &str = "olmguard_watch_last_contact_timestamp_seconds";

// === Differences between a webhook and the shipped one, after the defaults of the API server ===

fn webhook_named(change: impl FnOnce(&mut Value)) -> ValidatingWebhook {
    let mut webhook = json!({
        "name": "validate.olmguard.dev",
        "clientConfig": {"service": {
            "namespace": "olmguard-system", "name": "olmguard", "path": "/validate", "port": 443,
        }},
        "rules": [
            {"apiGroups": ["a"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
             "resources": ["x"], "scope": "*"},
            {"apiGroups": ["b"], "apiVersions": ["v1"], "operations": ["CREATE"],
             "resources": ["y"], "scope": "Cluster"},
        ],
        "matchConditions": [{"name": "one", "expression": "true"}],
        "matchPolicy": "Equivalent", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore", "timeoutSeconds": 5,
    });
    change(&mut webhook);
    serde_json::from_value(webhook).unwrap()
}

#[track_caller]
fn differs(change: impl FnOnce(&mut Value), expected: &[(&str, &str, &str)]) {
    let found = differences(&webhook_named(change), &webhook_named(|_| {}));
    let found = found.iter().map(|one| {
        let texts = (one.found.as_str(), one.shipped.as_str());
        (one.field, texts.0, texts.1)
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn what_an_api_server_fills_in_or_does_not_care_about_is_no_difference() {
    differs(
        |found| {
            found["namespaceSelector"] = json!({});
            found["objectSelector"] = json!({});
            found["matchPolicy"] = Value::Null;
            found["clientConfig"]["service"]["port"] = Value::Null;
            found["clientConfig"]["caBundle"] = json!("YQ==");
            found["rules"].as_array_mut().unwrap().reverse();
            found["rules"][1]["operations"] = json!(["UPDATE", "CREATE"]);
            found["rules"][1]["scope"] = Value::Null;
        },
        &[],
    );
}

#[test]
fn what_is_a_fact_of_its_own_is_no_difference() {
    differs(
        |found| {
            found["failurePolicy"] = json!("Fail");
            found["timeoutSeconds"] = json!(30);
        },
        &[],
    );
}

#[test]
fn every_other_field_counts() {
    differs(
        |found| {
            found["rules"] = json!([]);
            found["clientConfig"] = json!({"url": "https://a/"});
            found["matchConditions"] = Value::Null;
            found["matchPolicy"] = json!("Exact");
            found["sideEffects"] = json!("NoneOnDryRun");
            found["admissionReviewVersions"] = json!(["v1beta1", "v1"]);
            found["namespaceSelector"] = json!({"matchLabels": {"a": "b"}});
            found["objectSelector"] = json!({"matchLabels": {"c": "d"}});
        },
        &[
            (
                "rules",
                "[]",
                r#"[{"apiGroups":["a"],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":["x"],"scope":"*"},{"apiGroups":["b"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["y"],"scope":"Cluster"}]"#,
            ),
            (
                "clientConfig",
                r#"{"url":"https://a/"}"#,
                r#"{"service":{"name":"olmguard","namespace":"olmguard-system","path":"/validate","port":443}}"#,
            ),
            (
                "matchConditions",
                "[]",
                r#"[{"expression":"true","name":"one"}]"#,
            ),
            ("matchPolicy", r#""Exact""#, r#""Equivalent""#),
            ("sideEffects", r#""NoneOnDryRun""#, r#""None""#),
            (
                "admissionReviewVersions",
                r#"["v1beta1","v1"]"#,
                r#"["v1"]"#,
            ),
            ("namespaceSelector", r#"{"matchLabels":{"a":"b"}}"#, "{}"),
            ("objectSelector", r#"{"matchLabels":{"c":"d"}}"#, "{}"),
        ],
    );
}

#[test]
fn the_form_that_differs_least_is_compared_with() {
    let older = webhook_named(|form| {
        form["rules"] = json!([]);
        form["matchPolicy"] = json!("Exact");
    });
    let usual = webhook_named(|_| {});
    let forms = || [&usual, &older].into_iter();
    assert_eq!(least_differences(&older, forms()), []);
    assert_eq!(least_differences(&usual, forms()), []);
    let found = webhook_named(|found| {
        found["rules"] = json!([]);
        found["matchPolicy"] = json!("Exact");
        found["sideEffects"] = json!("Some");
    });
    let fields = least_differences(&found, forms());
    let fields: Vec<_> = fields.iter().map(|one| one.field).collect();
    assert_eq!(fields, ["sideEffects"]);
}

#[test]
fn a_webhook_beside_ours_is_a_difference() {
    let ours = webhook_named(|_| {});
    let alone = std::slice::from_ref(&ours);
    assert_eq!(others(alone, &ours.name, &[]), None);
    let another = webhook_named(|found| found["name"] = json!("all.example.com"));
    let found = others(&[ours.clone(), another], &ours.name, &[]).unwrap();
    assert_eq!(
        (found.field, &*found.found, &*found.shipped),
        (
            "webhooks",
            r#"["validate.olmguard.dev","all.example.com"]"#,
            r#"["validate.olmguard.dev"]"#,
        )
    );
}

#[test]
fn a_further_webhook_is_as_shipped_or_a_difference() {
    let ours = webhook_named(|_| {});
    let further = webhook_named(|found| found["name"] = json!("further"));
    let shipped = std::slice::from_ref(&further);
    let both = [ours.clone(), further.clone()];
    assert_eq!(others(&both, &ours.name, shipped), None);
    let alone = std::slice::from_ref(&ours);
    assert_eq!(others(alone, &ours.name, shipped), None);
    let mut changed = further.clone();
    changed.match_policy = Some("Exact".to_owned());
    let found = others(&[ours.clone(), changed], &ours.name, shipped).unwrap();
    assert_eq!(
        (&*found.found, &*found.shipped),
        (
            r#"["validate.olmguard.dev","further: matchPolicy \"Exact\""]"#,
            r#"["validate.olmguard.dev","further"]"#
        )
    );
}

/// The metric has a label value for each field.
#[test]
fn every_field_is_counted_by_its_name() {
    let fields = fields(&webhook_named(|_| {})).map(|(field, _)| field);
    for field in fields.into_iter().chain([WEBHOOKS]) {
        let counted = ConfigurationField::of(field).map(ConfigurationField::as_str);
        assert_eq!(counted, Some(field));
    }
    assert_eq!(ConfigurationField::of("news"), None);
}
