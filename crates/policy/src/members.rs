//! The members of a JSON object, read one by one; an unknown member is a fault.
//!
//! Reading continues after a fault: what is readable still restricts.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::fault::{Faults, PolicyProblem};
use crate::limits;
use olmguard_catalog::json_type::JsonType;
use olmguard_catalog::version::go::escape;

/// An object, and its place. A member that is null counts as absent, as in the API server.
pub(crate) struct Members<'v> {
    object: &'v Map<String, Value>,
    path: String,
}

impl<'v> Members<'v> {
    /// The members of a value, which must be an object with no other keys than these.
    pub(crate) fn of(
        value: &'v Value,
        path: &str,
        known: &'static [&'static str],
        faults: &mut Faults,
    ) -> Option<Self> {
        let members = Self::any(value, path, faults)?;
        let unknown = members.object.keys();
        let unknown = unknown.filter(|key| !known.contains(&key.as_str()));
        // More would not be reported, and each is compared with what is known.
        for key in unknown.take(limits::FAULTS) {
            let nearest = nearest(key, known);
            let path = members.path_of(&escape(&limits::beginning(key, limits::ECHOED_BYTES)));
            faults.report(path, PolicyProblem::UnknownKey { nearest, known });
        }
        Some(members)
    }

    /// The members of a value, which must be an object with any keys.
    pub(crate) fn any(value: &'v Value, path: &str, faults: &mut Faults) -> Option<Self> {
        let Value::Object(object) = value else {
            faults.report(path.to_owned(), wrong("a mapping", value));
            return None;
        };
        let path = path.to_owned();
        Some(Self { object, path })
    }

    /// The place of a member.
    pub(crate) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// A member, unless it is absent or null.
    pub(crate) fn get(&self, key: &str) -> Option<&'v Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// A member; its absence is a fault.
    pub(crate) fn needed(
        &self,
        key: &str,
        expected: &'static str,
        faults: &mut Faults,
    ) -> Option<&'v Value> {
        let value = self.get(key);
        if value.is_none() {
            faults.report(self.path_of(key), PolicyProblem::Missing { expected });
        }
        value
    }

    /// A text that is not empty and has at most so many bytes, unless it is absent.
    pub(crate) fn text(&self, key: &str, rule: TextRule, faults: &mut Faults) -> Option<&'v str> {
        text(self.get(key)?, self.path_of(key), rule, faults)
    }

    /// One of some words, unless it is absent.
    pub(crate) fn word<T: Copy>(
        &self,
        key: &str,
        words: &WordRule<T>,
        faults: &mut Faults,
    ) -> Option<T> {
        let rule = TextRule {
            expected: words.expected,
            most: limits::NAME_BYTES,
        };
        let found = self.text(key, rule, faults)?;
        let mut pairs = words.known.iter().zip(words.meant);
        let pair = pairs.find(|(word, _)| **word == found);
        if pair.is_none() {
            faults.report(self.path_of(key), words.unknown(found));
        }
        pair.map(|(_, meant)| *meant)
    }

    /// A list of at least one entry, each with its place, unless it is absent.
    ///
    /// Of a list that is too long, the first entries are read.
    pub(crate) fn items(
        &self,
        key: &str,
        expected: &'static str,
        faults: &mut Faults,
    ) -> Option<Vec<(String, &'v Value)>> {
        let value = self.get(key)?;
        let path = self.path_of(key);
        let Value::Array(items) = value else {
            faults.report(path, wrong(expected, value));
            return None;
        };
        bounded(items.len(), &path, faults);
        let items = items.iter().take(limits::LIST_ENTRIES).enumerate();
        Some(items.map(|(at, item)| (entry(&path, at), item)).collect())
    }

    /// Like [`Self::items`], where no entry at all is a fault.
    pub(crate) fn some_items(
        &self,
        key: &str,
        expected: &'static str,
        faults: &mut Faults,
    ) -> Option<Vec<(String, &'v Value)>> {
        let items = self.items(key, expected, faults)?;
        if items.is_empty() {
            faults.report(self.path_of(key), PolicyProblem::Empty { expected });
            return None;
        }
        Some(items)
    }
}

/// What a text must be, in words, and how many bytes it can have.
#[derive(Clone, Copy)]
pub(crate) struct TextRule {
    pub(crate) expected: &'static str,
    pub(crate) most: usize,
}

/// The words of a field, and what they mean, in the same order.
pub(crate) struct WordRule<T: 'static> {
    pub(crate) expected: &'static str,
    pub(crate) known: &'static [&'static str],
    pub(crate) meant: &'static [T],
}

impl<T> WordRule<T> {
    fn unknown(&self, found: &str) -> PolicyProblem {
        PolicyProblem::UnknownWord {
            nearest: nearest(found, self.known),
            found: limits::beginning(found, limits::ECHOED_BYTES),
            known: self.known,
        }
    }
}

/// A text that is not empty and has at most so many bytes.
pub(crate) fn text<'v>(
    value: &'v Value,
    path: String,
    rule: TextRule,
    faults: &mut Faults,
) -> Option<&'v str> {
    let TextRule { expected, most } = rule;
    let problem = match value {
        Value::String(text) if text.is_empty() => PolicyProblem::Empty { expected },
        Value::String(text) if text.len() > most => PolicyProblem::too_long(text, most),
        Value::String(text) => return Some(text),
        _ => wrong(expected, value),
    };
    faults.report(path, problem);
    None
}

/// A number of entries above the limit is a fault.
pub(crate) fn bounded(found: usize, path: &str, faults: &mut Faults) {
    let most = limits::LIST_ENTRIES;
    if found > most {
        faults.report(path.to_owned(), PolicyProblem::TooMany { found, most });
    }
}

fn entry(path: &str, at: usize) -> String {
    let mut path = path.to_owned();
    // Writing to a String cannot fail.
    let _ = write!(path, "[{at}]");
    path
}

fn wrong(expected: &'static str, value: &Value) -> PolicyProblem {
    let found = JsonType::of(value);
    PolicyProblem::Type { expected, found }
}

/// The known word with the fewest edits, if these are at most a third of it; the first of several.
fn nearest(found: &str, known: &'static [&'static str]) -> Option<&'static str> {
    if found.len() > limits::ECHOED_BYTES {
        return None;
    }
    let lower = found.to_lowercase();
    let edits = |word: &str| strsim::levenshtein(&lower, &word.to_lowercase());
    let measured = known.iter().map(|word| (edits(word), *word));
    let near = measured.filter(|(edits, word)| *edits <= word.len().div_ceil(3));
    near.min_by_key(|(edits, _)| *edits).map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_near() {
        let known: &[&str] = &["Patch", "Minor", "Major"];
        for (found, expected) in [
            ("minor", Some("Minor")),
            ("Mnior", Some("Minor")),
            ("Mjor", Some("Major")),
            ("MAJOR", Some("Major")),
            ("Match", Some("Patch")),
            ("Mior", Some("Minor")),
            ("", None),
            ("Everything", None),
            ("é", None),
        ] {
            assert_eq!(nearest(found, known), expected, "{found}");
        }
        assert_eq!(nearest(&"Minor".repeat(20), known), None);
    }
}
