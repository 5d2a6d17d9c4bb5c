//! Whether the service account of the guard may do what it needs.

use crate::doctor::facts::{DoctorFacts, Need, Permission};
use crate::doctor::finding::{Check, Finding, can_i};

pub(super) fn findings(facts: &DoctorFacts) -> Vec<Finding> {
    let permissions = match &facts.permissions {
        Err(unasked) => return vec![Check::Permissions.unasked(unasked)],
        Ok(permissions) => permissions,
    };
    let missing: Vec<_> = permissions.iter().filter(|one| !one.is_allowed).collect();
    match (missing.as_slice(), permissions.first()) {
        ([], Some(Permission { account, .. })) => {
            let count = permissions.len();
            vec![Check::Permissions.ok(format!("{account} has all {count} rights that it needs"))]
        }
        (missing, _) => {
            let of_one_object = missing.chunk_by(|one, next| is_of_same(&one.need, &next.need));
            of_one_object.filter_map(lacks).collect()
        }
    }
}

fn is_of_same(one: &Need, other: &Need) -> bool {
    (&one.resource, &one.name, &one.namespace) == (&other.resource, &other.name, &other.namespace)
}

/// Rights on one object or kind that are lacking.
fn lacks(missing: &[&Permission]) -> Option<Finding> {
    let Permission { account, need, .. } = missing.first()?;
    let verbs: Vec<_> = missing.iter().map(|one| one.need.verb).collect();
    let finding = Check::Permissions
        .fail(format!(
            "{account} cannot {} {}",
            verbs.join(", "),
            need.object()
        ))
        .since("a role or a role binding of olmguard is missing, or names another service account")
        .run(can_i(need, Some(account)));
    Some(finding)
}
