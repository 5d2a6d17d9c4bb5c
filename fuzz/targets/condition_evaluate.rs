//! Any expression, put to any change: the answer is the same each time, and an expression that is refused denies every
//! move.
//!
//! An input is a text. Its first line is the expression, and each line after it a fact; the last lines are the groups,
//! the channels and the labels of the extension at the same time.

#![no_main]

#[path = "policy/mod.rs"]
mod policy;

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use olmguard_catalog::version::{Constraint, Masterminds, Version};
use olmguard_policy::{
    BypassPermission, Change, Enforcement, Maker, Moment, Operation, PolicyBundle, PolicyOrigin,
    Subject, UserInfo,
};
use policy::policy;

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let policy = policy(line());
    let from = Version::parse(line()).ok();
    let to = Version::parse(line()).unwrap_or_else(|_| Version::zero());
    let range = Constraint::parse(line(), Masterminds::V3_5).ok();
    let (package, namespace, catalog, user) = (line(), line(), line(), line());
    let (bypass, deprecated) = (line() == "true", line() == "true");
    let names: Vec<String> = lines.map(str::to_owned).collect();
    let labels: BTreeMap<_, _> = names
        .iter()
        .cloned()
        .zip(names.iter().rev().cloned())
        .collect();
    let bundle = |version| PolicyBundle {
        name: "fuzzed.v1",
        version,
    };
    let user = UserInfo {
        name: user.to_owned(),
        groups: names.clone(),
    };
    let change = Change {
        subject: Subject {
            package,
            namespace,
            labels: &labels,
        },
        maker: Maker::User,
        from: match &from {
            Some(from) => PolicyOrigin::Bundle(bundle(from)),
            None if names.is_empty() => PolicyOrigin::Unknown,
            None => PolicyOrigin::Nothing,
        },
        to: bundle(&to),
        is_move: true,
        catalog,
        channels: &names,
        range: range.as_ref(),
        bypass,
        permission: BypassPermission::Unknown,
        deprecated,
        operation: Operation::Update,
        user: Some(&user),
        now: Moment::EPOCH,
    };
    let found = policy.violations(&change);
    assert_eq!(found, policy.violations(&change));
    let is_refused = !policy.faults().is_empty();
    let is_denied = found
        .iter()
        .any(|violation| violation.enforcement == Enforcement::Deny);
    assert!(is_denied || !is_refused, "{:?}", policy.faults());
});
