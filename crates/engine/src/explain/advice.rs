//! What to set, in words: the fix, the one edit in place of several, and that there may be more to suggest.

use serde::Serialize;

use crate::judge::{Advice, FixValue, OneEdit};
use olmguard_catalog::version::go;

/// One edit in place of one edit per step.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct OneEditReport {
    /// Path of the field to set.
    pub field: String,
    /// Range to set.
    pub value: String,
    /// Versions that OLM then installs automatically, in this order.
    pub through: Vec<String>,
}

impl From<&OneEdit> for OneEditReport {
    fn from(edit: &OneEdit) -> Self {
        Self {
            field: edit.field.clone(),
            value: edit.range.clone(),
            through: edit.through.clone(),
        }
    }
}

impl OneEditReport {
    /// What to set, and where OLM then upgrades to.
    pub fn sentence(&self) -> String {
        let (field, range) = (&self.field, go::quote(&self.value));
        format!(
            "set {field} to {range}: OLM then upgrades to {}",
            self.end()
        )
    }

    /// Where the upgrades end: `2.0.0 in 4 steps`.
    pub fn end(&self) -> String {
        let last = self.through.last().map(String::as_str);
        format!(
            "{} in {} steps",
            last.unwrap_or_default(),
            self.through.len()
        )
    }
}

/// The edit after which OLM makes all steps of the path automatically.
pub(super) fn one_edit(advice: &Advice) -> Option<String> {
    let edit = advice.one_edit.as_ref()?;
    Some(OneEditReport::from(edit).sentence())
}

/// What to set. Never cut: a value that is not whole would not work.
pub(super) fn fix(advice: &Advice) -> Option<String> {
    let fix = advice.fix.as_ref()?;
    let value = match &fix.value {
        FixValue::Text(text) => go::quote(text),
        FixValue::List(items) => {
            let items: Vec<_> = items.iter().map(|item| go::quote(item)).collect();
            format!("[{}]", items.join(", "))
        }
    };
    let has_further = advice.path.len() > 2;
    let first = if has_further { " first" } else { "" };
    let range = advice.with_prereleases.as_deref();
    let range = range.map(|range| format!(", or to {} for prereleases too", go::quote(range)));
    let range = range.unwrap_or_default();
    Some(format!("set {} to {value}{first}{range}", fix.field))
}

/// That there may be more to suggest.
pub(super) fn note(advice: &Advice) -> Option<&'static str> {
    advice.is_cut.then_some(SEARCH_CUT)
}

/// The note if the search for advice ended at its bound, or was stopped.
pub(super) const SEARCH_CUT: &str =
    "the search for an upgrade path was cut short; try a nearer version, or run olmguard path";
