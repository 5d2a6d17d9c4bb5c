//! What the controller does by itself with an extension that nobody edits: step by step, until it
//! stays where it is or can do nothing.
//!
//! Each step is the answer to the same request, with what the step before installed.
//!
//! Invariant: the walk ends. What a step took is a candidate of the next one, by the stay rule, so each
//! step betters the one before: from deprecated to not, from a catalog to one of higher priority, or
//! within a catalog to a better bundle, in this order. So no bundle comes twice.

use crate::extension::{Filter, InstalledBundle};
use crate::judge::filter_question::FilterQuestion;
use crate::judge::forbidden::{MOST_FORBIDDEN, most_steps};
use crate::judge::read_installed::ReadInstalled;
use crate::judge::rows::resolve;
use crate::judge::{AllowedChange, Basis, ForbiddenStep, RuledEdit, Ruling};
use crate::resolve::{CatalogEdge, Choice, Guards, Origin, Violation};
use olmguard_catalog::olm::{ReleaseKey, Rules};
use olmguard_catalog::version::{BundleReleaseSupport, Version};

/// The steps, and why there is none after the last.
#[derive(Debug)]
pub struct Walk<'s> {
    /// What each step installs, what is installed at first left out.
    pub steps: Vec<Choice<'s>>,
    /// What is installed at the end.
    pub last: InstalledBundle,
    /// Why it ends there.
    pub end: WalkEnd<'s>,
    /// Those of the steps that guardrails forbid, be it that the bypass lifts it: OLM knows none. Of very
    /// many the first ones.
    pub forbidden: Vec<ForbiddenStep<'s>>,
    /// How many steps guardrails were put to, where not to all.
    pub looked_at: Option<usize>,
}

/// Why a walk ends.
#[derive(Debug)]
pub enum WalkEnd<'s> {
    /// The request resolves to what is installed.
    Stays(Choice<'s>),
    /// It does not resolve, for this reason.
    Stops(Box<RuledEdit<'s>>),
}

/// One step of a walk.
#[derive(Debug)]
pub(super) struct WalkStep<'s> {
    /// The version that it leaves, if that can be read.
    pub(super) from: Option<Version>,
    /// What it installs.
    pub(super) to: Choice<'s>,
    /// How that relates to what it leaves.
    pub(super) allowed: AllowedChange,
}

/// The walk under a filter from an installed bundle on. Guardrails are nothing to the controller.
pub fn walk<'s>(basis: Basis<'s>, filter: &Filter, installed: &InstalledBundle) -> Walk<'s> {
    match FilterQuestion::of(basis, filter) {
        Ok(question) => walked(&question, installed),
        Err(error) => Walk {
            steps: Vec::new(),
            last: installed.clone(),
            end: WalkEnd::Stops(Box::new(Ruling::from(error).into())),
            forbidden: Vec::new(),
            looked_at: None,
        },
    }
}

fn walked<'s>(question: &FilterQuestion<'_, 's>, installed: &InstalledBundle) -> Walk<'s> {
    let guards = Guards::of(
        &question.basis.policies.guardrails,
        &question.filter.package,
        question.offers(),
    );
    let rules = question.basis.snapshot.rules();
    let mut last = ReadInstalled::Bundle(Origin::read(installed, rules));
    let mut steps: Vec<Choice<'s>> = Vec::new();
    let mut look = WalkViolations {
        guards: &guards,
        forbidden: Vec::new(),
        looked_at: None,
    };
    let end = loop {
        match step(question, &last) {
            Ok((step, origin)) => {
                look.at_step(&step, &steps);
                steps.push(step.to);
                last = ReadInstalled::Bundle(Ok(origin));
            }
            Err(end) => break end,
        }
    };
    let end_of_steps = steps.last().and_then(|end| recorded(*end, rules));
    Walk {
        steps,
        last: end_of_steps.unwrap_or_else(|| installed.clone()),
        end,
        forbidden: look.forbidden,
        looked_at: look.looked_at,
    }
}

/// What guardrails say of a walk, as far as they are put to it.
struct WalkViolations<'a, 's> {
    guards: &'a Guards<'s>,
    forbidden: Vec<ForbiddenStep<'s>>,
    looked_at: Option<usize>,
}

impl<'s> WalkViolations<'_, 's> {
    /// Looks at the step that comes after these.
    fn at_step(&mut self, step: &WalkStep<'s>, before: &[Choice<'s>]) {
        if self.guards.is_empty() || self.looked_at.is_some() {
            return;
        }
        let looked_at = before.len();
        if looked_at == most_steps(self.guards) || self.forbidden.len() == MOST_FORBIDDEN {
            self.looked_at = Some(looked_at);
            return;
        }
        let first = *before.first().unwrap_or(&step.to);
        let forbidden = self.forbids(step, first);
        self.forbidden.extend(forbidden);
    }

    /// A step as one that guardrails forbid, if they do; `first` is the first one of its walk.
    fn forbids(&self, step: &WalkStep<'s>, first: Choice<'s>) -> Option<ForbiddenStep<'s>> {
        let (from, violations) = violations(self.guards, step)?;
        ForbiddenStep::of(first, from, step.to, violations)
    }
}

/// The steps of the same walk, one by one.
pub(super) fn steps<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
) -> impl Iterator<Item = WalkStep<'s>> {
    let mut last: Option<ReadInstalled<'s>> = None;
    std::iter::from_fn(move || {
        let from = last.as_ref().unwrap_or(installed);
        let (step, origin) = step(question, from).ok()?;
        last = Some(ReadInstalled::Bundle(Ok(origin)));
        Some(step)
    })
}

/// The next step, and where the step after it starts: reading what the controller records gives the same.
fn step<'s>(
    question: &FilterQuestion<'_, 's>,
    from: &ReadInstalled<'_>,
) -> Result<(WalkStep<'s>, Origin<'s>), WalkEnd<'s>> {
    let ruled = resolve(question, from);
    let (to, allowed) = match ruled.ruling {
        Ruling::Allowed(AllowedChange::Unchanged, choice) => return Err(WalkEnd::Stays(choice)),
        Ruling::Allowed(allowed, choice) => (choice, allowed),
        _ => return Err(WalkEnd::Stops(Box::new(ruled))),
    };
    let Some(origin) = Origin::of_choice(to, question.basis.snapshot.rules()) else {
        return Err(WalkEnd::Stops(Box::new(ruled)));
    };
    let version = from.origin().and_then(Origin::version);
    let from = version.map(|read| read.version.clone());
    Ok((WalkStep { from, to, allowed }, origin))
}

/// Why a step is forbidden, and the version that it starts from, if that can be read.
pub(super) fn violations<'a, 's>(
    guards: &Guards<'s>,
    step: &'a WalkStep<'s>,
) -> Option<(&'a Version, Vec<Violation<'s>>)> {
    let from = step.from.as_ref()?;
    let edge = match step.allowed {
        AllowedChange::Bypassed(_) => CatalogEdge::Absent,
        AllowedChange::Resolved | AllowedChange::Unchanged => CatalogEdge::Present,
    };
    Some((from, guards.violations(from, &step.to, edge)))
}

/// A bundle as the controller records it once it is installed; none whose version cannot be read.
pub fn recorded(choice: Choice<'_>, rules: &Rules) -> Option<InstalledBundle> {
    let gate = match rules.release_key {
        ReleaseKey::Honoured => BundleReleaseSupport::Enabled,
        ReleaseKey::Typed | ReleaseKey::Unknown => BundleReleaseSupport::Disabled,
    };
    let bundle = choice.bundle();
    let recorded = bundle.version.as_ref().ok()?.recorded(gate);
    Some(InstalledBundle {
        name: Some(String::from(&*bundle.name)),
        version: recorded.version,
        release: recorded.release,
    })
}
