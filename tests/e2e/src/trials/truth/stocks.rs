//! The bundles of each graph that can be installed before an edit.

use std::path::Path;

use anyhow::Result;
use fastrand::Rng;
use serde_json::{Value, json};

use super::drafts::Draft;
use super::graph::{Graph, Offered};
use super::offline::{self, Answer};
use crate::olm::catalog::NAME_LABEL;
use crate::olm::progress::Bundle;

/// A bundle with which an extension can start.
#[derive(Debug, Clone)]
pub(super) struct Stocked {
    pub(super) bundle: Bundle,
    /// The `spec.source.catalog` that installs it if nothing is installed, or `None` if it can only
    /// have been installed in another way.
    pub(super) source: Option<Value>,
}

/// Returns the bundles of each graph that `olmguard check` would allow, or would deny only because
/// of a dependency.
pub(super) fn of_all(dir: &Path, graphs: &[Graph]) -> Result<Vec<Vec<Stocked>>> {
    let drafts = |graph: &Graph| -> Vec<Draft> {
        graph
            .offers
            .iter()
            .map(|offered| install(graph, offered))
            .collect()
    };
    let asked: Vec<Draft> = graphs.iter().flat_map(drafts).collect();
    let mut answers = offline::judge(dir, graphs, &asked)?.into_iter();
    Ok(graphs
        .iter()
        .map(|graph| {
            let offered = graph.offers.iter().zip(drafts(graph)).zip(&mut answers);
            offered
                .filter_map(|((offered, draft), answer)| stocked(offered, draft, &answer))
                .collect()
        })
        .collect())
}

/// Returns one of them, or a bundle that the catalogs do not have.
pub(super) fn one(random: &mut Rng, graph: &Graph, stock: &[Stocked]) -> Option<Stocked> {
    let stocked = random.choice(stock)?.clone();
    if random.u8(..8) > 0 {
        return Some(stocked);
    }
    let name = format!("{}.rebuilt", graph.package);
    let version = if random.bool() {
        stocked.bundle.version
    } else {
        "0.0.1".to_owned()
    };
    Some(Stocked {
        bundle: Bundle { name, version },
        source: None,
    })
}

fn install(graph: &Graph, offered: &Offered) -> Draft {
    Draft {
        installed: None,
        asked: json!({
            "packageName": graph.package,
            "version": offered.bundle.version,
            "selector": { "matchLabels": { NAME_LABEL: offered.catalog } },
        }),
    }
}

fn stocked(offered: &Offered, draft: Draft, answer: &Answer) -> Option<Stocked> {
    let resolved = answer
        .resolved
        .as_ref()
        .map(|resolved| resolved.bundle.as_str());
    let installs = resolved == Some(&offered.bundle.name);
    let has_dependency = answer.token == "UnsupportedDependency";
    (installs || has_dependency).then(|| Stocked {
        bundle: offered.bundle.clone(),
        source: installs.then_some(draft.asked),
    })
}
