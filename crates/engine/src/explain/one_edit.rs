//! The one edit in place of one edit per step, as every report has it.

use serde::Serialize;

use crate::judge::OneEdit;
use olmguard_catalog::version::go;

/// One edit in place of one edit per step.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
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
