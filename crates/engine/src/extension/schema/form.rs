//! Which of the nested v1alpha1 forms an object is written in.
//!
//! `v1alpha1` never changed its name, only its fields, so the fields tell the release. Fields that
//! only one form has decide, the older ones first; an object without any of them is read by the
//! newest rules.

use serde_json::{Map, Value};

use super::nested::{V0_14, V0_15, V0_17, V0_18};
use super::rule::{Schema, has};

/// The rules of the newest release with the form of `object`.
pub(super) fn nested(object: &Value) -> &'static Schema {
    let spec = object.get("spec").and_then(Value::as_object);
    let spec_has = |name| spec.is_some_and(|spec| has(spec, name));
    let install_has = |name| child(spec, "install").is_some_and(|install| has(install, name));
    let catalog = child(child(spec, "source"), "catalog");

    if spec_has("installNamespace") {
        &V0_14
    } else if catalog.is_some_and(|catalog| has(catalog, "channel")) {
        &V0_15
    } else if install_has("namespace") || install_has("serviceAccount") {
        &V0_17
    } else {
        &V0_18
    }
}

fn child<'a>(object: Option<&'a Map<String, Value>>, name: &str) -> Option<&'a Map<String, Value>> {
    object?.get(name)?.as_object()
}
