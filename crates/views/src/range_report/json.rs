//! The report as JSON: the shape of `olmguard range -o json`.

use serde::Serialize;

use super::{CrdAnswer, Grammar, RangeReport, UpperBound};

/// What a version range means, and which versions it takes.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "olmguard.range/v1")]
pub struct RangeJson<'r> {
    /// The range as given.
    range: &'r str,
    /// The grammar it was read in.
    syntax: Syntax,
    /// The Go library's own text, in the words of its newest release; null if the range parses.
    error: Option<&'r str>,
    /// The versions, or names of bundles, that the range takes; empty with an error.
    matches: &'r [String],
    /// Those that it does not take; empty with an error.
    others: &'r [String],
    /// Those whose version OLM cannot read, whatever the range.
    invalid: Vec<&'r str>,
    /// Those on which OLM panics; empty with an error.
    panics: &'r [String],
    /// Whether the CRD accepts the range as `spec.source.catalog.version`; null for a skipRange.
    crd: Option<bool>,
    /// Whether the range holds versions without limit above; null with an error.
    open_above: Option<bool>,
    /// What the range takes, in plain words; null with an error.
    words: Option<&'r str>,
}

/// The grammar of a range.
#[derive(Clone, Copy, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Syntax {
    /// That of `spec.source.catalog.version`: Masterminds/semver v3.
    Spec,
    /// That of `skipRange` in a catalog: blang/semver v4.
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
