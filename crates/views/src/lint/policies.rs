//! The policies of administrators, as lint is given them.

use super::check::{Check, PolicyCheck};
use super::words::beginning;
use super::{LintFinding, Rule, WrittenCatalog};

/// What is written in one place of an `UpgradePolicy` or `UpgradeGuardrails` object.
#[derive(Clone, Copy, Debug)]
pub struct WrittenPolicy<'p> {
    /// The file.
    pub file: &'p str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1, in characters.
    pub column: u32,
    /// Kind and name of the object.
    pub title: &'p str,
    /// What is there.
    pub part: PolicyPart<'p>,
}

/// What lint goes by.
#[derive(Clone, Copy, Debug)]
pub enum PolicyPart<'p> {
    /// Something that cannot be read, and why.
    Unread(&'p str),
    /// The name of a package, without a wildcard, that the object is about.
    Package(&'p str),
}

/// What is wrong with policies, in their order. Which packages there are is known from the catalogs.
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
