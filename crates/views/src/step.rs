//! Whether a bundle is a successor of the installed one, and why or why not.
//!
//! Three readings: what OLM v1 does, what the semver rules allow if they apply, and what OLM v0 does.
//! Each reading names the entries that decide, or what would have to change.

mod catalogs;
mod text;

use catalogs::CatalogReading;
use serde::Serialize;

use crate::path::subscribed;
use crate::see::{self, BundleReport, Generation, InstalledReport};
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_catalog::olm::EdgeSource;
use olmguard_catalog::version::Version;
use olmguard_engine::explain::warning::goes_on;
use olmguard_engine::explain::{GuardrailReport, hindrance, label};
use olmguard_engine::inquiry::{Inquiry, NotAnswered};
use olmguard_engine::judge::CatalogKnowledge;
use olmguard_engine::resolve::classic::{InstalledCsv, Outlook, SubscriptionOrder};
use olmguard_engine::resolve::semver::Hindrance;
use olmguard_engine::resolve::{Choice, Offer};

/// Why you can upgrade from one bundle to another, or why not.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.explain/v1")]
pub struct StepReport {
    /// Schema of this object.
    schema: &'static str,
    /// Name of the package.
    package: String,
    /// Requested channels. Empty for all channels.
    channels: Vec<String>,
    /// Requested version range.
    range: Option<String>,
    /// The installed bundle.
    from: InstalledReport,
    /// Requested bundles: all bundles of this name or version, grouped by catalog.
    to: Vec<BundleReport>,
    /// What OLM v1 does. Null if OLM v0 is requested.
    olm: Option<CatalogReading>,
    /// What the semver rules allow. Null if they do not apply.
    semver: Option<SemverReading>,
    /// What OLM v0 does, for each catalog that has the package. Empty if OLM v0 is not requested.
    classic: Vec<ClassicReading>,
    /// Additional notes.
    notes: Vec<String>,
    /// Whether several catalogs have the package.
    #[serde(skip)]
    is_of_several: bool,
}

impl StepReport {
    /// Explains the step from the installed bundle to the bundle that `to` names.
    ///
    /// # Errors
    /// If `to` names nothing.
    pub fn of<'a>(
        inquiry: &Inquiry<'a>,
        to: &str,
        olm: Generation,
    ) -> Result<Self, NotAnswered<'a>> {
        let targets = inquiry.target(to)?;
        let is_v1 = olm == Generation::V1;
        let goes_by_versions = inquiry.basis.snapshot.rules().edges != EdgeSource::Catalog;
        let catalog = is_v1.then(|| CatalogReading::of(inquiry, &targets));
        let semver = (is_v1 && goes_by_versions).then(|| SemverReading::of(inquiry, &targets));
        let classic = match olm {
            Generation::V0 => {
                let offers = inquiry.offers.iter();
                let readings = offers.map(|offer| reading(inquiry, offer, &targets));
                readings.collect()
            }
            Generation::V1 => Vec::new(),
        };
        let looked_at = catalog.as_ref().and_then(|catalog| catalog.looked_at);
        let mut notes = see::notes(inquiry);
        notes.extend(looked_at.map(|looked_at| goes_on("guardrails", looked_at)));
        Ok(Self {
            schema: SCHEMA,
            package: inquiry.filter.package.clone(),
            channels: inquiry.filter.channels.clone(),
            range: inquiry.filter.range().map(str::to_owned),
            from: InstalledReport::from(&inquiry.installed),
            to: targets.into_iter().map(BundleReport::of).collect(),
            olm: catalog,
            semver,
            classic,
            notes,
            is_of_several: inquiry.offers.len() > 1,
        })
    }

    /// Whether every generation of OLM that was requested allows the step.
    pub fn is_allowed(&self) -> bool {
        let catalog = self.olm.iter().map(|reading| reading.allowed);
        let classic = match self.classic.as_slice() {
            [] => None,
            some => Some(some.iter().any(ClassicReading::is_allowed)),
        };
        catalog.chain(classic).all(|allowed| allowed)
    }

    /// Whether it is undecided if the catalog allows the step.
    pub fn is_undecided(&self) -> bool {
        let is_nameless = self.classic.iter().any(|reading| reading.is_nameless);
        let is_open = is_nameless && !self.is_allowed();
        is_open || self.olm.as_ref().is_some_and(|olm| olm.is_undecided)
    }

    /// Returns the label of the requested bundle.
    fn label(&self) -> String {
        self.to.first().map(BundleReport::label).unwrap_or_default()
    }
}

const SCHEMA: &str = "olmguard.explain/v1";

/// What the semver rules allow, without the catalog.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct SemverReading {
    /// Whether the semver rules allow the step.
    allowed: bool,
    /// Why the semver rules do not allow the step, in one sentence.
    reason: Option<String>,
}

impl SemverReading {
    fn of<'a>(inquiry: &Inquiry<'a>, targets: &[Choice<'a>]) -> Self {
        let step = inquiry.by_versions(targets);
        Self {
            allowed: matches!(step, Some(Ok(()) | Err(Hindrance::Same))),
            reason: match step {
                Some(Ok(())) => None,
                Some(Err(what)) => Some(hindrance(what).to_owned()),
                None => Some(text::UNREADABLE.to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests;

// === What OLM v0 does with a Subscription: which entries it tries, and in which order ===

/// What OLM v0 does with the package of one catalog.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct ClassicReading {
    catalog: String,
    /// Channel of the Subscription. Null if it names none.
    channel: Option<String>,
    /// Whether the requested bundle is one of the candidates.
    candidate: bool,
    #[serde(skip)]
    installed: bool,
    /// Whether the name of the installed bundle decides, and is unknown.
    #[serde(skip)]
    is_nameless: bool,
    /// Entries with an edge from the installed bundle that are not skipped, in the order in which
    /// OLM v0 tries them. OLM v0 installs the first one whose requirements are available.
    candidates: Vec<String>,
    /// Conclusions about OLM v0, in sentences.
    facts: Vec<String>,
    /// Reasons why guardrails forbid the step to the candidate. OLM v0 makes the step anyway.
    guardrails: Vec<GuardrailReport>,
    #[serde(skip)]
    labels: Vec<String>,
}

/// A fact about a step in OLM v0: an obstacle, or a note.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
enum Fact {
    #[display("the catalog does not have it")]
    Absent,
    /// The channel has no order; with OLM's own error text.
    #[display("OLM v0 resolves nothing in the whole namespace: {_0}")]
    NoOrder(String),
    #[display("it is already installed")]
    Installed,
    #[display("OLM v0 tries {_0} first, and installs it if possible")]
    Behind(String),
    #[display("OLM v0 tries it first")]
    First,
    #[display("another entry skips it, so OLM v0 never installs it as an update")]
    Skipped,
    #[display("it is not in the channel")]
    NotInChannel,
    #[display("the channel has no edge to it from the installed version")]
    NoEdge,
    /// The installed version comes first in the order.
    #[display(
        "the skipRange of the installed version includes that version, so OLM v0 stays there and \
         tries no version after it"
    )]
    Itself,
    /// No range gives an edge to the bundle.
    #[display(
        "whether the channel has an edge to it depends on the name of the installed bundle, which \
         is unknown"
    )]
    Nameless,
    #[display(
        "the installed version has no upgrade edge, but the Subscription reports AtLatestKnown as \
         at a channel head"
    )]
    Stranded,
    #[display("the installed version is the channel head")]
    AtHead,
}

impl ClassicReading {
    fn is_allowed(&self) -> bool {
        self.candidate || self.installed
    }
}

/// Reads one catalog that has the package.
fn reading<'a>(inquiry: &Inquiry<'a>, offer: &Offer<'a>, targets: &[Choice<'a>]) -> ClassicReading {
    let graph = Graph::of(&inquiry.filter.package, offer.package);
    let own = targets.iter().filter(|to| to.is_of(offer.catalog));
    let nodes: Vec<_> = own.clone().map(|to| graph.node_of(to.index)).collect();
    let subscribed = subscribed(&inquiry.filter.channels);
    let (candidates, facts) = match SubscriptionOrder::of(&graph, subscribed) {
        _ if nodes.is_empty() => (Vec::new(), vec![Fact::Absent]),
        Err(error) => (Vec::new(), vec![Fact::NoOrder(error.to_string())]),
        Ok(line) => of_line(inquiry, &line, &nodes),
    };
    let name = |node: &NodeIndex| graph.name_of(*node).to_owned();
    let is_here =
        |node: &NodeIndex| inquiry.installed.name.as_deref() == Some(graph.name_of(*node));
    let tried = own.filter(|to| candidates.contains(&graph.node_of(to.index)));
    ClassicReading {
        guardrails: guardrails(inquiry, tried),
        installed: nodes.iter().any(is_here),
        is_nameless: facts.contains(&Fact::Nameless),
        catalog: offer.catalog.name.clone(),
        channel: inquiry.filter.channels.first().cloned(),
        candidate: candidates.iter().any(|node| nodes.contains(node)),
        labels: candidates
            .iter()
            .filter_map(|node| graph.bundle(*node).map(label))
            .collect(),
        candidates: candidates.iter().map(name).collect(),
        facts: facts.iter().map(Fact::to_string).collect(),
    }
}

/// Returns why guardrails forbid the step to the first of these bundles.
fn guardrails<'t, 'a: 't>(
    inquiry: &Inquiry<'a>,
    mut targets: impl Iterator<Item = &'t Choice<'a>>,
) -> Vec<GuardrailReport> {
    let version = Version::parse(&inquiry.installed.version).ok();
    let violations = version.zip(targets.next());
    let violations = violations.map(|(from, to)| inquiry.violations(&from, to));
    let violations = violations.iter().flatten();
    violations.map(GuardrailReport::of).collect()
}

fn of_line(
    inquiry: &Inquiry<'_>,
    line: &SubscriptionOrder<'_, '_>,
    nodes: &[NodeIndex],
) -> (Vec<NodeIndex>, Vec<Fact>) {
    let version = Version::parse(&inquiry.installed.version).ok();
    let installed = InstalledCsv {
        name: inquiry.installed.name.as_deref().unwrap_or_default(),
        version: version.as_ref(),
    };
    let candidates = line.candidates(installed);
    let graph = line.graph();
    let is_here = nodes
        .iter()
        .any(|node| graph.name_of(*node) == installed.name);
    let facts = match candidates.iter().position(|node| nodes.contains(node)) {
        _ if is_here => vec![Fact::Installed],
        Some(0) => vec![Fact::First],
        Some(_) => {
            let first = candidates.first().and_then(|node| graph.bundle(*node));
            vec![Fact::Behind(first.map(label).unwrap_or_default())]
        }
        None => against(line, nodes, installed, inquiry.known),
    };
    (candidates, facts)
}

fn against(
    line: &SubscriptionOrder<'_, '_>,
    nodes: &[NodeIndex],
    installed: InstalledCsv<'_>,
    known: CatalogKnowledge,
) -> Vec<Fact> {
    let graph = line.graph();
    let is_ordered = line.order().any(|node| nodes.contains(&node));
    let asked = line.channels();
    let is_in = asked
        .iter()
        .any(|channel| nodes.iter().any(|node| channel.entry(*node).is_some()));
    let skipped = asked.iter().flat_map(|channel| &channel.entries);
    let is_skipped = skipped
        .flat_map(|entry| &entry.skips)
        .any(|node| nodes.contains(node));
    let is_nameless = known == CatalogKnowledge::VersionOnly;
    let first = match (is_in, is_ordered, is_skipped) {
        (false, _, _) => Fact::NotInChannel,
        (true, false, true) => Fact::Skipped,
        _ if is_nameless => Fact::Nameless,
        _ if line.stays_before(nodes, installed) => Fact::Itself,
        _ => Fact::NoEdge,
    };
    let outlook = match line.outlook(installed) {
        Outlook::Next(next) => graph.bundle(next).map(|bundle| Fact::Behind(label(bundle))),
        Outlook::AtHead => Some(Fact::AtHead),
        Outlook::Stranded if is_nameless || first == Fact::Itself => None,
        Outlook::Stranded => Some(Fact::Stranded),
    };
    std::iter::once(first).chain(outlook).collect()
}
