//! The way from an installed bundle to another: the shortest one, edit by edit, and the one that the
//! controller walks if nobody edits anything.
//!
//! A hop is an edit that pins one version; `check` admits each of them once the one before is
//! installed. The walk needs no edit, and goes by what the range allows.

mod classic;
mod manifests;
mod text;

use serde::Serialize;

use crate::generation::Generation;
use crate::see::{
    self, BundleReport, EdgeReport, InstalledReport, cut, edges, gives_another, message, unpinnable,
};
use olmguard_engine::explain::ForbiddenReport;
use olmguard_engine::explain::warning::goes_on;
use olmguard_engine::inquiry::{
    Decision, ForbiddenPath, Inquiry, MOST_BENDS, NotAnswered, SoughtPath,
};
use olmguard_engine::judge::{ForbiddenStep, Verdict, WalkEnd, pin, walk};
use olmguard_engine::resolve::{Choice, Origin};

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

/// The way that edges alone would give, with the bypass one edit.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct BarredReport {
    /// The bundles that it leads over, the goal last.
    bundles: Vec<BundleReport>,
    /// Those of its steps that guardrails forbid: one or more.
    forbidden: Vec<ForbiddenReport>,
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
    pub fn of<'a>(inquiry: &Inquiry<'a>, to: Option<&str>) -> Result<Self, NotAnswered<'a>> {
        let targets = to.map(|text| inquiry.target(text)).transpose()?;
        let targets = targets.as_deref();
        let sought = inquiry.path(targets);
        let path = sought.hops.as_deref();
        let end = path.and_then(|path| path.last().copied());
        let is_here = inquiry.is_here(targets.unwrap_or_default());
        let barred = match path {
            _ if is_here || sought.is_cut => None,
            _ => inquiry.forbidden_path(targets, end.as_ref()),
        };
        let hops = match path {
            Some(path) => Some(hops(inquiry, path)),
            None => is_here.then(Vec::new),
        };
        let goal = end.or_else(|| targets?.first().copied());
        let unreached = goal.filter(|_| hops.is_none());
        let doubts = match hops {
            Some(_) => Vec::new(),
            None => doubts(&sought),
        };
        let walks = vec![walk_report(inquiry)];
        Ok(Self {
            to: goal.map(BundleReport::of),
            message: unreached.and_then(|goal| why_none(inquiry, goal)),
            is_cut: !doubts.is_empty(),
            notes: notes(inquiry, &sought, doubts, &walks, barred.as_ref()),
            barred: barred.map(|barred| BarredReport::of(inquiry, barred)),
            hops,
            walks,
            ..Self::about(inquiry)
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
            notes: see::notes(inquiry),
            is_free: inquiry.is_free(),
            is_cut: false,
        }
    }
}

impl BarredReport {
    fn of(inquiry: &Inquiry<'_>, barred: ForbiddenPath<'_>) -> Self {
        let policy = inquiry.filter.policy;
        let forbidden = barred.steps.forbidden.iter();
        Self {
            bundles: barred.bundles.into_iter().map(BundleReport::of).collect(),
            forbidden: forbidden
                .map(|step| ForbiddenReport::of(step, policy))
                .collect(),
        }
    }
}

/// Why there may be a path all the same, where none was found.
fn doubts(sought: &SoughtPath<'_>) -> Vec<String> {
    let cut = sought
        .is_cut
        .then(|| cut("there may be a way all the same"));
    let along_edges = sought.is_along_edges.then(text::only_along_edges);
    let doubts = cut.into_iter().chain(along_edges);
    doubts.filter(|_| sought.hops.is_none()).collect()
}

/// What is worth knowing besides.
fn notes(
    inquiry: &Inquiry<'_>,
    sought: &SoughtPath<'_>,
    doubts: Vec<String>,
    walks: &[WalkReport],
    barred: Option<&ForbiddenPath<'_>>,
) -> Vec<String> {
    let mut notes = see::notes(inquiry);
    let path = sought.hops.as_deref().unwrap_or_default();
    if path.len() > MOST_BENDS && !inquiry.guards.is_empty() {
        notes.push(text::not_all_compared());
    }
    notes.extend(doubts);
    notes.extend(not_applied(walks));
    let looked_at = barred.and_then(|barred| barred.steps.looked_at);
    notes.extend(looked_at.map(text::barred_so_far));
    notes
}

fn hops<'a>(inquiry: &Inquiry<'a>, way: &[Choice<'a>]) -> Vec<Hop> {
    let rules = inquiry.basis.snapshot.rules();
    let mut origin = inquiry.origin();
    let mut bends = inquiry.bends(way).into_iter();
    let report = |step: ForbiddenStep<'_>| ForbiddenReport::of(&step, inquiry.filter.policy);
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
            bent_by: bends.next().flatten().map(report),
        });
        let bundle = choice.bundle();
        let version = bundle.version.as_ref().ok();
        origin = version.map(|version| Origin::of_bundle(&bundle.name, version, rules));
    }
    hops
}

/// What OLM says to an edit that pins the goal; of one that it carries out, where that leads.
fn why_none(inquiry: &Inquiry<'_>, goal: Choice<'_>) -> Option<String> {
    let Some(pin) = pin(goal) else {
        return Some(unpinnable(&goal.bundle().name));
    };
    let free = inquiry.filter.without_version();
    let decision = inquiry.decide(&free.with_version(&pin));
    let another = |resolved| gives_another(&pin, &resolved);
    match decision.verdict() {
        Verdict::Deny | Verdict::Undecided => message(&decision, &decision.advice()),
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
            (End::Refused, message(&decision, &decision.advice()))
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

const SCHEMA: &str = "olmguard.path/v1";

#[cfg(test)]
mod tests;
