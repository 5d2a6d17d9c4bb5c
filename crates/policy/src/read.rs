//! From JSON to a policy. Strict: an unknown key or word could change what the others mean.

use olmguard_catalog::dns1123;
use serde_json::Value;

use crate::KIND;
use crate::fault::{Faults, PolicyProblem};
use crate::limits;
use crate::matching::Matching;
use crate::members::{Members, TextRule, Words};
use crate::policy::UpgradePolicy;
use crate::rules::Rules;
use crate::words::Enforcement;

/// Reads a policy and everything that is wrong with it.
pub(crate) fn policy(object: &Value) -> UpgradePolicy {
    let mut faults = Faults::default();
    let mut policy = empty();
    if let Some(members) = Members::of(object, "", OBJECT, &mut faults) {
        head(&members, &mut faults);
        policy.name = name(&members, &mut faults).unwrap_or_default().into();
        spec(&members, &mut policy, &mut faults);
    }
    policy.faults = faults;
    policy
}

/// A policy of a file that cannot be read: it denies every move of every extension.
pub(crate) fn of_unread_file(file: &str, why: &str) -> UpgradePolicy {
    let mut policy = empty();
    policy.name = file.into();
    let problem = PolicyProblem::File(why.to_owned());
    policy.faults.report(String::new(), problem);
    policy
}

fn empty() -> UpgradePolicy {
    UpgradePolicy {
        name: Box::default(),
        enforcement: Enforcement::Deny,
        matching: Matching::default(),
        rules: Rules::default(),
        faults: Faults::default(),
        refused_steps: 0,
    }
}

/// The path of a rule.
pub(crate) fn rule_path(key: &str) -> String {
    format!("spec.rules.{key}")
}

/// An object of another kind must not be taken for a policy without rules.
fn head(members: &Members<'_>, faults: &mut Faults) {
    for (key, expected) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        let rule = TextRule {
            expected,
            most: limits::NAME_BYTES,
        };
        members.needed(key, expected, faults);
        if let Some(found) = members
            .text(key, rule, faults)
            .filter(|found| *found != expected)
        {
            let found = limits::beginning(found, limits::ECHOED_BYTES);
            faults.report(
                key.to_owned(),
                PolicyProblem::OtherObject { found, expected },
            );
        }
    }
}

fn name<'v>(members: &Members<'v>, faults: &mut Faults) -> Option<&'v str> {
    let metadata = members.needed("metadata", "a mapping with a name", faults)?;
    let metadata = Members::any(metadata, "metadata", faults)?;
    metadata.needed("name", NAME.expected, faults)?;
    let name = metadata.text("name", NAME, faults)?;
    if !dns1123::is_subdomain(name) {
        let problem = PolicyProblem::name(name, NAME.expected);
        faults.report("metadata.name".to_owned(), problem);
        return None;
    }
    Some(name)
}

fn spec(members: &Members<'_>, policy: &mut UpgradePolicy, faults: &mut Faults) {
    let expected = "a mapping with match and rules";
    let spec = members.needed("spec", expected, faults);
    let Some(spec) = spec.and_then(|spec| Members::of(spec, "spec", SPEC, faults)) else {
        return;
    };
    let enforcement = spec.word("enforcement", &ENFORCEMENT, faults);
    policy.enforcement = enforcement.unwrap_or(Enforcement::Deny);
    if let Some(value) = spec.get("match") {
        policy.matching = Matching::read(value, faults);
    }
    if let Some(value) = spec.get("rules") {
        policy.rules = Rules::read(value, faults);
    }
}

const API_VERSION: &str = "olmguard.dev/v1alpha1";
const OBJECT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];
const SPEC: &[&str] = &["enforcement", "match", "rules"];

const NAME: TextRule = TextRule {
    expected: "a name of lower-case letters, digits, - and .",
    most: limits::NAME_BYTES,
};

const ENFORCEMENT: Words<Enforcement> = Words {
    expected: "Deny or Warn",
    known: &["Deny", "Warn"],
    meant: &[Enforcement::Deny, Enforcement::Warn],
};
