//! The traits that make a graph more than a chain.

use std::collections::BTreeSet;

use serde_json::Value;

use super::sketch::{Source, text, version};

/// The traits of a graph.
#[derive(Debug, Clone, Default)]
pub(super) struct Traits(BTreeSet<&'static str>);

/// All traits.
pub(super) const ALL: [&str; 7] = [
    PRERELEASES,
    SKIPS,
    SKIP_RANGES,
    SEVERAL_CHANNELS,
    DEPRECATIONS,
    CATALOGS_THAT_TIE,
    CATALOGS_BY_PRIORITY,
];

impl Traits {
    pub(super) fn of(sources: &[Source]) -> Self {
        let blobs = || sources.iter().flat_map(|source| &source.blobs);
        let channels = |source: &Source| {
            source
                .blobs
                .iter()
                .filter(|blob| is(blob, "olm.channel"))
                .count()
        };
        let entries = || {
            blobs()
                .filter_map(|blob| blob.get("entries")?.as_array())
                .flatten()
        };
        let priorities: BTreeSet<i32> = sources.iter().map(|source| source.priority).collect();
        let found = [
            (
                PRERELEASES,
                blobs()
                    .filter_map(version)
                    .any(|version| version.contains('-')),
            ),
            (SKIPS, entries().any(|entry| entry.get("skips").is_some())),
            (
                SKIP_RANGES,
                entries().any(|entry| entry.get("skipRange").is_some()),
            ),
            (
                SEVERAL_CHANNELS,
                sources.iter().any(|source| channels(source) > 1),
            ),
            (
                DEPRECATIONS,
                blobs().any(|blob| is(blob, "olm.deprecations")),
            ),
            (CATALOGS_THAT_TIE, priorities.len() < sources.len()),
            (CATALOGS_BY_PRIORITY, priorities.len() > 1),
        ];
        Self(
            found
                .into_iter()
                .filter_map(|(name, found)| found.then_some(name))
                .collect(),
        )
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

fn is(blob: &Value, schema: &str) -> bool {
    text(blob, "/schema") == Some(schema)
}

const PRERELEASES: &str = "prereleases";
const SKIPS: &str = "skips";
const SKIP_RANGES: &str = "skipRange";
const SEVERAL_CHANNELS: &str = "several channels";
const DEPRECATIONS: &str = "deprecations";
const CATALOGS_THAT_TIE: &str = "catalogs that tie";
const CATALOGS_BY_PRIORITY: &str = "catalogs by priority";
