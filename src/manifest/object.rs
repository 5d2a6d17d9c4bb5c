//! The Kubernetes objects of a document: itself, or the items of the list that it is.
//!
//! Mirrors how kubectl flattens lists (k8s.io/cli-runtime [`pkg/resource/visitor.go`]) and how
//! apimachinery decodes them ([`unstructured/helpers.go`]): an item without `apiVersion` and `kind`
//! takes those of its typed list. An AdmissionReview is one object, whatever it carries.
//!
//! [`pkg/resource/visitor.go`]: https://github.com/kubernetes/cli-runtime/blob/v0.36.1/pkg/resource/visitor.go
//! [`unstructured/helpers.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/apis/meta/v1/unstructured/helpers.go

use std::mem;

use serde_json::{Map, Value};

use super::documents::Document;
use super::position::{Position, Positions, ValueStep};

/// An object, and where in its document it stands.
#[derive(Clone, Debug)]
pub struct ManifestObject {
    /// `apiVersion`; empty where there is none, or it is no string.
    pub api_version: String,
    /// `kind`; empty where there is none, or it is no string.
    pub kind: String,
    /// `metadata.name`; None where there is none, or it is empty or no string.
    pub name: Option<String>,
    /// The whole object, a mapping.
    pub value: Value,
    /// 0-based index of the document in the file.
    pub document: usize,
    /// The index in each list around the object, from the outside in.
    items: Vec<usize>,
}

impl Document {
    /// The objects in order, and the positions for all of them. A document that is no mapping has
    /// none; a list is its items, and its items' items.
    pub fn into_objects(self) -> (Vec<ManifestObject>, Positions) {
        let mut objects = Vec::new();
        let mut pending = vec![PendingValue {
            value: self.value,
            items: Vec::new(),
            inherited: None,
        }];
        while let Some(PendingValue {
            value,
            items,
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
                Some(elements) => pending.extend(unfold(&members, elements, &items)),
                None => objects.push(ManifestObject::new(members, self.index, items)),
            }
        }
        (objects, self.positions)
    }
}

impl ManifestObject {
    /// Where the value at this path within the object begins or, where it is absent, the nearest
    /// one above it. `positions` are those of the object's document.
    pub fn position(&self, positions: &Positions, path: &[ValueStep<'_>]) -> Position {
        positions.nearest(&self.steps(path))
    }

    /// How the number or boolean at this path within the object is written.
    pub fn source_text<'p>(
        &self,
        positions: &'p Positions,
        path: &[ValueStep<'_>],
    ) -> Option<&'p str> {
        positions.source_text(&self.steps(path))
    }

    /// The way from the root of the document.
    fn steps<'s>(&self, path: &[ValueStep<'s>]) -> Vec<ValueStep<'s>> {
        let items = self.items.iter();
        let items = items.flat_map(|index| [ValueStep::Key("items"), ValueStep::Index(*index)]);
        items.chain(path.iter().copied()).collect()
    }

    fn new(members: Map<String, Value>, document: usize, items: Vec<usize>) -> Self {
        let name = members
            .get("metadata")
            .map(|metadata| text(metadata.get("name")));
        Self {
            api_version: text(members.get("apiVersion")),
            kind: text(members.get("kind")),
            name: name.filter(|name| !name.is_empty()),
            value: Value::Object(members),
            document,
            items,
        }
    }
}

/// A value that may be an object or a list of some.
struct PendingValue {
    value: Value,
    items: Vec<usize>,
    inherited: Option<TypeMeta>,
}

/// What the items of a typed list are.
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

/// Whatever has `items` is a list, whatever its kind; null is none.
fn take_items(members: &mut Map<String, Value>) -> Option<Vec<Value>> {
    match members.get_mut("items")? {
        Value::Array(items) => Some(mem::take(items)),
        Value::Null => Some(Vec::new()),
        _ => None,
    }
}

/// The elements, the first one last, since they are taken from the end.
fn unfold(
    list: &Map<String, Value>,
    elements: Vec<Value>,
    around: &[usize],
) -> impl Iterator<Item = PendingValue> {
    let of_list = TypeMeta::of_items(list);
    elements
        .into_iter()
        .enumerate()
        .rev()
        .map(move |(index, value)| PendingValue {
            value,
            items: around.iter().copied().chain([index]).collect(),
            inherited: of_list.clone(),
        })
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

const LIST: &str = "List";
