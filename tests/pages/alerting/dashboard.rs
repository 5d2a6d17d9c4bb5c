//! The dashboards: Grafana accepts them unchanged, and each of their queries uses known metrics.

use std::collections::BTreeSet;

use serde_json::Value;

use super::known::{Known, NONE};

#[test]
fn panels_ask_for_nothing_that_nobody_tells() {
    let known = Known::read();
    for (dashboard, least) in dashboards().iter().zip([20, 5]) {
        let mut asked = 0;
        for panel in graphs(dashboard) {
            for target in list(&panel, "/targets") {
                let query = text(target, "/expr");
                assert_eq!(known.faults(query), NONE, "{query}");
                assert_eq!(text(target, "/datasource/uid"), SOURCE, "{query}");
                asked += 1;
            }
        }
        assert!(asked > least, "{asked} queries");
    }
}

#[test]
fn variables_ask_for_nothing_that_nobody_tells() {
    let (known, dashboards) = (Known::read(), dashboards());
    let variables = dashboards
        .iter()
        .flat_map(|dashboard| list(dashboard, "/templating/list"));
    for variable in variables.filter(|variable| variable["type"] == "query") {
        let query = text(variable, "/query/query");
        let (metric, label) = query
            .strip_prefix("label_values(")
            .and_then(|query| query.strip_suffix(')')?.split_once(", "))
            .expect("the values of a label");
        let grouped = format!("sum by ({label}) ({metric})");
        assert_eq!(known.faults(&grouped), NONE, "{query}");
    }
}

#[test]
fn what_is_used_as_a_variable_is_one() {
    for dashboard in dashboards() {
        let variables: BTreeSet<_> = list(&dashboard, "/templating/list")
            .map(|variable| text(variable, "/name").to_owned())
            .collect();
        let whole = dashboard.to_string();
        let used = whole.split('$').skip(1).map(|after| {
            let after = after.trim_start_matches('{');
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            &after[..end.unwrap_or(after.len())]
        });
        let used: BTreeSet<_> = used
            .filter(|word| !word.starts_with("__"))
            .map(str::to_owned)
            .collect();
        assert_eq!(used, variables);
    }
}

#[test]
fn panels_are_told_apart_and_say_what_they_show() {
    for (dashboard, uid) in dashboards().iter().zip(["olmguard", "olmguard-fleet"]) {
        assert_eq!(dashboard["uid"], uid);
        // With an id, Grafana would overwrite the dashboard with that number.
        assert!(dashboard.get("id").is_none());
        let (mut ids, mut places) = (BTreeSet::new(), BTreeSet::new());
        for panel in list(dashboard, "/panels") {
            assert!(
                ids.insert(panel["id"].as_u64().expect("a number")),
                "{panel}"
            );
            assert!(places.insert(panel["gridPos"].to_string()), "{panel}");
        }
        for panel in graphs(dashboard) {
            let title = text(&panel, "/title");
            assert!(
                !text(&panel, "/fieldConfig/defaults/unit").is_empty(),
                "{title}"
            );
            assert!(text(&panel, "/description").ends_with('.'), "{title}");
            assert_eq!(text(&panel, "/datasource/uid"), SOURCE, "{title}");
            assert!(list(&panel, "/targets").next().is_some(), "{title}");
        }
    }
}

/// Returns the panels of a dashboard, without the rows between them.
fn graphs(dashboard: &Value) -> Vec<Value> {
    let panels = list(dashboard, "/panels").filter(|panel| panel["type"] != "row");
    panels.cloned().collect()
}

/// Returns the dashboards of one cluster and of a fleet.
fn dashboards() -> [Value; 2] {
    DASHBOARDS.map(|text| serde_json::from_str(text).expect("JSON"))
}

fn list<'a>(value: &'a Value, at: &str) -> impl Iterator<Item = &'a Value> {
    let list = value.pointer(at).and_then(Value::as_array);
    list.expect("a list").iter()
}

#[track_caller]
fn text<'a>(value: &'a Value, at: &str) -> &'a str {
    let text = value.pointer(at).and_then(Value::as_str);
    text.unwrap_or_else(|| panic!("no {at}: {value}"))
}

const DASHBOARDS: [&str; 2] = [
    include_str!("../../../deploy/monitoring/olmguard-dashboard.json"),
    include_str!("../../../deploy/monitoring/olmguard-fleet-dashboard.json"),
];

/// The variable for the data source.
const SOURCE: &str = "${datasource}";
