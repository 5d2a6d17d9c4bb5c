//! The path from the installed bundle to another one, with one edit per step.
//!
//! An extension without the bypass follows edges. An extension with the bypass is bound only by guardrails that the
//! bypass does not lift, so one edit is enough unless guardrails forbid that step. In that case the search follows
//! edges, as the advice of `check` does. If it finds no path, other edits may still work.

use serde_json::Value;

use crate::extension::{Fields, InstallRequest, Installed, InstalledBundle, Shape};
use crate::inquiry::{Decision, Inquiry, is_given};
use crate::judge::{OneEdit, Request, Token, pin, recorded};
use crate::resolve::{
    Bounds, Choice, Edits, InstallBound, InstallContext, NotGiven, Offer, Origin, PathSearch,
    choose, weigh,
};

/// The result of a search for a path.
#[derive(Clone, Debug, Default)]
pub struct SoughtPath<'a> {
    /// The bundle that each edit installs, the goal last; absent if no path was found.
    pub steps: Option<Vec<Choice<'a>>>,
    /// The highest bundle that can be reached along edges, if it is a prerelease. Only without targets.
    pub prerelease: Option<Choice<'a>>,
    /// Whether a search reached its limit.
    pub is_cut: bool,
    /// Whether the search followed edges although the extension has the bypass.
    pub is_along_edges: bool,
}

/// An edit after which OLM does not install the bundle.
#[derive(Debug)]
pub struct UninstallableStep<'a> {
    /// The edit.
    pub decision: Decision<'a>,
    /// Whether the result assumes that `spec.config` is empty, because the settings of the extension are unknown and
    /// its installed bundle needs none.
    pub is_assumed: bool,
}

impl<'a> Inquiry<'a> {
    /// The shortest path to one of these bundles. Without targets, the path to the highest suggested bundle that can be
    /// reached. With the override and without targets, the path to the bundle that the request resolves to without a
    /// pin.
    pub fn path(&self, targets: Option<&[Choice<'a>]>) -> SoughtPath<'a> {
        let Some(origin) = self.origin() else {
            return SoughtPath::default();
        };
        if self.is_free() {
            return free(self, &origin, targets);
        }
        along(self, &origin, targets, &self.bounds())
    }

    /// The path to a higher version than `sought` reaches, which would exist if no upgrade policy forbade a step and
    /// OLM installed each bundle. Only without targets.
    pub fn further(
        &self,
        targets: Option<&[Choice<'a>]>,
        sought: &SoughtPath<'a>,
    ) -> Option<Vec<Choice<'a>>> {
        let origin = self
            .origin()
            .filter(|_| targets.is_none() && !sought.is_cut)?;
        let steps = if self.is_free() {
            wanted(self, &origin, None)
        } else {
            let bounds = Bounds {
                policies: None,
                install: None,
                ..self.bounds()
            };
            upwards(self, &origin, &bounds).steps?
        };
        let end = sought.steps.as_deref().and_then(<[_]>::last);
        Some(steps).filter(|steps| !steps.is_empty() && steps.last() != end)
    }

    /// Whether the installation settings of the extension are known.
    pub fn is_set(&self) -> bool {
        self.context.install.is_some()
    }

    /// The first edit of a path after which OLM does not install the bundle.
    pub fn uninstallable(&self, path: &[Choice<'a>]) -> Option<UninstallableStep<'a>> {
        let certain = self.uninstallable_by(path, self.install_bound());
        let assumed = || {
            let default = InstallRequest::default();
            let context = InstallContext::of_move(&default);
            let bound = InstallBound::of(Some(context), self.basis.snapshot, &self.offers)?;
            let is_refused = |here: Choice<'_>| bound.refuses(&here, self.basis.snapshot.rules());
            let is_set = self.is_set() || self.installed_bundles().into_iter().any(is_refused);
            self.uninstallable_by(path, Some(bound).filter(|_| !is_set))
        };
        let step = |decision, is_assumed| UninstallableStep {
            decision,
            is_assumed,
        };
        let certain = certain.map(|decision| step(decision, false));
        certain.or_else(|| Some(step(assumed()?, true)))
    }

    fn uninstallable_by(
        &self,
        path: &[Choice<'a>],
        bound: Option<InstallBound<'_>>,
    ) -> Option<Decision<'a>> {
        let (bound, rules) = (bound?, self.basis.snapshot.rules());
        let at = path.iter().position(|step| bound.refuses(step, rules))?;
        let decision = self.edit_at(path, at)?;
        (decision.token() == Token::Preflight).then_some(decision)
    }

    /// The first edit of a path that an upgrade policy denies.
    pub fn policed(&self, path: &[Choice<'a>]) -> Option<Decision<'a>> {
        let mut edits = (0..path.len()).filter_map(|at| self.edit_at(path, at));
        edits.find(|decision| decision.token() == Token::Policy)
    }

    /// The edit at an index of a path, with the bundle of the previous step installed.
    fn edit_at(&self, path: &[Choice<'a>], at: usize) -> Option<Decision<'a>> {
        let from = match at.checked_sub(1) {
            Some(before) => recorded(*path.get(before)?, self.basis.snapshot.rules())?,
            None => self.installed.clone(),
        };
        let pinned = self.filter.with_version(&pin(*path.get(at)?)?);
        Some(self.decide_after(&pinned, &from))
    }

    /// The single edit that is enough for a path of several steps, if OLM is not known to refuse one of the bundles.
    pub fn one_edit(&self, path: &[Choice<'a>]) -> Option<OneEdit> {
        let rules = self.basis.snapshot.rules();
        let bound = self.install_bound();
        if bound.is_some_and(|bound| path.iter().any(|step| bound.refuses(step, rules))) {
            return None;
        }
        let request = Request {
            filter: self.filter,
            installed: &Installed::Bundle(self.installed.clone()),
            context: self.step_context(),
        };
        OneEdit::of(
            self.basis,
            &request,
            &Fields::of(Shape::V1, &Value::Null),
            path,
        )
    }

    /// The bundles between which OLM cannot choose for an edit that pins one of the targets, or, without targets, for
    /// an edit that follows an edge upwards.
    pub fn tie(&self, targets: Option<&[Choice<'a>]>) -> Option<Vec<Choice<'a>>> {
        let origin = self.origin()?;
        let edits = Edits::of(&self.offers, &origin);
        let wanted = match targets {
            Some(targets) => targets.to_vec(),
            None => upward_edges(&self.offers, &origin),
        };
        wanted.iter().find_map(|to| match edits.not_given(to)? {
            NotGiven::Ambiguous(tied) => Some(tied),
            NotGiven::Another(_) | NotGiven::Refused(_) | NotGiven::NoPin => None,
        })
    }

    /// The offers, with only the candidates at which a path without targets can end. Prereleases are excluded if a
    /// release is installed, unless the range matches nothing else.
    fn suggested(&self, origin: &Origin<'_>) -> Vec<Offer<'a>> {
        let mut suggested = self.offers.clone();
        origin.keep_suggested(&mut suggested);
        let is_none = suggested.iter().all(|offer| offer.candidates.is_empty());
        if is_none && self.filter.range().is_some() {
            return self.offers.clone();
        }
        suggested
    }

    /// The number of suggested versions in the requested channels and range that are newer than `end`, or than the
    /// installed bundle.
    pub fn newer_than(&self, end: Option<Choice<'_>>) -> usize {
        let rules = self.basis.snapshot.rules();
        let Some(installed) = self.origin() else {
            return 0;
        };
        let suggested = self.suggested(&installed);
        let end = end.and_then(|end| Origin::of_choice(end, rules));
        let origin = end.unwrap_or(installed);
        let candidates = suggested.iter().flat_map(|offer| {
            let newer = offer.candidates.iter().map(|index| offer.choice(index));
            newer.filter(|choice| origin.is_older_than(choice.package, choice.index))
        });
        let readable = candidates.filter_map(|choice| choice.version_release());
        let mut versions: Vec<_> = readable.collect();
        versions.sort_by(|one, other| one.cmp_precedence(other));
        versions.dedup_by(|one, other| one.cmp_precedence(other).is_eq());
        versions.len()
    }

    /// The installed bundle in each catalog that has it.
    fn installed_bundles(&self) -> Vec<Choice<'a>> {
        let Some(origin) = self.origin() else {
            return Vec::new();
        };
        let bundles = self.offers.iter().flat_map(|offer| {
            let bundles = offer.package.bundles();
            let here = bundles.filter(|(_, bundle)| origin.is_at(bundle));
            here.map(|(index, _)| offer.choice(index))
        });
        bundles.collect()
    }

    /// Whether one of these bundles is installed.
    pub fn is_here(&self, bundles: &[Choice<'_>]) -> bool {
        let Some(origin) = self.origin() else {
            return false;
        };
        bundles.iter().any(|choice| origin.is_at(choice.bundle()))
    }
}

/// The successors that are not older than the installed bundle.
fn upward_edges<'a>(offers: &[Offer<'a>], origin: &Origin<'_>) -> Vec<Choice<'a>> {
    let edges = offers.iter().flat_map(|offer| {
        let edges = origin.successors(offer.package, &offer.asked).edges;
        let edges: Vec<_> = edges.iter().map(|index| offer.choice(index)).collect();
        edges
    });
    let is_up = |to: &Choice<'_>| !origin.is_newer_than(to.package, to.index);
    edges.filter(is_up).collect()
}

/// The single edit that installs one of these bundles, otherwise the best one. If guardrails forbid it, the edits along
/// edges.
fn free<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
) -> SoughtPath<'a> {
    let mut is_forbidden = false;
    for to in wanted(inquiry, origin, targets) {
        match edit(inquiry, &inquiry.installed, &to) {
            StepEdit::Given => {
                return SoughtPath {
                    steps: Some(vec![to]),
                    ..SoughtPath::default()
                };
            }
            StepEdit::Forbidden => is_forbidden = true,
            StepEdit::Otherwise => {}
        }
    }
    if is_forbidden {
        free_along_edges(inquiry, origin, targets)
    } else {
        SoughtPath::default()
    }
}

/// The bundles that a single edit should install: the targets, otherwise the bundle that the request resolves to
/// without a pin, unless it is lower than the installed one.
pub(super) fn wanted<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
) -> Vec<Choice<'a>> {
    let wanted = match targets {
        Some(targets) => targets.to_vec(),
        None => best(inquiry, origin).into_iter().collect(),
    };
    let elsewhere = wanted.into_iter().filter(|to| !origin.is_at(to.bundle()));
    elsewhere.collect()
}

fn best<'a>(inquiry: &Inquiry<'a>, origin: &Origin<'_>) -> Option<Choice<'a>> {
    let resolved = choose(&weigh(&inquiry.suggested(origin), None));
    let last = resolved.ok().map(|resolved| resolved.choice);
    last.filter(|last| !origin.is_newer_than(last.package, last.index))
}

fn free_along_edges<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
) -> SoughtPath<'a> {
    let found = along(inquiry, origin, targets, &inquiry.bounds());
    SoughtPath {
        steps: found.steps.filter(|steps| is_admitted(inquiry, steps)),
        is_along_edges: true,
        ..found
    }
}

/// Whether each edit is allowed and installs its bundle, with the bundle of the previous edit installed. The search
/// followed edges, but with the bypass an edit may resolve to another bundle.
fn is_admitted(inquiry: &Inquiry<'_>, steps: &[Choice<'_>]) -> bool {
    let start = Some(inquiry.installed.clone());
    let end = steps.iter().fold(start, |installed, step| {
        let edit = edit(inquiry, &installed?, step);
        let rules = inquiry.basis.snapshot.rules();
        recorded(*step, rules).filter(|_| edit == StepEdit::Given)
    });
    end.is_some()
}

/// The result of judging an edit that pins a bundle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum StepEdit {
    /// The edit installs the bundle.
    Given,
    /// Guardrails or upgrade policies forbid the edit.
    Forbidden,
    /// The bundle cannot be pinned, the edit is refused for another reason, or the pin resolves to another bundle.
    Otherwise,
}

fn edit(inquiry: &Inquiry<'_>, installed: &InstalledBundle, to: &Choice<'_>) -> StepEdit {
    let Some(pin) = pin(*to) else {
        return StepEdit::Otherwise;
    };
    let pinned = inquiry.filter.with_version(&pin);
    let decision = Decision::new(inquiry.basis, &pinned, installed, inquiry.step_context());
    let given = decision.given();
    match decision.token() {
        Token::Guardrail | Token::Policy => StepEdit::Forbidden,
        _ if given.is_some_and(|bundle| is_given(to, &bundle)) => StepEdit::Given,
        _ => StepEdit::Otherwise,
    }
}

/// The shortest path along edges to one of these bundles, otherwise to the highest reachable one.
pub(super) fn along<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
    bounds: &Bounds<'_, 'a>,
) -> SoughtPath<'a> {
    match targets {
        Some(targets) => to_targets(inquiry, origin, targets, bounds),
        None => upwards(inquiry, origin, bounds),
    }
}

/// The shortest of the paths to these bundles.
fn to_targets<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: &[Choice<'a>],
    bounds: &Bounds<'_, 'a>,
) -> SoughtPath<'a> {
    let mut is_cut = false;
    let mut search = PathSearch::from(&inquiry.offers, origin, bounds);
    let paths = targets.iter().take(MOST_TARGETS).filter_map(|target| {
        let found = search.path_to(Some(*target), &inquiry.offers);
        is_cut |= found.is_cut;
        let steps = found.steps?;
        // If the goal cannot be reached, the path ends elsewhere.
        (steps.last() == Some(target)).then_some(steps)
    });
    let steps = paths.min_by_key(Vec::len);
    SoughtPath {
        steps,
        is_cut,
        ..SoughtPath::default()
    }
}

/// The path to the highest suggested candidate, unless that candidate is lower than the installed bundle.
fn upwards<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    bounds: &Bounds<'_, 'a>,
) -> SoughtPath<'a> {
    let mut search = PathSearch::from(&inquiry.offers, origin, bounds);
    let is_up = |last: &Choice<'_>| !origin.is_newer_than(last.package, last.index);
    let mut find = |offers: &[Offer<'a>]| {
        let found = search.path_to(None, offers);
        let steps = found.steps.filter(|steps| steps.last().is_some_and(is_up));
        (steps, found.is_cut)
    };
    let (steps, is_cut) = find(&inquiry.suggested(origin));
    let (all, _) = find(&inquiry.offers);
    SoughtPath {
        prerelease: all
            .and_then(|steps| steps.last().copied())
            .filter(Choice::is_prerelease),
        steps,
        is_cut,
        is_along_edges: false,
    }
}

/// The most bundles of one version that are tried: one per catalog, with its releases.
const MOST_TARGETS: usize = 32;
