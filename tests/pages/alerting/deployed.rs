//! The files for Prometheus match the deployment: they scrape the Service that exists, and query API servers for the
//! webhook by its name.

use std::fs;
use std::path::Path;

use olmguard::manifest::{ManifestObject, documents};

use super::promql::asked;
use super::rules::alerts;

#[test]
fn the_service_that_is_scraped_is_there() {
    let monitor = find("deploy/monitoring/service-monitor.yaml", "ServiceMonitor").value;
    let service = find("deploy/base/services.yaml", "Service").value;
    let labels = service["metadata"]["labels"].as_object().expect("labels");
    let selected = monitor["spec"]["selector"]["matchLabels"].as_object();
    for (label, value) in selected.expect("labels") {
        assert_eq!(labels.get(label), Some(value), "{label}");
    }
    assert_eq!(
        monitor["metadata"]["namespace"],
        service["metadata"]["namespace"]
    );
    let endpoint = &monitor["spec"]["endpoints"][0];
    assert_eq!(endpoint["port"], service["spec"]["ports"][0]["name"]);
    assert_eq!(endpoint["path"], "/metrics");
    // If replicas took turns, their counters would jump back and forth.
    assert_eq!(service["spec"]["clusterIP"], "None");
}

#[test]
fn api_servers_are_asked_for_the_webhooks_by_their_names() {
    let file = "deploy/base/validating-webhook-configuration.yaml";
    let configuration = find(file, "ValidatingWebhookConfiguration").value;
    let added = "deploy/components/catalog-preview/validating-webhook-configuration.yaml";
    let added = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(added)).expect(added);
    let webhooks = configuration["webhooks"].as_array().expect("webhooks");
    let shipped = webhooks
        .iter()
        .filter_map(|webhook| webhook["name"].as_str());
    let added = added
        .lines()
        .find_map(|line| line.trim().strip_prefix("name: "));
    let kinds = shipped.chain(added).map(|name| {
        let kind = name.strip_prefix("validate");
        let kind = kind.and_then(|kind| kind.strip_suffix(".olmguard.dev"));
        kind.expect("a name of ours")
    });
    let kinds: Vec<_> = kinds.filter(|kind| !kind.is_empty()).collect();
    assert_eq!(kinds.len(), 2, "{kinds:?}");
    let pattern = format!("validate({})?[.]olmguard[.]dev", kinds.join("|"));
    let mut seen = 0;
    for selector in alerts()
        .iter()
        .flat_map(|alert| asked(&alert.expr).selectors)
    {
        if selector.metric.starts_with("apiserver_admission_webhook_") {
            let named = selector.labels.iter().find(|(label, _)| label == "name");
            assert_eq!(
                named.map(|(_, value)| value.as_str()),
                Some(&*pattern),
                "{}",
                selector.metric
            );
            seen += 1;
        }
    }
    assert!(seen > 0, "no alert asks API servers");
}

/// Returns the last object of a kind in a file.
#[track_caller]
fn find(file: &str, kind: &str) -> ManifestObject {
    let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect(file);
    let documents = documents(&text).map(|document| document.expect("YAML"));
    let objects = documents.flat_map(|document| document.into_objects().0);
    let found = objects.filter(|object| object.kind == kind).last();
    found.unwrap_or_else(|| panic!("no {kind} in {file}"))
}
