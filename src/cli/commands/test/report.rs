//! What became of the cases as JSON, schema `olmguard.tested/v1`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::commands::test::trial::Outcome;

/// What `olmguard test -o json` prints.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Report {
    /// The schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// In the order of the suites.
    cases: Vec<CaseReport>,
    /// How many there are of each.
    summary: Summary,
}

/// One case.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct CaseReport {
    name: String,
    file: String,
    /// 1-based, of its name.
    line: u32,
    /// 1-based, in characters.
    column: u32,
    /// Whether all that is expected holds.
    holds: bool,
    /// What is not as expected.
    differences: Vec<DifferenceReport>,
    #[schemars(extend("enum" = ["allow", "deny", "undecided", "not_judged"]))]
    verdict: &'static str,
    token: &'static str,
    warnings: Vec<String>,
    message: Option<String>,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct DifferenceReport {
    /// A key of `expect`.
    field: &'static str,
    expected: String,
    found: String,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
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
            verdict: answer.verdict.as_str(),
            token: answer.token.as_str(),
            warnings: answer.warnings.clone(),
            message: answer.message.clone(),
        }
    }
}

const SCHEMA: &str = "olmguard.tested/v1";
