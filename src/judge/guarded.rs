//! Row 16: what guardrails forbid of the steps that OLM would take by itself under an edit.
//!
//! OLM knows no guardrails: it takes the best candidate that an edge leads to, installs it, and asks
//! again. So the first step decides as little as any other: the whole walk is looked at, until it
//! stays or stops.

use crate::extension::Installed;
use crate::judge::rows::Asking;
use crate::judge::walk::{Step, steps};
use crate::judge::{Allowed, Ruled, Ruling};
use crate::resolve::{CatalogEdge, Choice, Guards, Origin, Violation};
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

/// Rows 4 to 18, 16 among them.
pub(super) fn guarded<'s>(asking: &Asking<'_, 's>, installed: &Installed) -> Ruled<'s> {
    let mut ruled = asking.resolve(installed);
    match look(asking, installed, &ruled.ruling) {
        Some(Looked {
            refusal: Some(forbidden),
            ..
        }) => ruled.ruling = Ruling::Guardrail(forbidden),
        Some(Looked { lifted, .. }) => ruled.lifted = lifted,
        None => {}
    }
    ruled
}

/// What guardrails say of a walk: the first step that they forbid, and those before it that only the
/// bypass makes free.
#[derive(Default)]
struct Looked<'s> {
    refusal: Option<Forbidden<'s>>,
    lifted: Vec<Forbidden<'s>>,
}

/// Looks at the walk, if the edit is let through so far and something is said of it.
fn look<'s>(
    asking: &Asking<'_, 's>,
    installed: &Installed,
    ruling: &Ruling<'s>,
) -> Option<Looked<'s>> {
    let Ruling::Allowed(Allowed::Resolved | Allowed::Bypassed(_), resolved) = *ruling else {
        return None;
    };
    let imposed = asking.snapshot.imposed();
    let guards = Guards::of(imposed, &asking.filter.package, asking.offers());
    if guards.is_empty() {
        return None;
    }
    let mut looked = Looked::default();
    for step in steps(asking, installed.bundle()?).take(MOST_STEPS) {
        let Some((from, violations)) = violations(asking, &guards, &step) else {
            continue;
        };
        let is_lifted =
            |violation: &Violation<'_>| asking.filter.bypasses() && !violation.holds_with_bypass();
        let (lifted, holding): (Vec<_>, Vec<_>) = violations.into_iter().partition(is_lifted);
        let forbidden = |violations: Vec<Violation<'s>>| {
            (!violations.is_empty()).then(|| Forbidden {
                resolved,
                from: from.clone(),
                to: step.to,
                violations,
            })
        };
        looked.refusal = forbidden(holding);
        if looked.refusal.is_some() {
            break;
        }
        looked.lifted.extend(forbidden(lifted));
    }
    Some(looked)
}

/// Why a step is forbidden, and the version that it starts from, if that can be read.
pub(super) fn violations<'s>(
    asking: &Asking<'_, 's>,
    guards: &Guards<'s>,
    step: &Step<'s>,
) -> Option<(Version, Vec<Violation<'s>>)> {
    let origin = Origin::read(&step.from, asking.snapshot.rules()).ok()?;
    let from = &origin.version()?.version;
    let edge = match step.allowed {
        Allowed::Bypassed(_) => CatalogEdge::Absent,
        Allowed::Resolved | Allowed::Unchanged => CatalogEdge::Present,
    };
    Some((from.clone(), guards.violations(from, &step.to, edge)))
}

/// How many steps of a walk are looked at: far more than any package has, few enough for one that was
/// made to hurt.
const MOST_STEPS: usize = 4096;
