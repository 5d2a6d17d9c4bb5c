//! What OLM v0 does with a Subscription: which entries it tries, and in which order.

use serde::Serialize;

use crate::path::subscribed;
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_catalog::version::Version;
use olmguard_engine::explain::{GuardrailReport, label};
use olmguard_engine::inquiry::Inquiry;
use olmguard_engine::judge::CatalogKnowledge;
use olmguard_engine::resolve::classic::{InstalledCsv, Outlook, SubscriptionOrder};
use olmguard_engine::resolve::{Choice, Offer};

/// What OLM v0 does with the package of one catalog.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(super) struct ClassicReading {
    pub(super) catalog: String,
    /// Channel of the Subscription. Null if it names none.
    pub(super) channel: Option<String>,
    /// Whether the requested bundle is one of the candidates.
    candidate: bool,
    #[serde(skip)]
    pub(super) installed: bool,
    /// Whether the name of the installed bundle decides, and is unknown.
    #[serde(skip)]
    pub(super) is_nameless: bool,
    /// Entries with an edge from the installed bundle that are not skipped, in the order in which
    /// OLM v0 tries them. OLM v0 installs the first one whose requirements are available.
    pub(super) candidates: Vec<String>,
    /// Conclusions about OLM v0, in sentences.
    pub(super) facts: Vec<String>,
    /// Reasons why guardrails forbid the step to the candidate. OLM v0 makes the step anyway.
    pub(super) guardrails: Vec<GuardrailReport>,
    #[serde(skip)]
    pub(super) labels: Vec<String>,
}

/// What stands against a step, or what is to be known of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Fact {
    /// The catalog is not asked about: the bundle is not in it.
    Absent,
    /// OLM's own text: the channel has no order.
    NoOrder(String),
    /// It is what is installed.
    Installed,
    /// Tried before it is this one, which is installed if it can be.
    Behind(String),
    /// It is tried first.
    First,
    /// An entry of the channel skips it, so it is never installed.
    Skipped,
    /// It is not in the channel.
    NotInChannel,
    /// No edge leads there from what is installed.
    NoEdge,
    /// The installed version comes before it, and its own range holds it.
    Itself,
    /// No range leads there, and the name of the installed bundle is unknown.
    Nameless,
    /// Nothing leads on at all, and OLM v0 does not tell.
    Stranded,
    /// What is installed is the head.
    AtHead,
}

impl ClassicReading {
    pub(super) fn is_allowed(&self) -> bool {
        self.candidate || self.installed
    }
}

/// One reading for each catalog that has the package.
pub(super) fn readings<'a>(inquiry: &Inquiry<'a>, targets: &[Choice<'a>]) -> Vec<ClassicReading> {
    let offers = inquiry.offers.iter();
    offers
        .map(|offer| reading(inquiry, offer, targets))
        .collect()
}

fn reading<'a>(inquiry: &Inquiry<'a>, offer: &Offer<'a>, targets: &[Choice<'a>]) -> ClassicReading {
    let graph = Graph::of(&inquiry.filter.package, offer.package);
    let own = targets.iter().filter(|to| to.is_of(offer.catalog));
    let nodes: Vec<_> = own.clone().map(|to| graph.node_of(to.index)).collect();
    let (candidates, facts) = match SubscriptionOrder::of(&graph, subscribed(inquiry)) {
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
        facts: facts.iter().map(fact).collect(),
    }
}

/// Why guardrails forbid the step to one of these.
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

/// What a user should know of a step in OLM v0.
fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Absent => "the catalog does not have it".to_owned(),
        Fact::NoOrder(error) => {
            format!("OLM v0 resolves nothing in the whole namespace: {error}")
        }
        Fact::Installed => "it is already installed".to_owned(),
        Fact::Behind(first) => {
            format!("OLM v0 tries {first} first, and installs it if possible")
        }
        Fact::First => "OLM v0 tries it first".to_owned(),
        Fact::Skipped => {
            "another entry skips it, so OLM v0 never installs it as an update".to_owned()
        }
        Fact::NotInChannel => "it is not in the channel".to_owned(),
        Fact::NoEdge => "the channel has no edge to it from the installed version".to_owned(),
        Fact::Itself => {
            "the skipRange of the installed version includes that version, so OLM v0 stays there and \
             tries no version after it"
                .to_owned()
        }
        Fact::Nameless => {
            "whether the channel has an edge to it depends on the name of the installed bundle, which is unknown"
                .to_owned()
        }
        Fact::Stranded => {
            "the installed version has no upgrade edge, but the Subscription reports \
                           AtLatestKnown as at a channel head"
                .to_owned()
        }
        Fact::AtHead => "the installed version is the channel head".to_owned(),
    }
}
