//! What is kept of an object that is a JSON value already.

use serde_json::{Map, Value};

use super::{EXTENSION, Keep, Room};
use crate::admission::keep;

/// The fields that an extension is read from, and no others: what a file may hold that leaves the cluster.
pub(crate) fn kept_extension(extension: &Value) -> Value {
    let mut kept = kept(&EXTENSION, extension);
    let metadata = kept.get_mut("metadata").and_then(Value::as_object_mut);
    // Only reviews compare it.
    metadata.and_then(|metadata| metadata.remove("uid"));
    kept
}

fn kept(keep: &Keep, value: &Value) -> Value {
    match (keep, value) {
        (Keep::Object(_, below) | Keep::Filter(below), value) => kept(below, value),
        (Keep::Fields(fields, _), Value::Object(members)) => {
            let fields = fields.iter();
            let known = fields.filter_map(|(name, below)| {
                let member = members.get(*name)?;
                Some(((*name).to_owned(), kept(below, member)))
            });
            known.collect::<Map<_, _>>().into()
        }
        (Keep::Values(room), Value::Object(members)) => {
            let members = members.iter().take(room.most());
            let members = members.map(|(key, member)| (key.clone(), kept(&Keep::Leaf, member)));
            members.collect::<Map<_, _>>().into()
        }
        (Keep::Items(below, room), Value::Array(items)) => {
            let items = items.iter().take(room.most());
            items.map(|item| kept(below, item)).collect()
        }
        (_, Value::Object(_)) => Value::Object(Map::new()),
        (_, Value::Array(_)) => Value::Array(Vec::new()),
        (_, scalar) => scalar.clone(),
    }
}

impl Room {
    /// The most entries of one list or map.
    fn most(self) -> usize {
        match self {
            Self::Filter => keep::FILTER,
            Self::Conditions => keep::CONDITIONS,
            Self::Subject => keep::SUBJECT,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use olmguard_engine::extension::{Extension, RecognisedObject, recognise};

    #[track_caller]
    fn reads_the_same(object: &Value) {
        let read = |object: &Value| {
            let RecognisedObject::Extension(shape) = recognise(object) else {
                panic!("{object}");
            };
            format!("{:?}", Extension::read(shape, object))
        };
        assert_eq!(read(&kept_extension(object)), read(object), "{object}");
    }

    #[test]
    fn the_same_is_read_from_what_is_kept() {
        let catalog = json!({
            "packageName": "p", "version": ">=1", "channels": ["a", "b"],
            "selector": {
                "matchLabels": {"x": "y"},
                "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}],
            },
            "upgradeConstraintPolicy": "SelfCertified",
        });
        let bundle = json!({"name": "p.v1", "version": "1.0.0", "release": "2"});
        let conditions = json!([
            {"type": "Progressing", "status": "True", "reason": "RollingOut", "message": "m"},
        ]);
        let metadata = json!({
            "name": "x", "labels": {"team": "a"}, "deletionTimestamp": "2026-01-01T00:00:00Z",
        });
        for object in [
            json!({
                "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "metadata": metadata,
                "spec": {"namespace": "n", "source": {"sourceType": "Catalog", "catalog": catalog}},
                "status": {"install": {"bundle": bundle}, "conditions": conditions},
            }),
            json!({
                "apiVersion": "olm.operatorframework.io/v1alpha1", "kind": "ClusterExtension",
                "metadata": metadata, "spec": {"packageName": "p", "channel": "a", "installNamespace": "n"},
                "status": {"installedBundle": bundle, "conditions": conditions},
            }),
            json!({
                "apiVersion": "operators.operatorframework.io/v1alpha1", "kind": "Operator",
                "metadata": {"name": 1, "labels": []}, "spec": {"packageName": ["p"], "version": {"a": 1}},
                "status": {"installedBundleResource": "image"},
            }),
            json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "spec": []}),
        ] {
            reads_the_same(&object);
        }
    }

    #[test]
    fn nothing_else_is_kept() {
        let object = json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {
                "name": "x", "uid": "SECRET", "annotations": {"a": "SECRET"}, "managedFields": ["SECRET"],
            },
            "spec": {
                "serviceAccount": {"name": "SECRET"}, "config": {"inline": {"token": "SECRET"}},
                "source": {"sourceType": "Catalog", "catalog": {"packageName": "p", "other": "SECRET"}},
            },
            "status": {
                "conditions": [{"type": "Installed", "message": "SECRET", "lastTransitionTime": "SECRET"}],
            },
        });
        let kept = kept_extension(&object).to_string();
        assert!(!kept.contains("SECRET"), "{kept}");
    }
}
