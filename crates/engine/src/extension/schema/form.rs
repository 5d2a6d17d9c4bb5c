//! Which of the nested v1alpha1 forms an object is written in.
//!
//! `v1alpha1` never changed its name, only its fields, so the fields tell the release. Fields that
//! only one form has decide, the older ones first; an object without any of them is read by the
//! newest rules.

use super::nested::{V0_14, V0_15, V0_17, V0_18};
use super::rule::Schema;
use crate::extension::Json;

/// The rules of the newest release with the form of `object`.
pub(super) fn nested<'a>(object: impl Json<'a>) -> &'static Schema {
    let has = |path: &[&str]| object.at(path).is_some_and(|value| !value.is_null());

    if has(&["spec", "installNamespace"]) {
        &V0_14
    } else if has(&["spec", "source", "catalog", "channel"]) {
        &V0_15
    } else if has(&["spec", "install", "namespace"]) || has(&["spec", "install", "serviceAccount"])
    {
        &V0_17
    } else {
        &V0_18
    }
}
