//! Running extensions: the installed bundle and the request of each.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use fastrand::Rng;
use serde_json::Value;

use crate::olm::progress::Bundle;
use crate::trials::truth::drafts::Draft;
use crate::trials::truth::graph::Graph;
use crate::trials::truth::pairs::{self, TOKENS};

/// A running extension.
#[derive(Debug, Clone)]
pub(super) struct RunningExtension {
    pub(super) name: String,
    pub(super) package: String,
    pub(super) bundle: Bundle,
    /// The `spec.source.catalog`.
    pub(super) asked: Value,
}

/// Chooses extensions: most resolve to a bundle that is not installed, and every other reason code
/// occurs.
pub(super) fn choose(
    dir: &Path,
    graphs: &[Graph],
    random: &mut Rng,
) -> Result<Vec<RunningExtension>> {
    let mut shares = BTreeMap::from(TOKENS.map(|token| (token, FEW)));
    shares.extend([("Resolved", MANY), ("Bypassed", SOME), ("Unchanged", SOME)]);
    let is_wanted = |draft: &Draft| draft.installed.is_some();
    let chosen = pairs::drafts(dir, graphs, random, shares, is_wanted)?;
    let chosen = chosen.into_iter().enumerate();
    Ok(chosen
        .filter_map(|(number, (graph, draft, _))| {
            Some(RunningExtension {
                name: format!("s{number:03}-{}", graph.id),
                package: graph.package.clone(),
                bundle: draft.installed?.bundle,
                asked: draft.asked,
            })
        })
        .collect())
}

const MANY: usize = 36;
const SOME: usize = 12;
const FEW: usize = 4;
