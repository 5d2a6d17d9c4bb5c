//! What an edit is judged by.

use std::sync::LazyLock;

use crate::resolve::UpgradePolicies;
use crate::snapshot::Snapshot;
use olmguard_catalog::guardrail::AdministratorGuardrails;

/// The facts and the rules of one moment. Facts change with the catalogs, rules with their owners: each is
/// replaced by itself, and neither is copied for an edit.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'s> {
    /// The facts: the catalogs, and which OLM resolves from them.
    pub snapshot: &'s Snapshot,
    /// The rules of administrators.
    pub policies: &'s Policies,
}

/// What the administrators of a cluster rule about upgrades.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// Their guardrails, beside those of the packages' authors.
    pub guardrails: AdministratorGuardrails,
    /// Their upgrade policies.
    pub upgrades: UpgradePolicies,
    /// Why there can be more of either in the cluster, in one line; none if these are all.
    pub unlisted: Option<Box<str>>,
}

impl<'s> Basis<'s> {
    /// Facts alone, where no administrator rules anything.
    pub fn without_policies(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            policies: &NONE,
        }
    }
}

static NONE: LazyLock<Policies> = LazyLock::new(Policies::default);
