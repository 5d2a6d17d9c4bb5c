//! The component `secure-metrics` and `deploy/monitoring-secure` use the same port and the same certificate.

use olmguard::manifest::documents;
use serde_json::Value;

use crate::manifests::{read, rendered};

const COMPONENT: &str = "deploy/components/secure-metrics";
const MONITORING: &str = "deploy/monitoring-secure";

#[test]
fn the_port_that_is_scraped_is_the_one_that_is_served() {
    let container = added(
        "deployment.yaml",
        "/spec/template/spec/containers/0/ports/-",
    );
    let setting = added("deployment.yaml", "/spec/template/spec/containers/0/env/-");
    let service = added("service.yaml", "/spec/ports/-");
    let policy = added("network-policy.yaml", "/spec/ingress/0/ports/-");
    let endpoint = endpoint();
    let number = &container["containerPort"];
    assert_eq!(setting["name"], "OLMGUARD_METRICS_LISTEN");
    assert_eq!(setting["value"], format!("[::]:{number}"));
    assert_eq!(&service["port"], number);
    for port in [&service["targetPort"], &policy["port"]] {
        assert_eq!(*port, container["name"]);
    }
    assert_eq!(endpoint["port"], service["name"]);
}

/// The token is sent only to olmguard: over TLS, with a certificate that is verified, for its name.
#[test]
fn the_token_is_sent_to_the_name_of_the_certificate() {
    let endpoint = endpoint();
    assert_eq!(endpoint["scheme"], "https");
    assert_eq!(endpoint["path"], "/metrics");
    let tls = &endpoint["tlsConfig"];
    assert!(tls.get("insecureSkipVerify").is_none(), "{tls}");
    assert!(tls["ca"]["secret"]["key"].is_string(), "{tls}");
    let name = tls["serverName"].as_str().expect("a name");
    for (file, text) in rendered() {
        assert!(text.contains(&format!("value: {name}\n")), "{file}");
    }
}

#[test]
fn who_scrapes_can_get_the_metrics_and_nothing_else() {
    let objects = parsed(&read(&format!("{MONITORING}/reader.yaml")));
    let [role, binding] = &objects[..] else {
        panic!("{objects:?}")
    };
    let rules = r#"[{"nonResourceURLs":["/metrics"],"verbs":["get"]}]"#;
    assert_eq!(role["rules"].to_string(), rules);
    assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
}

/// Returns the value that a patch of the component adds at a path.
fn added(file: &str, path: &str) -> Value {
    value(&format!("{COMPONENT}/{file}"), "add", path)
}

fn endpoint() -> Value {
    let file = format!("{MONITORING}/service-monitor.yaml");
    value(&file, "replace", "/spec/endpoints/0")
}

fn value(file: &str, op: &str, path: &str) -> Value {
    let patches = parsed(&read(file));
    let mut steps = patches
        .iter()
        .flat_map(|patch| patch.as_array().expect("steps"));
    let step = steps.find(|step| step["op"] == op && step["path"] == path);
    step.unwrap_or_else(|| panic!("no {op} {path} in {file}"))["value"].clone()
}

fn parsed(text: &str) -> Vec<Value> {
    let objects = documents(text.as_bytes());
    objects.map(|object| object.expect("YAML").value).collect()
}
