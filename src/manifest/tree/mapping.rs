//! The members of a mapping while it is being read: keys, merges, duplicates.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// A mapping that is not closed yet.
#[derive(Debug, Default)]
pub(super) struct Mapping {
    members: Map<String, Value>,
    /// Names that came by a merge only. Writing one out is no duplicate.
    merged: BTreeSet<String>,
    pending: NextValue,
}

/// What the next value belongs to.
#[derive(Debug, Default)]
enum NextValue {
    /// A key must come first.
    #[default]
    Nothing,
    Key(String),
    Merge,
}

impl Mapping {
    pub(super) const fn expects_key(&self) -> bool {
        matches!(self.pending, NextValue::Nothing)
    }

    /// The key whose value comes next.
    pub(super) fn pending_name(&self) -> Option<&str> {
        match &self.pending {
            NextValue::Key(name) => Some(name),
            NextValue::Nothing | NextValue::Merge => None,
        }
    }

    pub(super) fn into_members(self) -> Map<String, Value> {
        self.members
    }

    /// Fails with the key itself where it is written out already.
    pub(super) fn set_key(&mut self, key: String) -> Result<(), String> {
        if self.members.contains_key(&key) && !self.merged.remove(&key) {
            return Err(key);
        }
        self.pending = NextValue::Key(key);
        Ok(())
    }

    pub(super) fn set_merge(&mut self) {
        self.pending = NextValue::Merge;
    }

    /// Fails with the type of a value that cannot be merged.
    pub(super) fn put(&mut self, value: Value) -> Result<(), &'static str> {
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
