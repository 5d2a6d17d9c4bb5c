//! The Kubernetes objects of a document: the document itself, or the items of a list.
//!
//! Mirrors how kubectl flattens lists (k8s.io/cli-runtime [`pkg/resource/visitor.go`]) and how
//! apimachinery decodes them ([`unstructured/helpers.go`]): an item without `apiVersion` and `kind`
//! inherits those of its typed list. An AdmissionReview is one object, whatever it contains.
//!
//! [`pkg/resource/visitor.go`]: https://github.com/kubernetes/cli-runtime/blob/v0.36.1/pkg/resource/visitor.go
//! [`unstructured/helpers.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/apis/meta/v1/unstructured/helpers.go

use std::fmt;
use std::mem;

use serde_json::{Map, Value};

use super::Document;
use super::position::{MarkId, Position, Positions, ValueStep};
use olmguard_catalog::version::go;
use olmguard_engine::nearest::nearest;
use olmguard_policy::GROUP;

/// An object with its position in its document.
#[derive(Clone, Debug)]
pub struct ManifestObject {
    /// `apiVersion`; empty if it is absent or not a string.
    pub api_version: String,
    /// `kind`; empty if it is absent or not a string.
    pub kind: String,
    /// `metadata.name`; `None` if it is absent, empty or not a string.
    pub name: Option<String>,
    /// The whole object, a mapping.
    pub value: Value,
    /// 0-based index of the document in the file.
    pub document: usize,
    /// The mark of the object among the positions of its document.
    mark: MarkId,
}

impl Document {
    /// Returns the objects in order, and the positions of all of them. A document that is not a
    /// mapping has no objects. A list is replaced by its items, recursively.
    pub fn into_objects(self) -> (Vec<ManifestObject>, Positions) {
        let mut objects = Vec::new();
        let mut pending = vec![PendingValue {
            value: self.value,
            mark: MarkId::ROOT,
            inherited: None,
        }];
        while let Some(PendingValue {
            value,
            mark,
            inherited,
        }) = pending.pop()
        {
            let Value::Object(mut members) = value else {
                continue;
            };
            if let Some(of_list) = inherited {
                of_list.fill(&mut members);
            }
            match take_items(&mut members) {
                Some(elements) => {
                    let marks = self.positions.elements(mark, "items");
                    pending.extend(unfold(&members, elements, marks));
                }
                None => objects.push(ManifestObject::new(members, self.index, mark)),
            }
        }
        (objects, self.positions)
    }
}

impl ManifestObject {
    /// Returns the position of the value at this path within the object. If the value is absent,
    /// the position of the nearest value above it. `positions` must be those of the object's
    /// document.
    pub fn position(&self, positions: &Positions, path: &[ValueStep<'_>]) -> Position {
        positions.nearest_below(self.mark, path)
    }

    /// Returns the number or boolean at this path within the object, as written.
    pub fn source_text<'p>(
        &self,
        positions: &'p Positions,
        path: &[ValueStep<'_>],
    ) -> Option<&'p str> {
        positions.source_text_below(self.mark, path)
    }

    fn new(members: Map<String, Value>, document: usize, mark: MarkId) -> Self {
        let name = members
            .get("metadata")
            .map(|metadata| text(metadata.get("name")));
        Self {
            api_version: text(members.get("apiVersion")),
            kind: text(members.get("kind")),
            name: name.filter(|name| !name.is_empty()),
            value: Value::Object(members),
            document,
            mark,
        }
    }
}

/// A value that can be an object or a list of objects.
struct PendingValue {
    value: Value,
    mark: MarkId,
    inherited: Option<TypeMeta>,
}

/// The type of the items of a typed list.
#[derive(Clone)]
struct TypeMeta {
    api_version: String,
    kind: String,
}

impl TypeMeta {
    fn of_items(list: &Map<String, Value>) -> Option<Self> {
        let of_list = text(list.get("kind"));
        let kind = of_list.strip_suffix(LIST).unwrap_or(&of_list).to_owned();
        (!kind.is_empty()).then(|| Self {
            api_version: text(list.get("apiVersion")),
            kind,
        })
    }

    fn fill(self, members: &mut Map<String, Value>) {
        let absent = |name| text(members.get(name)).is_empty();
        if absent("apiVersion") && absent("kind") {
            members.insert("apiVersion".to_owned(), self.api_version.into());
            members.insert("kind".to_owned(), self.kind.into());
        }
    }
}

/// Takes the items of a list. Any object with `items` is a list, whatever its kind. Null counts as
/// an empty list.
fn take_items(members: &mut Map<String, Value>) -> Option<Vec<Value>> {
    match members.get_mut("items")? {
        Value::Array(items) => Some(mem::take(items)),
        Value::Null => Some(Vec::new()),
        _ => None,
    }
}

/// Returns the elements in reverse order, because they are taken from the end.
fn unfold(
    list: &Map<String, Value>,
    elements: Vec<Value>,
    marks: Vec<MarkId>,
) -> impl Iterator<Item = PendingValue> {
    let of_list = TypeMeta::of_items(list);
    let elements = elements.into_iter().enumerate().rev();
    elements.map(move |(index, value)| PendingValue {
        value,
        mark: marks.get(index).copied().unwrap_or(MarkId::ROOT),
        inherited: of_list.clone(),
    })
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

const LIST: &str = "List";

// === The kind that an object with a typo was meant to have ===

/// A kind that olmguard reads, with an object that was probably meant to have this kind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct MeantKind {
    found_version: String,
    found_kind: String,
    known: &'static KnownKind,
}

/// A kind that olmguard reads, in its current version.
#[derive(Debug, Eq, PartialEq)]
struct KnownKind {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
}

impl MeantKind {
    /// Returns the kind that an object was probably meant to have. The object must not be of a
    /// known kind.
    pub(crate) fn of(object: &ManifestObject) -> Option<Self> {
        let (found, kind) = (&object.api_version, &object.kind);
        let group = found.split_once('/').map_or("", |(group, _)| group);
        let is_meant = |known: &&KnownKind| {
            let same = known.group == group && known.kind == kind;
            let strange_group =
                known.kind == kind && (is_of_olm(group) || known.needs_group(group));
            !same && is_like(kind, known.kind) && (is_like(group, known.group) || strange_group)
        };
        let known = KNOWN.iter().find(is_meant)?;
        (!OTHERS.contains(&kind.as_str())).then(|| Self {
            found_version: found.clone(),
            found_kind: kind.clone(),
            known,
        })
    }

    /// Whether the kind is that of an administrator's policy or guardrails.
    pub(crate) fn is_policy(&self) -> bool {
        self.known.group == GROUP
    }

    /// The field that is wrong; `kind` if both are.
    pub(crate) fn field(&self) -> &'static str {
        if self.found_kind == self.known.kind {
            "apiVersion"
        } else {
            "kind"
        }
    }
}

impl fmt::Display for MeantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KnownKind {
            group,
            version,
            kind,
        } = *self.known;
        if self.found_kind != kind {
            let found = go::quote(&self.found_kind);
            write!(f, "kind {found} is not known: did you mean {kind}?")?;
        }
        let own = self.found_version.split_once('/');
        if own.is_none_or(|(own, _)| own != group) {
            let gap = if self.field() == "kind" { " " } else { "" };
            if self.found_version.is_empty() {
                return write!(f, "{gap}apiVersion is missing: expected {group}/{version}");
            }
            let found = go::quote(&self.found_version);
            let version = own.map_or(version, |(_, version)| version);
            write!(
                f,
                "{gap}apiVersion {found} has no such kind: did you mean {group}/{version}?"
            )?;
        }
        Ok(())
    }
}

/// Whether a name can be a typo of a known one.
fn is_like(found: &str, known: &str) -> bool {
    // Checked first because it is cheap: most objects are of other kinds.
    let is_as_long = found.len().abs_diff(known.len()) <= MOST_LONGER;
    let is_near = || {
        let (found, known) = (found.to_lowercase(), known.to_lowercase());
        !nearest(&found, [&*known], 1).is_empty()
    };
    is_as_long && is_near()
}

/// Whether an object in this group can be meant for another group of OLM.
fn is_of_olm(group: &str) -> bool {
    group.contains("operatorframework") || group == "operators.coreos.com"
}

impl KnownKind {
    /// Whether the group may simply be missing. Kubernetes itself has no such kinds, but an API
    /// outside of clusters has an `UpgradePolicy` without a group.
    fn needs_group(&self, group: &str) -> bool {
        group.is_empty() && self.group != GROUP
    }
}

const KNOWN: [KnownKind; 4] = [
    KnownKind {
        group: "olm.operatorframework.io",
        version: "v1",
        kind: "ClusterExtension",
    },
    KnownKind {
        group: "olm.operatorframework.io",
        version: "v1",
        kind: "ClusterCatalog",
    },
    KnownKind {
        group: GROUP,
        version: "v1alpha1",
        kind: "UpgradePolicy",
    },
    KnownKind {
        group: GROUP,
        version: "v1alpha1",
        kind: "UpgradeGuardrails",
    },
];

/// Kinds of OLM that olmguard does not read.
const OTHERS: [&str; 3] = ["Catalog", "ClusterExtensionRevision", "ClusterObjectSet"];

/// The maximum difference in length between a name and its typo.
const MOST_LONGER: usize = 4;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::documents;

    fn meant(api_version: &str, kind: &str) -> Option<String> {
        let text = json!({"apiVersion": api_version, "kind": kind}).to_string();
        let document = documents(text.as_bytes()).next().unwrap().unwrap();
        let (objects, _) = document.into_objects();
        MeantKind::of(&objects[0]).map(|meant| meant.to_string())
    }

    #[test]
    fn a_typo_is_named() {
        let group = "olm.operatorframework.io/v1";
        let extension = "did you mean ClusterExtension?";
        for kind in [
            "ClusterExtention",
            "clusterextension",
            "ClusterExtensions",
            "CLusterExtension",
        ] {
            let said = meant(group, kind).unwrap_or_default();
            assert!(said.ends_with(extension), "{kind}: {said}");
        }
        for version in [
            "olm.operatorframewrok.io/v1",
            "olm.operator-framework.io/v1",
            "operatorframework.io/v1",
            "operators.coreos.com/v1",
            "olm.operatorframework.com/v1",
        ] {
            let said = meant(version, "ClusterExtension").unwrap_or_default();
            assert!(
                said.ends_with("did you mean olm.operatorframework.io/v1?"),
                "{version}: {said}"
            );
        }
        let both = meant("olm.operatorframework.oi/v1", "ClusterCatalogue").unwrap();
        assert_eq!(
            both,
            "kind \"ClusterCatalogue\" is not known: did you mean ClusterCatalog? apiVersion \
             \"olm.operatorframework.oi/v1\" has no such kind: did you mean olm.operatorframework.io/v1?"
        );
        assert!(meant("olmguard.dev/v1alpha1", "UpgradePolicies").is_some());
        assert!(meant("olm.operatorframework.io/v1", "UpgradePolicy").is_some());
        let missing = "apiVersion is missing: expected olm.operatorframework.io/v1";
        assert_eq!(meant("", "ClusterExtension").as_deref(), Some(missing));
        for version in ["v1", "olm.operatorframework.io"] {
            let expected =
                format!("apiVersion \"{version}\" has no such kind: did you mean {group}?");
            assert_eq!(meant(version, "ClusterExtension"), Some(expected));
        }
    }

    #[test]
    fn other_kinds_are_other_kinds() {
        for (version, kind) in [
            ("olm.operatorframework.io/v1", "ClusterExtensionRevision"),
            ("olm.operatorframework.io/v1", "ClusterObjectSet"),
            ("operators.coreos.com/v1alpha1", "Subscription"),
            ("operators.coreos.com/v1alpha1", "ClusterServiceVersion"),
            ("v1", "Namespace"),
            // An API outside of clusters has this kind, too, without a group.
            ("", "UpgradePolicy"),
            ("rbac.authorization.k8s.io/v1", "ClusterRole"),
            ("example.com/v1", "ClusterExtension"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ] {
            assert_eq!(meant(version, kind), None, "{version} {kind}");
        }
    }
}
