//! Whether the service account of the guard may do what it needs.

use crate::doctor::facts::{Facts, Permission};
use crate::doctor::finding::{Check, Finding, can_i};

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let permissions = match &facts.permissions {
        Err(unasked) => return vec![Check::Permissions.unasked(unasked)],
        Ok(permissions) => permissions,
    };
    let missing = permissions.iter().filter(|one| !one.is_allowed);
    let missing: Vec<_> = missing.map(lacks).collect();
    match (missing.as_slice(), permissions.first()) {
        ([], Some(Permission { account, .. })) => {
            let count = permissions.len();
            vec![Check::Permissions.ok(format!("{account} has all {count} rights that it needs"))]
        }
        _ => missing,
    }
}

fn lacks(permission: &Permission) -> Finding {
    let Permission { account, need, .. } = permission;
    Check::Permissions
        .fail(format!("{account} may not {need}"))
        .since("a role or a binding of the guard is missing, or names another service account")
        .run(can_i(need, Some(account)))
}
