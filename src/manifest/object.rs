//! The Kubernetes objects of a document: itself, or the items of the list that it is.
//!
//! Mirrors how kubectl flattens lists (k8s.io/cli-runtime [`pkg/resource/visitor.go`]) and how
//! apimachinery decodes them ([`unstructured/helpers.go`]): an item without `apiVersion` and `kind`
//! takes those of its typed list. An AdmissionReview is one object, whatever it carries.
//!
//! [`pkg/resource/visitor.go`]: https://github.com/kubernetes/cli-runtime/blob/v0.36.1/pkg/resource/visitor.go
//! [`unstructured/helpers.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/apis/meta/v1/unstructured/helpers.go

use serde_json::{Map, Value};

use super::documents::Document;
use super::error::{DocumentErrorKind, DocumentFault};
use super::placeholder::starting;
use super::position::{Position, Positions, ValueStep};
use olmguard_catalog::yaml_scalar::unquoted;

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
        let kind = text(list.get("kind"));
        let kind = kind.strip_suffix(LIST)?.to_owned();
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

fn take_items(members: &mut Map<String, Value>) -> Option<Vec<Value>> {
    text(members.get("kind")).ends_with(LIST).then_some(())?;
    let items = members.get_mut("items").filter(|items| items.is_array())?;
    match items.take() {
        Value::Array(items) => Some(items),
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

// A better reason why a document cannot be read, from its text: an unfinished merge, or a template that
// was not rendered.

/// The fault in those terms, if its text has one of the two. It begins at line `first_line` of the
/// file.
pub(super) fn explain(fault: DocumentFault, text: &str, first_line: u32) -> DocumentFault {
    let found = conflict(text, first_line).or_else(|| template(&fault, text, first_line));
    let found = found.or_else(|| range(&fault, text, first_line));
    found.unwrap_or(fault)
}

/// A version range without quotes, which is a block of text to YAML.
fn range(fault: &DocumentFault, text: &str, first_line: u32) -> Option<DocumentFault> {
    let index = fault.at.line.checked_sub(first_line)?;
    let line = text.lines().nth(usize::try_from(index).ok()?)?;
    let line = unquoted(line.as_bytes())?;
    let is_syntax = matches!(fault.kind, DocumentErrorKind::Syntax { .. });
    is_syntax.then(|| DocumentFault::new(fault.at, DocumentErrorKind::Unquoted { line }))
}

/// Git writes a marker at the beginning of a line, where no mapping goes on with text of its own; the
/// first one counts.
fn conflict(text: &str, first_line: u32) -> Option<DocumentFault> {
    let is_marker = |line: &str| {
        let label = MARKERS.iter().find_map(|marker| line.strip_prefix(marker));
        label.is_some_and(|label| label.is_empty() || label.starts_with(' ')) || line == MIDDLE
    };
    let (marker, line) = text
        .lines()
        .zip(first_line..)
        .find(|(line, _)| is_marker(line))?;
    let marker = marker.split(' ').next().unwrap_or_default();
    let kind = DocumentErrorKind::Conflict {
        marker: marker.into(),
    };
    Some(DocumentFault::new(Position { line, column: 1 }, kind))
}

/// The text has a placeholder where a value, an item or a line of its own would begin, and that is
/// as far as reading came, or the first character of it was read yet. Within a text that was read, such as a script's, it is nothing special.
fn template(fault: &DocumentFault, text: &str, first_line: u32) -> Option<DocumentFault> {
    let could_be_one = matches!(
        fault.kind,
        DocumentErrorKind::Syntax { .. } | DocumentErrorKind::KeyNotScalar { .. }
    );
    let lines = text.lines().zip(first_line..);
    let up_to_it = lines.take_while(|(_, number)| *number <= fault.at.line);
    let mut openings = up_to_it.flat_map(|(line, number)| openings(line, number));
    let (at, opening) = openings.find(|(at, _)| {
        let column = at.column.saturating_add(1);
        let second = Position { column, ..*at };
        second >= fault.reached
    })?;
    let opening = opening.into();
    could_be_one.then(|| DocumentFault::new(at, DocumentErrorKind::Template { opening }))
}

/// The place of a placeholder that starts the line, a value, or an item, and its opening.
fn openings(line: &str, number: u32) -> impl Iterator<Item = (Position, &str)> {
    let mut before = None;
    let starts = line.char_indices().zip(1..).filter(move |((_, c), _)| {
        let begins = matches!(before, None | Some(':' | '-' | '[' | ','));
        before = Some(*c).filter(|c| !c.is_whitespace()).or(before);
        begins && !c.is_whitespace()
    });
    starts.filter_map(move |((at, _), column)| {
        let rest = line.get(at..)?;
        let block = BLOCKS.iter().find(|block| rest.starts_with(**block));
        let opening = block.copied().or_else(|| starting(rest))?;
        Some((
            Position {
                line: number,
                column,
            },
            opening,
        ))
    })
}

/// What may begin a part of a template that goes on for several lines.
const BLOCKS: [&str; 3] = ["{{", "{%", "{#"];

/// With the name of a side behind them, perhaps.
const MARKERS: [&str; 3] = ["<<<<<<<", "|||||||", ">>>>>>>"];

/// Alone on its line.
const MIDDLE: &str = "=======";
