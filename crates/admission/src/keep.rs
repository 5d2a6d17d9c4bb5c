//! The fields of a review that the decoder keeps, because something reads them.
//!
//! The rest, which is most of a review (`managedFields`, the annotation of `kubectl apply`), is skipped without being
//! kept. The name and the groups of `userInfo` are kept. Every field that an extension is read from must be named
//! here, and a test enforces that.
//!
//! Invariant: every list or map that is named here has a limit on its entries.

use serde_json::{Map, Value};

use olmguard_engine::extension::Filter;
use olmguard_policy::limits;

/// The part of a JSON value that is kept.
#[derive(Debug)]
pub(super) enum Keep {
    /// A scalar. For a list or a map, only the fact that the value is one.
    Leaf,
    /// A map with these fields; `Others` applies to all other fields.
    Fields(&'static [(&'static str, Self)], Others),
    /// A list, with the part that is kept of each item.
    Items(&'static Self, EntryRoom),
    /// A map with arbitrary keys whose values are leaves.
    Values(EntryRoom),
    /// One of the objects under review.
    Object(KeptObject, &'static Self),
    /// A value with everything in it, as written in the body.
    Whole,
    /// A map on the path to the filter. If its key is repeated, only the content of the last value counts.
    Filter(&'static Self),
}

/// The treatment of the fields that a map is not known to have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Others {
    /// Nothing reads these fields, so they are skipped.
    PassedOver,
    /// The names of the first [`OTHERS`] of these fields are kept, because they may be misspelt.
    Named,
}

/// The limit on the entries of a list or a map that are kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum EntryRoom {
    /// The total limit of the object's filter, which is [`FILTER`]. The decoder records whether there were more
    /// entries.
    Filter,
    /// The first condition of each type in [`CONDITIONS`]. The rest is skipped.
    Conditions,
    /// The first [`SUBJECT`] labels of an extension, or groups of a user. One beyond the limit of policies is kept, so
    /// an excess is detected.
    Subject,
}

impl EntryRoom {
    /// The maximum number of entries of one list or map. Conditions are limited by their types.
    pub(super) fn most(self) -> usize {
        match self {
            Self::Filter => FILTER,
            Self::Conditions => usize::MAX,
            Self::Subject => SUBJECT,
        }
    }
}

/// An object under review.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum KeptObject {
    /// The new object, with the edit.
    New,
    /// The old object, before the edit.
    Old,
}

/// The number of entries that are kept of all lists and maps of one filter. It is one more than are judged, so a
/// filter that is too large is detected.
pub(super) const FILTER: usize = Filter::MOST_ENTRIES + 1;

/// The types of the status conditions that are read. A status can have any number of others before them.
pub(super) const CONDITIONS: [&str; 2] = ["Installed", "Progressing"];

/// The number of labels, or groups, that are kept. It is one more than policies read, so an excess is detected.
pub(super) const SUBJECT: usize = limits::SUBJECT_ENTRIES + 1;

/// The number of fields with unknown names that are kept of one map. Warnings name at most five of them.
pub(super) const OTHERS: usize = 64;

/// Declares the fields of a map. A field without a value is a leaf.
macro_rules! fields {
    (@) => {
        Keep::Leaf
    };
    (@ $keep:expr) => {
        $keep
    };
    ($others:ident: $($name:literal $(=> $keep:expr)?),+ $(,)?) => {
        Keep::Fields(&[$(($name, fields!(@ $($keep)?))),+], Others::$others)
    };
}

/// An `AdmissionReview`.
pub(super) static REVIEW: Keep = fields!(PassedOver: "apiVersion", "kind", "request" => REQUEST);

const REQUEST: Keep = fields!(
    PassedOver:
    "uid",
    "kind" => GROUP_VERSION_KIND,
    "name",
    "operation",
    "subResource",
    "dryRun",
    "userInfo" => USER,
    "object" => Keep::Object(KeptObject::New, &REQUESTED),
    "oldObject" => Keep::Object(KeptObject::Old, &EXTENSION),
);

const GROUP_VERSION_KIND: Keep = fields!(PassedOver: "group", "version", "kind");

const USER: Keep = fields!(
    PassedOver: "username", "groups" => Keep::Items(&Keep::Leaf, EntryRoom::Subject),
);

/// An extension after the edit. Nothing reads its status: the installed bundle is read from the old object.
const REQUESTED: Keep = fields!(
    PassedOver: "apiVersion", "kind", "metadata" => METADATA, "spec" => Keep::Filter(&SPEC),
);

const EXTENSION: Keep = fields!(
    PassedOver:
    "apiVersion",
    "kind",
    "metadata" => METADATA,
    "spec" => Keep::Filter(&SPEC),
    "status" => STATUS,
);

const METADATA: Keep = fields!(
    PassedOver:
    "name",
    "uid",
    "generateName",
    "deletionTimestamp",
    "labels" => Keep::Values(EntryRoom::Subject),
);

/// In the older shapes, the spec itself has the fields of the catalog.
const SPEC: Keep = fields!(
    Named:
    "packageName",
    "version",
    "channel",
    "upgradeConstraintPolicy",
    "namespace",
    "installNamespace",
    "install" => INSTALL,
    "serviceAccount" => fields!(Named: "name"),
    "config" => Keep::Whole,
    "source" => Keep::Filter(&SOURCE),
);

const SOURCE: Keep = fields!(PassedOver: "sourceType", "catalog" => Keep::Filter(&CATALOG));

const CATALOG: Keep = fields!(
    Named:
    "packageName",
    "version",
    "channel",
    "channels" => Keep::Items(&Keep::Leaf, EntryRoom::Filter),
    "selector" => SELECTOR,
    "upgradeConstraintPolicy",
);

const SELECTOR: Keep = fields!(
    PassedOver:
    "matchLabels" => Keep::Values(EntryRoom::Filter),
    "matchExpressions" => Keep::Items(&REQUIREMENT, EntryRoom::Filter),
);

const REQUIREMENT: Keep = fields!(
    PassedOver: "key", "operator", "values" => Keep::Items(&Keep::Leaf, EntryRoom::Filter),
);

const INSTALL: Keep = fields!(Named: "namespace", "preflight" => PREFLIGHT);

const PREFLIGHT: Keep = fields!(Named: "crdUpgradeSafety" => fields!(Named: "enforcement"));

const STATUS: Keep = fields!(
    PassedOver:
    "install" => fields!(PassedOver: "bundle" => BUNDLE),
    "installedBundle" => BUNDLE,
    "installedBundleResource",
    "conditions" => Keep::Items(&CONDITION, EntryRoom::Conditions),
);

const BUNDLE: Keep = fields!(PassedOver: "name", "version", "release");

const CONDITION: Keep = fields!(PassedOver: "type", "status", "reason");

// === The same fields of an object that is already parsed ===

/// Returns only the fields that an extension is read from, for a file that may leave the cluster. Of the
/// configuration, only the part that cannot contain secrets is kept: a container's environment is outside it.
pub fn kept_extension(extension: &Value) -> Value {
    let mut kept = kept(&EXTENSION, extension);
    let metadata = kept.get_mut("metadata").and_then(Value::as_object_mut);
    // Only reviews compare the uid.
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
        (Keep::Whole, config) => kept(&NO_SECRETS, config),
        (_, Value::Object(_)) => Value::Object(Map::new()),
        (_, Value::Array(_)) => Value::Array(Vec::new()),
        (_, scalar) => scalar.clone(),
    }
}

const NO_SECRETS: Keep = fields!(
    PassedOver: "configType", "inline" => fields!(PassedOver: "watchNamespace"),
);

#[cfg(test)]
mod tests {
    //! Checks that every field that an extension is read from is kept of a review.

    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;
    use olmguard_catalog::json::JsonType;
    use olmguard_engine::extension::{Extension, Json, RecognisedObject, Shape, recognise};

    /// A value that records which of its paths are read.
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

        fn whole(self) -> Option<Value> {
            Some(self.value.clone())
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

    /// Whether the value at a path is kept, as far as it is read.
    fn is_kept(keep: &Keep, path: &[&str]) -> bool {
        let Some((key, rest)) = path.split_first() else {
            return true;
        };
        match keep {
            Keep::Leaf => false,
            Keep::Whole => true,
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
                "namespace": "n",
                "config": {"configType": "Inline", "inline": {"watchNamespace": "n"}},
                "install": {"namespace": "n"},
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
                "serviceAccount": {"name": "installer", "token": "SECRET"}, "config": {"inline": {"token": "SECRET"}},
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
