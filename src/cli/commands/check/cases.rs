//! The cases of a run: extensions, and reviews of edits of extensions.

use serde_json::Value;

use crate::cli::commands::check::base::Past;
use crate::manifest::{Position, ValueStep};
use olmguard_admission::Review;
use olmguard_engine::extension::schema::Finding;
use olmguard_engine::extension::{Extension, Identity};
use olmguard_engine::judge::Exemption;

/// One edit to judge, and its place.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) place: CasePlace,
    pub(super) identity: Identity,
    pub(super) subject: Subject,
    pub(super) past: Past,
    pub(super) told: InstalledSource,
}

/// The source of the installed version.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum InstalledSource {
    /// The base, or the object itself.
    #[default]
    Manifests,
    /// A cluster. The object has been updated with the version.
    Cluster,
    /// A flag or the project file. The object has been updated with the version.
    Flag,
}

/// The object of a case.
#[derive(Debug)]
pub(super) enum Subject {
    /// A manifest, with the findings of the CRD about it.
    Manifest(Box<Extension>, Vec<Finding>),
    /// A dump of a request of an API server.
    Review(Box<Review>),
    /// An extension with an unknown `apiVersion`.
    Unknown(Exemption),
}

// === The location of a case: its document, and the deciding field in it ===

/// The location of a case in the inputs.
#[derive(Clone, Debug, derive_more::Display)]
#[display("{file}:{at}")]
pub(super) struct CasePlace {
    /// The file as the user would write it; `-` for standard input.
    pub(super) file: String,
    /// The index of the document in its file, from 0.
    pub(super) document: usize,
    /// The position of the deciding field.
    pub(super) at: Position,
}

/// The deciding field: the version if one is written, of whatever type, otherwise the name of the
/// package. `below` is the path from the root to the extension.
pub(super) fn deciding_field(
    extension: &Extension,
    root: &Value,
    below: &[&'static str],
) -> Vec<ValueStep<'static>> {
    let path = |has_version| {
        let keys = extension.fields.deciding(has_version);
        below.iter().copied().chain(keys)
    };
    let version = path(true).try_fold(root, |value, key| value.get(key));
    let has_version = version.is_some_and(|version| !version.is_null());
    path(has_version).map(ValueStep::Key).collect()
}
