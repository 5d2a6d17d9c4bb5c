//! The members of a JSON object, read one by one; what nobody asks for is a problem.

use serde_json::{Map, Value};

use crate::json_type::JsonType;
use crate::version::go::escape;

use super::{Problem, UnreadGuardrails};
use crate::guardrail::read::beginning;

/// An object, and where it stands. Null is as good as absent, as it is to OLM.
pub(super) struct Members<'v> {
    object: &'v Map<String, Value>,
    path: String,
}

impl<'v> Members<'v> {
    /// The members of a value that has to be an object with no other keys than these.
    pub(super) fn of(
        value: &'v Value,
        path: String,
        known: &'static [&'static str],
    ) -> Result<Self, UnreadGuardrails> {
        let Value::Object(object) = value else {
            return Err(wrong(path, "an object", value));
        };
        let members = Self { object, path };
        match object.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => {
                let key = escape(&beginning(key));
                Err(members.unread(&key, Problem::UnknownKey { known }))
            }
            None => Ok(members),
        }
    }

    /// What is wrong with a member.
    pub(super) fn unread(&self, key: &str, problem: Problem) -> UnreadGuardrails {
        let path = self.path_of(key);
        UnreadGuardrails { path, problem }
    }

    /// Where a member stands.
    pub(super) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// A member, unless it is absent or null.
    pub(super) fn get(&self, key: &str) -> Option<&'v Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// A text, unless it is absent.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'v str>, UnreadGuardrails> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let text = value.as_str();
        let text = text.ok_or_else(|| wrong(self.path_of(key), "a string", value))?;
        if text.len() > MOST_BYTES {
            return Err(self.unread(key, Problem::TooLong { most: MOST_BYTES }));
        }
        Ok(Some(text))
    }

    /// A text that must be there and say something.
    pub(super) fn needed(
        &self,
        key: &str,
        expected: &'static str,
    ) -> Result<&'v str, UnreadGuardrails> {
        match self.text(key)? {
            None => Err(self.unread(key, Problem::Missing { expected })),
            Some("") => Err(self.unread(key, Problem::Empty { expected })),
            Some(text) => Ok(text),
        }
    }

    /// One of some words, unless it is absent.
    pub(super) fn word<T: Copy>(
        &self,
        key: &str,
        known: &'static [&'static str],
        meant: &[T],
    ) -> Result<Option<T>, UnreadGuardrails> {
        let Some(found) = self.text(key)? else {
            return Ok(None);
        };
        let mut pairs = known.iter().zip(meant);
        let word = pairs.find(|(word, _)| **word == found);
        let (_, meant) =
            word.ok_or_else(|| self.unread(key, Problem::unknown_word(found, known)))?;
        Ok(Some(*meant))
    }

    /// A list, with where each item stands; absent is empty.
    pub(super) fn items(&self, key: &str) -> Result<Vec<(String, &'v Value)>, UnreadGuardrails> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let items = value.as_array();
        let items = items.ok_or_else(|| wrong(self.path_of(key), "a list", value))?;
        let places = (0..).map(|at: usize| format!("{}[{at}]", self.path_of(key)));
        Ok(places.zip(items).collect())
    }
}

/// A value that has not the type it must have.
pub(super) fn wrong(path: String, expected: &'static str, value: &Value) -> UnreadGuardrails {
    let found = JsonType::of(value);
    let problem = Problem::Type { expected, found };
    UnreadGuardrails { path, problem }
}

/// How long a text may be: it is told to people, in a message of a kilobyte.
const MOST_BYTES: usize = 1 << 10;
