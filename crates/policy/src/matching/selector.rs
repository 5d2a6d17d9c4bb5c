//! `match.extensionSelector`: a label selector of Kubernetes.
//!
//! Stricter than the API server, which ignores unknown fields: a typo must not widen the selector.

use olmguard_catalog::selector::{LabelSelector, Selector, SelectorTexts};
use olmguard_catalog::version::go::escape;
use serde_json::Value;

use crate::fault::{Faults, PolicyProblem};
use crate::limits;
use crate::members::{self, Members, TextRule};

/// Reads `match.extensionSelector`; `None` if it has a fault.
pub(super) fn read(value: &Value, faults: &mut Faults) -> Option<Selector> {
    let before = faults.count();
    check_selector(value, faults);
    if faults.count() > before {
        return None;
    }
    // The check above reports every value of another type.
    let selector = LabelSelector::read(value).ok()?;
    match Selector::compile(&selector, SelectorTexts::JsonBytes) {
        Ok(selector) => Some(selector),
        Err(error) => {
            faults.report(PATH.to_owned(), PolicyProblem::Selector(Box::new(error)));
            None
        }
    }
}

/// What Go's decoder passes over in a selector (unknown fields), and what it does not limit.
fn check_selector(value: &Value, faults: &mut Faults) {
    let Some(members) = Members::of(value, PATH, SELECTOR_KEYS, faults) else {
        return;
    };
    if let Some(labels) = members.get("matchLabels") {
        check_labels(labels, &members.path_of("matchLabels"), faults);
    }
    let expected = "a list of requirements";
    for (path, item) in members
        .items("matchExpressions", expected, faults)
        .into_iter()
        .flatten()
    {
        let Some(requirement) = Members::of(item, &path, REQUIREMENT_KEYS, faults) else {
            continue;
        };
        for key in ["key", "operator"] {
            requirement.text(key, LABEL, faults);
        }
        for (path, value) in requirement
            .items("values", "a list of strings", faults)
            .into_iter()
            .flatten()
        {
            check_value(value, path, faults);
        }
    }
}

fn check_labels(value: &Value, path: &str, faults: &mut Faults) {
    let Value::Object(labels) = value else {
        Members::any(value, path, faults);
        return;
    };
    members::bounded(labels.len(), path, faults);
    for (key, value) in labels.iter().take(limits::LIST_ENTRIES) {
        let key = escape(&limits::beginning(key, limits::ECHOED_BYTES));
        check_value(value, format!("{path}.{key}"), faults);
    }
}

/// A label value can be empty.
fn check_value(value: &Value, path: String, faults: &mut Faults) {
    if value.as_str() != Some("") {
        members::text(value, path, LABEL, faults);
    }
}

const PATH: &str = "spec.match.extensionSelector";
const SELECTOR_KEYS: &[&str] = &["matchLabels", "matchExpressions"];
const REQUIREMENT_KEYS: &[&str] = &["key", "operator", "values"];

const LABEL: TextRule = TextRule {
    expected: "a string",
    most: limits::LABEL_BYTES,
};
