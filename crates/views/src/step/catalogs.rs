//! OLM v1 by the edges of catalogs: the entries that say so, or what would have to differ.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::see::{BundleReport, EdgeReport, edges, gives_another, message, reason, unpinnable};
use crate::step::text::needed;
use olmguard_engine::explain::ForbiddenReport;
use olmguard_engine::explain::GuardrailReport;
use olmguard_engine::inquiry::{Inquiry, PinnedStep};
use olmguard_engine::judge::{Token, Verdict};
use olmguard_engine::resolve::{Choice, OfferEdge, Violation};

/// What OLM v1 does.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct CatalogReading {
    /// Whether an edge of a channel that counts leads there.
    pub(super) successor: bool,
    /// What becomes of an edit that pins the version.
    #[schemars(extend("enum" = ["allow", "deny", "undecided", "not_judged"]))]
    pub(super) verdict: &'static str,
    pub(super) token: &'static str,
    /// Whether that edit installs what is asked about, and no other bundle of the version.
    pub(super) allowed: bool,
    /// Why it does not, in one sentence.
    pub(super) reason: Option<String>,
    /// The same at length.
    message: Option<String>,
    /// The edges from there to here; those of channels that do not count, too.
    pub(super) edges: Vec<EdgeReport>,
    /// Why guardrails forbid the step though an edge leads there.
    pub(super) guardrails: Vec<GuardrailReport>,
    /// Where they do: the versions that edits lead to from here all the same, the highest first.
    pub(super) free: Vec<String>,
    /// Where a step is refused: the other edges that lead there.
    pub(super) leading_to: Vec<EdgeReport>,
    /// Where a step is refused: the other edges that start at what is installed.
    pub(super) leading_from: Vec<EdgeReport>,
    /// What would have to differ, a sentence each.
    pub(super) needed: Vec<String>,
    /// What the request resolves to without a pin; null for nothing.
    pub(super) unpinned: Option<BundleReport>,
    /// Those of the steps without a pin, one after another, that guardrails forbid.
    pub(super) unpinned_forbidden: Vec<ForbiddenReport>,
    /// How many of those steps guardrails were applied to, where not to all.
    #[serde(skip)]
    pub(super) looked_at: Option<usize>,
    /// The versions on the way, the installed one first; empty where none is known.
    pub(super) path: Vec<String>,
}

impl CatalogReading {
    pub(super) fn of<'a>(inquiry: &Inquiry<'a>, targets: &[Choice<'a>]) -> Self {
        let origin = inquiry.origin();
        let starts = |edge: &OfferEdge<'_>| {
            let origin = origin.as_ref();
            origin.is_some_and(|origin| edge.starts_at(origin))
        };
        let leads = |edge: &OfferEdge<'_>| targets.contains(&edge.to);
        let between = edges(&inquiry.offers, |edge| starts(edge) && leads(edge));
        let edit = inquiry.pinned(targets);
        let allowed = edit.as_ref().is_some_and(PinnedStep::is_allowed);
        let near = |keep: &dyn Fn(&OfferEdge<'_>) -> bool| {
            if allowed {
                Vec::new()
            } else {
                edges(&inquiry.offers, |edge| keep(edge))
            }
        };
        let walk = olmguard_engine::judge::walk(inquiry.basis, inquiry.filter, &inquiry.installed);
        let unpinned = walk.steps.first().copied();
        let guardrails = distinct(&inquiry.violations_along(targets));
        let needs = inquiry.needs(targets, edit.as_ref(), unpinned);
        let words = edit.as_ref();
        let words = words.map_or_else(|| PinnedWords::none(targets), PinnedWords::of);
        Self {
            successor: inquiry.is_successor(targets),
            verdict: words.verdict.as_str(),
            token: words.token.as_str(),
            allowed,
            leading_to: near(&|edge| leads(edge) && !starts(edge)),
            leading_from: near(&|edge| starts(edge) && !leads(edge)),
            needed: needs.iter().map(needed).collect(),
            unpinned: unpinned.map(BundleReport::of),
            unpinned_forbidden: walk
                .forbidden
                .iter()
                .map(|forbidden| ForbiddenReport::of(forbidden, inquiry.filter.policy))
                .collect(),
            looked_at: walk.looked_at,
            free: if guardrails.is_empty() {
                Vec::new()
            } else {
                words.next
            },
            guardrails,
            path: words.path,
            reason: words.reason,
            message: words.message,
            edges: between,
        }
    }

    pub(super) fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// Whether the edit is carried out, and installs another bundle.
    pub(super) fn is_of_another(&self) -> bool {
        !self.allowed && self.verdict == Verdict::Allow.as_str()
    }
}

/// What the edit that pins the version asked about comes to, in words.
struct PinnedWords {
    verdict: Verdict,
    token: Token,
    reason: Option<String>,
    message: Option<String>,
    path: Vec<String>,
    /// The versions that other edits lead to.
    next: Vec<String>,
}

impl PinnedWords {
    fn of(edit: &PinnedStep<'_>) -> Self {
        let decision = &edit.decision;
        let another = edit.another.map(|given| gives_another(&edit.pin, &given));
        let found = decision.advice();
        Self {
            verdict: decision.verdict(),
            token: decision.token(),
            reason: reason(decision).or(another),
            message: message(decision, &found),
            path: found.advice.path,
            next: found.advice.allowed_next,
        }
    }

    /// Nothing pins a version that cannot be read.
    fn none(targets: &[Choice<'_>]) -> Self {
        Self {
            verdict: Verdict::Deny,
            token: Token::BundleVersionInvalid,
            reason: targets.first().map(|to| unpinnable(&to.bundle().name)),
            message: None,
            path: Vec::new(),
            next: Vec::new(),
        }
    }
}

/// Each reason once, though several catalogs have it.
fn distinct(violations: &[Violation<'_>]) -> Vec<GuardrailReport> {
    let mut guardrails: Vec<_> = violations.iter().map(GuardrailReport::of).collect();
    let mut seen = BTreeSet::new();
    guardrails.retain(|guardrail| seen.insert(guardrail.clone()));
    guardrails
}
