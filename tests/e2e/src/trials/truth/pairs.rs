//! The pairs to test: drafts chosen so that each reason code has its share.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use fastrand::Rng;
use serde_json::{Value, json};

use super::drafts::{self, Draft};
use super::graph::Graph;
use super::offline::{self, Answer};
use super::stocks::{self, Stocked};
use super::traits::Traits;
use crate::olm::progress::Bundle;

/// An extension, its installed bundle, and the edit.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) name: String,
    /// The name of its graph, and the traits of the graph.
    pub(super) graph: String,
    pub(super) traits: Traits,
    pub(super) start: Start,
    /// The requested `spec.source.catalog`.
    pub(super) asked: Value,
    /// The reason code of `olmguard check`.
    pub(super) token: String,
}

/// The start of a pair. An edit needs an existing extension if something is installed.
#[derive(Debug, Clone)]
pub(super) enum Start {
    /// Nothing is installed, and the edit creates the extension.
    Nothing,
    /// A bundle is installed by requesting it.
    Installed { bundle: Bundle, asked: Value },
    /// A bundle is recorded as installed, and the extension requests something that does not exist.
    Recorded { bundle: Bundle, asked: Value },
}

/// The reason codes that must have their share of the pairs.
pub(super) const TOKENS: [&str; 11] = [
    "PackageNotFound",
    "ChannelNotFound",
    "NotInChannel",
    "VersionNotFound",
    "Downgrade",
    "NotASuccessor",
    "AmbiguousCatalogs",
    "UnsupportedDependency",
    "Unchanged",
    "Bypassed",
    "Resolved",
];

/// The reason codes that may or may not occur.
const OTHERS: [&str; 3] = [
    "BundleVersionInvalid",
    "InvalidSelector",
    "InvalidVersionRange",
];

/// Chooses [`SHARE`] pairs of each reason code, if there are enough drafts.
pub(super) fn choose(dir: &Path, graphs: &[Graph], random: &mut Rng) -> Result<Vec<Pair>> {
    let mut shares = BTreeMap::from(TOKENS.map(|token| (token, SHARE)));
    shares.extend(OTHERS.map(|token| (token, SMALL_SHARE)));
    let chosen = drafts(dir, graphs, random, shares, |_| true)?;
    let pairs = chosen.into_iter().enumerate();
    Ok(pairs
        .map(|(number, (graph, draft, answer))| Pair::new(number, graph, draft, answer))
        .collect())
}

/// Chooses as many drafts of each reason code as requested, if there are enough.
pub(super) fn drafts<'g>(
    dir: &Path,
    graphs: &'g [Graph],
    random: &mut Rng,
    mut shares: BTreeMap<&str, usize>,
    is_wanted: impl Fn(&Draft) -> bool,
) -> Result<Vec<(&'g Graph, Draft, Answer)>> {
    let stocks = stocks::of_all(dir, graphs)?;
    let mut drafts = Vec::new();
    for (graph, stock) in graphs
        .iter()
        .zip(&stocks)
        .filter(|(_, stock)| !stock.is_empty())
    {
        for _ in 0..DRAFTS {
            let draft = drafts::one(random, graph, stock);
            drafts.extend(is_wanted(&draft).then_some((graph, draft)));
        }
    }
    random.shuffle(&mut drafts);
    let asked: Vec<Draft> = drafts.iter().map(|(_, draft)| draft.clone()).collect();
    let answers = offline::judge(dir, graphs, &asked)?;
    let mut chosen = Vec::new();
    for ((graph, draft), answer) in drafts.into_iter().zip(answers) {
        let Some(left @ 1..) = shares.get_mut(answer.token.as_str()) else {
            continue;
        };
        *left -= 1;
        chosen.push((graph, draft, answer));
    }
    Ok(chosen)
}

impl Pair {
    fn new(number: usize, graph: &Graph, draft: Draft, answer: Answer) -> Self {
        // An installation takes half a second. A refusal needs only its record.
        let is_worth_it = answer.resolved.is_some() || number.is_multiple_of(8);
        Self {
            name: format!("p{number:03}-{}", graph.id),
            graph: graph.id.clone(),
            traits: graph.traits.clone(),
            start: draft
                .installed
                .map_or(Start::Nothing, |stocked| stocked.start(graph, is_worth_it)),
            asked: draft.asked,
            token: answer.token,
        }
    }

    /// Returns the bundle that is installed before the edit.
    pub(super) fn installed(&self) -> Option<&Bundle> {
        match &self.start {
            Start::Nothing => None,
            Start::Installed { bundle, .. } | Start::Recorded { bundle, .. } => Some(bundle),
        }
    }
}

impl Stocked {
    fn start(self, graph: &Graph, is_worth_it: bool) -> Start {
        match self.source {
            Some(asked) if is_worth_it => Start::Installed {
                bundle: self.bundle,
                asked,
            },
            _ => Start::Recorded {
                bundle: self.bundle,
                asked: json!({ "packageName": graph.package, "version": NOWHERE }),
            },
        }
    }
}

/// The number of edits for each graph, and the number of pairs for a reason code.
const DRAFTS: usize = 150;
const SHARE: usize = 20;
const SMALL_SHARE: usize = 4;

/// A version that no catalog has.
const NOWHERE: &str = "66.6.6";
