//! Rules about keys and schemas that OLM does not know. OLM ignores them, so a misspelt key of an edge defines no edge.
//!
//! Catalogs can have blobs of any schema, and OLM's own blobs have fixed keys. A schema counts as misspelt only
//! if it is similar to one of OLM's.

use std::collections::HashMap;

use crate::lint::Severity;
use crate::lint::check::Check;
use crate::lint::finding::Report;
use crate::lint::rule::{RuleItem, rule};
use crate::lint::words::q;
use crate::lint::written::UnknownKey;
use olmguard_catalog::guardrail;
use olmguard_engine::nearest::nearest;

pub(super) const UNKNOWN_KEY: RuleItem =
    rule!("unknown-key", Users, Warning).on(Check::Catalog(|catalog, report| {
        for alike in groups(&catalog.written.unknown_keys) {
            unknown_key(&alike, &mut report.of(&alike.first.package));
        }
    }));

fn unknown_key(alike: &Alike<'_>, report: &mut Report<'_, '_>) {
    let key = alike.first;
    let others = match alike.others {
        0 => String::new(),
        1 => " (1 more has it, too)".to_owned(),
        others => format!(" ({others} more have it, too)"),
    };
    let has = format!("{} has the key {}{others}", holder(key), q(&key.key));
    let (severity, message) = match (key.read_as, near(&key.key, key.known)) {
        (Some(name), _) => (
            Severity::Note,
            format!(
                "{has}: OLM reads it as {name}, but other programs do not; write {}",
                q(name)
            ),
        ),
        (None, Some(near)) => (
            report.severity(),
            format!("{has}, which OLM ignores; did you mean {}?", q(near)),
        ),
        (None, None) => {
            let known = key.known.join(", ");
            // All keys of an entry define edges. In other objects, a key that is similar to none is not a typo.
            let is_harmless = key.entry.is_none();
            let severity = if is_harmless {
                Severity::Note
            } else {
                report.severity()
            };
            (
                severity,
                format!("{has}, which OLM ignores; expected one of {known}"),
            )
        }
    };
    report.say_as(severity, key.spot, message);
}

/// Describes the object that has a key.
fn holder(key: &UnknownKey) -> String {
    let (schema, name) = &key.blob;
    let what = match &**schema {
        "olm.deprecations" => format!("the olm.deprecations of package {}", q(&key.package)),
        schema => format!("{} {}", schema.trim_start_matches("olm."), q(name)),
    };
    match (&key.entry, &*key.path) {
        (Some(entry), _) => format!("entry {} of {what}", q(entry)),
        (None, "") => what,
        (None, path) => format!("{path} of {what}"),
    }
}

/// A key in one kind of object of one blob: its first occurrence, and the number of others.
struct Alike<'w> {
    first: &'w UnknownKey,
    others: usize,
}

/// Groups equal keys. A generated catalog can have the same key in each entry, which is one finding per channel.
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

pub(super) const MISSPELT_SCHEMA: RuleItem =
    rule!("misspelt-schema", Users, Warning).on(Check::Catalog(|catalog, report| {
        for blob in &catalog.written.others {
            if let Some(near) = near(&blob.schema, SCHEMAS) {
                let message = format!(
                    "OLM does not know the schema {} and ignores the blob; did you mean {}?",
                    q(&blob.schema),
                    q(near)
                );
                report.of(&blob.package).say(blob.spot, message);
            }
        }
    }));

/// Returns the known name that was probably meant, regardless of prefix, case and separators.
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
