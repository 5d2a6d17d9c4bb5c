//! What `--base` adds to the JSON of `check`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::commands::check::bad::BadInput;
use crate::cli::commands::check::base::{Ancestor, Base, BaseSource, Past};

/// What there was before.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(super) struct BaseReport {
    /// The revision, as it was given; null where the base is a folder or a file.
    revision: Option<String>,
    /// The id of its commit.
    commit: Option<String>,
    /// The folder or the file; null where the base is a revision.
    path: Option<String>,
    /// The extensions that are there no more, in the order of the base.
    removed: Vec<RemovedReport>,
    /// Files that could not be read and are there no more, with which nothing is compared; left out where
    /// there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passed_over: Vec<PassedOverReport>,
}

/// A file of the base with which nothing is compared.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct PassedOverReport {
    /// As it is shown: the revision and, behind a colon, the way from the root of its repository.
    file: String,
    /// Why it could not be read.
    error: String,
}

/// An extension that is there no more.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct RemovedReport {
    kind: String,
    name: String,
    /// Of a revision, the way from the root of its repository.
    file: String,
    /// 0-based index of the document in its file.
    document: usize,
    /// 1-based, of the deciding field.
    line: u32,
    /// 1-based, in characters.
    column: u32,
    /// The package it asked for.
    package: Option<String>,
    /// The version range it asked for.
    range: Option<String>,
}

/// What an extension was before.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(super) struct PastReport {
    #[schemars(extend("enum" = ["added", "changed", "unchanged", "unknown"]))]
    change: &'static str,
    /// Null where it is new, or where that cannot be told.
    file: Option<String>,
    /// 0-based index of the document in its file.
    document: Option<usize>,
    /// 1-based, of the deciding field.
    line: Option<u32>,
    /// 1-based, in characters.
    column: Option<u32>,
}

impl BaseReport {
    pub(super) fn of(base: &Base) -> Self {
        let (revision, commit, path) = match base.source() {
            BaseSource::Path(path) => (None, None, Some(path.clone())),
            BaseSource::Revision { name, revision, .. } => {
                (Some(name.clone()), Some(revision.commit()), None)
            }
        };
        Self {
            revision,
            commit,
            path,
            removed: base.removed().map(RemovedReport::of).collect(),
            passed_over: base
                .passed_over()
                .iter()
                .map(PassedOverReport::of)
                .collect(),
        }
    }
}

impl PassedOverReport {
    fn of(one: &BadInput) -> Self {
        Self {
            file: one.file.clone(),
            error: one.problem.to_string(),
        }
    }
}

impl RemovedReport {
    fn of(one: &Ancestor) -> Self {
        let filter = one.filter();
        Self {
            kind: one.kind().to_owned(),
            name: one.name().unwrap_or_default().to_owned(),
            file: one.place.file.clone(),
            document: one.place.document,
            line: one.place.at.line,
            column: one.place.at.column,
            package: filter.map(|filter| filter.package.clone()),
            range: filter.and_then(|filter| filter.version.clone()),
        }
    }
}

impl PastReport {
    pub(super) fn of(past: &Past) -> Option<Self> {
        let change = match past {
            Past::NotAsked => return None,
            Past::Added => "added",
            Past::Found(found) if found.is_same => "unchanged",
            Past::Found(_) => "changed",
            Past::Unknown(_) => "unknown",
        };
        let place = past.found().map(|found| &found.ancestor.place);
        Some(Self {
            change,
            file: place.map(|place| place.file.clone()),
            document: place.map(|place| place.document),
            line: place.map(|place| place.at.line),
            column: place.map(|place| place.at.column),
        })
    }
}
