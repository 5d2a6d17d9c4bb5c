//! Findings as JSON, schema `olmguard.doctor/v1`.

use schemars::JsonSchema;
use serde::Serialize;

use olmguard_views::doctor::{Check, Finding, State};

/// Output of `olmguard doctor` as JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report {
    /// Schema of this object.
    schema: &'static str,
    /// Findings, in the order of the checks. A check can have several.
    checks: Vec<CheckReport>,
    /// Number of findings by state.
    summary: Summary,
}

#[derive(Debug, JsonSchema, Serialize)]
struct CheckReport {
    /// Name of the check.
    #[schemars(extend("enum" = Check::ALL.map(Check::as_str)))]
    check: &'static str,
    /// Result of the check: `ok`, `warn`, `fail`, or `unknown` if it could not be checked.
    #[schemars(extend("enum" = STATES.map(State::as_str)))]
    state: &'static str,
    /// Finding of the check.
    found: String,
    /// Cause of the finding, or why it matters.
    cause: Option<String>,
    /// Command to run next, to fix the problem or to see more.
    command: Option<String>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct Summary {
    ok: usize,
    warn: usize,
    unknown: usize,
    fail: usize,
}

impl Report {
    pub(super) fn of(findings: &[Finding]) -> Self {
        let count = |state| findings.iter().filter(|one| one.state == state).count();
        Self {
            schema: SCHEMA,
            checks: findings.iter().map(CheckReport::of).collect(),
            summary: Summary {
                ok: count(State::Ok),
                warn: count(State::Warn),
                unknown: count(State::Unknown),
                fail: count(State::Fail),
            },
        }
    }
}

impl CheckReport {
    fn of(finding: &Finding) -> Self {
        Self {
            check: finding.check.as_str(),
            state: finding.state.as_str(),
            found: finding.found.clone(),
            cause: finding.cause.clone(),
            command: finding.command.clone(),
        }
    }
}

const SCHEMA: &str = "olmguard.doctor/v1";
const STATES: [State; 4] = [State::Ok, State::Warn, State::Unknown, State::Fail];
