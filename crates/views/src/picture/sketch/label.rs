//! What a version is called in the picture.

use std::collections::BTreeMap;

use olmguard_catalog::Bundle;
use olmguard_catalog::graph::{Graph, NodeIndex, version_in_name};
use olmguard_catalog::version::go;

/// The versions of the nodes, in their order; the whole name where two would be called the same, or
/// there is no version.
pub(super) fn labels(graph: &Graph<'_>, nodes: &[NodeIndex]) -> Vec<String> {
    let short: Vec<_> = nodes.iter().map(|node| short(graph, *node)).collect();
    let mut times = BTreeMap::<_, usize>::new();
    for label in short.iter().flatten() {
        *times.entry(label.clone()).or_default() += 1;
    }
    let label = |(short, node): (Option<String>, &NodeIndex)| {
        let own = short.filter(|label| times.get(label) == Some(&1));
        own.unwrap_or_else(|| graph.name_of(*node).to_owned())
    };
    let labels = short.into_iter().zip(nodes).map(label);
    labels.map(|label| go::escape(&label)).collect()
}

fn short(graph: &Graph<'_>, node: NodeIndex) -> Option<String> {
    match graph.bundle(node) {
        Some(bundle) => version(bundle),
        None => version_in_name(graph.name_of(node)).map(|version| version.to_string()),
    }
}

/// The version of a bundle, with its release.
pub(super) fn version(bundle: &Bundle) -> Option<String> {
    let read = bundle.version.as_ref().ok()?;
    Some(match &read.release {
        Some(release) if !release.as_str().is_empty() => format!("{}+{release}", read.version),
        _ => read.version.to_string(),
    })
}
