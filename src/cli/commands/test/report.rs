//! What became of the cases as JSON, schema `olmguard.tested/v1`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::commands::test::trial::Outcome;

/// Output of `olmguard test -o json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report {
    /// Schema of this object.
    schema: &'static str,
    /// Test cases, in the order of the suites.
    cases: Vec<CaseReport>,
    /// Number of passed and failed cases.
    summary: Summary,
}

/// Result of one test case.
#[derive(Debug, JsonSchema, Serialize)]
struct CaseReport {
    name: String,
    file: String,
    /// Line of the name of the case, from 1.
    line: u32,
    /// Column of the name of the case, in characters, from 1.
    column: u32,
    /// Whether the case passed.
    holds: bool,
    /// Fields that are not as expected.
    differences: Vec<DifferenceReport>,
    #[schemars(extend("enum" = ["allow", "deny", "undecided", "not_judged"]))]
    verdict: &'static str,
    token: &'static str,
    warnings: Vec<String>,
    message: Option<String>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct DifferenceReport {
    /// Key of `expect`.
    field: &'static str,
    expected: String,
    found: String,
}

#[derive(Debug, JsonSchema, Serialize)]
struct Summary {
    held: usize,
    failed: usize,
}

impl Report {
    pub(super) fn of(outcomes: &[Outcome]) -> Self {
        let held = outcomes.iter().filter(|outcome| outcome.holds()).count();
        Self {
            schema: SCHEMA,
            cases: outcomes.iter().map(CaseReport::of).collect(),
            summary: Summary {
                held,
                failed: outcomes.len() - held,
            },
        }
    }
}

impl CaseReport {
    fn of(outcome: &Outcome) -> Self {
        let answer = &outcome.answer;
        let differences = outcome.differences.iter().map(|one| DifferenceReport {
            field: one.field,
            expected: one.expected.clone(),
            found: one.found.clone(),
        });
        Self {
            name: outcome.name.clone(),
            file: outcome.file.clone(),
            line: outcome.at.line,
            column: outcome.at.column,
            holds: outcome.holds(),
            differences: differences.collect(),
            verdict: answer.verdict().as_str(),
            token: answer.token.as_str(),
            warnings: answer.warnings.clone(),
            message: answer.message.clone(),
        }
    }
}

const SCHEMA: &str = "olmguard.tested/v1";
