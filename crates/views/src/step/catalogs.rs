//! OLM v1 by the edges of catalogs: the entries that say so, or what would have to differ.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::see::{BundleReport, EdgeReport, edges, gives_another, message, reason, unpinnable};
use crate::step::text::needed;
use crate::step::versions::by_versions;
use olmguard_catalog::WrittenEdge;
use olmguard_catalog::olm::EdgeSource;
use olmguard_engine::explain::ForbiddenReport;
use olmguard_engine::explain::GuardrailReport;
use olmguard_engine::inquiry::{Decision, Inquiry, is_given};
use olmguard_engine::judge::{Token, Verdict, pin};
use olmguard_engine::resolve::semver::Hindrance;
use olmguard_engine::resolve::{Choice, Offer, OfferEdge, Origin, Query};

/// What OLM v1 does.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct CatalogReading {
    /// Whether an edge of a channel that counts leads there.
    pub(super) successor: bool,
    /// What becomes of an edit that pins the version.
    #[schemars(extend("enum" = ["allow", "deny", "undecided", "not_judged"]))]
    pub(super) verdict: &'static str,
    pub(super) token: &'static str,
    /// Whether that edit installs what is asked about, and no other bundle of the version.
    pub(super) allowed: bool,
    /// Why it does not, in one sentence.
    pub(super) reason: Option<String>,
    /// The same at length.
    message: Option<String>,
    /// The edges from there to here; those of channels that do not count, too.
    pub(super) edges: Vec<EdgeReport>,
    /// Why guardrails forbid the step though an edge leads there.
    pub(super) guardrails: Vec<GuardrailReport>,
    /// Where they do: the versions that edits lead to from here all the same, the highest first.
    pub(super) free: Vec<String>,
    /// Where a step is refused: the other edges that lead there.
    pub(super) leading_to: Vec<EdgeReport>,
    /// Where a step is refused: the other edges that start at what is installed.
    pub(super) leading_from: Vec<EdgeReport>,
    /// What would have to differ, a sentence each.
    pub(super) needed: Vec<String>,
    /// What the request resolves to without a pin; null for nothing.
    pub(super) unpinned: Option<BundleReport>,
    /// Those of the steps without a pin, one after another, that guardrails forbid.
    pub(super) unpinned_forbidden: Vec<ForbiddenReport>,
    /// How many of those steps guardrails were applied to, where not to all.
    #[serde(skip)]
    pub(super) looked_at: Option<usize>,
    /// The versions on the way, the installed one first; empty where none is known.
    pub(super) path: Vec<String>,
}

/// One fact that stands against a step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Need {
    /// No entry leads there: one would have to, in one of these ways.
    Edge {
        /// The installed name, where it is known.
        name: Option<String>,
        /// The installed version.
        version: String,
    },
    /// Versions count, and do not allow it.
    Versions(Hindrance),
    /// Entries lead there, of channels that do not count.
    Channel(Vec<String>),
    /// It is in none of the channels asked for, but in these.
    Member(Vec<String>),
    /// The range does not hold it.
    Range(String),
    /// It declares a dependency of this kind.
    Dependency(&'static str),
    /// Its version cannot be read.
    Version,
    /// The pin gives another bundle of the version.
    Chosen(String),
    /// Catalogs of one priority have it.
    Catalogs(Vec<String>),
    /// OLM crashes over a skipRange.
    BrokenRange,
    /// The installed version cannot be read.
    Installed,
    /// Entries of it have a skipRange that OLM ignores.
    UnreadRange(Vec<String>),
    /// Without a pin what is not deprecated goes before it.
    Deprecated,
}

impl CatalogReading {
    pub(super) fn of<'a>(inquiry: &Inquiry<'a>, targets: &[Choice<'a>]) -> Self {
        let origin = inquiry.origin();
        let starts = |edge: &OfferEdge<'_>| {
            let origin = origin.as_ref();
            origin.is_some_and(|origin| edge.starts_at(origin))
        };
        let leads = |edge: &OfferEdge<'_>| targets.contains(&edge.to);
        let between = edges(&inquiry.offers, |edge| starts(edge) && leads(edge));
        let edit = PinnedEdit::of(inquiry, targets);
        let successor = is_successor(inquiry, origin.as_ref(), targets);
        let near = |keep: &dyn Fn(&OfferEdge<'_>) -> bool| {
            if edit.is_allowed() {
                Vec::new()
            } else {
                edges(&inquiry.offers, |edge| keep(edge))
            }
        };
        let walk = olmguard_engine::judge::walk(inquiry.basis, inquiry.filter, &inquiry.installed);
        let unpinned = walk.steps.first().copied();
        let guardrails = guardrails(inquiry, origin.as_ref(), targets, successor);
        let needs = needs(inquiry, targets, &between, successor, &edit, unpinned);
        Self {
            successor,
            verdict: edit.verdict.as_str(),
            token: edit.token.as_str(),
            allowed: edit.is_allowed(),
            leading_to: near(&|edge| leads(edge) && !starts(edge)),
            leading_from: near(&|edge| starts(edge) && !leads(edge)),
            needed: needs.iter().map(needed).collect(),
            unpinned: unpinned.map(BundleReport::of),
            unpinned_forbidden: walk
                .forbidden
                .iter()
                .map(|forbidden| ForbiddenReport::of(forbidden, inquiry.filter.policy))
                .collect(),
            looked_at: walk.looked_at,
            free: if guardrails.is_empty() {
                Vec::new()
            } else {
                edit.next
            },
            guardrails,
            path: edit.path,
            reason: edit.reason,
            message: edit.message,
            edges: between,
        }
    }

    pub(super) fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// Whether the edit is carried out, and installs another bundle.
    pub(super) fn is_of_another(&self) -> bool {
        !self.allowed && self.verdict == Verdict::Allow.as_str()
    }
}

/// What becomes of the edit that pins the version asked about.
struct PinnedEdit {
    verdict: Verdict,
    token: Token,
    reason: Option<String>,
    message: Option<String>,
    path: Vec<String>,
    /// The versions that other edits lead to.
    next: Vec<String>,
    /// Another bundle that it installs.
    another: Option<String>,
}

impl PinnedEdit {
    fn of(inquiry: &Inquiry<'_>, targets: &[Choice<'_>]) -> Self {
        match targets.iter().find_map(|to| pin(*to)) {
            Some(pin) => {
                let free = inquiry.filter.without_version();
                Self::decided(&pin, &inquiry.decide(&free.with_version(&pin)), targets)
            }
            None => Self::none(targets),
        }
    }

    /// Nothing pins a version that cannot be read.
    fn none(targets: &[Choice<'_>]) -> Self {
        Self {
            verdict: Verdict::Deny,
            token: Token::BundleVersionInvalid,
            reason: targets.first().map(|to| unpinnable(&to.bundle().name)),
            message: None,
            path: Vec::new(),
            next: Vec::new(),
            another: None,
        }
    }

    fn decided(pin: &str, decision: &Decision<'_>, targets: &[Choice<'_>]) -> Self {
        let is_meant = |given: &Choice<'_>| targets.iter().any(|to| is_given(to, given));
        let another = decision.given().filter(|given| !is_meant(given));
        let another = another.map(|given| gives_another(pin, &given));
        let advice = decision.advice();
        Self {
            verdict: decision.verdict(),
            token: decision.token(),
            reason: reason(decision).or_else(|| another.clone()),
            message: message(decision, &advice),
            path: advice.path,
            next: advice.allowed_next,
            another,
        }
    }

    fn is_allowed(&self) -> bool {
        self.verdict == Verdict::Allow && self.another.is_none()
    }
}

/// Whether the successor rule takes one of them from an edge, the stay rule aside.
fn is_successor(
    inquiry: &Inquiry<'_>,
    origin: Option<&Origin<'_>>,
    targets: &[Choice<'_>],
) -> bool {
    targets.iter().any(|to| leads(inquiry, origin, to))
}

/// Whether an edge that counts leads to a bundle.
fn leads(inquiry: &Inquiry<'_>, origin: Option<&Origin<'_>>, to: &Choice<'_>) -> bool {
    let offers = inquiry.offers.iter();
    let mut own = offers.filter(|offer| to.is_of(offer.catalog));
    own.any(|offer| {
        let edges = origin.map(|origin| origin.successors(offer.package, &offer.asked).edges);
        edges.is_some_and(|edges| edges.contains(to.index) && offer.members.contains(to.index))
    })
}

/// Why guardrails forbid a step along an edge, in each catalog that has one; each reason once.
fn guardrails<'a>(
    inquiry: &Inquiry<'a>,
    origin: Option<&Origin<'_>>,
    targets: &[Choice<'a>],
    successor: bool,
) -> Vec<GuardrailReport> {
    let from = origin.and_then(Origin::version);
    let Some(from) = from.filter(|_| successor) else {
        return Vec::new();
    };
    let leading = targets.iter().filter(|to| leads(inquiry, origin, to));
    let violations = leading.flat_map(|to| inquiry.violations(&from.version, to));
    let mut guardrails: Vec<_> = violations.map(|why| GuardrailReport::of(&why)).collect();
    let mut seen = BTreeSet::new();
    guardrails.retain(|guardrail| seen.insert(guardrail.clone()));
    guardrails
}

/// What stands against a step, in the order in which it is worth mending.
fn needs(
    inquiry: &Inquiry<'_>,
    targets: &[Choice<'_>],
    between: &[EdgeReport],
    successor: bool,
    edit: &PinnedEdit,
    unpinned: Option<Choice<'_>>,
) -> Vec<Need> {
    let mut needs = Vec::new();
    let is_here = inquiry
        .origin()
        .is_some_and(|origin| targets.iter().any(|to| origin.is_at(to.bundle())));
    if edit.token == Token::InstalledVersionInvalid {
        needs.push(Need::Installed);
    } else if !successor && !is_here {
        needs.extend(without_edge(inquiry, targets, between));
    }
    let of_targets = |find: &dyn Fn(&Choice<'_>) -> Option<Need>| targets.iter().find_map(find);
    needs.extend(outside_of_channels(inquiry, targets));
    needs.extend(outside_of_range(inquiry, targets));
    needs.extend(of_targets(&|to| {
        to.bundle()
            .dependency
            .map(|kind| Need::Dependency(kind.as_str()))
    }));
    needs.extend(of_targets(&|to| {
        to.bundle().version.as_ref().err().map(|_| Need::Version)
    }));
    needs.extend(edit.another.clone().map(Need::Chosen));
    match edit.token {
        Token::AmbiguousCatalogs => {
            let catalogs = targets.iter().map(|to| to.catalog.name.clone());
            needs.push(Need::Catalogs(catalogs.collect()));
        }
        Token::BrokenSkipRange => needs.push(Need::BrokenRange),
        _ => {}
    }
    let comes_alone = unpinned.is_some_and(|next| targets.contains(&next));
    if !is_here && !comes_alone && targets.iter().all(Choice::is_deprecated) {
        needs.push(Need::Deprecated);
    }
    needs
}

fn without_edge(
    inquiry: &Inquiry<'_>,
    targets: &[Choice<'_>],
    between: &[EdgeReport],
) -> Vec<Need> {
    if let (true, Some(Err(what))) = (
        inquiry.basis.snapshot.rules().edges != EdgeSource::Catalog,
        by_versions(inquiry, targets),
    ) {
        return vec![Need::Versions(what)];
    }
    let mut channels: Vec<String> = between.iter().map(|edge| edge.channel.clone()).collect();
    channels.sort();
    channels.dedup();
    if !channels.is_empty() {
        return vec![Need::Channel(channels)];
    }
    let mut needs = vec![Need::Edge {
        name: inquiry.installed.name.clone(),
        version: inquiry.installed.version.clone(),
    }];
    let offers = inquiry.offers.iter();
    let unread = offers.flat_map(Offer::edges).filter_map(|edge| {
        let is_own = targets.contains(&edge.to);
        match edge.written {
            WrittenEdge::UnreadRange { text, .. } if is_own => Some(text.to_owned()),
            _ => None,
        }
    });
    let unread: Vec<_> = unread.collect();
    if !unread.is_empty() {
        needs.push(Need::UnreadRange(unread));
    }
    needs
}

fn outside_of_channels(inquiry: &Inquiry<'_>, targets: &[Choice<'_>]) -> Option<Need> {
    let offer = |to: &Choice<'_>| {
        let mut offers = inquiry.offers.iter();
        offers.find(|offer| to.is_of(offer.catalog))
    };
    let is_member =
        |to: &Choice<'_>| offer(to).is_some_and(|offer| offer.members.contains(to.index));
    if targets.iter().any(is_member) {
        return None;
    }
    let having = targets.iter().flat_map(|to| {
        let channels = to.package.channels().iter();
        channels.filter(|channel| channel.members().any(|member| member == to.index))
    });
    let mut names: Vec<String> = having.map(|channel| channel.name.to_string()).collect();
    names.sort();
    names.dedup();
    Some(Need::Member(names))
}

fn outside_of_range(inquiry: &Inquiry<'_>, targets: &[Choice<'_>]) -> Option<Need> {
    let query = Query::compile(inquiry.filter, inquiry.basis.snapshot).ok()?;
    let range = query.range()?;
    let holds = |to: &Choice<'_>| {
        let version = to.bundle().version.as_ref();
        version.is_ok_and(|read| range.matches(&read.version))
    };
    let text = range.as_str().to_owned();
    (!targets.iter().any(holds)).then_some(Need::Range(text))
}
