//! Keys and schemas that OLM does not know. It ignores them, so a misspelt edge is no edge.
//!
//! Catalogs can have blobs of any schema, and OLM's own blobs have fixed keys. A schema counts as misspelt only
//! if it is nearly one of OLM's.

use std::collections::HashMap;

use crate::lint::finding::Findings;
use crate::lint::words;
use crate::lint::written::{UnknownKey, WrittenCatalog};
use crate::lint::{Rule, Severity};
use olmguard_catalog::guardrail;
use olmguard_engine::nearest::nearest;

pub(super) fn check(written: &WrittenCatalog, report: &mut Findings<'_>) {
    for alike in groups(&written.unknown_keys) {
        let (first, others) = (alike.first, alike.others);
        let near = first.read_as.or_else(|| near(&first.key, first.known));
        let words = words::unknown_key(first, near, others);
        let severity = severity(first, near);
        report.say_as(
            Rule::UnknownKey,
            severity,
            first.spot,
            &first.package,
            words,
        );
    }
    for blob in &written.others {
        if let Some(near) = near(&blob.schema, SCHEMAS) {
            let words = words::misspelt_schema(&blob.schema, near);
            report.say(Rule::MisspeltSchema, blob.spot, &blob.package, words);
        }
    }
}

/// One key in one kind of object of one blob: the first, and how many others.
struct Alike<'w> {
    first: &'w UnknownKey,
    others: usize,
}

/// A generated catalog has the same key in each entry: that is one finding for each channel.
fn groups(keys: &[UnknownKey]) -> Vec<Alike<'_>> {
    let mut groups = Vec::<Alike<'_>>::new();
    let mut known = HashMap::new();
    for key in keys {
        let list = key.path.split('[').next();
        let place = (&key.package, &key.blob, list, key.known, &key.key);
        let at = *known.entry(place).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.others += 1,
            None => groups.push(Alike {
                first: key,
                others: 0,
            }),
        }
    }
    groups
}

/// All keys of an entry make edges; elsewhere only a key that is nearly another was meant to have an effect.
fn severity(key: &UnknownKey, near: Option<&str>) -> Severity {
    let is_harmless = key.entry.is_none() && near.is_none();
    if is_harmless || key.read_as.is_some() {
        Severity::Note
    } else {
        Rule::UnknownKey.severity()
    }
}

/// The name that was probably meant, whatever its prefix, case and separators.
fn near(found: &str, known: &[&'static str]) -> Option<&'static str> {
    let found = plain(found);
    let plains: Vec<_> = known.iter().map(|name| plain(name)).collect();
    let near = nearest(&found, plains.iter().map(String::as_str), 1);
    let near = *near.first()?;
    let is_alike = near.len().abs_diff(found.len()) <= 2;
    let mut known = known.iter().copied().filter(|_| is_alike);
    known.find(|name| plain(name) == near)
}

fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let name = letters.collect::<String>().to_lowercase();
    name.strip_prefix("olm").unwrap_or(&name).to_owned()
}

const SCHEMAS: &[&str] = &[
    "olm.package",
    "olm.channel",
    "olm.bundle",
    "olm.deprecations",
    guardrail::SCHEMA,
];
