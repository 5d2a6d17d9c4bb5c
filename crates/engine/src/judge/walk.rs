//! The steps that the controller takes automatically with an extension that no one edits, until it stays where it is or
//! can do nothing.
//!
//! Each step is the answer to the same request, with the bundle installed that the step before resolved to.
//!
//! Invariant: the walk ends. The installed bundle is a candidate of the next step, by the stay rule. So each step is
//! better than the one before: from deprecated to not deprecated, from a catalog to one of higher priority, or within a
//! catalog to a better bundle, in this order. So no bundle comes twice.

use crate::extension::{Filter, InstalledBundle};
use crate::judge::question::{FilterQuestion, ReadInstalled};
use crate::judge::rows::resolve;
use crate::judge::{AllowedChange, Basis, ForbiddenStep, RuledEdit, Ruling};
use crate::resolve::{
    CatalogEdge, Choice, Guards, InstallBound, InstallContext, MOST_COMPARISONS, Origin, StepStart,
    Violation,
};
use olmguard_catalog::olm::{ReleaseKey, Rules};
use olmguard_catalog::version::{BundleReleaseSupport, Version};

/// The steps, and why there is none after the last.
#[derive(Debug)]
pub struct Walk<'s> {
    /// The bundle that each step installs; the one that is installed at first is not among them.
    pub steps: Vec<Choice<'s>>,
    /// What is installed at the end.
    pub last: InstalledBundle,
    /// Why it ends there.
    pub end: WalkEnd<'s>,
    /// The steps that guardrails forbid, also if the bypass lifts them: OLM does not know guardrails. Of very many the
    /// first ones.
    pub forbidden: Vec<ForbiddenStep<'s>>,
    /// How many steps were compared with guardrails, if not all.
    pub looked_at: Option<usize>,
}

/// Why a walk ends.
#[derive(Debug)]
pub enum WalkEnd<'s> {
    /// The request resolves to what is installed.
    Stays(Choice<'s>),
    /// The request does not resolve, for this reason.
    Stops(Box<RuledEdit<'s>>),
    /// The request resolves to this, and operator-controller does not install it.
    NotInstalled(Choice<'s>),
}

/// The walk under a filter from an installed bundle on. Guardrails do not stop the controller. A bundle that it does not
/// install does, if it is known how the extension is set.
pub fn walk<'s>(
    basis: Basis<'s>,
    filter: &Filter,
    install: Option<InstallContext<'_>>,
    installed: &InstalledBundle,
) -> Walk<'s> {
    match FilterQuestion::of(basis, filter) {
        Ok(question) => walked(&question, install, installed),
        Err(error) => Walk {
            steps: Vec::new(),
            last: installed.clone(),
            end: WalkEnd::Stops(Box::new(Ruling::from(error).into())),
            forbidden: Vec::new(),
            looked_at: None,
        },
    }
}

fn walked<'s>(
    question: &FilterQuestion<'_, 's>,
    install: Option<InstallContext<'_>>,
    installed: &InstalledBundle,
) -> Walk<'s> {
    let rules = question.basis.snapshot.rules();
    let start = ReadInstalled::Bundle(Origin::read(installed, rules));
    let mut ahead = StepsAhead::of(question, &start).installed_as(install);
    let (forbidden, looked_at) = forbidden(&mut ahead);
    let (steps, end) = ahead.into_end();
    let last = steps.last().and_then(|last| recorded(*last, rules));
    Walk {
        last: last.unwrap_or_else(|| installed.clone()),
        steps,
        end,
        forbidden,
        looked_at,
    }
}

/// The first steps that guardrails forbid, and how many were compared with them, if not all.
fn forbidden<'s>(ahead: &mut StepsAhead<'_, 's>) -> (Vec<ForbiddenStep<'s>>, Option<usize>) {
    let guards = ahead.guards();
    let mut forbidden = Vec::new();
    if guards.is_empty() {
        return (forbidden, None);
    }
    let most = most_steps(guards.weight());
    let mut place = 0;
    while let Some(to) = ahead.step(place) {
        if place == most || forbidden.len() == MOST_FORBIDDEN {
            return (forbidden, Some(place));
        }
        let first = ahead.step(0).unwrap_or(to);
        let found = ahead.violations(&guards, place);
        forbidden.extend(found.and_then(|(from, why)| ForbiddenStep::of(first, from, to, why)));
        place += 1;
    }
    (forbidden, None)
}

/// The steps of a walk: each is found when it is asked for the first time, and kept.
pub(super) struct StepsAhead<'q, 's> {
    /// What is requested.
    pub(super) question: &'q FilterQuestion<'q, 's>,
    /// What is installed before the first step.
    pub(super) installed: &'q ReadInstalled<'q>,
    /// What the walk ends before.
    install: Option<InstallBound<'q>>,
    /// The first step, if it was given: whether OLM installs it is asked before the next one.
    given: Option<Choice<'s>>,
    steps: Vec<WalkStep<'s>>,
    /// Why there is no step after those, if none is left to find.
    end: Option<WalkEnd<'s>>,
}

/// One step of a walk.
#[derive(Debug)]
struct WalkStep<'s> {
    /// What it installs.
    to: Choice<'s>,
    /// How that relates to the bundle that it replaces.
    allowed: AllowedChange,
    /// The same bundle as the next step reads it: as the controller records it.
    after: ReadInstalled<'s>,
}

impl<'q, 's> StepsAhead<'q, 's> {
    /// The steps of a question from an installed bundle on.
    pub(super) fn of(
        question: &'q FilterQuestion<'q, 's>,
        installed: &'q ReadInstalled<'q>,
    ) -> Self {
        Self {
            question,
            installed,
            install: None,
            given: None,
            steps: Vec::new(),
            end: None,
        }
    }

    /// The same steps, up to the first bundle that operator-controller does not install in this way.
    pub(super) fn installed_as(mut self, install: Option<InstallContext<'q>>) -> Self {
        let question = self.question;
        self.install = InstallBound::of(install, question.basis.snapshot, question.offers());
        self
    }

    /// The same steps, where only the catalogs show which bundles operator-controller does not install.
    pub(super) fn by_catalogs(mut self) -> Self {
        self.install = self.install.map(InstallBound::by_catalogs);
        self
    }

    /// The same steps, if the ruling on the first is known. Rules judge that step whether or not OLM installs its bundle.
    pub(super) fn with_first(mut self, ruled: &RuledEdit<'s>) -> Self {
        if let Ruling::Allowed(allowed, to) = ruled.ruling {
            let install = self.install.take();
            self.take(allowed, to);
            (self.install, self.given) = (install, Some(to));
        }
        self
    }

    /// The bundle that a step installs, counted from 0; none after the end.
    pub(super) fn step(&mut self, place: usize) -> Option<Choice<'s>> {
        while self.steps.len() <= place && self.end.is_none() {
            self.find();
        }
        self.steps.get(place).map(|step| step.to)
    }

    /// The bundle that the step before a step installs.
    pub(super) fn before(&self, place: usize) -> Option<Choice<'s>> {
        let before = self.steps.get(place.checked_sub(1)?)?;
        Some(before.to)
    }

    /// The start of a step that was found.
    pub(super) fn start(&self, place: usize) -> StepStart<'_> {
        let before = place
            .checked_sub(1)
            .and_then(|before| self.steps.get(before));
        before.map_or_else(|| self.installed.start(), |before| before.after.start())
    }

    /// Why guardrails forbid a step that was found, and the version that it starts from, if that can be read.
    pub(super) fn violations(
        &self,
        guards: &Guards<'s>,
        place: usize,
    ) -> Option<(&Version, Vec<Violation<'s>>)> {
        let StepStart::At(origin) = self.start(place) else {
            return None;
        };
        let from = &origin.version()?.version;
        let step = self.steps.get(place)?;
        let edge = match step.allowed {
            AllowedChange::Bypassed(_) => CatalogEdge::Absent,
            AllowedChange::Resolved | AllowedChange::Unchanged => CatalogEdge::Present,
        };
        Some((from, guards.violations(from, &step.to, edge)))
    }

    /// The guardrails of the package.
    pub(super) fn guards(&self) -> Guards<'s> {
        let question = self.question;
        let imposed = &question.basis.policies.guardrails;
        Guards::of(imposed, &question.filter.package, question.offers())
    }

    /// The bundles that the steps install, one after the other.
    pub(super) fn choices(mut self) -> impl Iterator<Item = Choice<'s>> {
        (0..).map_while(move |place| self.step(place))
    }

    /// All steps, and why there is none after the last.
    fn into_end(mut self) -> (Vec<Choice<'s>>, WalkEnd<'s>) {
        let end = loop {
            match self.end.take() {
                Some(end) => break end,
                None => self.find(),
            }
        };
        (self.steps.iter().map(|step| step.to).collect(), end)
    }

    fn find(&mut self) {
        if let Some(to) = self.given.take().filter(|to| self.is_refused(to)) {
            self.end = Some(WalkEnd::NotInstalled(to));
            return;
        }
        let last = self.steps.last();
        let from = last.map_or(self.installed, |last| &last.after);
        let ruled = resolve(self.question, from);
        match ruled.ruling {
            Ruling::Allowed(allowed, to) => self.take(allowed, to),
            _ => self.end = Some(WalkEnd::Stops(Box::new(ruled))),
        }
    }

    /// Adds a step. The number of steps is bounded, so that the end of a walk does not rest on the invariant alone.
    fn take(&mut self, allowed: AllowedChange, to: Choice<'s>) {
        let rules = self.question.basis.snapshot.rules();
        let origin = Origin::of_choice(to, rules);
        let is_move = allowed != AllowedChange::Unchanged && self.steps.len() < self.most();
        if is_move && self.is_refused(&to) {
            self.end = Some(WalkEnd::NotInstalled(to));
            return;
        }
        match origin.filter(|_| is_move) {
            Some(origin) => self.steps.push(WalkStep {
                to,
                allowed,
                after: ReadInstalled::Bundle(Ok(origin)),
            }),
            None => self.end = Some(WalkEnd::Stays(to)),
        }
    }

    fn is_refused(&self, to: &Choice<'s>) -> bool {
        let rules = self.question.basis.snapshot.rules();
        self.install.is_some_and(|bound| bound.refuses(to, rules))
    }

    /// The most steps: as many as there are bundles, because none comes twice.
    fn most(&self) -> usize {
        let offers = self.question.offers().iter();
        offers.map(|offer| offer.package.bundle_count()).sum()
    }
}

/// A bundle as the controller records it once it is installed; `None` if its version cannot be read.
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

// === What guardrails and policies are put to ===

/// The steps of a path that start at a readable version, the first at this one.
pub fn steps_of<'p, 's>(
    start: Option<Version>,
    path: &'p [Choice<'s>],
) -> impl Iterator<Item = (Version, &'p Choice<'s>)> {
    let version = |choice: &Choice<'_>| {
        let read = choice.bundle().version.as_ref().ok();
        read.map(|read| read.version.clone())
    };
    let starts = std::iter::once(start).chain(path.iter().map(version));
    starts.zip(path).filter_map(|(from, to)| Some((from?, to)))
}

/// How many steps of a walk are compared with guardrails or policies of this weight, at least one.
pub fn most_steps(weight: usize) -> usize {
    affordable_steps(weight).clamp(1, MOST_STEPS)
}

/// How many steps there is time for, to answer one question.
pub fn affordable_steps(weight: usize) -> usize {
    MOST_COMPARISONS / weight.max(1)
}

/// The most steps of a walk that are compared: far more than any package has, and few enough for one that was made to
/// cost time.
const MOST_STEPS: usize = 4096;

/// How many forbidden steps of one walk are kept: more than anyone reads, and each can have hundreds of reasons.
pub const MOST_FORBIDDEN: usize = 32;
