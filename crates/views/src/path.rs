//! The shortest upgrade path from an installed bundle to another one, and the automatic upgrades that the
//! controller makes without an edit.
//!
//! A step of the path is an edit that pins one version; `check` allows each step once the previous one is
//! installed. Automatic upgrades need no edit, and stay in the requested range.

mod classic;
mod manifests;
mod text;

use serde::Serialize;

use crate::see::{
    self, BundleReport, EdgeReport, Generation, Highest, InstalledReport, ambiguous, cut, edges,
    forbidden, gives_another, message, reachable, unpinnable,
};
use olmguard_engine::explain::ForbiddenReport;
use olmguard_engine::explain::warning::goes_on;
use olmguard_engine::extension::InstalledBundle;
use olmguard_engine::inquiry::{ForbiddenPath, Inquiry, MOST_BENDS, NotAnswered, SoughtPath};
use olmguard_engine::judge::{CatalogKnowledge, ForbiddenStep, OneEdit, Verdict, WalkEnd, pin};
use olmguard_engine::resolve::{Choice, Origin};

pub(super) use classic::subscribed;

pub use manifests::{Frame, ManifestOfPath, manifests};

/// The upgrade path between two versions.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.path/v1")]
pub struct PathReport {
    /// Schema of this object.
    schema: &'static str,
    /// Name of the package.
    package: String,
    /// Generation of OLM.
    olm: Generation,
    /// Requested channels. Empty for all channels.
    channels: Vec<String>,
    /// Version range of the automatic upgrades, and of a path without a target.
    range: Option<String>,
    /// The installed bundle.
    from: InstalledReport,
    /// Target of the path: the requested bundle, otherwise the highest one that can be reached. It is then a prerelease
    /// only if one is installed or the range matches nothing else.
    to: Option<BundleReport>,
    /// Without a requested target: the highest bundle that can be reached, if it is a prerelease. Otherwise omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    prerelease: Option<BundleReport>,
    /// Steps of the shortest upgrade path. Empty if the target is installed, null if there is no
    /// path. Always null for OLM v0, which chooses its own path.
    hops: Option<Vec<Hop>>,
    /// One edit that is enough for all steps of the path. Omitted if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    one_edit: Option<OneEdit>,
    /// Why there is no upgrade path.
    message: Option<String>,
    /// Upgrade path that the edges alone would give, if guardrails leave no path, or no path to as
    /// high a version. Otherwise null.
    barred: Option<BarredReport>,
    /// What happens without an edit: the automatic upgrades. One item; for OLM v0, one per catalog.
    walks: Vec<WalkReport>,
    /// Additional notes.
    notes: Vec<String>,
    /// Whether a target was requested.
    #[serde(skip)]
    is_targeted: bool,
    /// Whether no edges bind the extension.
    #[serde(skip)]
    is_free: bool,
    /// Why there can be a path although none was found, if there can.
    #[serde(skip)]
    doubt: Option<PathDoubt>,
    /// That the installed version is none of the package: the first line.
    #[serde(skip)]
    no_version: Option<String>,
    /// The highest versions that can be reached, if newer ones exist.
    #[serde(skip)]
    reachable: Option<String>,
    /// That OLM cannot choose between catalogs, if that is why there is no path.
    #[serde(skip)]
    ambiguous: Option<String>,
    /// The note that OLM does not install a bundle of the path.
    #[serde(skip)]
    uninstallable: Option<String>,
}

/// The reason why it is open whether there is a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum PathDoubt {
    /// The search was not complete.
    Cut,
    /// The search considered only upgrade edges, and the override allows other edits.
    AlongEdges,
    /// The name of the installed bundle is not known.
    Nameless,
}

impl PathDoubt {
    fn of(sought: &SoughtPath<'_>, known: CatalogKnowledge) -> Option<Self> {
        match known {
            CatalogKnowledge::VersionOnly => Some(Self::Nameless),
            _ if sought.steps.is_some() => None,
            _ if sought.is_cut => Some(Self::Cut),
            _ => sought.is_along_edges.then_some(Self::AlongEdges),
        }
    }
}

/// Upgrade path that the edges alone would give. With the override, it is one edit.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct BarredReport {
    /// Bundles of the path, the target last.
    bundles: Vec<BundleReport>,
    /// Steps of the path that guardrails forbid, at least one.
    forbidden: Vec<ForbiddenReport>,
}

/// One step of the upgrade path: an edit that pins a version.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Hop {
    /// Value to set in `spec.source.catalog.version`.
    pub version: String,
    /// Bundle that the edit installs.
    pub bundle: BundleReport,
    /// Edges that allow the step. Empty if it needs none: the bundle has the installed version, or the semver rules
    /// alone allow it.
    edges: Vec<EdgeReport>,
    /// Whether the bundle counts as the one that is installed before the step.
    #[serde(skip)]
    stays: bool,
    /// Step that guardrails forbid, and because of which the path contains this step. Null if
    /// guardrails do not change the path here.
    bent_by: Option<ForbiddenReport>,
}

/// Upgrades that OLM makes automatically.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct WalkReport {
    /// Catalog of the Subscription. Null for OLM v1, which uses all catalogs.
    catalog: Option<String>,
    /// Bundles that are installed one after another.
    steps: Vec<BundleReport>,
    /// Automatic steps that guardrails forbid; OLM makes them anyway. If there are very many, only
    /// the first ones.
    forbidden: Vec<ForbiddenReport>,
    /// How many steps guardrails were applied to, where not to all.
    #[serde(skip)]
    looked_at: Option<usize>,
    /// Whether OLM v0 tries the goal, from another version perhaps.
    #[serde(skip)]
    has_goal: bool,
    /// Why the automatic upgrades end.
    end: End,
    /// Message of OLM at the end. Null if there is none.
    message: Option<String>,
    /// The first step that installs a prerelease, if a release is installed.
    #[serde(skip)]
    to_prerelease: Option<String>,
}

/// Why a sequence of automatic upgrades ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum End {
    /// The request resolves to the bundle that is then installed.
    Stays,
    /// The request does not resolve.
    Refused,
    /// The request resolves to a bundle that OLM does not install.
    #[serde(rename = "not_installed")]
    NotInstalled,
    /// OLM v0 only: the upgrades form a cycle, because the next bundle was installed before.
    Round,
    /// OLM v0 only: the bundle is the channel head.
    Head,
    /// OLM v0 only: the channel has no further upgrade, and OLM v0 does not report it.
    Stranded,
    /// OLM v0 only: whether the channel has an upgrade depends on the name of the installed bundle, which is unknown.
    Unknown,
}

impl PathReport {
    /// Finds the OLM v1 path to the bundle that `to` names, and the automatic upgrades in the filter's range.
    ///
    /// Without `to`, the goal is the highest bundle that can be reached.
    ///
    /// # Errors
    /// If `to` names nothing.
    pub fn of<'a>(inquiry: &Inquiry<'a>, to: Option<&str>) -> Result<Self, NotAnswered<'a>> {
        let targets = to.map(|text| inquiry.target(text)).transpose()?;
        let targets = targets.as_deref();
        let sought = inquiry.path(targets);
        let path = sought.steps.as_deref();
        let end = path.and_then(|path| path.last().copied());
        let is_here = inquiry.is_here(targets.unwrap_or_default());
        let hops = match path {
            Some(path) => Some(hops(inquiry, path)),
            None => is_here.then(Vec::new),
        };
        let is_found = hops.is_some();
        let barred = match path {
            _ if is_here || sought.is_cut => None,
            _ => inquiry.forbidden_path(targets, end.as_ref()),
        };
        let further = inquiry.further(targets, &sought);
        let beyond = further.as_deref().filter(|_| is_found);
        let goal = end.or_else(|| targets?.first().copied());
        let unreached = goal.or_else(|| further.as_deref()?.last().copied());
        let unreached = unreached.filter(|_| !is_found);
        let tie = (!is_found).then(|| inquiry.tie(targets)).flatten();
        let is_nameless = inquiry.known == CatalogKnowledge::VersionOnly;
        let is_open = targets.is_none() && tie.is_none() && !sought.is_cut && !is_nameless;
        let uninstallable = uninstallable(inquiry, path, beyond);
        let walks = vec![walk_report(inquiry)];
        let mut notes = notes(inquiry, &sought, is_found, &walks, barred.as_ref());
        notes.extend(uninstallable.clone());
        notes.extend(beyond.and_then(|path| text::policed(inquiry, path)));
        Ok(Self {
            to: goal.map(BundleReport::of),
            message: unreached.and_then(|goal| why_none(inquiry, goal)),
            reachable: is_open
                .then(|| reachable_of(inquiry, end, sought.prerelease))
                .flatten(),
            prerelease: sought.prerelease.map(BundleReport::of),
            ambiguous: tie.map(|tie| ambiguous(tie.iter().map(|choice| choice.catalog))),
            is_targeted: targets.is_some(),
            doubt: PathDoubt::of(&sought, inquiry.known),
            notes,
            uninstallable,
            one_edit: path.and_then(|path| inquiry.one_edit(path)),
            barred: barred.map(|barred| BarredReport::of(inquiry, barred)),
            hops,
            walks,
            ..Self::about(inquiry)
        })
    }

    /// Whether there is a path, even without steps; in OLM v0, whether automatic upgrades reach the goal.
    pub fn is_found(&self) -> bool {
        match self.olm {
            Generation::V1 => self.hops.is_some(),
            Generation::V0 => self.is_walked(),
        }
    }

    /// Whether there can be a path although none was found.
    pub fn is_undecided(&self) -> bool {
        let is_open = matches!(self.doubt, Some(PathDoubt::Cut | PathDoubt::Nameless));
        (is_open || self.is_walk_unknown()) && !self.is_found()
    }

    /// Returns the one edit that is enough for all steps.
    pub fn one_edit(&self) -> Option<&OneEdit> {
        self.one_edit.as_ref()
    }

    /// Returns the edits, in order.
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
            notes: see::notes(inquiry),
            is_free: inquiry.is_free(),
            no_version: see::no_version(
                (&inquiry.installed, inquiry.known),
                inquiry.filter,
                &inquiry.offers,
            ),
            ..Self::default()
        }
    }
}

impl BarredReport {
    fn of(inquiry: &Inquiry<'_>, barred: ForbiddenPath<'_>) -> Self {
        Self {
            bundles: barred.bundles.into_iter().map(BundleReport::of).collect(),
            forbidden: forbidden(&barred.steps.forbidden, inquiry.filter.policy),
        }
    }
}

/// The highest versions that can be reached, if newer ones than the end of the path exist and the extension follows
/// edges.
fn reachable_of(
    inquiry: &Inquiry<'_>,
    end: Option<Choice<'_>>,
    prerelease: Option<Choice<'_>>,
) -> Option<String> {
    let newer = inquiry.newer_than(end);
    let label = |choice: Choice<'_>| BundleReport::of(choice).label();
    let release = end.filter(|end| !end.is_prerelease()).map(label);
    let is_beyond = prerelease.is_some() && prerelease != end;
    let prerelease = prerelease
        .filter(|_| is_beyond || release.is_none())
        .map(label);
    let is_told = (newer > 0 || is_beyond) && !inquiry.is_free();
    let highest = Highest {
        release: release.as_deref(),
        prerelease: prerelease.as_deref(),
    };
    is_told.then(|| reachable(highest, newer)).flatten()
}

/// The note that OLM does not install a bundle: one of the path, otherwise one beyond it, if it is known how the
/// extension is set.
fn uninstallable<'a>(
    inquiry: &Inquiry<'a>,
    path: Option<&[Choice<'a>]>,
    beyond: Option<&[Choice<'a>]>,
) -> Option<String> {
    let own = path.and_then(|path| inquiry.uninstallable(path));
    let beyond = beyond.filter(|_| inquiry.is_set());
    let found = own.or_else(|| inquiry.uninstallable(beyond?));
    text::not_installed(&found?)
}

/// Collects the additional notes.
fn notes(
    inquiry: &Inquiry<'_>,
    sought: &SoughtPath<'_>,
    is_found: bool,
    walks: &[WalkReport],
    barred: Option<&ForbiddenPath<'_>>,
) -> Vec<String> {
    let mut notes = see::notes(inquiry);
    let path = sought.steps.as_deref().unwrap_or_default();
    if path.len() > MOST_BENDS && !inquiry.guards.is_empty() {
        notes.push(text::not_all_compared());
    }
    if !is_found {
        notes.extend(sought.is_cut.then(|| cut("a path may exist anyway")));
        notes.extend(sought.is_along_edges.then(text::only_along_edges));
    }
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
        let is_same = |origin: &Origin<'_>| origin.is_same(choice.index, choice.package);
        hops.push(Hop {
            version: pin(*choice).unwrap_or_default(),
            bundle: BundleReport::of(*choice),
            stays: origin.as_ref().is_some_and(is_same),
            edges: leading,
            bent_by: bends.next().flatten().map(report),
        });
        origin = Origin::of_choice(*choice, rules);
    }
    hops
}

/// Returns why OLM refuses an edit that pins the goal, or which other bundle such an edit installs.
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

/// Returns one note if guardrails were not applied to every automatic step.
fn not_applied(walks: &[WalkReport]) -> Option<String> {
    let looked_at = walks.iter().filter_map(|walk| walk.looked_at);
    looked_at
        .min()
        .map(|looked_at| goes_on("guardrails", looked_at))
}

fn refusal_after(inquiry: &Inquiry<'_>, installed: &InstalledBundle) -> Option<String> {
    let decision = inquiry.decide_after(inquiry.filter, installed);
    message(&decision, &decision.advice())
}

fn walk_report(inquiry: &Inquiry<'_>) -> WalkReport {
    let walk = inquiry.walk();
    let (end, message) = match walk.end {
        WalkEnd::Stays(_) => (End::Stays, None),
        WalkEnd::Stops(_) => (End::Refused, refusal_after(inquiry, &walk.last)),
        WalkEnd::NotInstalled(_) => (End::NotInstalled, refusal_after(inquiry, &walk.last)),
    };
    let origin = inquiry.origin();
    let to_prerelease = origin.and_then(|origin| origin.first_prerelease(&walk.steps));
    WalkReport {
        has_goal: false,
        catalog: None,
        to_prerelease: to_prerelease.map(|to| BundleReport::of(to).label()),
        steps: walk.steps.into_iter().map(BundleReport::of).collect(),
        forbidden: forbidden(&walk.forbidden, inquiry.filter.policy),
        looked_at: walk.looked_at,
        end,
        message,
    }
}

const SCHEMA: &str = "olmguard.path/v1";

#[cfg(test)]
mod tests;
