//! The pairs on trial: of many drafts those that give each token its share.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use fastrand::Rng;
use serde_json::Value;

use super::drafts::{self, Draft};
use super::graph::{Graph, Stocked};
use super::offline;

/// An extension, what is installed of it, and what is asked of it then.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) name: String,
    /// With the `spec.source.catalog` that installs it.
    pub(super) start: Option<(Stocked, Value)>,
    pub(super) asked: Value,
    /// What `olmguard check` says of it.
    pub(super) token: String,
}

/// The tokens that agree or disagree with a resolver, each with its share of the pairs.
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

/// [`SHARE`] pairs of each token, where the drafts have so many.
pub(super) fn choose(dir: &Path, graphs: &[Graph], random: &mut Rng) -> Result<Vec<Pair>> {
    let starts = starts(dir, graphs)?;
    let mut drafts = Vec::new();
    for (graph, starts) in graphs
        .iter()
        .zip(&starts)
        .filter(|(_, starts)| !starts.is_empty())
    {
        for _ in 0..DRAFTS {
            let installed = if random.u8(..5) == 0 {
                None
            } else {
                random.choice(starts)
            };
            drafts.push((graph, drafts::one(random, graph, installed)));
        }
    }
    random.shuffle(&mut drafts);
    let asked: Vec<Draft> = drafts.iter().map(|(_, draft)| draft.clone()).collect();
    let answers = offline::judge(dir, graphs, &asked)?;
    let mut shares: BTreeMap<&str, usize> = TOKENS.map(|token| (token, SHARE)).into();
    let mut pairs = Vec::new();
    for ((graph, draft), answer) in drafts.into_iter().zip(answers) {
        let Some(left @ 1..) = shares.get_mut(answer.token.as_str()) else {
            continue;
        };
        *left -= 1;
        pairs.push(Pair::new(pairs.len(), graph, draft, answer.token));
    }
    Ok(pairs)
}

impl Pair {
    fn new(number: usize, graph: &Graph, draft: Draft, token: String) -> Self {
        Self {
            name: format!("p{number:03}-{}", graph.id),
            start: draft.installed.map(|bundle| {
                let asked = drafts::install(graph, &bundle);
                (bundle, asked)
            }),
            asked: draft.asked,
            token,
        }
    }
}

/// The bundles of each graph that install where nothing is installed.
fn starts(dir: &Path, graphs: &[Graph]) -> Result<Vec<Vec<Stocked>>> {
    let all = || {
        graphs
            .iter()
            .flat_map(|graph| graph.bundles.iter().map(move |bundle| (graph, bundle)))
    };
    let drafts: Vec<Draft> = all()
        .map(|(graph, bundle)| Draft {
            installed: None,
            asked: drafts::install(graph, bundle),
        })
        .collect();
    let answers = offline::judge(dir, graphs, &drafts)?;
    let mut starts = vec![Vec::new(); graphs.len()];
    for ((graph, bundle), answer) in all().zip(answers) {
        let installs = answer
            .resolved
            .is_some_and(|resolved| resolved.bundle == bundle.name);
        let place = graphs.iter().position(|it| it.id == graph.id);
        if let Some(starts) = place
            .and_then(|place| starts.get_mut(place))
            .filter(|_| installs)
        {
            starts.push(bundle.clone());
        }
    }
    Ok(starts)
}

/// How many edits are drawn for each graph, and how many pairs there are of a token.
const DRAFTS: usize = 150;
const SHARE: usize = 20;
