//! The report as JSON: the shape of `olmguard range -o json`.

use serde::Serialize;

use super::{CrdAnswer, Grammar, RangeReport, UpperBound};

/// Meaning of a version range, and the versions that it matches.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "olmguard.range/v1")]
pub struct RangeJson<'r> {
    /// The range as given.
    range: &'r str,
    /// Grammar of the range.
    syntax: Syntax,
    /// Error message of the newest release of the Go library. Null if the range is valid.
    error: Option<&'r str>,
    /// Versions, or names of bundles, that the range matches. Empty with an error.
    matches: &'r [String],
    /// Versions, or names of bundles, that the range does not match. Empty with an error.
    others: &'r [String],
    /// Versions, or names of bundles, whose version OLM cannot read in any range.
    invalid: Vec<&'r str>,
    /// Versions, or names of bundles, on which OLM panics. Empty with an error.
    panics: &'r [String],
    /// Whether the CRD accepts the range as `spec.source.catalog.version`. Null for a skipRange.
    crd: Option<bool>,
    /// Whether the range has no upper bound. Null with an error.
    open_above: Option<bool>,
    /// Description of the range in plain words. Null with an error.
    words: Option<&'r str>,
}

/// Grammar of a version range.
#[derive(Clone, Copy, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Syntax {
    /// Grammar of `spec.source.catalog.version`: Masterminds/semver v3.
    Spec,
    /// Grammar of `skipRange` in a catalog: blang/semver v4.
    SkipRange,
}

impl RangeReport {
    /// The report as it is printed with `-o json`.
    pub fn to_json(&self) -> RangeJson<'_> {
        let meaning = self.outcome.as_ref().ok();
        RangeJson {
            range: &self.range,
            syntax: self.grammar.into(),
            error: self.outcome.as_ref().err().map(|error| &*error.text),
            matches: meaning.map_or(&[], |meaning| &meaning.matches),
            others: meaning.map_or(&[], |meaning| &meaning.others),
            invalid: self.invalid.iter().map(|subject| &*subject.name).collect(),
            panics: meaning.map_or(&[], |meaning| &meaning.panics),
            crd: self.crd.map(|answer| answer == CrdAnswer::Accepted),
            open_above: meaning.map(|meaning| meaning.bound == UpperBound::Absent),
            words: meaning.map(|meaning| &*meaning.words),
        }
    }
}

impl From<Grammar> for Syntax {
    fn from(grammar: Grammar) -> Self {
        match grammar {
            Grammar::Spec(_) => Self::Spec,
            Grammar::SkipRange => Self::SkipRange,
        }
    }
}
