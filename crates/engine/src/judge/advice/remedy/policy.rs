//! What helps against upgrade policies: a version, a range or an upgrade constraint that they allow.

use olmguard_policy::{PolicyRule, RangeShape};

use crate::extension::Policy;
use crate::judge::PolicyRefusal;
use crate::judge::advice::remedy::{Remedies, fix, tightest};
use crate::judge::advice::{Advice, FixValue, pin};
use crate::resolve::Choice;

impl Remedies<'_, '_, '_> {
    /// The smallest change that the policies allow, as the resolver and the guardrails do.
    pub(super) fn within_policies(&mut self, refusal: &PolicyRefusal<'_>) -> Advice {
        let narrower = self.narrower(refusal);
        let advice = narrower.or_else(|| self.without_bypass(refusal));
        advice.unwrap_or_else(|| match self.prover.installed() {
            Some(_) => self.allowed_path().unwrap_or_else(Advice::from),
            None => self.another_candidate().unwrap_or_default(),
        })
    }

    /// A range for the same bundle: where it is wider than a policy allows, and nothing else is wrong.
    fn narrower(&self, refusal: &PolicyRefusal<'_>) -> Option<Advice> {
        let mut shapes = refusal
            .findings
            .iter()
            .map(|found| match found.violation.rule {
                PolicyRule::Range { needed, .. } => Some(needed),
                _ => None,
            });
        let narrowest = shapes.try_fold(RangeShape::Any, |narrowest, shape| {
            Some(narrowest.min(shape?))
        })?;
        let bounded = (narrowest == RangeShape::Bounded)
            .then(|| self.bounded(refusal.resolved))
            .flatten();
        bounded.or_else(|| self.pinned(refusal.resolved))
    }

    /// A range with an upper bound that resolves to this bundle.
    fn bounded(&self, to: Choice<'_>) -> Option<Advice> {
        let origin = self.prover.installed()?;
        let range = tightest::range(self.prover, self.anything?, origin, to)?;
        Some(fix(self.fields.version(), FixValue::Text(range)))
    }

    /// The pin of this bundle's version.
    fn pinned(&self, to: Choice<'_>) -> Option<Advice> {
        let version = pin(to)?;
        let is_bundle = self.prover.admits_range(&version)? == to;
        is_bundle.then(|| fix(self.fields.version(), FixValue::Text(version)))
    }

    /// The upgrade constraint policy without the bypass, where a policy does not allow that one.
    fn without_bypass(&self, refusal: &PolicyRefusal<'_>) -> Option<Advice> {
        let rules = || refusal.findings.iter().map(|found| &found.violation.rule);
        if !rules().any(|rule| matches!(rule, PolicyRule::Bypass)) {
            return None;
        }
        let bound = self
            .prover
            .request
            .filter
            .with_policy(Policy::CatalogProvided);
        self.prover.admits(&bound)?;
        let word = self.fields.bypass.opposite().to_owned();
        Some(fix(self.fields.policy(), FixValue::Text(word)))
    }
}
