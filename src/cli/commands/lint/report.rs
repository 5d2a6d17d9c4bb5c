//! Findings as JSON, schema `olmguard.lint/v1`.
//!
//! Names (catalog, file, package) are data and stand as they are; sentences are for people, and what they
//! take from a catalog is escaped as in the text form.

use schemars::JsonSchema;
use serde::Serialize;

use olmguard_engine::explain::one_line;
use olmguard_views::lint::{LintFinding, Rule, Severity};

/// Output of `olmguard lint` as JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report<'f> {
    /// Schema of this object.
    schema: &'static str,
    /// Findings, by catalog and by place.
    findings: Vec<FindingReport<'f>>,
    /// Number of findings by severity.
    summary: Summary,
}

#[derive(Debug, JsonSchema, Serialize)]
struct FindingReport<'f> {
    /// Id of the lint rule.
    #[schemars(extend("enum" = ids()))]
    id: &'static str,
    /// Severity of the finding.
    #[schemars(extend("enum" = SEVERITIES.map(Severity::as_str)))]
    severity: &'static str,
    /// Name of the catalog, as given.
    catalog: &'f str,
    /// File of the finding.
    file: &'f str,
    /// Line of the finding, from 1.
    line: u32,
    /// Column of the finding, in characters, from 1.
    column: u32,
    /// Package of the finding. Null if unknown.
    package: Option<&'f str>,
    /// Description of the finding. Text from the catalog is escaped.
    message: String,
    /// Why the finding matters to users.
    why: &'static str,
    /// How to fix the finding.
    fix: &'static str,
    /// Message of `opm validate`, possibly shortened, with control characters escaped. Null if `opm
    /// validate` has no message for it.
    upstream: Option<String>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct Summary {
    error: usize,
    warning: usize,
    note: usize,
}

impl<'f> Report<'f> {
    /// The report of some findings.
    pub fn of(findings: &'f [LintFinding]) -> Self {
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
    fn of(finding: &'f LintFinding) -> Self {
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
    Rule::all().map(Rule::id).collect()
}

const SCHEMA: &str = "olmguard.lint/v1";
const SEVERITIES: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Note];
