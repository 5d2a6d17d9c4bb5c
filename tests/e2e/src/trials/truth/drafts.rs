//! Random edits, sensible or not.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::graph::{ELSEWHERE, Graph};
use super::stocks::{self, Stocked};
use crate::olm::catalog::NAME_LABEL;

/// The installed bundle, and the requested `spec.source.catalog`.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) installed: Option<Stocked>,
    pub(super) asked: Value,
}

/// Returns one edit. It never equals the previous request of its extension, because its selector differs.
pub(super) fn one(random: &mut Rng, graph: &Graph, stock: &[Stocked]) -> Draft {
    let installed = if random.u8(..5) == 0 {
        None
    } else {
        stocks::one(random, graph, stock)
    };
    let mut asked = match random.choice(&graph.asked) {
        Some(recorded) if random.u8(..4) == 0 => recorded.as_object().cloned().unwrap_or_default(),
        _ => filter(random, graph),
    };
    asked.insert(
        "packageName".to_owned(),
        package(random, graph, installed.is_some()).into(),
    );
    asked.insert(
        "selector".to_owned(),
        selector(random, graph, installed.is_some()),
    );
    asked.retain(|_, value| !is_empty(value));
    Draft {
        installed,
        asked: asked.into(),
    }
}

/// Whether the controller omits this value when it writes finalizers. That would be an edit of `spec.source`, for which
/// olmguard is called, so drafts have no such values.
fn is_empty(value: &Value) -> bool {
    *value == json!("") || *value == json!([])
}

fn filter(random: &mut Rng, graph: &Graph) -> Map<String, Value> {
    let mut filter = Map::new();
    if random.u8(..5) > 0 {
        filter.insert("version".to_owned(), range(random, graph).into());
    }
    if random.u8(..3) == 0 {
        filter.insert("channels".to_owned(), channels(random, graph).into());
    }
    if random.u8(..4) == 0 {
        filter.insert("upgradeConstraintPolicy".to_owned(), "SelfCertified".into());
    }
    filter
}

/// Returns a package name. It cannot change once something is installed.
fn package(random: &mut Rng, graph: &Graph, is_installed: bool) -> String {
    if !is_installed && random.u8(..8) == 0 {
        return format!("{}-misspelt", graph.package);
    }
    graph.package.clone()
}

fn selector(random: &mut Rng, graph: &Graph, is_installed: bool) -> Value {
    if is_installed && random.u8(..16) == 0 {
        return json!({ "matchLabels": { NAME_LABEL: ELSEWHERE } });
    }
    graph.selector()
}

fn range(random: &mut Rng, graph: &Graph) -> String {
    let versions: Vec<&str> = graph
        .offers
        .iter()
        .map(|offered| offered.bundle.version.as_str())
        .collect();
    let version = random.choice(versions).unwrap_or("1.0.0");
    match random.u8(..12) {
        0 => format!(">={version}"),
        1 => format!("<{version}"),
        2 => format!(">{version}"),
        3 => format!("~{version}"),
        4 => format!("^{version}"),
        5 => format!("!={version}"),
        6 => "77.7.7".to_owned(),
        7 => format!(">={version}, <77.0.0"),
        _ => version.to_owned(),
    }
}

fn channels(random: &mut Rng, graph: &Graph) -> Vec<String> {
    let known = random.choice(&graph.channels).cloned();
    let unknown = (known.is_none() || random.u8(..3) == 0).then(|| "no-such-channel".to_owned());
    match random.u8(..3) {
        0 => unknown.into_iter().collect::<Vec<_>>(),
        _ => known.into_iter().chain(unknown).collect(),
    }
}
