//! What `--base` adds to the JSON of `check`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::commands::bad_input::BadInput;
use crate::cli::commands::check::base::{Ancestor, Base, BaseSource, Past};

/// The base: the state before the change.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct BaseReport {
    /// Revision of the base, as given. Null if the base is a directory or a file.
    revision: Option<String>,
    /// Id of the commit of the base. Null if the base is a directory or a file.
    commit: Option<String>,
    /// Directory or file of the base. Null if the base is a revision.
    path: Option<String>,
    /// Extensions that no longer exist, in the order of the base.
    removed: Vec<RemovedReport>,
    /// Files of the base that no longer exist and could not be read, so nothing is compared with
    /// them. Omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passed_over: Vec<PassedOverReport>,
}

/// A file of the base that nothing is compared with.
#[derive(Debug, JsonSchema, Serialize)]
struct PassedOverReport {
    /// File as olmguard shows it: the revision, a colon, and the path from the root of the
    /// repository.
    file: String,
    /// Why the file could not be read.
    error: String,
}

/// An extension that no longer exists.
#[derive(Debug, JsonSchema, Serialize)]
struct RemovedReport {
    kind: String,
    name: String,
    /// File of the extension in the base. If the base is a revision: the path from the root of the
    /// repository.
    file: String,
    /// Index of the YAML document in its file, from 0.
    document: usize,
    /// Line of the deciding field, from 1.
    line: u32,
    /// Column of the deciding field, in characters, from 1.
    column: u32,
    /// Package that the extension requested.
    package: Option<String>,
    /// Version range that the extension requested.
    range: Option<String>,
}

/// State of an extension in the base.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct PastReport {
    #[schemars(extend("enum" = ["added", "changed", "unchanged", "unknown"]))]
    change: &'static str,
    /// File of the extension in the base. Null if the extension is new, or if olmguard cannot find
    /// this out.
    file: Option<String>,
    /// Index of the YAML document in its file, from 0.
    document: Option<usize>,
    /// Line of the deciding field, from 1.
    line: Option<u32>,
    /// Column of the deciding field, in characters, from 1.
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
