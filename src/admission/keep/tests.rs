//! Every field that an extension is read from is kept of a review.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use olmguard_catalog::json_type::JsonType;
use olmguard_engine::extension::{Extension, Json, Shape, recognise};

/// A value that notes which paths are asked of it.
#[derive(Clone, Copy)]
struct Observed<'a> {
    value: &'a Value,
    path: &'a str,
    asked: &'a RefCell<BTreeSet<String>>,
}

impl<'a> Observed<'a> {
    fn path_of(self, key: &str) -> String {
        format!("{}/{key}", self.path)
    }

    fn below(self, key: &str, value: &'a Value) -> Self {
        let path = self.path_of(key).leak();
        Self {
            value,
            path,
            ..self
        }
    }
}

impl<'a> Json<'a> for Observed<'a> {
    fn kind(self) -> JsonType {
        Json::kind(self.value)
    }

    fn get(self, key: &str) -> Option<Self> {
        self.asked.borrow_mut().insert(self.path_of(key));
        Some(self.below(key, Json::get(self.value, key)?))
    }

    fn as_str(self) -> Option<&'a str> {
        Json::as_str(self.value)
    }

    fn as_bool(self) -> Option<bool> {
        Json::as_bool(self.value)
    }

    fn items(self) -> Option<impl Iterator<Item = Self>> {
        let items = Json::items(self.value)?;
        Some(items.map(move |item| self.below(ITEM, item)))
    }

    fn entries(self) -> Option<impl Iterator<Item = (&'a str, Self)>> {
        let entries = Json::entries(self.value)?;
        Some(entries.map(move |(key, value)| (key, self.below(key, value))))
    }
}

/// Whether what is at a path is kept, as far as it is read.
fn is_kept(keep: &Keep, path: &[&str]) -> bool {
    let Some((key, rest)) = path.split_first() else {
        return true;
    };
    match keep {
        Keep::Leaf => false,
        Keep::Object(_, below) | Keep::Filter(below) => is_kept(below, path),
        Keep::Items(below, _) => *key == ITEM && is_kept(below, rest),
        Keep::Values(_) => rest.is_empty(),
        Keep::Fields(fields, _) => {
            let field = fields.iter().find(|(name, _)| name == key);
            field.is_some_and(|(_, below)| is_kept(below, rest))
        }
    }
}

/// An object that has every field of every shape.
fn object(api_version: &str, kind: &str) -> Value {
    let bundle = json!({"name": "p.v1.0.0", "version": "1.0.0", "release": "1"});
    let catalog = json!({
        "packageName": "p", "version": "1.0.0", "channel": "c", "channels": ["c"],
        "upgradeConstraintPolicy": "CatalogProvided",
        "selector": {
            "matchLabels": {"a": "b"},
            "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}],
        },
    });
    json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {
            "name": "x", "generateName": "x-", "deletionTimestamp": null, "labels": {"a": "b"},
        },
        "spec": {
            "packageName": "p", "version": "1.0.0", "channel": "c", "installNamespace": "n",
            "namespace": "n", "install": {"namespace": "n"},
            "upgradeConstraintPolicy": "Enforce",
            "source": {"sourceType": "Catalog", "catalog": catalog},
        },
        "status": {
            "install": {"bundle": bundle}, "installedBundle": bundle, "installedBundleResource": "i",
            "conditions": [
                {"type": "Installed", "status": "True", "reason": "Succeeded"},
                {"type": "Progressing", "status": "True", "reason": "Retrying"},
            ],
        },
    })
}

#[test]
fn what_an_extension_is_read_from_is_kept() {
    let asked = RefCell::default();
    for (shape, api_version, kind) in [
        (Shape::V1, "olm.operatorframework.io/v1", "ClusterExtension"),
        (
            Shape::V1Alpha1Nested,
            "olm.operatorframework.io/v1alpha1",
            "ClusterExtension",
        ),
        (
            Shape::V1Alpha1Flat,
            "olm.operatorframework.io/v1alpha1",
            "ClusterExtension",
        ),
        (
            Shape::Operator,
            "operators.operatorframework.io/v1alpha1",
            "Operator",
        ),
    ] {
        let value = object(api_version, kind);
        let observed = Observed {
            value: &value,
            path: "",
            asked: &asked,
        };
        recognise(observed);
        Extension::read(shape, observed);
    }
    let asked = asked.into_inner();
    assert!(asked.len() > 30, "{}", asked.len());
    let is_lost = |path: &&String| {
        let keys: Vec<_> = path.split('/').skip(1).collect();
        !is_kept(&EXTENSION, &keys)
    };
    let lost: Vec<_> = asked.iter().filter(is_lost).collect();
    assert!(lost.is_empty(), "keep.rs does not name {lost:?}");
}

const ITEM: &str = "*";
