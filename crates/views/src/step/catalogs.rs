//! The reading of OLM v1, by the edges of catalogs: the entries that decide, or what would have to change.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::see::{
    BundleReport, EdgeReport, edges, forbidden, gives_another, message, reason, unpinnable,
};
use olmguard_catalog::version::go;
use olmguard_engine::explain::{ForbiddenReport, GuardrailReport, hindrance};
use olmguard_engine::inquiry::{Inquiry, Need, PinnedStep};
use olmguard_engine::judge::{Token, Verdict};
use olmguard_engine::resolve::{Choice, OfferEdge, Violation};

/// What OLM v1 does with the edit.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(super) struct CatalogReading {
    /// Whether an edge of a channel that counts makes the requested bundle a successor.
    pub(super) successor: bool,
    /// Verdict about an edit that pins the version.
    #[schemars(extend("enum" = ["allow", "deny", "undecided", "not_judged"]))]
    pub(super) verdict: &'static str,
    /// Whether that is undecided.
    #[serde(skip)]
    pub(super) is_undecided: bool,
    pub(super) token: &'static str,
    /// Who judges so: OLM does not know guardrails and policies.
    #[serde(skip)]
    pub(super) judge: &'static str,
    /// Whether the edit installs the requested bundle, and not another bundle of the same version.
    pub(super) allowed: bool,
    /// Why the edit does not install the requested bundle, in one sentence.
    pub(super) reason: Option<String>,
    /// The full denial message.
    message: Option<String>,
    /// Edges from the installed bundle to the requested one, including edges of channels that do
    /// not count.
    pub(super) edges: Vec<EdgeReport>,
    /// Reasons why guardrails forbid the step although an edge exists.
    pub(super) guardrails: Vec<GuardrailReport>,
    /// If guardrails forbid the step: versions that you can still upgrade to, releases of the default channel first and
    /// prereleases last.
    pub(super) free: Vec<String>,
    /// If the step is refused: other edges to the requested bundle.
    pub(super) leading_to: Vec<EdgeReport>,
    /// If the step is refused: other edges from the installed bundle.
    pub(super) leading_from: Vec<EdgeReport>,
    /// What must change so that the edit works, one sentence each.
    pub(super) needed: Vec<String>,
    /// Bundle that the request resolves to without a pinned version. Null if there is none.
    pub(super) unpinned: Option<BundleReport>,
    /// Steps that guardrails forbid, among the automatic steps without a pinned version.
    pub(super) unpinned_forbidden: Vec<ForbiddenReport>,
    /// How many of those steps guardrails were applied to, where not to all.
    #[serde(skip)]
    pub(super) looked_at: Option<usize>,
    /// Versions of the upgrade path, the installed version first. Empty if no path is known.
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
        let walk = inquiry.walk();
        let unpinned = walk.steps.first().copied();
        let guardrails = distinct(&inquiry.violations_along(targets));
        let needs = inquiry.needs(targets, edit.as_ref(), unpinned);
        let words = edit.as_ref();
        let words = words.map_or_else(|| PinnedWords::none(targets), PinnedWords::of);
        Self {
            successor: inquiry.is_successor(targets),
            verdict: words.verdict.as_str(),
            is_undecided: words.verdict == Verdict::Undecided,
            token: words.token.as_str(),
            judge: match words.token {
                Token::Guardrail | Token::Policy | Token::PoliciesUnknown => "olmguard",
                _ => "OLM v1",
            },
            allowed,
            leading_to: near(&|edge| leads(edge) && !starts(edge)),
            leading_from: near(&|edge| starts(edge) && !leads(edge)),
            needed: needs.iter().map(needed).collect(),
            unpinned: unpinned.map(BundleReport::of),
            unpinned_forbidden: forbidden(&walk.forbidden, inquiry.filter.policy),
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

    /// Returns the outcome of an edit that does not install the bundle, in a word or two.
    pub(super) fn refusal(&self) -> &'static str {
        match self.verdict {
            verdict if verdict == Verdict::Allow.as_str() => "not installed",
            verdict if verdict == Verdict::Undecided.as_str() => "undecided",
            _ => "denied",
        }
    }
}

/// Result of the edit that pins the requested version, in words.
struct PinnedWords {
    verdict: Verdict,
    token: Token,
    reason: Option<String>,
    message: Option<String>,
    path: Vec<String>,
    /// Versions that other edits can install.
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

    /// Describes the missing edit: a version that cannot be read cannot be pinned.
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

/// Removes duplicate reasons, which occur if several catalogs have the same one.
fn distinct(violations: &[Violation<'_>]) -> Vec<GuardrailReport> {
    let mut guardrails: Vec<_> = violations.iter().map(GuardrailReport::of).collect();
    let mut seen = BTreeSet::new();
    guardrails.retain(|guardrail| seen.insert(guardrail.clone()));
    guardrails
}

/// Describes a change that makes the step possible.
pub(super) fn needed(need: &Need<'_>) -> String {
    match need {
        Need::Versions(what) => {
            let what = hindrance(*what);
            format!("the semver rules forbid the step ({what}), so choose another version")
        }
        Need::Edge { name, version } => {
            let version = go::escape(version);
            match name {
                Some(name) => format!(
                    "the catalog author must add an entry that replaces or skips {}, or whose \
                     skipRange matches {version}",
                    go::escape(name)
                ),
                None => format!(
                    "the catalog author must add an entry whose skipRange matches {version}"
                ),
            }
        }
        Need::Name { version } => format!(
            "give the name of the installed bundle: {},bundle=NAME",
            go::escape(version)
        ),
        Need::Channel(channels) => {
            format!("request channel {}, which has the edge", either(channels))
        }
        Need::Member(channels) if channels.is_empty() => {
            "request no channel, because this version is in none".to_owned()
        }
        Need::Member(channels) => {
            format!(
                "request channel {}, which has this version",
                either(channels)
            )
        }
        Need::Range(range) => format!(
            "request a version range that matches it: {} does not",
            go::quote(range)
        ),
        Need::Dependency(kind) => format!(
            "the catalog author must remove {} from the bundle: OLM v1 does not support it",
            kind.as_str()
        ),
        Need::Chosen { pin, given } => {
            let another = gives_another(pin, given);
            format!("it must be the best bundle of its version: {another}")
        }
        Need::Version => "the catalog author must give the bundle a valid version".to_owned(),
        Need::Catalogs(catalogs) => {
            let names: Vec<_> = catalogs.iter().map(|name| go::escape(name)).collect();
            let names = names.join(", ");
            format!("give catalogs {names} different priorities, or select one of them")
        }
        Need::BrokenRange => "the catalog author must remove the empty OR group from a skipRange: \
                              OLM crashes on it"
            .to_owned(),
        Need::Installed => "the installed version must be a valid version".to_owned(),
        Need::UnreadRange(ranges) => {
            let ranges: Vec<_> = ranges.iter().map(|range| go::quote(range)).collect();
            format!(
                "the catalog author must fix the skipRange {}: OLM ignores it because it is not valid",
                ranges.join(", ")
            )
        }
        Need::Deprecated => {
            "pin it: without a pin, OLM prefers versions that are not deprecated".to_owned()
        }
    }
}

fn either(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| go::escape(name)).collect();
    names.join(" or ")
}
