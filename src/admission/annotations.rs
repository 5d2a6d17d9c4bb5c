//! What an answer leaves in the audit log: the same words on every answer, bounded.
//!
//! Upstream: the API server puts the webhook's name before each key. It takes any value; these have
//! no control characters and at most [`LONGEST`] bytes, for they are logged with every edit.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::admission::bounded::{CUT, bounded};
use olmguard_engine::explain::{Answer, ResolvedBundle};
use olmguard_engine::extension::InstalledBundle;

/// The annotations of an answer, by key.
pub fn annotations(answer: &Answer) -> BTreeMap<&'static str, Cow<'_, str>> {
    let next = &answer.advice.allowed_next;
    let installed = answer.installed.as_ref().map(InstalledBundle::line);
    let resolved = answer.resolved.as_ref().map(ResolvedBundle::line);
    let known: [(_, Option<Cow<'_, str>>); 7] = [
        ("verdict", Some(answer.verdict.as_str().into())),
        ("token", Some(answer.token.as_str().into())),
        ("installed", installed.map(Cow::Owned)),
        ("resolved", resolved.map(Cow::Owned)),
        ("next", (!next.is_empty()).then(|| list(next).into())),
        ("catalog", answer.catalog.as_deref().map(Cow::Borrowed)),
        ("digest", answer.digest.as_deref().map(Cow::Borrowed)),
    ];
    let mut told = BTreeMap::new();
    for (key, value) in known {
        if let Some(value) = value {
            told.insert(key, bounded(value, LONGEST));
        }
    }
    told
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
