//! The policies of administrators, checked before they are applied.

use crate::lint::PolicyPart;
use crate::lint::check::{Check, PolicyCheck};
use crate::lint::rule::{RuleItem, rule};
use crate::lint::words::{meant, q};
use olmguard_catalog::version::go::one_line;
use olmguard_engine::nearest::nearest;

pub(super) const POLICY_UNREADABLE: RuleItem =
    rule!("policy-unreadable", Users, Error).on(Check::Policy(|policy| {
        let PolicyPart::Unread(why) = policy.written.part else {
            return None;
        };
        Some(format!(
            "{} is invalid, so olmguard denies every upgrade that it matches: {}",
            one_line(policy.written.title),
            one_line(why)
        ))
    }));

pub(super) const POLICY_OF_UNKNOWN_PACKAGE: RuleItem =
    rule!("policy-of-unknown-package", Users, Warning).on(Check::Policy(of_unknown_package));

/// Without a catalog, no name of a package is wrong.
fn of_unknown_package(policy: &PolicyCheck<'_>) -> Option<String> {
    let package = policy.package().filter(|name| {
        let is_known = policy.packages.contains(name);
        policy.has_catalogs && !is_known
    })?;
    let near = nearest(package, policy.packages.iter().copied(), 1);
    let otherwise = "expected the name of an olm.package of the catalogs";
    let advice = meant(near.first().copied(), otherwise);
    Some(format!(
        "{} is for package {}, which no catalog has; {advice}",
        one_line(policy.written.title),
        q(package)
    ))
}
