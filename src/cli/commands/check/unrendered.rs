//! Objects and documents that a tool makes manifests of: they are skipped, and the tool is named.

use std::path::Path;

use serde_json::Value;

use super::cases::CasePlace;
use super::kustomize::Kustomizations;
use crate::manifest::{ManifestObject, ValueStep, name, placeholder, placeholder_in};
use olmguard_engine::explain::{Renderer, Unrendered};
use olmguard_engine::extension::{RecognisedObject, recognise};
use olmguard_engine::snapshot::CatalogState;

/// Something that is not checked, and why not.
#[derive(Debug)]
pub(super) struct Skipped {
    pub(super) place: CasePlace,
    pub(super) why: Unrendered,
    pub(super) by: Renderer,
}

impl Skipped {
    pub(super) fn new(place: CasePlace, why: Unrendered, kustomizations: &Kustomizations) -> Self {
        let by = renderer(&place.file, &why, kustomizations);
        Self { place, why, by }
    }

    /// Why, and what to do, in a line.
    pub(super) fn words(&self) -> String {
        self.why.words(&self.by)
    }
}

/// Why an object is no manifest yet, and where in it that is seen. A field that decides nothing may be filled in later.
pub(super) fn unrendered(object: &ManifestObject) -> Option<(Vec<ValueStep<'_>>, Unrendered)> {
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

/// What renders this file.
fn renderer(file: &str, why: &Unrendered, kustomizations: &Kustomizations) -> Renderer {
    let chart = || {
        let mut directories = Path::new(file).ancestors().skip(1);
        directories.find(|directory| directory.join("Chart.yaml").is_file())
    };
    match why {
        Unrendered::OpenShiftTemplate => return Renderer::Oc(file.to_owned()),
        Unrendered::Placeholder { text, .. }
            if text.starts_with('$') && !text.starts_with("$(") =>
        {
            return Renderer::Envsubst(file.to_owned());
        }
        _ => {}
    }
    let built = kustomizations.built(file).map(Renderer::Kustomize);
    let chart = || chart().map(|directory| Renderer::Helm(shown(directory)));
    built.or_else(chart).unwrap_or(Renderer::Unknown)
}

/// A directory as a command takes it.
fn shown(directory: &Path) -> String {
    match directory.to_string_lossy() {
        shown if shown.is_empty() => ".".to_owned(),
        shown => shown.into_owned(),
    }
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
