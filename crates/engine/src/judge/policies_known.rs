//! The row after all that deny: policies that could not be listed yet can forbid what the others allow.

use crate::judge::{AllowedChange, Basis, RuledEdit, Ruling};
use crate::resolve::Choice;

/// An edit that every known rule allows, while the cluster can have rules that are not known.
#[derive(Debug)]
pub struct UnlistedPolicies<'s> {
    /// How what the edit resolves to relates to what is installed.
    pub change: AllowedChange,
    /// What the edit resolves to.
    pub resolved: Choice<'s>,
    /// Why the policies are not known, in one line.
    pub why: &'s str,
}

/// Puts the row to what the rows before it allow.
pub(super) fn put<'s>(ruled: &mut RuledEdit<'s>, basis: Basis<'s>) {
    if let (Ruling::Allowed(change, resolved), Some(why)) =
        (&ruled.ruling, &basis.policies.unlisted)
    {
        ruled.ruling = Ruling::PoliciesUnknown(UnlistedPolicies {
            change: *change,
            resolved: *resolved,
            why,
        });
    }
}
