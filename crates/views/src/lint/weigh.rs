//! What findings weigh for whoever runs it.

use super::{LintFinding, Rule, Severity};

/// The severities that were chosen, rule by rule; of several for one rule the heaviest counts.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    /// Findings of these are left out.
    pub allow: Vec<Rule>,
    /// These are warnings.
    pub warn: Vec<Rule>,
    /// These are errors.
    pub deny: Vec<Rule>,
    /// Whether what is a warning then counts as an error.
    pub warn_as_error: bool,
}

impl Weights {
    /// What a finding of a rule weighs that has a severity of its own; none if it is left out.
    pub fn of(&self, rule: Rule, own: Severity) -> Option<Severity> {
        let severity = if self.deny.contains(&rule) {
            Severity::Error
        } else if self.warn.contains(&rule) {
            Severity::Warning
        } else if self.allow.contains(&rule) {
            return None;
        } else {
            own
        };
        Some(match severity {
            Severity::Warning if self.warn_as_error => Severity::Error,
            other => other,
        })
    }

    /// Weighs findings anew.
    pub fn apply(&self, findings: &mut Vec<LintFinding>) {
        findings.retain_mut(|finding| {
            let severity = self.of(finding.rule, finding.severity);
            finding.severity = severity.unwrap_or(finding.severity);
            severity.is_some()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_choice_counts() {
        let rule: Rule = "several-successors".parse().unwrap();
        let mut weights = Weights::default();
        assert_eq!(weights.of(rule, Severity::Note), Some(Severity::Note));
        weights.allow.push(rule);
        assert_eq!(weights.of(rule, Severity::Note), None);
        weights.warn.push(rule);
        assert_eq!(weights.of(rule, Severity::Note), Some(Severity::Warning));
        weights.warn_as_error = true;
        assert_eq!(weights.of(rule, Severity::Note), Some(Severity::Error));
        weights.warn_as_error = false;
        weights.deny.push(rule);
        assert_eq!(weights.of(rule, Severity::Note), Some(Severity::Error));
    }
}
