//! The guardrails of one package by themselves, over versions that need not be those of an offer: for
//! who looks at a catalog as it is written.

use super::step::{GuardedStep, forbidden};
use super::{CatalogEdge, Pool, ViolatedRule};
use olmguard_catalog::guardrail::{Guardrails, Rule};
use olmguard_catalog::version::Version;

/// Guardrails, and the versions that there are.
#[derive(Debug)]
pub struct Alone<'g> {
    guardrails: &'g Guardrails,
    pool: Pool<'g>,
}

impl<'g> Alone<'g> {
    /// Over these versions; beside each whether it is deprecated.
    pub fn over(
        guardrails: &'g Guardrails,
        versions: impl IntoIterator<Item = (&'g Version, bool)>,
    ) -> Self {
        let pool = Pool::of_versions(versions);
        Self { guardrails, pool }
    }

    /// What a step along an edge of the catalog goes against.
    pub fn violated(&self, from: &Version, to: &Version) -> Vec<ViolatedRule<'g>> {
        forbidden(&self.step(from, to), Ok(self.guardrails))
    }

    /// Whether a step upwards breaks one of the rules.
    pub fn breaks(&self, rule: &Rule, from: &Version, to: &Version) -> bool {
        self.step(from, to).breaks(rule)
    }

    fn step<'a>(&'a self, from: &'a Version, to: &'a Version) -> GuardedStep<'a, 'g> {
        GuardedStep {
            from,
            to,
            edge: CatalogEdge::Present,
            pool: &self.pool,
        }
    }
}
