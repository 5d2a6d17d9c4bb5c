//! The facts and the rules that an edit is judged by.

use std::sync::LazyLock;

use crate::extension::Filter;
use crate::resolve::UpgradePolicies;
use crate::snapshot::{CatalogState, Snapshot};
use olmguard_catalog::Package;
use olmguard_catalog::guardrail::AdministratorGuardrails;

/// The facts and the rules of one moment. Each is replaced when it changes, facts with the catalogs and rules with the
/// policies, and neither is copied for an edit.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'s> {
    /// The facts: the catalogs, and which OLM resolves from them.
    pub snapshot: &'s Snapshot,
    /// The rules of administrators.
    pub policies: &'s Policies,
}

/// The rules of a cluster's administrators about upgrades.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// Their guardrails, in addition to the guardrails of package authors.
    pub guardrails: AdministratorGuardrails,
    /// Their upgrade policies.
    pub upgrades: UpgradePolicies,
    /// Why the cluster can have more guardrails or policies, in one line; `None` if these are all.
    pub unlisted: Option<Box<str>>,
}

impl<'s> Basis<'s> {
    /// The facts alone, without rules of administrators.
    pub fn without_policies(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            policies: &NONE,
        }
    }
}

static NONE: LazyLock<Policies> = LazyLock::new(Policies::default);

impl Basis<'_> {
    /// Whether an edit to this filter is answered in some tenths of a millisecond, advice included: the package
    /// has few bundles, and no guardrail or policy has to be compared with each step. A package that does not
    /// exist is not quick: its name is compared with all names.
    pub fn is_quick_on(&self, filter: &Filter) -> bool {
        let catalogs = self.snapshot.catalogs().iter();
        let loaded = catalogs.filter_map(CatalogState::loaded);
        let mut packages = loaded.filter_map(|catalog| catalog.package(&filter.package)?.ok());
        let bundles = packages.try_fold(0, |bundles, package: &Package| {
            let is_free = package.guardrails().stated().is_none();
            is_free.then(|| bundles + package.bundle_count())
        });
        bundles.is_some_and(|bundles| (1..=MOST_BUNDLES).contains(&bundles))
            && self.policies.upgrades.is_empty()
            && self
                .policies
                .guardrails
                .on(&filter.package)
                .next()
                .is_none()
            && filter.entries() <= MOST_ENTRIES
            && filter.range().is_none_or(|range| range.len() <= MOST_BYTES)
    }
}

/// Over all catalogs.
const MOST_BUNDLES: usize = 256;

/// The channels and the entries of the selector that are compared.
const MOST_ENTRIES: usize = 32;

/// The text of a range, as long as the CRD takes it.
const MOST_BYTES: usize = 64;
