//! The keys that each schema has, as the Go structs name them.
//!
//! Upstream: operator-registry, [`alpha/declcfg/declcfg.go`].
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go

use super::{Key, Object, UnknownKey};
use crate::fbc::json::Fold;

/// The keys of a schema; none where the schema is not one of OLM's, which may have any.
fn fields(schema: &str) -> Option<&'static [&'static str]> {
    Some(match schema {
        "olm.package" => &PACKAGE,
        "olm.channel" => &CHANNEL,
        "olm.bundle" => &BUNDLE,
        "olm.deprecations" => &DEPRECATIONS,
        _ => return None,
    })
}

/// What of the keys of a blob, and of the `nested` ones, is unknown to its schema.
pub(super) fn unknown<'a>(
    object: &Object<'a>,
    keys: &[(Key<'a>, usize)],
    nested: Vec<UnknownKey<'a>>,
) -> Vec<UnknownKey<'a>> {
    let Some(known) = fields(object.schema.text()) else {
        return Vec::new();
    };
    let own = keys.iter().filter_map(|(key, at)| {
        let read_as = match read_as(key, known) {
            Some((Fold::Exact, _)) => return None,
            other => other.map(|(_, name)| name),
        };
        Some(UnknownKey {
            at: *at,
            path: Box::default(),
            key: key.decode(),
            known,
            read_as,
        })
    });
    // The key `channel` has a finding of its own.
    let channel = object.channel_key.as_ref().map(|key| key.at);
    let mut unknown: Vec<_> = own.filter(|key| Some(key.at) != channel).collect();
    unknown.extend(nested);
    unknown
}

/// The field that a key is read as, if any, and how the key is spelled.
fn read_as(key: &Key<'_>, known: &[&'static str]) -> Option<(Fold, &'static str)> {
    // Every blob can have them: opm files it under them.
    let labels = ["schema", "package", "name"];
    let mut names = known.iter().copied().chain(labels);
    names.find_map(|name| Some((key.fold(name)?, name)))
}

const PACKAGE: [&str; 6] = [
    "schema",
    "name",
    "defaultChannel",
    "icon",
    "description",
    "properties",
];

const CHANNEL: [&str; 5] = ["schema", "package", "name", "entries", "properties"];

const BUNDLE: [&str; 6] = [
    "schema",
    "package",
    "name",
    "image",
    "properties",
    "relatedImages",
];

const DEPRECATIONS: [&str; 3] = ["schema", "package", "entries"];
