//! Objects that a tool makes manifests of: every command that reads manifests skips them.

use serde_json::Value;

use crate::manifest::{ManifestObject, ValueStep, name, placeholder, placeholder_in};
use olmguard_engine::explain::Unrendered;
use olmguard_engine::extension::{RecognisedObject, recognise};
use olmguard_engine::snapshot::CatalogState;

/// Why an object is no manifest yet, and where in it that is seen. A field that decides nothing may be filled in later.
pub(crate) fn unrendered(object: &ManifestObject) -> Option<(Vec<ValueStep<'_>>, Unrendered)> {
    if is_openshift_template(object) {
        return Some((Vec::new(), Unrendered::OpenShiftTemplate));
    }
    let is_catalog = CatalogState::is_described_by(&object.api_version, &object.kind);
    let is_extension = recognise(&object.value) != RecognisedObject::Other;
    let (below, except): (&[_], &[_]) = match (is_extension || may_be_extension(object), is_catalog)
    {
        (true, _) => (EXTENSION, EXTENSION_LATER),
        (false, true) => (CATALOG, CATALOG_LATER),
        (false, false) => return None,
    };
    let found = placeholder_in(&object.value, below, except)?;
    let (field, text) = (name(&found.path), found.text.to_owned());
    Some((found.path, Unrendered::Placeholder { field, text }))
}

/// Whether its kind or its version is filled in later, and the rest fits an extension.
fn may_be_extension(object: &ManifestObject) -> bool {
    let (version, kind) = (&*object.api_version, &*object.kind);
    let is_later = |text| placeholder(text).is_some();
    let fits_kind = matches!(kind, "ClusterExtension" | "ClusterCatalog");
    let fits_group = version.contains("operatorframework.io/");
    (is_later(version) && (fits_kind || is_later(kind))) || (is_later(kind) && fits_group)
}

/// An OpenShift Template whose objects have an extension or a catalog. Another one is another kind.
fn is_openshift_template(object: &ManifestObject) -> bool {
    let is_ours = |object: &Value| {
        let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let is_catalog = CatalogState::is_described_by(text("apiVersion"), text("kind"));
        is_catalog || recognise(object) != RecognisedObject::Other
    };
    let objects = object.value.get("objects").and_then(|list| list.as_array());
    let is_template = matches!(&*object.api_version, "template.openshift.io/v1" | "v1");
    let mut objects = objects.into_iter().flatten();
    object.kind == "Template" && is_template && objects.any(is_ours)
}

/// Where the fields of an extension are that something reads.
const EXTENSION: &[&[&str]] = &[
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "generateName"],
    &["spec"],
];

/// Fields of it that go to the bundle as they are.
const EXTENSION_LATER: &[&[&str]] = &[&["spec", "config", "inline"]];

const CATALOG: &[&[&str]] = &[
    &["apiVersion"],
    &["metadata", "name"],
    &["metadata", "labels"],
    &["spec"],
];

/// The image of a catalog does not matter to any answer.
const CATALOG_LATER: &[&[&str]] = &[&["spec", "source"]];
