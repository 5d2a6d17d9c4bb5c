//! Findings as JSON, schema `olmguard.lint/v1`.
//!
//! Names (catalog, file, package) are data and stand as they are; sentences are for people, and what they
//! take from a catalog is escaped as in the text form.

use schemars::JsonSchema;
use serde::Serialize;

use olmguard_engine::explain::one_line;
use olmguard_views::lint::{Finding, Rule, Severity};

/// What `lint` prints as JSON.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Report<'f> {
    /// The schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// What was found, catalog by catalog and by place.
    findings: Vec<FindingReport<'f>>,
    /// How many of each severity.
    summary: Summary,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct FindingReport<'f> {
    /// The id of the rule.
    #[schemars(extend("enum" = ids()))]
    id: &'static str,
    /// How much it weighs.
    #[schemars(extend("enum" = SEVERITIES.map(Severity::as_str)))]
    severity: &'static str,
    /// The catalog, as it was named.
    catalog: &'f str,
    /// The file of it.
    file: &'f str,
    /// Counted from 1.
    line: u32,
    /// Counted from 1, in characters.
    column: u32,
    /// The package; null where none can be told.
    package: Option<&'f str>,
    /// What was found; what is taken from the catalog is escaped.
    message: String,
    /// Why it matters to a user.
    why: &'static str,
    /// How to mend it.
    fix: &'static str,
    /// The text of `opm validate`, or its beginning, control characters escaped; null where it has none
    /// of its own.
    upstream: Option<String>,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Summary {
    error: usize,
    warning: usize,
    note: usize,
}

impl<'f> Report<'f> {
    /// The report of some findings.
    pub fn of(findings: &'f [Finding]) -> Self {
        let count = |severity| {
            findings
                .iter()
                .filter(|one| one.severity == severity)
                .count()
        };
        Self {
            schema: SCHEMA,
            findings: findings.iter().map(FindingReport::of).collect(),
            summary: Summary {
                error: count(Severity::Error),
                warning: count(Severity::Warning),
                note: count(Severity::Note),
            },
        }
    }
}

impl<'f> FindingReport<'f> {
    fn of(finding: &'f Finding) -> Self {
        Self {
            id: finding.rule.id(),
            severity: finding.severity.as_str(),
            catalog: &finding.catalog,
            file: &finding.file,
            line: finding.line,
            column: finding.column,
            package: Some(&*finding.package).filter(|package| !package.is_empty()),
            message: one_line(&finding.message),
            why: finding.rule.why(),
            fix: finding.rule.fix(),
            upstream: finding.upstream.as_deref().map(one_line),
        }
    }
}

fn ids() -> Vec<&'static str> {
    Rule::ALL.iter().map(|rule| rule.id()).collect()
}

const SCHEMA: &str = "olmguard.lint/v1";
const SEVERITIES: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Note];
