//! The way from an installed bundle to another: the shortest one, edit by edit, and the one that the
//! controller walks if nobody edits anything.
//!
//! A hop is an edit that pins one version; `check` admits each of them once the one before is
//! installed. The walk needs no edit, and goes by what the range allows.

mod classic;
mod free;
mod guarded;
mod manifests;
mod text;

use serde::Serialize;

use crate::generation::Generation;
use crate::see::{
    BundleReport, Decision, EdgeReport, Inquiry, InstalledReport, NotAnswered, cut, edges,
    gives_another, unpinnable,
};
use guarded::{BarredReport, MOST_BENDS};
use olmguard_engine::explain::ForbiddenReport;
use olmguard_engine::explain::warning::goes_on;
use olmguard_engine::extension::{Filter, Policy};
use olmguard_engine::judge::{Verdict, WalkEnd, pin, walk};
use olmguard_engine::resolve::{Bounds, Choice, Origin, shortest_way};

pub(super) use classic::subscribed;
pub use manifests::{Frame, manifests};

/// How to get from here to there.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.path/v1", deny_unknown_fields)]
pub struct PathReport {
    /// The schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The package.
    package: String,
    /// The generation of OLM.
    olm: Generation,
    /// The channels asked for; none for all.
    channels: Vec<String>,
    /// The version range under which the walk is, and what a way without a goal keeps to.
    range: Option<String>,
    /// What is installed.
    from: InstalledReport,
    /// Where to go: what was asked for, else the highest that can be reached.
    to: Option<BundleReport>,
    /// The shortest way, none of it where the goal is installed; null where there is none. OLM v0
    /// cannot be sent a way.
    hops: Option<Vec<Hop>>,
    /// Why there is none.
    message: Option<String>,
    /// The way that edges alone would give, with the bypass one edit, where guardrails leave none, or
    /// none so high; else null.
    barred: Option<BarredReport>,
    /// What happens without an edit: one walk, for OLM v0 one for each catalog.
    walks: Vec<WalkReport>,
    /// What is worth knowing besides.
    notes: Vec<String>,
    /// Whether no edges bind the extension.
    #[serde(skip)]
    is_free: bool,
    /// Whether no way was found, though not everywhere was looked.
    #[serde(skip)]
    is_cut: bool,
}

/// What was looked for.
#[derive(Default)]
struct Sought<'a> {
    way: Option<Vec<Choice<'a>>>,
    /// Whether a search ended at its bound.
    is_cut: bool,
    /// Whether only ways along edges were looked for, though edges do not bind.
    is_along_edges: bool,
}

impl Sought<'_> {
    /// Why there may be a way all the same, where none was found.
    fn doubts(&self) -> Vec<String> {
        let cut = self.is_cut.then(|| cut("there may be a way all the same"));
        let along_edges = self.is_along_edges.then(text::only_along_edges);
        let doubts = cut.into_iter().chain(along_edges);
        doubts.filter(|_| self.way.is_none()).collect()
    }
}

/// One edit.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Hop {
    /// What `spec.source.catalog.version` is set to.
    pub version: String,
    /// What that installs.
    pub bundle: BundleReport,
    /// The edges that allow it; none where the versions alone do.
    edges: Vec<EdgeReport>,
    /// The step, from here or further on, that edges alone would take, with the bypass one edit, and
    /// guardrails forbid, so that the way goes over this hop; null where they do not bend it here.
    bent_by: Option<ForbiddenReport>,
}

/// What the controller does by itself.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct WalkReport {
    /// The catalog of a Subscription; null for OLM v1, which asks all of them.
    catalog: Option<String>,
    /// What is installed one after another.
    steps: Vec<BundleReport>,
    /// Those of the steps that guardrails forbid, of very many the first ones. OLM takes them all the
    /// same.
    forbidden: Vec<ForbiddenReport>,
    /// How many steps guardrails were applied to, where not to all.
    #[serde(skip)]
    looked_at: Option<usize>,
    /// Why it ends.
    end: End,
    /// What OLM says at the end, where it says something.
    message: Option<String>,
}

/// Why a walk ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum End {
    /// It is where the request resolves to.
    Stays,
    /// The request does not resolve.
    Refused,
    /// OLM v0 only: it would go on to a bundle that was installed before, and so for ever.
    Round,
    /// OLM v0 only: it is the head of the channel.
    Head,
    /// OLM v0 only: no entry of the channel leads on, and nothing tells.
    Stranded,
}

impl PathReport {
    /// The way in OLM v1 to what `to` names, else to the highest that can be reached, and the walk
    /// under the filter's range.
    ///
    /// # Errors
    /// If `to` names nothing.
    pub fn of(inquiry: &Inquiry<'_>, to: Option<&str>) -> Result<Self, NotAnswered> {
        let targets = to.map(|text| inquiry.target(text)).transpose()?;
        let free = inquiry.filter.without_version();
        let origin = inquiry.origin();
        let sought = match &origin {
            None => Sought::default(),
            Some(origin) if is_free(inquiry) => free::way(inquiry, origin, targets.as_deref()),
            Some(origin) => way(inquiry, origin, targets.as_deref(), &inquiry.bounds()),
        };
        let doubts = sought.doubts();
        let Sought { way, is_cut, .. } = sought;
        let goal = match (&targets, &way) {
            (Some(targets), None) => targets.first().copied(),
            (_, way) => way.as_ref().and_then(|way| way.last().copied()),
        };
        let here = targets.as_deref().unwrap_or_default().iter();
        let is_here = here.clone().any(|target| is_at(origin.as_ref(), *target));
        let barred = match &way {
            _ if is_here || is_cut => None,
            way => guarded::barred(inquiry, targets.as_deref(), end_of(way.as_deref())),
        };
        let is_long = way.as_ref().is_some_and(|way| way.len() > MOST_BENDS);
        let hops = match way {
            Some(way) => Some(hops(inquiry, &way)),
            None => is_here.then(Vec::new),
        };
        let message = match (&hops, goal) {
            (None, Some(goal)) => why_none(inquiry, &free, goal),
            _ => None,
        };
        let mut report = Self::about(inquiry);
        if is_long && !inquiry.guards.is_empty() {
            report.notes.push(text::not_all_compared());
        }
        if hops.is_none() {
            report.is_cut = !doubts.is_empty();
            report.notes.extend(doubts);
        }
        let walks = vec![walk_report(inquiry)];
        report.notes.extend(not_applied(&walks));
        let looked_at = barred.as_ref().and_then(|barred| barred.looked_at);
        report.notes.extend(looked_at.map(text::barred_so_far));
        Ok(Self {
            olm: Generation::V1,
            to: goal.map(BundleReport::of),
            hops,
            message,
            barred,
            walks,
            ..report
        })
    }

    /// Whether there is a way, be it of no hop; in OLM v0, whether a walk comes there.
    pub fn is_found(&self) -> bool {
        match self.olm {
            Generation::V1 => self.hops.is_some(),
            Generation::V0 => self.is_walked(),
        }
    }

    /// The edits, in order.
    pub fn hops(&self) -> &[Hop] {
        self.hops.as_deref().unwrap_or_default()
    }

    fn about(inquiry: &Inquiry<'_>) -> Self {
        Self {
            schema: SCHEMA,
            package: inquiry.filter.package.clone(),
            olm: Generation::V1,
            channels: inquiry.filter.channels.clone(),
            range: inquiry.filter.range().map(str::to_owned),
            from: InstalledReport::from(&inquiry.installed),
            to: None,
            hops: None,
            message: None,
            barred: None,
            walks: Vec::new(),
            notes: inquiry.notes(),
            is_free: is_free(inquiry),
            is_cut: false,
        }
    }
}

/// Whether upgrade edges do not bind the extension, so that one edit leads anywhere.
fn is_free(inquiry: &Inquiry<'_>) -> bool {
    inquiry.filter.policy == Policy::SelfCertified
}

/// The shortest way to one of these bundles, else to the highest that can be reached.
fn way<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
    bounds: &Bounds<'_, 'a>,
) -> Sought<'a> {
    match targets {
        Some(targets) => way_to(inquiry, origin, targets, bounds),
        None => way_up(inquiry, origin, bounds),
    }
}

/// The shortest of the ways to these bundles.
fn way_to<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: &[Choice<'a>],
    bounds: &Bounds<'_, 'a>,
) -> Sought<'a> {
    let mut is_cut = false;
    let ways = targets.iter().take(MOST_TARGETS).filter_map(|target| {
        let found = shortest_way(&inquiry.offers, origin, Some(*target), bounds);
        is_cut |= found.is_cut;
        let way = found.way?;
        // Where the goal is out of reach, the way leads elsewhere.
        way.hops
            .last()
            .is_some_and(|last| last == target)
            .then_some(way.hops)
    });
    let way = ways.min_by_key(Vec::len);
    Sought {
        way,
        is_cut,
        is_along_edges: false,
    }
}

/// The way to the highest candidate, unless that is lower than what is installed.
fn way_up<'a>(inquiry: &Inquiry<'a>, origin: &Origin<'_>, bounds: &Bounds<'_, 'a>) -> Sought<'a> {
    let found = shortest_way(&inquiry.offers, origin, None, bounds);
    let is_up = |last: &Choice<'_>| !origin.is_newer_than(last.package, last.index);
    let way = found.way.map(|way| way.hops);
    Sought {
        way: way.filter(|hops| hops.last().is_some_and(is_up)),
        is_cut: found.is_cut,
        is_along_edges: false,
    }
}

fn hops<'a>(inquiry: &Inquiry<'a>, way: &[Choice<'a>]) -> Vec<Hop> {
    let rules = inquiry.basis.snapshot.rules();
    let mut origin = inquiry.origin();
    let mut bends = guarded::bends(inquiry, way).into_iter();
    let mut hops = Vec::new();
    for choice in way {
        let leading = edges(&inquiry.offers, |edge| {
            let from_here = origin.as_ref().is_some_and(|origin| edge.starts_at(origin));
            edge.is_asked && from_here && edge.to == *choice
        });
        hops.push(Hop {
            version: pin(*choice).unwrap_or_default(),
            bundle: BundleReport::of(*choice),
            edges: leading,
            bent_by: bends.next().flatten(),
        });
        let bundle = choice.bundle();
        let version = bundle.version.as_ref().ok();
        origin = version.map(|version| Origin::of_bundle(&bundle.name, version, rules));
    }
    hops
}

/// What OLM says to an edit that pins the goal; of one that it carries out, where that leads.
fn why_none(inquiry: &Inquiry<'_>, free: &Filter, goal: Choice<'_>) -> Option<String> {
    let Some(pin) = pin(goal) else {
        return Some(unpinnable(&goal.bundle().name));
    };
    let decision = inquiry.decide(&free.with_version(&pin));
    let another = |resolved| gives_another(&pin, &resolved);
    match decision.verdict() {
        Verdict::Deny | Verdict::Undecided => decision.message(&decision.advice()),
        Verdict::Allow | Verdict::NotJudged => decision.resolved().map(another),
    }
}

/// That guardrails were not applied to every step of a walk; once.
fn not_applied(walks: &[WalkReport]) -> Option<String> {
    let looked_at = walks.iter().filter_map(|walk| walk.looked_at);
    looked_at.min().map(goes_on)
}

fn walk_report(inquiry: &Inquiry<'_>) -> WalkReport {
    let walk = walk(inquiry.basis, inquiry.filter, &inquiry.installed);
    let (end, message) = match walk.end {
        WalkEnd::Stays(_) => (End::Stays, None),
        WalkEnd::Stops(_) => {
            let decision = Decision::new(inquiry.basis, inquiry.filter, &walk.last);
            (End::Refused, decision.message(&decision.advice()))
        }
    };
    WalkReport {
        catalog: None,
        steps: walk.steps.into_iter().map(BundleReport::of).collect(),
        forbidden: walk
            .forbidden
            .iter()
            .map(|forbidden| ForbiddenReport::of(forbidden, inquiry.filter.policy))
            .collect(),
        looked_at: walk.looked_at,
        end,
        message,
    }
}

fn end_of<'w, 'a>(way: Option<&'w [Choice<'a>]>) -> Option<&'w Choice<'a>> {
    way.and_then(<[_]>::last)
}

fn is_at(origin: Option<&Origin<'_>>, choice: Choice<'_>) -> bool {
    origin.is_some_and(|origin| origin.is_at(choice.bundle()))
}

const SCHEMA: &str = "olmguard.path/v1";

/// How many bundles of one version are tried: one a catalog, and its releases.
const MOST_TARGETS: usize = 32;

#[cfg(test)]
mod tests;
