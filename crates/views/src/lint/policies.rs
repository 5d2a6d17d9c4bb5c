//! The policies of administrators, checked before they are applied.

use olmguard_engine::nearest::nearest;

use super::words::{self, Words, beginning};
use super::{Finding, Rule, WrittenCatalog};

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

/// What is wrong with policies, in their order. Which packages there are is known from the catalogs; without any, no
/// name of a package is wrong.
pub fn lint_policies<'p>(
    policies: impl IntoIterator<Item = WrittenPolicy<'p>>,
    catalogs: &[WrittenCatalog],
) -> Vec<Finding> {
    let packages = catalogs.iter().flat_map(|catalog| &catalog.packages);
    let packages: Vec<&str> = packages.map(|package| &*package.name).collect();
    let found = policies.into_iter().filter_map(|written| {
        let title = written.title;
        match written.part {
            PolicyPart::Unread(why) => {
                let words = words::policy_unreadable(title, why);
                Some(finding(&written, Rule::PolicyUnreadable, "", words))
            }
            PolicyPart::Package(name) if catalogs.is_empty() || packages.contains(&name) => None,
            PolicyPart::Package(name) => {
                let near = nearest(name, packages.iter().copied(), 1).first().copied();
                let words = words::policy_of_unknown_package(title, name, near);
                Some(finding(&written, Rule::PolicyOfUnknownPackage, name, words))
            }
        }
    });
    found.collect()
}

fn finding(written: &WrittenPolicy<'_>, rule: Rule, package: &str, words: Words) -> Finding {
    let file: Box<str> = written.file.into();
    Finding {
        rule,
        severity: rule.severity(),
        catalog: file.clone(),
        file,
        line: written.line,
        column: written.column,
        package: beginning(package).into(),
        message: beginning(&words.message).to_owned(),
        upstream: words.upstream,
    }
}
