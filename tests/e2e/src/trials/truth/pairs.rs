//! The pairs on trial: of many drafts those that give each token its share.

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

/// An extension, what is installed of it, and what is asked of it then.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) name: String,
    /// Its graph's name, and what makes that more than a line.
    pub(super) graph: String,
    pub(super) traits: Traits,
    pub(super) start: Start,
    /// `spec.source.catalog`, as it shall be.
    pub(super) asked: Value,
    /// What `olmguard check` says of it.
    pub(super) token: String,
}

/// How a pair begins; an edit has an extension to edit where something is installed.
#[derive(Debug, Clone)]
pub(super) enum Start {
    /// With nothing: what is asked is asked of a new extension.
    Nothing,
    /// With a bundle that is installed by asking for it.
    Installed { bundle: Bundle, asked: Value },
    /// With the record of a bundle, and an extension that asks for what is not there.
    Recorded { bundle: Bundle, asked: Value },
}

/// The tokens that have to have their share of the pairs.
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

/// Those that chance brings, or does not.
const OTHERS: [&str; 3] = [
    "BundleVersionInvalid",
    "InvalidSelector",
    "InvalidVersionRange",
];

/// [`SHARE`] pairs of each token, where the drafts have so many.
pub(super) fn choose(dir: &Path, graphs: &[Graph], random: &mut Rng) -> Result<Vec<Pair>> {
    let mut shares = BTreeMap::from(TOKENS.map(|token| (token, SHARE)));
    shares.extend(OTHERS.map(|token| (token, SMALL_SHARE)));
    let chosen = drafts(dir, graphs, random, shares, |_| true)?;
    let pairs = chosen.into_iter().enumerate();
    Ok(pairs
        .map(|(number, (graph, draft, answer))| Pair::new(number, graph, draft, answer))
        .collect())
}

/// Of many drafts so many of each token, where there are so many that are wanted.
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
        // An installation takes half a second, and a refusal asks for no more than its record.
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

    /// What is installed before the edit.
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

/// How many edits are drawn for each graph, and how many pairs there are of a token.
const DRAFTS: usize = 150;
const SHARE: usize = 20;
const SMALL_SHARE: usize = 4;

/// A version that no catalog has.
const NOWHERE: &str = "66.6.6";
