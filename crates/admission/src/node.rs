//! The kept part of a review: JSON whose texts borrow from the body unless they contain escapes.
//!
//! All values are in one list, in the order of the body. Each value precedes the values inside it, and stores how many
//! entries those occupy. A review therefore needs a single allocation, however many maps it has.

use std::borrow::Cow;

use serde_json::{Number, Value};

use olmguard_catalog::json::{Json, JsonType};
use olmguard_engine::json_values;

/// Values in the order of the body.
#[derive(Debug)]
pub(super) struct NodeList<'de> {
    entries: Vec<NodeEntry<'de>>,
}

/// One value with its key. The key is empty if the value is not in a map.
#[derive(Debug)]
struct NodeEntry<'de> {
    key: Cow<'de, str>,
    content: NodeContent<'de>,
    /// The number of entries after this one that are inside it.
    below: usize,
}

/// The content of a value, without the values inside it.
#[derive(Debug)]
pub(super) enum NodeContent<'de> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'de, str>),
    List,
    Map,
    /// A value of any type, as written in the body. It is not parsed until something reads all of it.
    Whole(&'de str),
}

/// A reference to a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a, 'de> {
    entry: &'a NodeEntry<'de>,
    below: &'a [NodeEntry<'de>],
}

impl<'de> NodeList<'de> {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::with_capacity(USUAL),
        }
    }

    /// Adds a value and returns its position. Later values are inside it once [`Self::end`] is called.
    pub(super) fn add(&mut self, key: Cow<'de, str>, content: NodeContent<'de>) -> usize {
        let place = self.entries.len();
        self.entries.push(NodeEntry {
            key,
            content,
            below: 0,
        });
        place
    }

    /// Declares that all values added after this one are inside it.
    pub(super) fn end(&mut self, place: usize) {
        let below = self.entries.len() - place - 1;
        if let Some(entry) = self.entries.get_mut(place) {
            entry.below = below;
        }
    }

    /// The number of entries, which is the position of the next one.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the position of a key among the entries of a map that is still being read.
    pub(super) fn find(&self, map: usize, key: &str) -> Option<usize> {
        let mut place = map + 1;
        while let Some(entry) = self.entries.get(place) {
            if entry.key == key {
                return Some(place);
            }
            place += 1 + entry.below;
        }
        None
    }

    /// Replaces an earlier value by the one that was added last, at `last`.
    pub(super) fn replace(&mut self, earlier: usize, last: usize) {
        let size = self.entries.get(earlier).map_or(0, |entry| 1 + entry.below);
        if size == 1 && last + 1 == self.entries.len() {
            self.entries.swap_remove(earlier);
        } else {
            self.entries.drain(earlier..earlier + size);
        }
    }

    /// Sorts the entries of a map in byte order of their keys. The last of several equal keys counts. The entries must
    /// not contain other values.
    pub(super) fn sort(&mut self, map: usize) {
        let entries = self.entries.get(map + 1..).unwrap_or_default();
        if entries.is_sorted_by(|one, next| one.key < next.key) {
            return;
        }
        let mut entries = self.entries.split_off(map + 1);
        entries.reverse();
        entries.sort_by(|one, other| one.key.cmp(&other.key));
        entries.dedup_by(|one, before| one.key == before.key);
        self.entries.append(&mut entries);
    }

    /// The value that contains all others.
    pub(super) fn root(&self) -> Option<Node<'_, 'de>> {
        let (entry, below) = self.entries.split_first()?;
        Some(Node { entry, below })
    }
}

impl<'a> Node<'a, '_> {
    /// Returns the direct children of this value.
    fn children(self) -> impl Iterator<Item = Self> {
        let mut left = self.below;
        std::iter::from_fn(move || {
            let (entry, after) = left.split_first()?;
            let (below, after) = after.split_at_checked(entry.below)?;
            left = after;
            Some(Self { entry, below })
        })
    }

    fn key(self) -> &'a str {
        &self.entry.key
    }
}

impl<'a> Json<'a> for Node<'a, '_> {
    fn kind(self) -> JsonType {
        match &self.entry.content {
            NodeContent::Null => JsonType::Null,
            NodeContent::Bool(_) => JsonType::Boolean,
            NodeContent::Number(number) if number.is_f64() => JsonType::Number,
            NodeContent::Number(_) => JsonType::Integer,
            NodeContent::Text(_) => JsonType::String,
            NodeContent::List => JsonType::Array,
            NodeContent::Map => JsonType::Object,
            NodeContent::Whole(text) => kind_of(text),
        }
    }

    fn get(self, key: &str) -> Option<Self> {
        let mut children = self.is_object().then(|| self.children())?;
        children.find(|child| child.key() == key)
    }

    fn as_str(self) -> Option<&'a str> {
        match &self.entry.content {
            NodeContent::Text(text) => Some(text),
            _ => None,
        }
    }

    fn as_bool(self) -> Option<bool> {
        match &self.entry.content {
            NodeContent::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn items(self) -> Option<impl Iterator<Item = Self>> {
        matches!(self.entry.content, NodeContent::List).then(|| self.children())
    }

    fn entries(self) -> Option<impl Iterator<Item = (&'a str, Self)>> {
        let children = self.is_object().then(|| self.children())?;
        Some(children.map(|child| (child.key(), child)))
    }

    /// The value, if it is kept whole. `None` if it is larger than [`LARGEST_WHOLE`], has more than [`MOST_VALUES`]
    /// values, or is nested deeper than serde reads.
    fn whole(self) -> Option<Value> {
        match self.entry.content {
            NodeContent::Whole(text) if text.len() <= LARGEST_WHOLE => {
                json_values::at_most(MOST_VALUES, text.as_bytes()).ok()?;
                serde_json::from_str(text).ok()
            }
            _ => None,
        }
    }
}

/// Returns the type of a value, by its first byte.
fn kind_of(text: &str) -> JsonType {
    match text.as_bytes().first() {
        Some(b'{') => JsonType::Object,
        Some(b'[') => JsonType::Array,
        Some(b'"') => JsonType::String,
        Some(b't' | b'f') => JsonType::Boolean,
        Some(b'n') => JsonType::Null,
        _ => JsonType::Number,
    }
}

/// The maximum size in bytes of a value that is read whole. Only the configuration of an extension is kept whole,
/// which has some hundreds.
const LARGEST_WHOLE: usize = 1 << 16;
/// The maximum number of values in it. Two such objects fit into the memory of an ordinary review.
const MOST_VALUES: usize = 750;

/// The initial capacity, which exceeds the number of values kept of an ordinary review.
const USUAL: usize = 128;

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    #[test]
    fn entries_are_put_in_the_order_of_their_keys_and_the_last_of_equal_ones_counts() {
        let sorted = |entries: &[(&'static str, i32)]| {
            let mut list = NodeList::new();
            let map = list.add(Cow::Borrowed(""), NodeContent::Map);
            for (key, value) in entries {
                list.add(Cow::Borrowed(key), NodeContent::Number((*value).into()));
            }
            list.sort(map);
            let values = list.entries.iter().skip(map + 1);
            let shown = values.map(|entry| match &entry.content {
                NodeContent::Number(number) => format!("{}={number}", entry.key),
                other => format!("{other:?}"),
            });
            shown.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(sorted(&[("c", 1), ("b", 2), ("a", 3)]), "a=3 b=2 c=1");
        assert_eq!(sorted(&[("a", 1), ("b", 2), ("a", 3)]), "a=3 b=2");
        assert_eq!(sorted(&[("a", 1), ("b", 2)]), "a=1 b=2");
    }

    impl Node<'_, '_> {
        /// Converts the value as serde reads it.
        pub(crate) fn to_value(self) -> Value {
            match &self.entry.content {
                NodeContent::Null => Value::Null,
                NodeContent::Bool(value) => Value::Bool(*value),
                NodeContent::Number(number) => Value::Number(number.clone()),
                NodeContent::Text(text) => Value::String(text.clone().into_owned()),
                NodeContent::Whole(_) => self.whole().unwrap_or_default(),
                NodeContent::List => self.children().map(Self::to_value).collect(),
                NodeContent::Map => {
                    let entry = |child: Self| (child.key().to_owned(), child.to_value());
                    Value::Object(self.children().map(entry).collect::<Map<_, _>>())
                }
            }
        }
    }
}
