//! How far users can upgrade if there is no upgrade path to the requested version, and which guardrail, policy or
//! bundle is the reason.

use crate::judge::advice::prover::{Ground, Prover, offers};
use crate::judge::{ForbiddenStep, PreflightRefusal, Ruling, steps_of};
use crate::resolve::{
    Bounds, CatalogEdge, Choice, Guards, Offer, Origin, PathSearch, PolicyFinding, choose, weigh,
};

/// The known facts if there is no upgrade path.
#[derive(Debug)]
pub struct DeadEnd<'s> {
    /// The highest release that can be reached edit by edit, with the channels and the selector of the request. Absent
    /// if no release above the installed version can be reached.
    pub highest: Option<Choice<'s>>,
    /// The highest reachable bundle, if it is a prerelease.
    pub prerelease: Option<Choice<'s>>,
    /// The bundle that can be reached without the channels of the request, if the request would then resolve to it.
    pub elsewhere: Option<Choice<'s>>,
    /// Whether one of several catalogs has a path by itself. A step that two catalogs of the same priority offer is
    /// ambiguous.
    pub in_one_catalog: PathInOneCatalog<'s>,
    /// The first step that guardrails forbid on the path that exists without guardrails.
    pub blocked: Option<ForbiddenStep<'s>>,
    /// The refusal of the first bundle that OLM does not install, on the path that would exist if OLM did.
    pub uninstallable: Option<PreflightRefusal<'s>>,
    /// The policy denials of the first denied step on the path that would exist without policies.
    pub policies: Vec<PolicyFinding<'s>>,
}

/// Whether the request has an upgrade path if it selects only one of its catalogs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum PathInOneCatalog<'s> {
    /// No path exists, or there is only one catalog.
    #[default]
    Absent,
    /// A path exists; this is its last bundle.
    To(Choice<'s>),
    /// Unknown: other rules than edges apply to the path, or the search ended early.
    Unknown,
}

/// The dead end of a request; `None` if upgrade edges do not apply to it.
pub(super) fn of<'s>(
    prover: &Prover<'_, 's>,
    ruling: &Ruling<'_>,
    anything: Option<&Ground<'_, 's>>,
    search: Option<PathSearch<'_, 's>>,
) -> Option<DeadEnd<'s>> {
    let origin = prover.origin()?;
    let is_of_edges = matches!(ruling, Ruling::Downgrade(..) | Ruling::NotASuccessor(..));
    let has_goal = is_of_edges || matches!(ruling, Ruling::Guardrail(_) | Ruling::Policy(_));
    let asked = has_goal.then(|| offers(prover.basis, prover.request.filter));
    let asked = asked.flatten();
    let way = anything.zip(asked.as_deref());
    let any_way = anything.map(|ground| (ground, ground.offers.as_slice()));
    // The refusal itself reports the rule that denies the edit.
    let by_guardrails = if has_goal { way } else { any_way };
    let by_guardrails = by_guardrails.filter(|_| !matches!(ruling, Ruling::Guardrail(_)));
    let reached = anything.zip(search);
    let [highest, prerelease] = reached
        .map(|(ground, search)| highest(prover, ground, origin, search))
        .unwrap_or_default();
    let by_policies = way.filter(|_| !matches!(ruling, Ruling::Policy(_)));
    let by_bundles = way.filter(|_| is_of_edges);
    let by_catalogs = by_bundles.filter(|(_, asked)| asked.len() > 1);
    Some(DeadEnd {
        blocked: by_guardrails.and_then(|(ground, sought)| blocked(prover, ground, sought, origin)),
        policies: by_policies.map_or_else(Vec::new, |(ground, asked)| {
            policed(prover, ground, asked, origin)
        }),
        uninstallable: by_bundles
            .and_then(|(ground, asked)| uninstallable(prover, ground, asked, origin)),
        highest,
        prerelease: prerelease.filter(Choice::is_prerelease),
        elsewhere: elsewhere(prover, ruling, origin),
        in_one_catalog: by_catalogs
            .map(|(ground, asked)| in_one_catalog(prover, ground, asked, origin))
            .unwrap_or_default(),
    })
}

/// The highest reachable bundles above the installed one: among releases, and among all bundles.
fn highest<'s>(
    prover: &Prover<'_, 's>,
    anything: &Ground<'_, 's>,
    origin: &Origin<'_>,
    mut search: PathSearch<'_, 's>,
) -> [Option<Choice<'s>>; 2] {
    let mut releases = anything.offers.clone();
    for offer in &mut releases {
        offer.keep(|choice| !choice.is_prerelease());
    }
    let [of_releases, of_all] = [&releases, &anything.offers].map(|offers| {
        let found = search.path_to(None, offers);
        let path = found.steps.filter(|_| !found.is_cut)?;
        let last = path.last()?;
        let is_above =
            !origin.is_at(last.bundle()) && !origin.is_newer_than(last.package, last.index);
        is_above.then_some(path)
    });
    let is_same = of_releases == of_all;
    let end = |path: Option<Vec<Choice<'s>>>| {
        let path = path.filter(|path| anything.admits(prover, path))?;
        path.last().copied()
    };
    let highest = end(of_releases);
    [highest, if is_same { highest } else { end(of_all) }]
}

/// The end of the path to the bundle that the request would resolve to without its channels, if the channels can be the
/// reason.
fn elsewhere<'s>(
    prover: &Prover<'_, 's>,
    ruling: &Ruling<'_>,
    origin: &Origin<'_>,
) -> Option<Choice<'s>> {
    let is_by_channels = matches!(
        ruling,
        Ruling::Downgrade(..)
            | Ruling::NotASuccessor(..)
            | Ruling::ChannelNotFound { .. }
            | Ruling::NotInChannel { .. }
    );
    is_by_channels.then_some(())?;
    let filter = prover.request.filter;
    let wide = filter.without_channels();
    let unpinned = wide.without_version();
    let ground = (!filter.channels.is_empty())
        .then(|| Ground::of(prover.basis, &unpinned, prover.request.context))??;
    let asked = offers(prover.basis, &wide)?;
    let path = steps(&asked, origin, &ground.bounds(prover.effort));
    let is_sure = ground.binds_by_edges_alone(prover.effort) && !prover.effort.is_cut();
    path.last().copied().filter(|_| is_sure)
}

/// The path in the first catalog that has one by itself.
fn in_one_catalog<'s>(
    prover: &Prover<'_, 's>,
    anything: &Ground<'_, 's>,
    asked: &[Offer<'s>],
    origin: &Origin<'_>,
) -> PathInOneCatalog<'s> {
    if !anything.binds_by_edges_alone(prover.effort) {
        return PathInOneCatalog::Unknown;
    }
    let bounds = anything.bounds(prover.effort);
    let alone = asked.iter().map(std::slice::from_ref);
    let mut paths = alone.map(|one| steps(one, origin, &bounds));
    let found = paths.find(|path| !path.is_empty() && anything.admits(prover, path));
    match found.as_deref() {
        _ if prover.effort.is_cut() => PathInOneCatalog::Unknown,
        Some([.., last]) => PathInOneCatalog::To(*last),
        Some([]) | None => PathInOneCatalog::Absent,
    }
}

/// The policy denials of the first denied step on the path to the bundle that the request would resolve to without
/// edges.
fn policed<'s>(
    prover: &Prover<'_, 's>,
    anything: &Ground<'_, 's>,
    asked: &[Offer<'s>],
    origin: &Origin<'_>,
) -> Vec<PolicyFinding<'s>> {
    if anything.policies.is_empty() {
        return Vec::new();
    }
    let free = Bounds {
        policies: None,
        ..anything.bounds(prover.effort)
    };
    let steps = steps(asked, origin, &free);
    let mut both = pairs(prover, origin, &steps);
    both.find_map(|(from, to)| {
        let findings = anything.policies.denials_of_pin(&from, &to);
        (!findings.is_empty()).then_some(findings)
    })
    .unwrap_or_default()
}

/// The refusal of the first bundle that OLM does not install, on the path to the bundle that the request would resolve
/// to without edges.
fn uninstallable<'s>(
    prover: &Prover<'_, 's>,
    anything: &Ground<'_, 's>,
    asked: &[Offer<'s>],
    origin: &Origin<'_>,
) -> Option<PreflightRefusal<'s>> {
    // The search that found no path has visited everything it can reach. Without a refusal, this search would be the
    // same.
    anything.refusals.has_any().then_some(())?;
    let free = Bounds {
        install: None,
        ..anything.bounds(prover.effort)
    };
    let steps = steps(asked, origin, &free);
    pairs(prover, origin, &steps).find_map(|(from, to)| prover.uninstallable(&from, to))
}

/// Each step of a path, with the bundle that it starts from.
fn pairs<'a, 's>(
    prover: &Prover<'_, 's>,
    origin: &Origin<'a>,
    steps: &'a [Choice<'s>],
) -> impl Iterator<Item = (Origin<'a>, Choice<'s>)>
where
    's: 'a,
{
    let rules = prover.basis.snapshot.rules();
    let starts = steps
        .iter()
        .filter_map(|step| Origin::of_choice(*step, rules));
    let starts = std::iter::once(origin.clone()).chain(starts);
    starts.zip(steps.iter().copied())
}

/// The first forbidden step of the path that exists without guardrails.
fn blocked<'s>(
    prover: &Prover<'_, 's>,
    anything: &Ground<'_, 's>,
    asked: &[Offer<'s>],
    origin: &Origin<'_>,
) -> Option<ForbiddenStep<'s>> {
    let bounds = anything.bounds(prover.effort);
    if bounds.guards.is_empty() {
        return None;
    }
    let unguarded = Bounds {
        guards: &Guards::default(),
        ..bounds
    };
    let steps = steps(asked, origin, &unguarded);
    let start = origin.version().map(|read| read.version.clone());
    let first = *steps.first()?;
    steps_of(start, &steps).find_map(|(from, to)| {
        let violations = bounds.guards.violations(&from, to, CatalogEdge::Present);
        ForbiddenStep::of(first, &from, *to, violations)
    })
}

/// The path within these bounds to the bundle that the request would resolve to without edges; empty if there is no
/// path.
fn steps<'s>(asked: &[Offer<'s>], origin: &Origin<'_>, bounds: &Bounds<'_, 's>) -> Vec<Choice<'s>> {
    let goal = choose(&weigh(asked, None)).ok();
    let goal = goal.map(|resolved| resolved.choice);
    let found = PathSearch::from(asked, origin, bounds).path_to(goal, asked);
    found.steps.unwrap_or_default()
}
