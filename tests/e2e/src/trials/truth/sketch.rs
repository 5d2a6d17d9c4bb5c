//! Packages before they are in the cluster, and the data in their blobs.

use std::collections::BTreeSet;

use serde_json::Value;

/// A catalog before it is in the cluster.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) priority: i32,
    pub(super) blobs: Vec<Value>,
}

/// A package in catalogs, before its bundles have images.
#[derive(Debug, Clone)]
pub(super) struct Sketch {
    pub(super) package: String,
    pub(super) sources: Vec<Source>,
    pub(super) asked: Vec<Value>,
}

/// Returns the version in a bundle's first package property.
pub(super) fn version(blob: &Value) -> Option<&str> {
    let mut properties = blob.get("properties")?.as_array()?.iter();
    let package = properties.find(|property| text(property, "/type") == Some("olm.package"))?;
    text(package, "/value/version")
}

/// Whether a catalog has two bundles whose versions differ at most in build metadata: OLM 1.2 chooses one of them at
/// random.
pub(super) fn has_twins(source: &Source) -> bool {
    let bundles = source.blobs.iter().filter_map(version);
    let versions: Vec<&str> = bundles
        .map(|version| version.split('+').next().unwrap_or(version))
        .collect();
    versions.iter().collect::<BTreeSet<_>>().len() < versions.len()
}

/// Returns the text at a pointer of a blob, if there is one.
pub(super) fn text<'b>(blob: &'b Value, pointer: &str) -> Option<&'b str> {
    blob.pointer(pointer)?.as_str()
}
