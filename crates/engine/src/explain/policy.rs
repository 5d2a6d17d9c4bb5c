//! What upgrade policies find, as every report has it.

use serde::Serialize;

use crate::explain::refusal::policy::against;
use crate::explain::text::one_line;
use crate::judge::{PolicyFinding, Request, RuledEdit, Ruling};
use olmguard_policy::PolicyRule;

/// A rule of an upgrade policy that an edit violates.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PolicyReport {
    /// Name of the `UpgradePolicy`.
    pub policy: String,
    /// Field of the rule, such as `spec.rules.step`.
    pub rule: String,
    /// Whether the rule denies the edit or only warns.
    #[schemars(extend("enum" = ["Deny", "Warn"]))]
    pub enforcement: &'static str,
    /// The whole reason in one sentence.
    pub text: String,
    /// What the rule reads of the one who edits.
    #[serde(skip)]
    pub reads: Option<RequesterFact>,
}

/// What a rule reads of the one who edits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RequesterFact {
    /// Name or groups.
    User,
    /// The time of the edit.
    Time,
}

impl PolicyReport {
    /// A finding about an edit with this range.
    pub fn of(found: &PolicyFinding<'_>, range: &str) -> Self {
        Self {
            policy: found.policy.name().to_owned(),
            rule: found.violation.rule.path(),
            enforcement: found.violation.enforcement.as_str(),
            text: one_line(&against(found, range).to_string()),
            reads: RequesterFact::of(&found.violation.rule),
        }
    }

    /// Every rule that an edit violates: those that deny it first; of very many the first ones.
    pub(super) fn all(ruled: &RuledEdit<'_>, request: Option<&Request<'_>>) -> Vec<Self> {
        let denials = match &ruled.ruling {
            Ruling::Policy(refusal) => &*refusal.findings,
            _ => &[],
        };
        let range = request.and_then(|request| request.filter.range());
        let findings = denials.iter().chain(&ruled.policy_warnings);
        let reports = findings.map(|found| Self::of(found, range.unwrap_or_default()));
        reports.take(MOST_FINDINGS).collect()
    }
}

impl RequesterFact {
    fn of(rule: &PolicyRule) -> Option<Self> {
        match rule {
            PolicyRule::Window { .. } => Some(Self::Time),
            PolicyRule::Condition { expression, .. } => {
                let mut words = expression.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.any(|word| word == "user").then_some(Self::User)
            }
            _ => None,
        }
    }
}

/// How many findings are reported: there may be hundreds of policies, each with rules of its own.
const MOST_FINDINGS: usize = 64;
