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

/// Where the installed version comes from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum InstalledSource {
    /// The base, or the object itself.
    #[default]
    Manifests,
    /// A cluster; the object has it.
    Cluster,
    /// A flag or the project file; the object has it.
    Flag,
}

/// The object of a case.
#[derive(Debug)]
pub(super) enum Subject {
    /// A manifest, with what the CRD would refuse of it.
    Manifest(Box<Extension>, Vec<Finding>),
    /// A dump of what an API server asked.
    Review(Box<Review>),
    /// An extension whose `apiVersion` is not known.
    Unknown(Exemption),
}

// === The place of a case: its document, and in it the field that decides ===

/// The place of a case in the inputs.
#[derive(Clone, Debug, derive_more::Display)]
#[display("{file}:{at}")]
pub(super) struct CasePlace {
    /// As the user would write it; `-` for standard input.
    pub(super) file: String,
    /// 0-based.
    pub(super) document: usize,
    /// The position of the deciding field.
    pub(super) at: Position,
}

/// The version if one is written, of whatever type, else the package's name; `below` leads from
/// the root to the extension.
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
