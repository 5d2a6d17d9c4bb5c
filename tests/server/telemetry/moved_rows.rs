//! Every metric changes in a test that drives a server.

use std::collections::BTreeSet;

use super::exposition::families;
use super::metrics::all;
use olmguard_fixtures::moved::rows;

/// Each file of rows, and the test that changes them.
const PLACES: [(&str, &str, &str); 9] = [
    (
        "server.txt",
        include_str!("moved/server.txt"),
        "crates/server/src/tests/moved.rs (a server alone)",
    ),
    (
        "cluster.txt",
        include_str!("moved/cluster.txt"),
        "src/cluster/follow/tests.rs (catalogs of a cluster)",
    ),
    (
        "configuration.txt",
        include_str!("moved/configuration.txt"),
        "src/cluster/configuration/tests.rs (the webhook configuration)",
    ),
    (
        "guardrails.txt",
        include_str!("moved/guardrails.txt"),
        "src/cli/commands/serve/policies.rs (files of --guardrails)",
    ),
    (
        "policies.txt",
        include_str!("moved/policies.txt"),
        "src/cluster/policies/tests.rs (objects of a cluster)",
    ),
    (
        "events.txt",
        include_str!("moved/events.txt"),
        "src/cluster/events/tests.rs (Events of extensions)",
    ),
    (
        "audit.txt",
        include_str!("moved/audit.txt"),
        "src/cluster/audit/tests.rs (audits of a cluster)",
    ),
    (
        "images.txt",
        include_str!("moved/images.txt"),
        "src/cluster/images/tests.rs (images of bundles)",
    ),
    (
        "log.txt",
        include_str!("moved/log.txt"),
        "tests/server/telemetry/lines.rs (the log)",
    ),
];

/// The metric of the build, which never changes.
const CONSTANT: &str = "olmguard_build_info";

#[test]
fn every_metric_is_seen_to_move() {
    let moved: BTreeSet<&str> = PLACES
        .iter()
        .flat_map(|(_, text, _)| rows(text))
        .map(metric)
        .collect();
    let families = families(&all().render());
    let ours = families.keys().filter(|name| name.starts_with("olmguard_"));
    let ours: BTreeSet<&str> = ours.map(String::as_str).collect();
    let missing: Vec<_> = ours
        .iter()
        .filter(|name| **name != CONSTANT && !moved.contains(**name))
        .collect();
    let places = PLACES.map(|(file, _, test)| format!("\n  {file}: {test}"));
    let places = places.concat();
    assert!(
        missing.is_empty(),
        "no test sees these move: {missing:?}. Add a line with the series, as /metrics shows it, to a file \
         of tests/server/telemetry/moved, and do what moves it in the test of that file:{places}"
    );
    let unknown: Vec<_> = moved.difference(&ours).collect();
    assert!(unknown.is_empty(), "no such metrics: {unknown:?}");
}

/// Returns the name of a series without its labels. A histogram is represented by its count.
fn metric(series: &str) -> &str {
    let name = series.split('{').next().unwrap_or_default();
    name.strip_suffix("_count").unwrap_or(name)
}
