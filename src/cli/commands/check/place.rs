//! The place of a case: its document, and in it the field that decides.

use serde_json::Value;

use crate::manifest::{Position, ValueStep};
use olmguard_engine::extension::Extension;

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
