//! The `spec` of the `ClusterServiceVersion` that a bundle carries.
//!
//! A bundle straight from its image has it whole, in a property `olm.bundle.object`; one that was made
//! smaller has of it what `olm.csv.metadata` keeps, which is no icon.

use crate::author::blob::BlobText;
use crate::author::value::{self, Value};
use olmguard_catalog::fbc::{base64, begins_with_brace, yaml};

/// It, if it is there and can be read.
pub(super) fn of(bundle: &BlobText) -> Option<Value> {
    let mut objects = bundle.properties("olm.bundle.object");
    let whole = objects.find_map(|property| spec(&decode(property.text("data"))?));
    whole.or_else(|| bundle.properties("olm.csv.metadata").next().cloned())
}

/// A manifest, in YAML or JSON, out of its base64.
fn decode(data: &str) -> Option<Value> {
    let text = base64::decode(data.as_bytes())?;
    let json = if begins_with_brace(&text) {
        text
    } else {
        yaml::to_json(&text).ok()?
    };
    value::parse(&json).ok()
}

fn spec(manifest: &Value) -> Option<Value> {
    let is_csv = manifest.text("kind") == "ClusterServiceVersion";
    manifest.get("spec").filter(|_| is_csv).cloned()
}
