//! A value and its positions, built from the events of either parser.
//!
//! The builder alone knows keys from values, merges, aliases, duplicates and limits, so that YAML
//! and JSON cannot differ in them. Aliases and merge keys follow go.yaml.in/yaml/v2 ([`decode.go`]):
//! a merge takes effect where it is written, so it replaces keys above it and is replaced by keys
//! below it; of a list of mappings the first counts.
//!
//! Invariant: what is built, with all copies that aliases make, stays within [`MAX_NODES`] and
//! [`MAX_TEXT`].
//!
//! [`decode.go`]: https://github.com/yaml/go-yaml/blob/v2.4.3/decode.go

mod budget;
mod mapping;

use std::collections::BTreeMap;

use serde_json::Value;

use self::budget::{Budget, Cost};
pub use self::budget::{MAX_NODES, MAX_TEXT};
use self::mapping::Mapping;
use super::error::{DocumentErrorKind, Fault};
use super::position::{Below, MarkId, MarkKey, Position, Positions};
use olmguard_catalog::yaml_scalar::Scalar;

/// The most levels of lists and mappings: as many as `serde_json` reads back. The deepest CRDs have
/// about fifty.
pub const MAX_DEPTH: usize = 128;

/// The number by which aliases name their anchor.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct AnchorId(pub(super) usize);

/// Takes events in the order of the source.
#[derive(Debug)]
pub(super) struct Builder {
    frames: Vec<Frame>,
    anchors: BTreeMap<AnchorId, AnchoredValue>,
    positions: Positions,
    budget: Budget,
    root: Option<Value>,
}

/// A list or mapping that is not closed yet.
#[derive(Debug)]
struct Frame {
    mark: MarkId,
    anchor: Option<AnchorId>,
    cost_before: Cost,
    content: Content,
}

#[derive(Debug)]
enum Content {
    List(Vec<Value>),
    Mapping(Mapping),
}

/// A value that aliases may ask for.
#[derive(Debug)]
struct AnchoredValue {
    value: Value,
    below: Below,
    cost: Cost,
}

/// Which of the two a collection is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Collection {
    List,
    Mapping,
}

impl Builder {
    pub(super) const fn new() -> Self {
        Self {
            frames: Vec::new(),
            anchors: BTreeMap::new(),
            positions: Positions::new(),
            budget: Budget::new(),
            root: None,
        }
    }

    /// The document, null where there was no event.
    pub(super) fn finish(self) -> (Value, Positions) {
        (self.root.unwrap_or_default(), self.positions)
    }

    /// Whether what comes next is a key, and not a value.
    pub(super) fn expects_key(&self) -> bool {
        match self.frames.last() {
            Some(Frame {
                content: Content::Mapping(mapping),
                ..
            }) => mapping.expects_key(),
            _ => false,
        }
    }

    pub(super) fn begin(
        &mut self,
        collection: Collection,
        anchor: Option<AnchorId>,
        at: Position,
    ) -> Result<(), Fault> {
        let (content, found) = match collection {
            Collection::List => (Content::List(Vec::new()), "list"),
            Collection::Mapping => (Content::Mapping(Mapping::default()), "mapping"),
        };
        if self.expects_key() {
            return Err(Fault::new(at, DocumentErrorKind::KeyNotScalar { found }));
        }
        if self.frames.len() >= MAX_DEPTH {
            return Err(Fault::new(
                at,
                DocumentErrorKind::TooDeep { limit: MAX_DEPTH },
            ));
        }
        let cost_before = self.budget.spent();
        self.spend(Cost { nodes: 1, text: 0 }, at)?;
        let mark = self.mark(at);
        self.frames.push(Frame {
            mark,
            anchor,
            cost_before,
            content,
        });
        Ok(())
    }

    /// Closes the innermost collection.
    pub(super) fn end(&mut self, at: Position) -> Result<(), Fault> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let below = self.positions.close(frame.mark);
        let value = match frame.content {
            Content::List(items) => Value::Array(items),
            Content::Mapping(mapping) => Value::Object(mapping.into_members()),
        };
        let cost = self.budget.spent().since(frame.cost_before);
        if let Some(anchor) = frame.anchor {
            self.remember(anchor, &value, below, cost, at)?;
        }
        self.put(value, at)
    }

    /// A scalar, and the text that it is written as.
    pub(super) fn scalar(
        &mut self,
        scalar: Scalar<'_>,
        text: &str,
        anchor: Option<AnchorId>,
        at: Position,
    ) -> Result<(), Fault> {
        let cost = Cost::of_scalar(&scalar);
        self.spend(cost, at)?;
        if let Some(anchor) = anchor {
            let value = scalar
                .clone()
                .into_json()
                .map_err(|error| Fault::new(at, error))?;
            self.remember(anchor, &value, Below::NOTHING, cost, at)?;
        }
        if self.expects_key() {
            return self.named(scalar, at);
        }
        let value = scalar.into_json().map_err(|error| Fault::new(at, error))?;
        if value.is_number() || value.is_boolean() {
            self.positions.note(text, at);
        }
        self.mark(at);
        self.put(value, at)
    }

    /// A plain `<<` in a key's place.
    pub(super) fn merge_key(&mut self) {
        if let Some(Frame {
            content: Content::Mapping(mapping),
            ..
        }) = self.frames.last_mut()
        {
            mapping.set_merge();
        }
    }

    pub(super) fn alias(&mut self, anchor: AnchorId, at: Position) -> Result<(), Fault> {
        let unfinished = || Fault::new(at, DocumentErrorKind::AliasOfItself);
        let anchored = self.anchors.get(&anchor).ok_or_else(unfinished)?;
        self.budget
            .spend(anchored.cost)
            .map_err(|kind| Fault::new(at, kind))?;
        let (value, below) = (anchored.value.clone(), anchored.below.clone());
        if self.expects_key() {
            return self.named(as_scalar(value, at)?, at);
        }
        let depth = self.frames.len() + depth_of(&value);
        if depth > MAX_DEPTH {
            return Err(Fault::new(
                at,
                DocumentErrorKind::TooDeep { limit: MAX_DEPTH },
            ));
        }
        let mark = self.mark(at);
        self.positions.copy(&below);
        self.positions.close(mark);
        self.put(value, at)
    }

    fn named(&mut self, scalar: Scalar<'_>, at: Position) -> Result<(), Fault> {
        let key = scalar.into_key().map_err(|error| Fault::new(at, error))?;
        let Some(Frame {
            mark,
            content: Content::Mapping(mapping),
            ..
        }) = self.frames.last_mut()
        else {
            return Ok(());
        };
        mapping.set_key(key.into_owned()).map_err(|key| {
            let first = self.positions.written(*mark, &key).unwrap_or(at);
            let key = key.chars().take(SHOWN_KEY).collect();
            Fault::new(at, DocumentErrorKind::DuplicateKey { key, first })
        })
    }

    fn mark(&mut self, at: Position) -> MarkId {
        let key = match self.frames.last() {
            Some(Frame {
                content: Content::Mapping(mapping),
                ..
            }) => match mapping.pending_name() {
                Some(name) => self.positions.key(name),
                None => MarkKey::Merge,
            },
            _ => MarkKey::None,
        };
        self.positions.open(at, key)
    }

    fn put(&mut self, value: Value, at: Position) -> Result<(), Fault> {
        match self.frames.last_mut().map(|frame| &mut frame.content) {
            None => self.root = Some(value),
            Some(Content::List(items)) => items.push(value),
            Some(Content::Mapping(mapping)) => {
                mapping
                    .put(value)
                    .map_err(|found| Fault::new(at, DocumentErrorKind::Merge { found }))?;
            }
        }
        Ok(())
    }

    /// Keeps a copy for the aliases to come, which costs as much as the value itself.
    fn remember(
        &mut self,
        anchor: AnchorId,
        value: &Value,
        below: Below,
        cost: Cost,
        at: Position,
    ) -> Result<(), Fault> {
        self.spend(cost, at)?;
        self.anchors.insert(
            anchor,
            AnchoredValue {
                value: value.clone(),
                below,
                cost,
            },
        );
        Ok(())
    }

    fn spend(&mut self, cost: Cost, at: Position) -> Result<(), Fault> {
        self.budget.spend(cost).map_err(|kind| Fault::new(at, kind))
    }
}

/// The scalar that an alias in a key's place stands for.
fn as_scalar(value: Value, at: Position) -> Result<Scalar<'static>, Fault> {
    let found = match value {
        Value::Null => return Ok(Scalar::Null),
        Value::Bool(value) => return Ok(Scalar::Bool(value)),
        Value::Number(number) => {
            let whole = number
                .as_i64()
                .map(Scalar::Int)
                .or_else(|| number.as_u64().map(Scalar::Uint));
            return Ok(whole.unwrap_or(Scalar::Float(number.as_f64().unwrap_or_default())));
        }
        Value::String(text) => return Ok(Scalar::Str(text.into())),
        Value::Array(_) => "list",
        Value::Object(_) => "mapping",
    };
    Err(Fault::new(at, DocumentErrorKind::KeyNotScalar { found }))
}

/// Levels of lists and mappings in a value, itself included. The value is one already built, so at
/// most [`MAX_DEPTH`].
fn depth_of(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}

/// Enough of a key to find it again.
const SHOWN_KEY: usize = 60;
