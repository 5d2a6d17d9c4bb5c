//! What an answer leaves in the audit log: the same words on every answer, bounded.
//!
//! Upstream: the API server puts the webhook's name before each key. It takes any value; these have
//! no control characters and at most [`LONGEST`] bytes, for they are logged with every edit.

use std::collections::BTreeMap;

use crate::admission::bounded::{CUT, bounded};
use olmguard_engine::explain::{Answer, ResolvedBundle};
use olmguard_engine::extension::InstalledBundle;

/// The annotations of an answer, by key.
pub fn annotations(answer: &Answer) -> BTreeMap<&'static str, String> {
    let next = &answer.advice.allowed_next;
    let known = [
        ("verdict", Some(answer.verdict.as_str().to_owned())),
        ("token", Some(answer.token.as_str().to_owned())),
        (
            "installed",
            answer.installed.as_ref().map(InstalledBundle::line),
        ),
        (
            "resolved",
            answer.resolved.as_ref().map(ResolvedBundle::line),
        ),
        ("next", (!next.is_empty()).then(|| list(next))),
        ("catalog", answer.catalog.clone()),
        ("digest", answer.digest.clone()),
    ];
    let told =
        |(key, value): (&'static str, Option<String>)| Some((key, bounded(&value?, LONGEST)));
    known.into_iter().filter_map(told).collect()
}

/// The items that fit whole, and `...` where some do not.
fn list(items: &[String]) -> String {
    let mut list = String::new();
    for item in items {
        let gap = if list.is_empty() { "" } else { "," };
        if list.len() + gap.len() + item.len() + CUT.len() > LONGEST - 1 {
            return format!("{list}{gap}{CUT}");
        }
        list.push_str(gap);
        list.push_str(item);
    }
    list
}

/// The most bytes of a value.
pub(super) const LONGEST: usize = 256;
