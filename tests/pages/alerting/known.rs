//! The known metrics: those in `docs/metrics.md`, some of the API server, and the labels that Prometheus adds to a
//! target.

use std::collections::{BTreeMap, BTreeSet};

use super::promql::{Selector, asked};
use super::rules::records;

/// Metrics by name, each with its labels.
pub(crate) struct Known(BTreeMap<String, Labels>);

/// Labels with their values, which are empty if they are not known in advance.
type Labels = BTreeMap<String, BTreeSet<String>>;

impl Known {
    /// Reads the page of metrics, which another test compares with the registry.
    pub(crate) fn read() -> Self {
        let mut metrics: BTreeMap<_, _> = API_SERVER.iter().map(api_server).collect();
        for line in PAGE.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<_> = line.split(" | ").collect();
            let [name, kind, labels, ..] = cells[..] else {
                panic!("a row has four cells: {line}")
            };
            let name = coded(name).next().expect("a name").to_owned();
            let labels = labels.split("; ").filter_map(label).collect();
            metrics.extend(series(name, kind, labels));
        }
        assert!(metrics.len() > 40, "the page of the metrics is not read");
        for (name, expression) in records() {
            let labels = recorded(&metrics, &expression);
            metrics.insert(name, labels);
        }
        Self(metrics)
    }

    /// Returns what an expression uses although no metric has it.
    pub(crate) fn faults(&self, expression: &str) -> Vec<String> {
        let (asked, mut faults) = (asked(expression), Vec::new());
        assert!(!asked.selectors.is_empty(), "no metric: {expression}");
        let mut told: BTreeSet<&str> = TARGET.into();
        for Selector { metric, labels } in &asked.selectors {
            let Some(known) = self.0.get(metric) else {
                faults.push(format!("no metric {metric}"));
                continue;
            };
            told.extend(known.keys().map(String::as_str));
            for (label, values) in labels {
                faults.extend(faults_of(metric, known, label, values));
            }
        }
        let unknown = asked.grouped.iter();
        let unknown = unknown.filter(|label| !told.contains(label.as_str()));
        faults.extend(unknown.map(|label| format!("no label {label}")));
        faults
    }
}

/// Returns what is wrong with a label of a metric, or with the values that it is compared with.
fn faults_of(metric: &str, known: &Labels, label: &str, values: &str) -> Vec<String> {
    let Some(told) = known.get(label) else {
        let is_of_target = TARGET.contains(&label);
        let fault = (!is_of_target).then(|| format!("no label {label} of {metric}"));
        return fault.into_iter().collect();
    };
    let is_told = |value: &str| told.is_empty() || value.contains('$') || told.contains(value);
    let unknown = values.split('|').filter(|value| !is_told(value));
    unknown
        .map(|value| format!("{metric} is never {label}={value:?}"))
        .collect()
}

/// Returns the labels of a metric that a rule keeps, with their values.
fn recorded(metrics: &BTreeMap<String, Labels>, expression: &str) -> Labels {
    let asked = asked(expression);
    let metric = asked.selectors.first().expect("a metric");
    let known = metrics.get(&metric.metric).cloned().unwrap_or_default();
    let kept = |label: &String| asked.grouped.contains(label);
    known.into_iter().filter(|(label, _)| kept(label)).collect()
}

/// Returns the series of a metric. A histogram has three.
fn series(name: String, kind: &str, labels: Labels) -> Vec<(String, Labels)> {
    if kind != "histogram" {
        return vec![(name, labels)];
    }
    let mut of_buckets = labels.clone();
    of_buckets.insert("le".to_owned(), BTreeSet::new());
    vec![
        (format!("{name}_bucket"), of_buckets),
        (format!("{name}_count"), labels.clone()),
        (format!("{name}_sum"), labels),
    ]
}

/// Parses `` `NAME`: `VALUE`, `VALUE` ``, or words instead of values.
fn label(text: &str) -> Option<(String, BTreeSet<String>)> {
    let (name, values) = text.split_once(": ")?;
    let name = coded(name).next()?.to_owned();
    Some((name, coded(values).map(str::to_owned).collect()))
}

/// Returns the texts between backticks.
fn coded(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn api_server((name, labels): &(&str, &[&str])) -> (String, Labels) {
    let labels = labels.iter();
    let labels = labels.map(|label| ((*label).to_owned(), BTreeSet::new()));
    ((*name).to_owned(), labels.collect())
}

/// The empty list of faults.
pub(crate) const NONE: [&str; 0] = [];

const PAGE: &str = include_str!("../../../docs/metrics.md");

/// The metrics of k8s.io/apiserver, `pkg/admission/metrics/metrics.go`. Prometheus itself adds `up` to every target.
const API_SERVER: [(&str, &[&str]); 5] = [
    (
        "apiserver_admission_webhook_admission_duration_seconds_bucket",
        &["name", "type", "operation", "rejected", "le"],
    ),
    (
        "apiserver_admission_webhook_fail_open_count",
        &["name", "type"],
    ),
    (
        "apiserver_admission_webhook_rejection_count",
        &["name", "type", "operation", "error_type", "rejection_code"],
    ),
    (
        "apiserver_admission_webhook_request_total",
        &["name", "type", "operation", "code", "rejected"],
    ),
    ("up", &[]),
];

/// The labels that the discovery of a target may add.
const TARGET: [&str; 5] = ["cluster", "instance", "job", "namespace", "pod"];

#[test]
fn what_nobody_tells_is_a_fault() {
    let known = Known::read();
    for (expression, fault) in [
        ("olmguard_request_total", "no metric olmguard_request_total"),
        (
            "rate(olmguard_admission_duration_seconds[5m])",
            "no metric olmguard_admission_duration_seconds",
        ),
        (
            r#"olmguard_requests_total{decision="deny"}"#,
            "no label decision of olmguard_requests_total",
        ),
        (
            r#"olmguard_requests_total{verdict=~"deny|denied"}"#,
            "olmguard_requests_total is never verdict=\"denied\"",
        ),
        ("sum by (user) (olmguard_panics_total)", "no label user"),
    ] {
        assert_eq!(known.faults(expression), [fault], "{expression}");
    }
    let right = r#"sum by (namespace, verdict) (olmguard_requests_total{verdict=~"deny|allow", pod=~"$pod"})"#;
    assert_eq!(known.faults(right), NONE);
}
