//! Advice about a refusal. Every suggestion is checked against the rows, or found by a search that decides as the rows
//! do.
//!
//! A step of [`Advice::path`] is an edit that pins its version, with the channels and the selector of the request. The
//! bundle that the step resolves to is the installed bundle of the next step, as operator-controller records it.
//!
//! Invariant: [`rule`](crate::judge::rule()) allows, for the same snapshot, an edit that follows [`Advice::fix`], each
//! further step of the path, each version of `allowed_next`, and the override.

mod dead_end;
mod prover;
mod remedy;

use serde::Serialize;

use crate::extension::Extension;
use crate::judge::{Basis, Request, RuledEdit, Ruling, SpecFault, Verdict};
use crate::resolve::{Choice, Effort, PathSearch, Stop};
use olmguard_catalog::version::{Version, crd};
use olmguard_policy::Conditions;

pub use dead_end::{DeadEnd, PathInOneCatalog};
use prover::{Ground, Prover};
pub use remedy::OneEdit;
use remedy::Remedies;

/// The result of a search for advice.
#[derive(Debug, Default)]
pub struct FoundAdvice<'s> {
    /// The advice.
    pub advice: Advice,
    /// How far upgrade paths reach, if there is nothing to set.
    pub dead_end: Option<DeadEnd<'s>>,
}

impl From<Advice> for FoundAdvice<'_> {
    fn from(advice: Advice) -> Self {
        Self {
            advice,
            dead_end: None,
        }
    }
}

/// The suggestions about a refusal; empty if nothing is refused or nothing helps.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Advice {
    /// The versions that can be reached in one edit, without the installed one. Releases of the default channel come
    /// first, then other releases, then prereleases, each group from the highest version down.
    pub allowed_next: Vec<String>,
    /// The versions of the path, the installed one first if there is one; empty if no path is known.
    pub path: Vec<String>,
    /// The edit to make first.
    pub fix: Option<Fix>,
    /// Another value of the same field, if the field is the version: the requested range extended to prereleases. The
    /// edit is allowed and installs a prerelease.
    pub with_prereleases: Option<String>,
    /// Whether the range that an unreadable one probably means is denied too.
    pub is_meant_refused: bool,
    /// One edit that is enough for a path of several steps.
    pub one_edit: Option<OneEdit>,
    /// Whether the bypass would make the edit pass.
    pub bypass: BypassHelps,
    /// Whether a search reached its limit or was stopped, so more suggestions may exist.
    pub is_cut: bool,
}

/// Field to set, and its value.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "FixReport")]
pub struct Fix {
    /// Path of the field, in the API version of the object.
    pub field: String,
    /// Value of the field.
    pub value: FixValue,
}

/// Value of a fix, in the type of its field.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "FixValueReport")]
pub enum FixValue {
    /// A string.
    Text(String),
    /// A list of strings.
    List(Vec<String>),
}

/// Whether the bypass would make an edit pass.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum BypassHelps {
    /// The bypass would make the edit pass.
    Yes,
    /// The bypass would make the edit pass for a user with the permission `bypass`.
    WithPermission,
    /// The bypass would not make the edit pass, or it is set already.
    #[default]
    No,
}

impl Advice {
    /// The advice on a ruling before any search.
    pub fn not_yet(ruled: &RuledEdit<'_>) -> Self {
        Self {
            is_cut: is_refused(ruled),
            ..Self::default()
        }
    }
}

/// The advice on an edit of an extension, from its ruling. Returns soon after the stop signal.
pub fn advise<'s>(
    basis: Basis<'s>,
    extension: &Extension,
    request: &Request<'_>,
    ruled: &RuledEdit<'s>,
    stop: &Stop,
) -> FoundAdvice<'s> {
    if !is_refused(ruled) {
        return FoundAdvice::default();
    }
    if is_wide(request) || basis.policies.unlisted.is_some() {
        return Advice::not_yet(ruled).into();
    }
    search(basis, extension, request, ruled, stop)
}

/// The advice that a search finds.
fn search<'s>(
    basis: Basis<'s>,
    extension: &Extension,
    request: &Request<'_>,
    ruled: &RuledEdit<'s>,
    stop: &Stop,
) -> FoundAdvice<'s> {
    let effort = Effort::of(MOST_BUNDLES, stop);
    let is_over = || stop.is_set();
    let request = &request.with_conditions(Conditions::EvaluatedUntil(&is_over));
    let prover = Prover::of(basis, request, &effort);
    let unpinned = request.filter.without_version();
    let anything = Ground::of(basis, &unpinned, request.context);
    let bounds = anything.as_ref().map(|ground| ground.bounds(&effort));
    let start = anything
        .as_ref()
        .zip(bounds.as_ref())
        .zip(prover.installed());
    let search =
        start.map(|((ground, bounds), from)| PathSearch::from(&ground.offers, from, bounds));
    let (next, is_next_cut) = next_versions(&prover, anything.as_ref(), search.as_ref());
    let mut remedies = Remedies {
        prover: &prover,
        fields: &extension.fields,
        ruled,
        anything: anything.as_ref(),
        search,
        next: &next,
    };
    let remedy = remedies.remedy();
    let advice = Advice {
        allowed_next: next.iter().filter_map(|step| pin(*step)).collect(),
        bypass: override_of(&prover, ruled),
        is_cut: is_next_cut || remedy.is_cut || effort.is_cut(),
        ..remedy
    };
    let is_dead_end = advice.fix.is_none() && !advice.is_cut;
    let dead_end = || dead_end::of(&prover, &ruled.ruling, anything.as_ref(), remedies.search);
    FoundAdvice {
        dead_end: is_dead_end.then(dead_end).flatten(),
        advice,
    }
}

/// The bundles that can be reached in one edit, in the order of [`PathSearch::next_steps`], and whether more such bundles
/// exist. None if upgrade edges do not apply to the request.
fn next_versions<'s>(
    prover: &Prover<'_, 's>,
    anything: Option<&Ground<'_, 's>>,
    search: Option<&PathSearch<'_, 's>>,
) -> (Vec<Choice<'s>>, bool) {
    let bound = search.filter(|_| prover.origin().is_some());
    let steps = bound.map(PathSearch::next_steps).unwrap_or_default();
    let most = match anything {
        Some(ground) if !ground.binds_by_edges_alone(prover.effort) => most_next(prover.cost),
        _ => MOST_NEXT,
    };
    let is_cut = steps.len() > most && most < MOST_NEXT;
    let admits = |step: &Choice<'_>| anything.is_some_and(|it| it.admits(prover, &[*step]));
    (
        steps.into_iter().take(most).filter(admits).collect(),
        is_cut,
    )
}

/// Whether the override helps. It is not suggested against a policy of the cluster, even if it would install another
/// version that is allowed. It does not help against a bundle that OLM cannot install.
fn override_of(prover: &Prover<'_, '_>, ruled: &RuledEdit<'_>) -> BypassHelps {
    match ruled.ruling {
        Ruling::Policy(_) | Ruling::Preflight(_) | Ruling::InvalidSpec(_) => BypassHelps::No,
        _ => prover.bypass(),
    }
}

/// Whether another value could help. What the API refuses is refused for every version and policy, unless the API
/// refuses only the version.
fn is_refused(ruled: &RuledEdit<'_>) -> bool {
    let is_of_version = |fault: &SpecFault| match fault {
        SpecFault::Schema(finding) => finding.path.ends_with(".version"),
        SpecFault::Filter(_) => false,
    };
    match &ruled.ruling {
        Ruling::InvalidSpec(faults) => faults.iter().all(is_of_version),
        ruling => ruling.token().verdict() == Verdict::Deny,
    }
}

fn is_wide(request: &Request<'_>) -> bool {
    request.filter.entries() > MOST_ENTRIES
}

/// The number of reachable versions that are checked against guardrails and policies, if one check costs this number of
/// compared bundles. Half of the effort is left for the rest.
fn most_next(bundles: usize) -> usize {
    (MOST_BUNDLES / 2 / bundles.max(1)).clamp(1, MOST_NEXT)
}

/// The text that pins the version of a bundle, if the API accepts a text of that length.
pub fn pin(choice: Choice<'_>) -> Option<String> {
    pin_of(choice.version()?)
}

fn pin_of(version: &Version) -> Option<String> {
    fits(version).then(|| version.without_build().to_string())
}

/// Whether the API accepts the text that pins a version.
fn fits(version: &Version) -> bool {
    version.len_without_build() <= crd::MAX_CHARACTERS
}

/// The most channels and selector entries of a filter for which advice is computed. Each check compiles all of them
/// again, and the CRD accepts 256 channels.
const MOST_ENTRIES: usize = 512;

/// The most versions that are listed as reachable in one edit: more than any real package has, and few enough to bound
/// the cost of a hostile one.
const MOST_NEXT: usize = 256;

/// The most bundles that the advice on one edit can compare; this takes some milliseconds. The search is cut short for
/// a package of some hundreds of bundles whose `skipRange`s include most of the others, if its edges have no rows. The
/// largest recorded package has 203 bundles, and rows.
const MOST_BUNDLES: usize = 1 << 19;
