//! The steps that operator-controller takes automatically while no one edits the extension, up to the point where it
//! stays or cannot continue.
//!
//! Each step is the answer to the same request, with the bundle of the previous step installed.
//!
//! Invariant: the walk ends. By the stay rule, the installed bundle is a candidate of the next step. So each step is
//! better than the previous one: bundles are compared by deprecation, then by the priority of the catalog, then by
//! preference within the catalog. So no bundle occurs twice.

use crate::extension::{Filter, InstalledBundle};
use crate::judge::question::{FilterQuestion, ReadInstalled};
use crate::judge::rows::resolve;
use crate::judge::{AllowedChange, Basis, ForbiddenStep, RuledEdit, Ruling};
use crate::resolve::{
    CatalogEdge, Choice, Guards, InstallBound, InstallContext, MOST_COMPARISONS, Origin, Violation,
};
use olmguard_catalog::olm::{ReleaseKey, Rules};
use olmguard_catalog::version::{BundleReleaseSupport, Version};

/// The steps, and the reason why no step follows the last one.
#[derive(Debug)]
pub struct Walk<'s> {
    /// The bundle that each step installs, without the one installed at the start.
    pub steps: Vec<Choice<'s>>,
    /// The installed bundle at the end.
    pub last: InstalledBundle,
    /// Why the walk ends.
    pub end: WalkEnd<'s>,
    /// The steps that guardrails forbid, even if the bypass lifts the guardrail: OLM does not know guardrails. Limited
    /// to the first [`MOST_FORBIDDEN`].
    pub forbidden: Vec<ForbiddenStep<'s>>,
    /// The number of steps compared with guardrails, if not all.
    pub looked_at: Option<usize>,
}

/// Why a walk ends.
#[derive(Debug)]
pub enum WalkEnd<'s> {
    /// The request resolves to the installed bundle.
    Stays(Choice<'s>),
    /// The request does not resolve, with the ruling that explains it.
    Stops(Box<RuledEdit<'s>>),
    /// The request resolves to this bundle, but operator-controller does not install it.
    NotInstalled(Choice<'s>),
}

/// Walks from an installed bundle under a filter. Guardrails do not stop operator-controller. A bundle that it does not
/// install ends the walk, if the settings of the extension are known.
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

/// The first steps that guardrails forbid, and the number of compared steps, if not all.
fn forbidden<'s>(ahead: &mut StepsAhead<'_, 's>) -> (Vec<ForbiddenStep<'s>>, Option<usize>) {
    let guards = ahead.question.guards();
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

/// The steps of a walk. Each step is computed on first use and then kept.
pub(super) struct StepsAhead<'q, 's> {
    /// The filter and the offers for it.
    pub(super) question: &'q FilterQuestion<'q, 's>,
    /// The installed bundle before the first step.
    pub(super) installed: &'q ReadInstalled<'q>,
    /// The check that ends the walk before a bundle that operator-controller does not install.
    install: Option<InstallBound<'q>>,
    /// The first step, if the caller gave it. Its installation is checked before the next step is computed.
    given: Option<Choice<'s>>,
    /// The number of judgements that share the comparisons of one question.
    judgements: usize,
    steps: Vec<WalkStep<'s>>,
    /// Why no step follows these; set once no step is left to find.
    end: Option<WalkEnd<'s>>,
}

/// One step of a walk.
#[derive(Debug)]
struct WalkStep<'s> {
    /// The bundle that the step installs.
    to: Choice<'s>,
    /// How that bundle relates to the one it replaces.
    allowed: AllowedChange,
    /// The same bundle as the next step reads it, that is, as operator-controller records it.
    after: ReadInstalled<'s>,
}

impl<'q, 's> StepsAhead<'q, 's> {
    /// The steps of a question, from an installed bundle.
    pub(super) fn of(
        question: &'q FilterQuestion<'q, 's>,
        installed: &'q ReadInstalled<'q>,
    ) -> Self {
        Self {
            question,
            installed,
            install: None,
            given: None,
            judgements: 1,
            steps: Vec::new(),
            end: None,
        }
    }

    /// Limits the steps to those before the first bundle that operator-controller does not install with these settings.
    pub(super) fn installed_as(mut self, install: Option<InstallContext<'q>>) -> Self {
        let question = self.question;
        self.install = InstallBound::of(install, question.basis.snapshot, question.offers());
        self
    }

    /// Shares the comparisons of one question with other judgements.
    pub(super) fn shared_by(self, judgements: usize) -> Self {
        Self { judgements, ..self }
    }

    /// The number of steps that are compared with guardrails or policies of this weight; at least one.
    pub(super) fn most_steps(&self, weight: usize) -> usize {
        most_steps(weight.saturating_mul(self.judgements))
    }

    /// Lets only the catalogs decide which bundles operator-controller does not install.
    pub(super) fn by_catalogs(mut self) -> Self {
        self.install = self.install.map(InstallBound::by_catalogs);
        self
    }

    /// Sets the first step from its ruling. The rules are checked for that step whether or not OLM installs its bundle.
    pub(super) fn with_first(mut self, ruled: &RuledEdit<'s>) -> Self {
        if let Ruling::Allowed(allowed, to) = ruled.ruling {
            let install = self.install.take();
            self.take(allowed, to);
            (self.install, self.given) = (install, Some(to));
        }
        self
    }

    /// The bundle that a step installs, counted from 0; `None` after the end.
    pub(super) fn step(&mut self, place: usize) -> Option<Choice<'s>> {
        while self.steps.len() <= place && self.end.is_none() {
            self.find();
        }
        self.steps.get(place).map(|step| step.to)
    }

    /// The bundle that the previous step installs.
    pub(super) fn before(&self, place: usize) -> Option<Choice<'s>> {
        let before = self.steps.get(place.checked_sub(1)?)?;
        Some(before.to)
    }

    /// The installed bundle before a step, if all earlier steps are computed.
    pub(super) fn installed_before(&self, place: usize) -> &ReadInstalled<'_> {
        let before = place
            .checked_sub(1)
            .and_then(|before| self.steps.get(before));
        before.map_or(self.installed, |before| &before.after)
    }

    /// The violations of guardrails by a computed step, and the version that the step starts from; `None` if that
    /// version cannot be read.
    pub(super) fn violations(
        &self,
        guards: &Guards<'s>,
        place: usize,
    ) -> Option<(&Version, Vec<Violation<'s>>)> {
        let origin = self.installed_before(place).origin()?;
        let from = &origin.version()?.version;
        let step = self.steps.get(place)?;
        let edge = match step.allowed {
            AllowedChange::Bypassed(_) => CatalogEdge::Absent,
            AllowedChange::Resolved | AllowedChange::Unchanged => CatalogEdge::Present,
        };
        Some((from, guards.violations(from, &step.to, edge)))
    }

    /// The bundles that the steps install, in order.
    pub(super) fn choices(mut self) -> impl Iterator<Item = Choice<'s>> {
        (0..).map_while(move |place| self.step(place))
    }

    /// All steps, and the reason why no step follows the last one.
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
        let from = self.installed_before(self.steps.len());
        let ruled = resolve(self.question, from);
        match ruled.ruling {
            Ruling::Allowed(allowed, to) => self.take(allowed, to),
            _ => self.end = Some(WalkEnd::Stops(Box::new(ruled))),
        }
    }

    /// Adds a step. The number of steps is bounded, so termination does not depend on the invariant alone.
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

    /// The most steps: the number of bundles, because no bundle occurs twice.
    fn most(&self) -> usize {
        let offers = self.question.offers().iter();
        offers.map(|offer| offer.package.bundle_count()).sum()
    }
}

/// The bundle as operator-controller records it after the installation; `None` if its version cannot be read.
pub fn recorded(choice: Choice<'_>, rules: &Rules) -> Option<InstalledBundle> {
    let gate = match rules.release_key {
        ReleaseKey::Honoured => BundleReleaseSupport::Enabled,
        ReleaseKey::Typed | ReleaseKey::Unknown => BundleReleaseSupport::Disabled,
    };
    let recorded = choice.version_release()?.recorded(gate);
    Some(InstalledBundle {
        name: Some(String::from(&*choice.bundle().name)),
        version: recorded.version,
        release: recorded.release,
    })
}

// === The steps to compare with guardrails and policies ===

/// The steps of a path that start at a readable version. The first one starts at `start`.
pub fn steps_of<'p, 's>(
    start: Option<Version>,
    path: &'p [Choice<'s>],
) -> impl Iterator<Item = (Version, &'p Choice<'s>)> {
    let versions = path.iter().map(|choice| choice.version().cloned());
    let starts = std::iter::once(start).chain(versions);
    starts.zip(path).filter_map(|(from, to)| Some((from?, to)))
}

/// The number of steps of a walk that are compared with guardrails or policies of this weight; at least one.
pub fn most_steps(weight: usize) -> usize {
    affordable_steps(weight).clamp(1, MOST_STEPS)
}

/// The number of steps that can be compared in the time for one question.
pub fn affordable_steps(weight: usize) -> usize {
    MOST_COMPARISONS / weight.max(1)
}

/// The most steps of a walk that are compared: far more than any real package has, and few enough to bound the cost of
/// a hostile one.
const MOST_STEPS: usize = 4096;

/// The most forbidden steps that one walk keeps: more than anyone reads, and each can have hundreds of reasons.
pub const MOST_FORBIDDEN: usize = 32;
