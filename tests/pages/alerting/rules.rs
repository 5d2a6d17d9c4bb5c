//! The alert rules: one file, its object for the Prometheus operator, its unit tests, and the list of alerts.

use std::collections::BTreeSet;
use std::fmt::Write;

use olmguard::manifest::documents;
use serde_json::Value;

use olmguard_fixtures::committed::compare;

use super::known::{Known, NONE};
use super::promql::asked;

/// An alert rule.
pub(crate) struct Alert {
    pub(crate) name: String,
    pub(crate) severity: String,
    pub(crate) summary: String,
    pub(crate) expr: String,
    description: String,
    runbook: String,
}

/// Returns the recording rules: their names and expressions.
pub(crate) fn records() -> Vec<(String, String)> {
    let file = read(RULES);
    let rules = rules(&file).filter(|rule| rule.get("record").is_some());
    let records: Vec<_> = rules
        .map(|rule| (text(rule, "/record"), text(rule, "/expr")))
        .collect();
    assert!(!records.is_empty(), "there are records");
    records
}

/// Returns all alerts in order. An alert with two severities occurs twice.
pub(crate) fn alerts() -> Vec<Alert> {
    let file = read(RULES);
    let rules = rules(&file).filter(|rule| rule.get("record").is_none());
    let alerts: Vec<_> = rules.map(alert).collect();
    assert!(!alerts.is_empty(), "there are rules");
    alerts
}

fn rules(file: &Value) -> impl Iterator<Item = &Value> {
    items(file, "/groups").flat_map(|group| items(group, "/rules"))
}

fn text(rule: &Value, at: &str) -> String {
    let text = rule.pointer(at).and_then(Value::as_str);
    text.unwrap_or_else(|| panic!("{at} of {rule}")).to_owned()
}

fn alert(rule: &Value) -> Alert {
    let text = |at: &str| text(rule, at);
    Alert {
        name: text("/alert"),
        severity: text("/labels/severity"),
        summary: text("/annotations/summary"),
        expr: text("/expr"),
        description: text("/annotations/description"),
        runbook: text("/annotations/runbook"),
    }
}

/// Returns the only document of a file.
pub(crate) fn read(text: &str) -> Value {
    let mut documents = documents(text.as_bytes());
    let document = documents.next().expect("a document").expect("YAML");
    assert!(documents.next().is_none(), "one document");
    document.value
}

fn items<'a>(value: &'a Value, at: &str) -> impl Iterator<Item = &'a Value> {
    let list = value.pointer(at).and_then(Value::as_array);
    list.into_iter().flatten()
}

#[test]
fn nothing_is_asked_for_that_nobody_tells() {
    let known = Known::read();
    for alert in alerts() {
        assert_eq!(known.faults(&alert.expr), NONE, "{}", alert.name);
    }
    for (name, expression) in records() {
        assert_eq!(known.faults(&expression), NONE, "{name}");
    }
}

/// The name has the remaining labels, the metric and the operation.
#[test]
fn a_record_is_named_by_its_expression() {
    let tests = read(TESTS);
    let cases = items(&tests, "/tests").flat_map(|test| items(test, "/promql_expr_test"));
    let shown: BTreeSet<_> = cases.map(|case| text(case, "/expr")).collect();
    for (name, expression) in records() {
        let asked = asked(&expression);
        let [selector] = &asked.selectors[..] else {
            panic!("{name} is of one metric: {expression}")
        };
        let labels = asked.grouped.join("_");
        let operation = expression.split(' ').next().unwrap_or_default();
        assert_eq!(name, format!("{labels}:{}:{operation}", selector.metric));
        assert!(shown.contains(&name), "no test of {name}");
    }
}

#[test]
fn every_alert_says_what_it_is_and_how_to_read_its_runbook() {
    for alert in alerts() {
        let name = &alert.name;
        assert!(name.starts_with("Olmguard"), "{name}");
        assert!(
            ["warning", "critical"].contains(&&*alert.severity),
            "{name}"
        );
        assert_eq!(alert.runbook, format!("olmguard explain {name}"), "{name}");
        for sentence in [&alert.summary, &alert.description] {
            assert!(sentence.ends_with('.'), "{name}: {sentence}");
        }
        assert!(!alert.summary.contains("{{"), "{name}: {}", alert.summary);
    }
}

#[test]
fn every_alert_is_shown_firing_and_not_firing() {
    let file = read(TESTS);
    let (mut fires, mut rests) = (BTreeSet::new(), BTreeSet::new());
    for case in items(&file, "/tests").flat_map(|test| items(test, "/alert_rule_test")) {
        let name = case["alertname"].as_str().expect("an alert is named");
        let shown: Vec<_> = items(case, "/exp_alerts").collect();
        if shown.is_empty() {
            rests.insert(name.to_owned());
        }
        for alert in shown {
            let severity = alert.pointer("/exp_labels/severity").expect("severity");
            fires.insert((name.to_owned(), severity.as_str().unwrap().to_owned()));
        }
    }
    let alerts = alerts();
    let named = alerts
        .iter()
        .map(|alert| (alert.name.clone(), alert.severity.clone()));
    assert_eq!(fires, named.collect());
    assert_eq!(
        rests,
        alerts.iter().map(|alert| alert.name.clone()).collect()
    );
}

#[test]
fn the_object_of_the_operator_holds_the_same_groups() {
    let object = prometheus_rule(RULES);
    compare("deploy/chart/monitoring/prometheus-rule.yaml", &object);
    assert_eq!(read(&object)["spec"], read(RULES));
}

/// Returns the rules as a `PrometheusRule`, whose `spec` is such a file.
fn prometheus_rule(rules: &str) -> String {
    let groups = rules.find("groups:").expect("groups");
    let mut object = OBJECT.to_owned();
    for line in rules[groups..].lines() {
        let indent = if line.is_empty() { "" } else { "  " };
        writeln!(object, "{indent}{line}").unwrap();
    }
    object
}

#[test]
fn the_list_of_runbooks_is_that_of_the_rules() {
    let mut page = LIST.to_owned();
    for alert in alerts() {
        let Alert {
            name,
            severity,
            summary,
            ..
        } = alert;
        writeln!(page, "| [{name}]({name}.md) | {severity} | {summary} |").unwrap();
    }
    compare("docs/runbooks/README.md", &page);
}

const RULES: &str = include_str!("../../../deploy/monitoring/olmguard-rules.yaml");
const TESTS: &str = include_str!("../../../deploy/monitoring/olmguard-rules.test.yaml");

const OBJECT: &str = "\
# Made from deploy/monitoring/olmguard-rules.yaml by `cargo xtask bless`: change that file instead.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: olmguard
  namespace: olmguard-system
  labels:
    app.kubernetes.io/name: olmguard
    app.kubernetes.io/part-of: olmguard
    app.kubernetes.io/component: monitoring
spec:
";

const LIST: &str = "\
# Runbooks

This page lists the runbook of each alert in `deploy/monitoring/olmguard-rules.yaml`.
`olmguard explain NAME` prints the runbook of an alert.
`cargo xtask bless` writes the list from the rules. [monitoring.md](../monitoring.md) shows how to
load the rules into Prometheus.

| alert | severity | meaning |
| --- | --- | --- |
";
