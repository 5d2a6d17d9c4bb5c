//! In which order the versions stand.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::picture::sketch::Row;
use olmguard_catalog::graph::{Graph, NodeIndex, version_in_name};
use olmguard_catalog::version::Version;

/// The rows by node.
#[derive(Debug)]
pub(super) struct RowOf(BTreeMap<NodeIndex, Row>);

impl RowOf {
    /// The row of a node that is drawn.
    pub(super) fn get(&self, node: NodeIndex) -> Option<Row> {
        self.0.get(&node).copied()
    }
}

/// The nodes from the top, newest first: bundles in their order of preference, and among them the
/// names without a bundle, by the version that a name seems to speak of. What has none stands last.
pub(super) fn order(graph: &Graph<'_>, nodes: Vec<NodeIndex>) -> (Vec<NodeIndex>, RowOf) {
    let version = |node: NodeIndex| (version(graph, node), node);
    let mut nodes: Vec<_> = nodes.into_iter().map(version).collect();
    // Stable: what compares the same keeps the order of the graph, bundles before other names.
    nodes.sort_by(|(a, _), (b, _)| newest_first(a.as_ref(), b.as_ref()));
    let nodes: Vec<_> = nodes.into_iter().map(|(_, node)| node).collect();
    let rows = nodes.iter().copied().zip((0..).map(Row)).collect();
    (nodes, RowOf(rows))
}

/// What has no version is last.
pub(super) fn newest_first(a: Option<&Version>, b: Option<&Version>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => b.cmp_precedence(a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

pub(super) fn version(graph: &Graph<'_>, node: NodeIndex) -> Option<Version> {
    match graph.bundle(node) {
        Some(bundle) => {
            let read = bundle.version.as_ref().ok();
            read.map(|read| read.version.clone())
        }
        None => version_in_name(graph.name_of(node)),
    }
}
