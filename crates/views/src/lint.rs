//! Faults of catalogs: those that `opm validate` reports, and those that it misses.
//!
//! ```text
//! files --intake--> Written (every blob, with places) --view--> View --checks--> findings, in order
//! ```
//!
//! `opm validate` stops at the first fault while it reads, then at the first inconsistency between blobs. Lint finds
//! all of them. A finding that opm also reports has opm's text, byte for byte.
//!
//! Upstream: operator-registry, [`alpha/declcfg/load.go`], [`alpha/declcfg/declcfg.go`] and [`alpha/declcfg/declcfg_to_model.go`],
//! [`alpha/model/model.go`].
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/declcfg_to_model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg_to_model.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

mod chain;
mod check;
mod finding;
mod guarded;
mod rule;
mod rules;
mod view;
mod words;
pub mod written;

use check::{Check, PolicyCheck};
use finding::Findings;
use view::View;
use words::beginning;

pub use chain::ChannelFault;
pub(crate) use chain::{OpmEntry, order};
pub use finding::LintFinding;
pub use olmguard_report::Severity;
pub use rule::{Family, Rule, UnknownRule};
pub use written::WrittenCatalog;

/// Returns the findings about some catalogs, in the given order and then by place.
pub fn lint(catalogs: &[WrittenCatalog]) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    let views: Vec<_> = catalogs.iter().map(View::of).collect();
    for view in &views {
        let mut own = Findings::new(view.written);
        check::run(view, &views, &mut own);
        findings.extend(own.finish());
    }
    findings
}

/// Reads a catalog from memory, as one file of its name.
pub fn written(name: &str, text: &[u8]) -> WrittenCatalog {
    let mut collector = written::Collector::new(name);
    // The collector records every fault, so there is no error here.
    let _none = olmguard_catalog::fbc::read_into(name, text, &mut collector);
    collector.finish()
}

/// The requested severities by rule. If a rule has several, the highest counts.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    /// Rules whose findings are omitted.
    pub allow: Vec<Rule>,
    /// Rules whose findings are warnings.
    pub warn: Vec<Rule>,
    /// Rules whose findings are errors.
    pub deny: Vec<Rule>,
    /// Whether warnings then count as errors.
    pub warn_as_error: bool,
}

impl Weights {
    /// Returns the severity of a finding that has severity `own` by default, or `None` if it is omitted.
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

    /// Applies the requested severities to findings.
    pub fn apply(&self, findings: &mut Vec<LintFinding>) {
        findings.retain_mut(|finding| {
            let severity = self.of(finding.rule, finding.severity);
            finding.severity = severity.unwrap_or(finding.severity);
            severity.is_some()
        });
    }
}

/// A part of an `UpgradePolicy` or `UpgradeGuardrails` object, with its place.
#[derive(Clone, Copy, Debug)]
pub struct WrittenPolicy<'p> {
    /// Name of the file.
    pub file: &'p str,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1, in characters.
    pub column: u32,
    /// Kind and name of the object.
    pub title: &'p str,
    /// The part at this place.
    pub part: PolicyPart<'p>,
}

/// A part of an object that lint checks.
#[derive(Clone, Copy, Debug)]
pub enum PolicyPart<'p> {
    /// A part that cannot be read, with the reason.
    Unread(&'p str),
    /// The name of a package that the object applies to, without a wildcard.
    Package(&'p str),
}

/// Returns the findings about policies, in order. The catalogs provide the packages that exist.
pub fn lint_policies<'p>(
    policies: impl IntoIterator<Item = WrittenPolicy<'p>>,
    catalogs: &[WrittenCatalog],
) -> Vec<LintFinding> {
    let packages = catalogs.iter().flat_map(|catalog| &catalog.packages);
    let packages: Vec<&str> = packages.map(|package| &*package.name).collect();
    let found = policies.into_iter().flat_map(|written| {
        let policy = PolicyCheck {
            written: &written,
            packages: &packages,
            has_catalogs: !catalogs.is_empty(),
        };
        let rules = Rule::all().filter_map(|rule| finding(rule, &policy));
        rules.collect::<Vec<_>>()
    });
    found.collect()
}

fn finding(rule: Rule, policy: &PolicyCheck<'_>) -> Option<LintFinding> {
    let Check::Policy(check) = rule.item().check else {
        return None;
    };
    let message = check(policy)?;
    let written = policy.written;
    Some(LintFinding {
        rule,
        severity: rule.severity(),
        catalog: written.file.into(),
        file: written.file.into(),
        line: written.line,
        column: written.column,
        package: beginning(policy.package().unwrap_or_default()).into(),
        message: beginning(&message).to_owned(),
        upstream: None,
    })
}

#[cfg(test)]
mod weigh_tests {
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
