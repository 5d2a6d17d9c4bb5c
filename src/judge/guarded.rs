//! Row 16: what guardrails forbid of the steps that OLM would take by itself under an edit.
//!
//! OLM knows no guardrails: it takes the best candidate that an edge leads to, installs it, and asks
//! again. So the first step decides as little as any other: the whole walk is looked at, until it
//! stays or stops.

use crate::extension::Installed;
use crate::judge::walk::{Step, steps};
use crate::judge::{Allowed, Request, Ruled, Ruling};
use crate::resolve::{CatalogEdge, Choice, Guards, Origin, Query, Violation};
use crate::snapshot::Snapshot;
use crate::version::Version;

/// A step that OLM would take and that guardrails forbid.
#[derive(Debug)]
pub struct Forbidden<'s> {
    /// What the edit resolves to: where the first step leads.
    pub resolved: Choice<'s>,
    /// The version that the step starts from.
    pub from: Version,
    /// Where it leads.
    pub to: Choice<'s>,
    /// Why it is forbidden: one reason or more.
    pub violations: Vec<Violation<'s>>,
}

impl Forbidden<'_> {
    /// Whether it is the step that the edit itself asks for, not one that follows by itself.
    pub fn is_first_step(&self) -> bool {
        let (first, here) = (&self.resolved, &self.to);
        std::ptr::eq(first.catalog, here.catalog) && first.index == here.index
    }
}

/// Row 16 for what the rows before let through: a refusal, or the same with what a bypass lifts.
pub(super) fn guarded<'s>(
    snapshot: &'s Snapshot,
    request: &Request<'_>,
    mut ruled: Ruled<'s>,
) -> Ruled<'s> {
    let found = find(snapshot, request, &ruled).unwrap_or_default();
    if request.filter.bypasses() {
        let (lifted, holding) = found.into_iter().partition(Forbidden::is_lifted);
        ruled.lifted = lifted;
        refuse(ruled, holding)
    } else {
        refuse(ruled, found)
    }
}

impl Forbidden<'_> {
    /// Whether the bypass lifts all that forbids it.
    fn is_lifted(&self) -> bool {
        !self.violations.iter().any(Violation::holds_with_bypass)
    }
}

/// The first of these refuses.
fn refuse<'s>(mut ruled: Ruled<'s>, forbidden: Vec<Forbidden<'s>>) -> Ruled<'s> {
    if let Some(first) = forbidden.into_iter().next() {
        ruled.ruling = Ruling::Guardrail(first);
        ruled.lifted.clear();
    }
    ruled
}

/// Every step of the walk that is forbidden; `None` where nothing is said of any.
fn find<'s>(
    snapshot: &'s Snapshot,
    request: &Request<'_>,
    ruled: &Ruled<'s>,
) -> Option<Vec<Forbidden<'s>>> {
    let (
        Ruling::Allowed(Allowed::Resolved | Allowed::Bypassed(_), resolved),
        Installed::Bundle(at),
    ) = (&ruled.ruling, request.installed)
    else {
        return None;
    };
    let package = &request.filter.package;
    let mut packages = ruled.matched.iter().map(|matched| matched.package);
    let is_authored = packages.any(|package| package.guardrails().stated().is_some());
    if !is_authored && snapshot.imposed().on(package).next().is_none() {
        return None;
    }
    let query = Query::compile(request.filter, snapshot).ok()?;
    let offers = query.offers(&query.in_play(snapshot)).ok()?;
    let guards = Guards::of(snapshot.imposed(), package, &offers);
    let forbidden = steps(snapshot, request.filter, at).filter_map(|step| {
        let from = Origin::read(&step.from, snapshot.rules()).ok()?;
        let from = &from.version()?.version;
        let violations = guards.violations(from, &step.to, edge(&step));
        (!violations.is_empty()).then(|| Forbidden {
            resolved: *resolved,
            from: from.clone(),
            to: step.to,
            violations,
        })
    });
    Some(forbidden.collect())
}

fn edge(step: &Step<'_>) -> CatalogEdge {
    match step.allowed {
        Allowed::Bypassed(_) => CatalogEdge::Absent,
        Allowed::Resolved | Allowed::Unchanged => CatalogEdge::Present,
    }
}
