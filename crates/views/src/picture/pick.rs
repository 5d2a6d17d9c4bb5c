//! The version that a user names.

use olmguard_catalog::graph::{Graph, NodeIndex, version_in_name};
use olmguard_catalog::version::{Version, go};
use olmguard_engine::nearest::nearest;

/// A text that names no version of the package.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "package {} has no version and no bundle {}{}",
    go::quote(package),
    go::quote(text),
    instead(near)
)]
pub struct NoSuchVersion {
    package: String,
    text: String,
    near: Vec<String>,
}

/// The node of this name, else the best of this version: with its release where one is given, of any
/// release where none is. A name without a bundle can be named by the version it speaks of.
pub fn pick(graph: &Graph<'_>, text: &str) -> Result<NodeIndex, NoSuchVersion> {
    let by_name = graph.find(text);
    let by_text = || {
        graph
            .nodes()
            .find(|node| texts(graph, *node).any(|own| own == text))
    };
    by_name.or_else(by_text).ok_or_else(|| {
        let known: Vec<_> = graph
            .nodes()
            .filter_map(|node| texts(graph, node).next())
            .collect();
        let without_v = text.strip_prefix('v');
        let meant = known.iter().find(|own| Some(own.as_str()) == without_v);
        let near = match meant {
            Some(version) => vec![version.as_str()],
            None => nearest(text, known.iter().map(String::as_str), MOST_NEAR),
        };
        NoSuchVersion {
            package: graph.name().to_owned(),
            text: text.to_owned(),
            near: near.into_iter().map(str::to_owned).collect(),
        }
    })
}

/// Something that may be installed and that no bundle of the package is.
#[derive(Clone, Debug)]
pub struct AbsentBundle {
    /// Its name, where edges start at it; else the version, for nothing else is known.
    pub name: String,
    /// Its version.
    pub version: Version,
}

impl AbsentBundle {
    /// Whether a user means it by this text.
    pub fn is_called(&self, text: &str) -> bool {
        self.name == text || self.version.to_string() == text
    }
}

/// What a text says to be installed that no bundle is: a name that edges start at and that speaks of a
/// version, or a version. None where a bundle is meant, or neither is said.
pub fn absent(graph: &Graph<'_>, text: &str) -> Option<AbsentBundle> {
    let stated = Version::parse(text).ok();
    let (name, version) = match pick(graph, text) {
        Ok(node) if graph.bundle(node).is_some() => return None,
        Ok(node) => {
            let name = graph.name_of(node);
            (name, stated.or_else(|| version_in_name(name))?)
        }
        Err(_) => (text, stated?),
    };
    let name = name.to_owned();
    Some(AbsentBundle { name, version })
}

/// The bundles of before that are gone; one without a version that can be read is known by its name alone.
pub fn removed(graph: &Graph<'_>, before: &Graph<'_>) -> Vec<AbsentBundle> {
    let bundles = before.nodes().filter_map(|node| before.bundle(node));
    let is_gone = |name: &str| {
        let found = graph.find(name);
        found.is_none_or(|node| graph.bundle(node).is_none())
    };
    let gone = bundles.filter(|bundle| is_gone(&bundle.name));
    let absent = gone.filter_map(|bundle| {
        Some(AbsentBundle {
            name: bundle.name.to_string(),
            version: bundle.version.as_ref().ok()?.version.clone(),
        })
    });
    absent.collect()
}

/// What a node can be named by, its name aside: the version with its release, and without.
fn texts(graph: &Graph<'_>, node: NodeIndex) -> impl Iterator<Item = String> {
    let bundle = graph.bundle(node);
    let read = bundle.and_then(|bundle| bundle.version.as_ref().ok());
    let whole = read.and_then(|read| {
        let release = read.release.as_ref()?;
        Some(format!("{}+{release}", read.version))
    });
    let plain = graph.likely_version(node);
    let plain = plain.map(|version| version.to_string());
    whole.into_iter().chain(plain)
}

fn instead(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let near: Vec<_> = near.iter().map(|text| go::escape(text)).collect();
    format!("; did you mean {}?", near.join(", "))
}

const MOST_NEAR: usize = 3;
