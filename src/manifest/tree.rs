//! Builds a value and its positions from the events of either parser.
//!
//! Only the builder handles keys, merges, aliases, duplicates and limits, so YAML and JSON cannot
//! differ in them. Aliases and merge keys follow go.yaml.in/yaml/v2 ([`decode.go`]): a merge takes
//! effect where it is written, so it replaces keys above it and is replaced by keys below it. In a
//! list of mappings, the first one has precedence.
//!
//! Invariant: the result, including all copies that aliases make, stays within [`MAX_NODES`] and
//! [`MAX_TEXT`].
//!
//! [`decode.go`]: https://github.com/yaml/go-yaml/blob/v2.4.3/decode.go

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use serde_json::{Map, Number, Value};

use super::error::{DocumentErrorKind, DocumentFault};
use super::position::{Below, MarkId, MarkKey, Position, Positions};
use olmguard_catalog::yaml_scalar::Scalar;

/// The maximum number of nested lists and mappings, which is as many as `serde_json` can read. The
/// deepest CRDs have about fifty.
pub const MAX_DEPTH: usize = 128;

/// Builds a document from events in the order of the source.
#[derive(Debug)]
pub(super) struct Builder {
    rules: DocumentRules,
    frames: Vec<OpenCollection>,
    anchors: BTreeMap<NonZeroUsize, AnchoredValue>,
    positions: Positions,
    /// The cost of everything built so far, with each alias replaced by its value.
    built: Cost,
    /// The cost of everything built and of all copies that are kept for aliases.
    spent: Cost,
    root: Option<Value>,
}

/// A list or mapping that is not closed yet.
#[derive(Debug)]
struct OpenCollection {
    mark: MarkId,
    anchor: Option<NonZeroUsize>,
    cost_before: Cost,
    content: CollectedItems,
}

/// The content of a list or mapping.
#[derive(Debug)]
pub(super) enum CollectedItems {
    List(Vec<Value>),
    Mapping(Mapping),
}

impl OpenCollection {
    fn mapping(&self) -> Option<&Mapping> {
        match &self.content {
            CollectedItems::Mapping(mapping) => Some(mapping),
            CollectedItems::List(_) => None,
        }
    }
}

impl CollectedItems {
    /// An empty list.
    pub(super) const LIST: Self = Self::List(Vec::new());

    /// An empty mapping.
    pub(super) fn mapping() -> Self {
        Self::Mapping(Mapping::default())
    }
}

/// A value that aliases can refer to.
#[derive(Debug)]
struct AnchoredValue {
    value: Value,
    below: Below,
    cost: Cost,
}

/// The constructs that a document may contain.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct DocumentRules {
    pub(super) aliases: Aliases,
    pub(super) repeated_keys: RepeatedKeys,
}

/// Whether aliases are allowed. Each alias is a copy.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Aliases {
    #[default]
    Taken,
    Refused,
}

/// The treatment of a key that a mapping already has.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum RepeatedKeys {
    #[default]
    Refused,
    /// The new value replaces the earlier one.
    LastCounts,
}

impl Builder {
    pub(super) const fn new(rules: DocumentRules) -> Self {
        Self {
            rules,
            frames: Vec::new(),
            anchors: BTreeMap::new(),
            positions: Positions::new(),
            built: Cost { nodes: 0, text: 0 },
            spent: Cost { nodes: 0, text: 0 },
            root: None,
        }
    }

    /// Returns the document; null if there was no event.
    pub(super) fn finish(self) -> (Value, Positions) {
        (self.root.unwrap_or_default(), self.positions)
    }

    /// Whether the next event is a key, and not a value.
    pub(super) fn expects_key(&self) -> bool {
        let mapping = self.frames.last().and_then(OpenCollection::mapping);
        mapping.is_some_and(Mapping::expects_key)
    }

    pub(super) fn begin(
        &mut self,
        content: CollectedItems,
        anchor: Option<NonZeroUsize>,
        at: Position,
    ) -> Result<(), DocumentFault> {
        if self.expects_key() {
            let found = match content {
                CollectedItems::List(_) => "list",
                CollectedItems::Mapping(_) => "mapping",
            };
            let kind = DocumentErrorKind::KeyNotScalar { found };
            return Err(DocumentFault::new(at, kind));
        }
        if self.frames.len() >= MAX_DEPTH {
            return Err(DocumentFault::new(at, DocumentErrorKind::TooDeep));
        }
        let cost_before = self.built;
        self.spend(Cost { nodes: 1, text: 0 }, at)?;
        let mark = self.mark(at);
        self.frames.push(OpenCollection {
            mark,
            anchor,
            cost_before,
            content,
        });
        Ok(())
    }

    /// Closes the innermost collection.
    pub(super) fn end(&mut self, at: Position) -> Result<(), DocumentFault> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let below = self.positions.close(frame.mark);
        let value = match frame.content {
            CollectedItems::List(items) => Value::Array(items),
            CollectedItems::Mapping(mapping) => Value::Object(mapping.members),
        };
        let cost = self.built.since(frame.cost_before);
        if let Some(anchor) = frame.anchor {
            self.remember(anchor, &value, below, cost, at)?;
        }
        self.put(value, at)
    }

    /// Adds a scalar, with its text as written.
    pub(super) fn scalar(
        &mut self,
        scalar: Scalar<'_>,
        text: &str,
        anchor: Option<NonZeroUsize>,
        at: Position,
    ) -> Result<(), DocumentFault> {
        let cost = Cost::of_scalar(&scalar);
        self.spend(cost, at)?;
        let failed = |error| DocumentFault::new(at, error);
        if let Some(anchor) = anchor {
            let value = scalar.clone().into_json().map_err(failed)?;
            self.remember(anchor, &value, Below::NOTHING, cost, at)?;
        }
        if self.expects_key() {
            return self.named(scalar, at);
        }
        let value = scalar.into_json().map_err(failed)?;
        if value.is_number() || value.is_boolean() {
            self.positions.note(text, at);
        }
        self.mark(at);
        self.put(value, at)
    }

    /// Handles a plain `<<` as a key.
    pub(super) fn merge_key(&mut self) {
        let frame = self.frames.last_mut();
        if let Some(CollectedItems::Mapping(mapping)) = frame.map(|frame| &mut frame.content) {
            mapping.pending = NextValue::Merge;
        }
    }

    pub(super) fn alias(
        &mut self,
        anchor: NonZeroUsize,
        at: Position,
    ) -> Result<(), DocumentFault> {
        if self.rules.aliases == Aliases::Refused {
            return Err(DocumentFault::new(at, DocumentErrorKind::AliasRefused));
        }
        let unfinished = || DocumentFault::new(at, DocumentErrorKind::AliasOfItself);
        let cost = self.anchors.get(&anchor).ok_or_else(unfinished)?.cost;
        // The budget is charged before the copy is made.
        self.spend(cost, at)?;
        let anchored = self.anchors.get(&anchor).ok_or_else(unfinished)?;
        let (value, below) = (anchored.value.clone(), anchored.below.clone());
        if self.expects_key() {
            return self.named(as_scalar(value, at)?, at);
        }
        let depth = self.frames.len() + depth_of(&value);
        if depth > MAX_DEPTH {
            return Err(DocumentFault::new(at, DocumentErrorKind::TooDeep));
        }
        let mark = self.mark(at);
        self.positions.copy(&below);
        self.positions.close(mark);
        self.put(value, at)
    }

    fn named(&mut self, scalar: Scalar<'_>, at: Position) -> Result<(), DocumentFault> {
        let key = scalar.into_key();
        let key = key.map_err(|error| DocumentFault::new(at, error))?;
        let Some(OpenCollection {
            mark,
            content: CollectedItems::Mapping(mapping),
            ..
        }) = self.frames.last_mut()
        else {
            return Ok(());
        };
        let repeated = mapping.set_key(key.into_owned());
        let refused = repeated.filter(|_| self.rules.repeated_keys == RepeatedKeys::Refused);
        let Some(key) = refused else { return Ok(()) };
        let first = self.positions.written(*mark, &key).unwrap_or(at);
        let key = key.chars().take(SHOWN_KEY).collect();
        let kind = DocumentErrorKind::DuplicateKey { key, first };
        Err(DocumentFault::new(at, kind))
    }

    fn mark(&mut self, at: Position) -> MarkId {
        let mapping = self.frames.last().and_then(OpenCollection::mapping);
        let key = match mapping.map(|mapping| &mapping.pending) {
            Some(NextValue::Key(name)) => self.positions.key(name),
            Some(NextValue::Merge | NextValue::Nothing) => MarkKey::Merge,
            None => MarkKey::None,
        };
        self.positions.open(at, key)
    }

    fn put(&mut self, value: Value, at: Position) -> Result<(), DocumentFault> {
        match self.frames.last_mut().map(|frame| &mut frame.content) {
            None => self.root = Some(value),
            Some(CollectedItems::List(items)) => items.push(value),
            Some(CollectedItems::Mapping(mapping)) => {
                mapping
                    .put(value)
                    .map_err(|found| DocumentFault::new(at, DocumentErrorKind::Merge { found }))?;
            }
        }
        Ok(())
    }

    /// Keeps a copy for later aliases, which is charged like the value itself. It does not count as
    /// built: the value of an outer anchor has one copy of it. If aliases are refused, no copy is made.
    fn remember(
        &mut self,
        anchor: NonZeroUsize,
        value: &Value,
        below: Below,
        cost: Cost,
        at: Position,
    ) -> Result<(), DocumentFault> {
        if self.rules.aliases == Aliases::Refused {
            return Ok(());
        }
        self.charge(cost, at)?;
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

    fn spend(&mut self, cost: Cost, at: Position) -> Result<(), DocumentFault> {
        self.built.nodes += cost.nodes;
        self.built.text += cost.text;
        self.charge(cost, at)
    }

    fn charge(&mut self, cost: Cost, at: Position) -> Result<(), DocumentFault> {
        self.spent.nodes += cost.nodes;
        self.spent.text += cost.text;
        if self.spent.nodes > MAX_NODES {
            return Err(DocumentFault::new(at, DocumentErrorKind::TooManyNodes));
        }
        if self.spent.text > MAX_TEXT {
            return Err(DocumentFault::new(at, DocumentErrorKind::TooMuchText));
        }
        Ok(())
    }
}

pub(super) fn number_scalar(number: &Number) -> Scalar<'static> {
    let whole = number
        .as_i64()
        .map(Scalar::Int)
        .or_else(|| number.as_u64().map(Scalar::Uint));
    whole.unwrap_or_else(|| Scalar::Float(number.as_f64().unwrap_or(f64::NAN)))
}

/// Returns the scalar that an alias used as a key stands for.
fn as_scalar(value: Value, at: Position) -> Result<Scalar<'static>, DocumentFault> {
    let found = match value {
        Value::Null => return Ok(Scalar::Null),
        Value::Bool(value) => return Ok(Scalar::Bool(value)),
        Value::Number(number) => return Ok(number_scalar(&number)),
        Value::String(text) => return Ok(Scalar::Str(text.into())),
        Value::Array(_) => "list",
        Value::Object(_) => "mapping",
    };
    let kind = DocumentErrorKind::KeyNotScalar { found };
    Err(DocumentFault::new(at, kind))
}

/// Returns the number of nested lists and mappings in a value, including itself. The value is
/// already built, so the result is at most [`MAX_DEPTH`].
fn depth_of(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}

/// The number of characters of a key in a message, enough to find it.
const SHOWN_KEY: usize = 60;

// === The budget of one document, with each alias replaced by its value ===
//
// These limits let a file of the maximum size and its document fit into 256 MiB together.

/// The maximum number of values and keys in one document.
pub const MAX_NODES: usize = 1_000_000;

/// The maximum number of bytes of text in its values and keys.
pub const MAX_TEXT: usize = 48 << 20;

/// The size of a part of a document.
#[derive(Clone, Copy, Debug)]
struct Cost {
    nodes: usize,
    text: usize,
}

impl Cost {
    fn of_scalar(scalar: &Scalar<'_>) -> Self {
        let text = match scalar {
            Scalar::Str(text) => text.len(),
            _ => 0,
        };
        Self { nodes: 1, text }
    }

    const fn since(self, before: Self) -> Self {
        Self {
            nodes: self.nodes - before.nodes,
            text: self.text - before.text,
        }
    }
}

// === The members of a mapping while it is being read: keys, merges, duplicates ===

/// A mapping that is not closed yet.
#[derive(Debug, Default)]
pub(super) struct Mapping {
    members: Map<String, Value>,
    /// The names that only a merge has added. Writing one of them is not a duplicate.
    merged: BTreeSet<String>,
    pending: NextValue,
}

/// The destination of the next value.
#[derive(Debug, Default)]
enum NextValue {
    /// A key must come first.
    #[default]
    Nothing,
    Key(String),
    Merge,
}

impl Mapping {
    fn expects_key(&self) -> bool {
        matches!(self.pending, NextValue::Nothing)
    }

    /// Sets the key of the next value. Returns the key if it is already written in the mapping.
    fn set_key(&mut self, key: String) -> Option<String> {
        let is_repeated = self.members.contains_key(&key) && !self.merged.remove(&key);
        let repeated = is_repeated.then(|| key.clone());
        self.pending = NextValue::Key(key);
        repeated
    }

    /// Adds the next value. Fails with the type of a value that cannot be merged.
    fn put(&mut self, value: Value) -> Result<(), &'static str> {
        match std::mem::take(&mut self.pending) {
            NextValue::Key(key) => {
                self.members.insert(key, value);
                Ok(())
            }
            NextValue::Merge => self.merge(value),
            NextValue::Nothing => Ok(()),
        }
    }

    fn merge(&mut self, value: Value) -> Result<(), &'static str> {
        match value {
            Value::Object(members) => self.merge_members(members),
            Value::Array(mappings) => {
                for mapping in mappings.into_iter().rev() {
                    let Value::Object(members) = mapping else {
                        return Err("list of other things");
                    };
                    self.merge_members(members);
                }
            }
            Value::Null => return Err("null"),
            Value::Bool(_) => return Err("boolean"),
            Value::Number(_) => return Err("number"),
            Value::String(_) => return Err("string"),
        }
        Ok(())
    }

    fn merge_members(&mut self, members: Map<String, Value>) {
        for (name, value) in members {
            if !self.members.contains_key(&name) {
                self.merged.insert(name.clone());
            }
            self.members.insert(name, value);
        }
    }
}
