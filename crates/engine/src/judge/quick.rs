//! Whether an answer is so cheap that it needs no separate thread.

use crate::extension::Filter;
use crate::judge::Basis;
use crate::snapshot::CatalogState;
use olmguard_catalog::Package;

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
