//! One answer everywhere: the facts of each example in `check` and in the webhook, a real server with real TLS. The
//! audit annotations are in `tests/audit/annotations.json`, which `OLMGUARD_BLESS=1` writes again.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use olmguard::manifest::documents;
use olmguard::source::load;
use olmguard_admission::{Enforcement, Mode, OnUndecided};
use olmguard_catalog::olm::Rules;
use olmguard_engine::judge::{Policies, UpgradePolicies};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_policy::UpgradePolicy;
use olmguard_server::telemetry::EditEvents;
use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::log::DecisionLog;
use olmguard_server::tls::files::{CertificateFiles, POLL, serve};
use olmguard_server::tls::{Certificates, TlsConfig};
use olmguard_server::{Config, Guard, Limits, Server};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use olmguard_fixtures::committed::compare;
use olmguard_support::examples::{folders, name, run};
use olmguard_support::https::{Certificate, post};

#[test]
fn check_and_the_webhook_say_the_same_of_every_example() {
    let certificate = Certificate::generate();
    let mut audited = BTreeMap::new();
    for folder in folders() {
        let example = name(&folder);
        let extension = objects(&folder.join("extension.yaml")).remove(0);
        let snapshot = snapshot(&folder);
        let policies = policies(&folder);
        let response = ask(snapshot, policies, &certificate, &review(&extension));
        let checked = checked(&folder);

        let (verdict, message) = (checked["verdict"].as_str().unwrap(), &checked["message"]);
        let is_refused = matches!(verdict, "deny" | "undecided");
        assert_eq!(response["allowed"], !is_refused, "{example}");
        assert_eq!(response["status"]["message"], *message, "{example}");
        let warnings = response.get("warnings").cloned().unwrap_or(json!([]));
        assert_eq!(warnings, without_places(&checked["warnings"]), "{example}");
        let annotations = &response["auditAnnotations"];
        assert_eq!(annotations["token"], example, "{example}");
        audited.insert(example, annotations.clone());
    }
    let audited = serde_json::to_string_pretty(&audited).unwrap() + "\n";
    compare("tests/audit/annotations.json", &audited);
}

/// Returns warnings without their places, which no review has.
fn without_places(warnings: &Value) -> Value {
    let is_place = |c: char| c.is_ascii_digit() || matches!(c, ':' | ' ');
    let warnings = warnings.as_array().unwrap().iter();
    let warning = |text: &Value| {
        text.as_str()
            .unwrap()
            .trim_start_matches(is_place)
            .to_owned()
    };
    warnings.map(warning).collect()
}

/// Returns the result of `check` for the example's only extension.
fn checked(folder: &Path) -> Value {
    let ran = run(folder, &["-o", "json"]);
    let mut report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    report["results"][0].take()
}

/// Returns the catalogs of an example, as in its command line.
fn snapshot(folder: &Path) -> Snapshot {
    let rules = Rules::default();
    let described = objects(&folder.join("clustercatalogs.yaml"));
    let command = fs::read_to_string(folder.join("command")).unwrap();
    let contents = command
        .split_whitespace()
        .filter_map(|word| word.split_once('='));
    let mut contents: Vec<_> = contents
        .map(|(name, file)| load(name, &folder.join(file), &rules))
        .collect();
    let catalogs = described.iter().map(|object| {
        let state = CatalogState::read(object).unwrap();
        match contents.iter().position(|loaded| loaded.name == state.name) {
            None => state,
            Some(at) => CatalogState {
                content: contents.swap_remove(at).content,
                ..state
            },
        }
    });
    let catalogs: Vec<_> = catalogs.collect();
    Snapshot::new(rules, catalogs.into_iter().chain(contents))
}

/// Returns the upgrade policies of an example.
fn policies(folder: &Path) -> Policies {
    let file = folder.join("policy.yaml");
    let objects = if file.is_file() {
        objects(&file)
    } else {
        Vec::new()
    };
    Policies {
        upgrades: UpgradePolicies::of(objects.iter().map(UpgradePolicy::read)),
        ..Policies::default()
    }
}

/// Returns a review. An extension with a status existed before with another request. Any other extension is new.
fn review(extension: &Value) -> Value {
    let mut request = json!({"uid": "u-1", "operation": "CREATE", "object": extension});
    if extension.get("status").is_some() {
        let catalog = json!({"channels": ["some-old-channel"]});
        let mut old = extension.clone();
        old["spec"] = json!({"source": {"sourceType": "Catalog", "catalog": catalog}});
        request["operation"] = json!("UPDATE");
        request["oldObject"] = old;
    }
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
}

/// Starts a webhook for one review, which denies undecided edits.
fn ask(snapshot: Snapshot, policies: Policies, certificate: &Certificate, review: &Value) -> Value {
    let runtime = Runtime::new().unwrap();
    let _within = runtime.enter();
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        ops_listen: "127.0.0.1:0".parse().unwrap(),
        limits: Limits::default(),
        scrapes: None,
        checks: Vec::new(),
        metrics: Metrics::new(),
        decisions: DecisionLog::default(),
        events: EditEvents::default(),
        log_level: None,
    };
    let policies = Arc::new(ArcSwap::from_pointee(policies));
    let guard = Guard::from(snapshot).with_policies(policies);
    let enforcement = Enforcement {
        mode: Mode::Enforce,
        on_undecided: OnUndecided::Deny,
    };
    let listening = Server::listen(config)
        .unwrap()
        .certify(certificates(certificate));
    let server = listening.open(Arc::new(guard), enforcement);
    let response = post(&server.addr().to_string(), certificate, &review.to_string());
    runtime.block_on(server.close());
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{response}");
    let mut reply: Value = serde_json::from_str(body).unwrap();
    assert_eq!(reply["response"]["uid"], "u-1");
    reply["response"].take()
}

fn certificates(certificate: &Certificate) -> Certificates {
    let folder = TempDir::new().unwrap();
    let (cert, key) = (folder.path().join("tls.crt"), folder.path().join("tls.key"));
    fs::write(&cert, certificate.pem()).unwrap();
    fs::write(&key, certificate.key_pem()).unwrap();
    let files = CertificateFiles {
        cert,
        key,
        terms: TlsConfig::default(),
        wanted: Vec::new(),
        poll: POLL,
    };
    serve(files, Arc::new(())).unwrap()
}

fn objects(file: &Path) -> Vec<Value> {
    let bytes = fs::read(file).unwrap();
    let documents = documents(&bytes).map(|document| document.unwrap());
    let objects = documents.flat_map(|document| document.into_objects().0);
    objects.map(|object| object.value).collect()
}
