//! Reads the members of a JSON object strictly, because an unknown key or word could change the
//! meaning of the others.
//!
//! Reading continues after a fault, because the valid part still restricts. An implementation of
//! [`FieldFaults`] keeps the first fault, or many.

use serde_json::{Map, Number, Value};

use crate::json::JsonType;
use crate::version::go::{escape, quote};

/// An object, and its path. A member that is null counts as absent, as in the API server.
#[derive(Clone, Debug)]
pub struct Members<'v> {
    object: &'v Map<String, Value>,
    path: String,
}

/// Receives the faults of an object's fields, and defines the differences between kinds of objects.
pub trait FieldFaults {
    /// The description of an object, for the fault that another value was found.
    const OBJECT: &'static str;

    /// Maximum number of entries of a list that are read. Further entries are a fault.
    const LIST_ENTRIES: usize;

    /// Maximum number of unknown keys of one object that are reported.
    const UNKNOWN_KEYS: usize;

    /// Returns the known key or word nearest to an unknown one, if this kind of object suggests
    /// one.
    fn nearest(_found: &str, _known: &'static [&'static str]) -> Option<&'static str> {
        None
    }

    /// Receives the fault of a field.
    fn report_field(&mut self, path: String, problem: FieldProblem);
}

/// The fault of a field.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FieldProblem {
    /// The field has the wrong type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// The expected value.
        expected: &'static str,
        /// The type of the value.
        found: JsonType,
    },
    /// The field has an invalid number.
    #[error("expected {expected}, found {found}")]
    Number {
        /// The expected value.
        expected: &'static str,
        /// The number.
        found: Number,
    },
    /// The field is required.
    #[error("missing: expected {expected}")]
    Missing {
        /// The expected value.
        expected: &'static str,
    },
    /// The field is empty.
    #[error("empty: expected {expected}")]
    Empty {
        /// The expected value.
        expected: &'static str,
    },
    /// The key is unknown in this object.
    #[error("unknown key{}: expected one of {}", nearest_hint(*.nearest), .known.join(", "))]
    UnknownKey {
        /// The nearest known key, if one is near.
        nearest: Option<&'static str>,
        /// All known keys.
        known: &'static [&'static str],
    },
    /// The value is not one of the known words.
    #[error("unknown value {}{}: expected one of {}", quote(.found), nearest_hint(*.nearest), .known.join(", "))]
    UnknownWord {
        /// The value.
        found: String,
        /// The nearest known word, if one is near.
        nearest: Option<&'static str>,
        /// All known words.
        known: &'static [&'static str],
    },
    /// The text is too long.
    #[error("too long: expected at most {most} bytes, found {found}")]
    TooLong {
        /// Length of the text in bytes.
        found: usize,
        /// Maximum length of the text, in bytes.
        most: usize,
    },
    /// The list or mapping is too long.
    #[error("too many: expected at most {most} entries, found {found}")]
    TooMany {
        /// Number of entries.
        found: usize,
        /// Maximum number of entries.
        most: usize,
    },
}

/// The condition on a text.
#[derive(Clone, Copy, Debug)]
pub struct TextRule {
    /// Description of the text, for faults.
    pub expected: &'static str,
    /// Maximum length of the text, in bytes.
    most: usize,
    can_be_empty: bool,
}

/// The words of a field, and their meanings in the same order.
#[derive(Clone, Copy, Debug)]
pub struct WordRule<T: 'static> {
    /// The condition on the text of the field.
    pub rule: TextRule,
    /// The words.
    pub known: &'static [&'static str],
    /// The meaning of each word.
    pub meant: &'static [T],
}

impl TextRule {
    /// A text that is not empty and has at most `most` bytes.
    pub const fn filled(expected: &'static str, most: usize) -> Self {
        Self {
            expected,
            most,
            can_be_empty: false,
        }
    }

    /// A text that may be empty and has at most `most` bytes.
    pub const fn any(expected: &'static str, most: usize) -> Self {
        Self {
            expected,
            most,
            can_be_empty: true,
        }
    }
}

impl<'v> Members<'v> {
    /// Reads the members of a value, which must be an object with only known keys.
    pub fn of<F: FieldFaults>(
        value: &'v Value,
        path: &str,
        known: &'static [&'static str],
        faults: &mut F,
    ) -> Option<Self> {
        let members = Self::any(value, path, faults)?;
        let unknown = members.object.keys();
        let unknown = unknown.filter(|key| !known.contains(&key.as_str()));
        // More faults would not be reported, and each unknown key is compared with all known ones.
        for key in unknown.take(F::UNKNOWN_KEYS) {
            let nearest = F::nearest(key, known);
            let path = members.path_of(&escape(&beginning(key, ECHOED_BYTES)));
            faults.report_field(path, FieldProblem::UnknownKey { nearest, known });
        }
        Some(members)
    }

    /// Reads the members of a value, which must be an object with any keys.
    pub fn any<F: FieldFaults>(value: &'v Value, path: &str, faults: &mut F) -> Option<Self> {
        let Value::Object(object) = value else {
            faults.report_field(path.to_owned(), FieldProblem::other_type(F::OBJECT, value));
            return None;
        };
        let path = path.to_owned();
        Some(Self { object, path })
    }

    /// The path of a member.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// Returns a member, unless it is absent or null.
    pub fn get(&self, key: &str) -> Option<&'v Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// Returns a member. If it is absent, that is a fault.
    pub fn needed<F: FieldFaults>(
        &self,
        key: &str,
        expected: &'static str,
        faults: &mut F,
    ) -> Option<&'v Value> {
        let value = self.get(key);
        if value.is_none() {
            faults.report_field(self.path_of(key), FieldProblem::Missing { expected });
        }
        value
    }

    /// Returns a text, unless it is absent.
    pub fn text<F: FieldFaults>(
        &self,
        key: &str,
        rule: TextRule,
        faults: &mut F,
    ) -> Option<&'v str> {
        text(self.get(key)?, self.path_of(key), rule, faults)
    }

    /// Returns the meaning of a word, unless the word is absent.
    pub fn word<T: Copy, F: FieldFaults>(
        &self,
        key: &str,
        words: &WordRule<T>,
        faults: &mut F,
    ) -> Option<T> {
        let found = self.text(key, words.rule, faults)?;
        let mut pairs = words.known.iter().zip(words.meant);
        let pair = pairs.find(|(word, _)| **word == found);
        if pair.is_none() {
            let nearest = F::nearest(found, words.known);
            let problem = FieldProblem::unknown_word(found, nearest, words.known);
            faults.report_field(self.path_of(key), problem);
        }
        pair.map(|(_, meant)| *meant)
    }

    /// Returns the entries of a list with their paths, unless the list is absent. If the list is
    /// too long, only its first entries are read.
    pub fn items<F: FieldFaults>(
        &self,
        key: &str,
        expected: &'static str,
        faults: &mut F,
    ) -> Option<Vec<(String, &'v Value)>> {
        let value = self.get(key)?;
        let path = self.path_of(key);
        let Value::Array(items) = value else {
            faults.report_field(path, FieldProblem::other_type(expected, value));
            return None;
        };
        bounded(items.len(), &path, faults);
        let items = items.iter().take(F::LIST_ENTRIES).enumerate();
        Some(items.map(|(at, item)| (entry(&path, at), item)).collect())
    }

    /// Does the same as [`Self::items`], but an empty list is a fault.
    pub fn some_items<F: FieldFaults>(
        &self,
        key: &str,
        expected: &'static str,
        faults: &mut F,
    ) -> Option<Vec<(String, &'v Value)>> {
        let items = self.items(key, expected, faults)?;
        if items.is_empty() {
            faults.report_field(self.path_of(key), FieldProblem::Empty { expected });
            return None;
        }
        Some(items)
    }
}

impl FieldProblem {
    /// Creates the fault of a value with the wrong type.
    pub fn other_type(expected: &'static str, value: &Value) -> Self {
        let found = JsonType::of(value);
        Self::Type { expected, found }
    }

    /// Creates the fault of an unknown word. `nearest` is the word that was probably meant.
    pub fn unknown_word(
        found: &str,
        nearest: Option<&'static str>,
        known: &'static [&'static str],
    ) -> Self {
        let found = beginning(found, ECHOED_BYTES);
        Self::UnknownWord {
            found,
            nearest,
            known,
        }
    }
}

/// Returns the text of a value, which must be a string.
pub fn text<'v>(
    value: &'v Value,
    path: String,
    rule: TextRule,
    faults: &mut impl FieldFaults,
) -> Option<&'v str> {
    let TextRule {
        expected,
        most,
        can_be_empty,
    } = rule;
    let problem = match value {
        Value::String(text) if text.is_empty() && !can_be_empty => FieldProblem::Empty { expected },
        Value::String(text) if text.len() > most => FieldProblem::TooLong {
            found: text.len(),
            most,
        },
        Value::String(text) => return Some(text),
        _ => FieldProblem::other_type(expected, value),
    };
    faults.report_field(path, problem);
    None
}

/// Reports a fault if there are more entries than the limit.
pub fn bounded<F: FieldFaults>(found: usize, path: &str, faults: &mut F) {
    let most = F::LIST_ENTRIES;
    if found > most {
        faults.report_field(path.to_owned(), FieldProblem::TooMany { found, most });
    }
}

/// Returns at most `most` bytes of a text, followed by dots if there are more. A key or word can be
/// as long as a whole object.
pub fn beginning(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    match text.get(..end) {
        Some(beginning) if end < text.len() => format!("{beginning}..."),
        _ => text.to_owned(),
    }
}

fn entry(path: &str, at: usize) -> String {
    format!("{path}[{at}]")
}

/// The suggestion at the end of a fault; empty without one.
pub fn nearest_hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(" (did you mean {nearest}?)"))
}

/// Maximum number of bytes of an external text that a fault repeats.
pub const ECHOED_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Collected(Vec<String>);

    impl FieldFaults for Collected {
        const OBJECT: &'static str = "a map";
        const LIST_ENTRIES: usize = 2;
        const UNKNOWN_KEYS: usize = 64;

        fn nearest(found: &str, known: &'static [&'static str]) -> Option<&'static str> {
            let is_near = |word: &&str| word.len() == found.len() || word.starts_with(found);
            known.iter().copied().find(is_near)
        }

        fn report_field(&mut self, path: String, problem: FieldProblem) {
            self.0.push(format!("{path}: {problem}"));
        }
    }

    const NAME: TextRule = TextRule::filled("a name", 5);
    const SIZES: WordRule<u8> = WordRule {
        rule: TextRule::any("small or large", 9),
        known: &["small", "large"],
        meant: &[1, 2],
    };

    #[test]
    fn every_fault_of_an_object_is_reported_and_the_rest_is_read() {
        let object = json!({
            "name": "lantern", "other": "", "size": "smal", "list": [1, 2, 3], "none": [], "nmae": null, "null": null,
        });
        let mut faults = Collected(Vec::new());
        let known = &["name", "other", "size", "list", "none", "null"];
        let members = Members::of(&object, "x", known, &mut faults).expect("an object");
        assert_eq!(members.text("name", NAME, &mut faults), None);
        assert_eq!(members.text("other", NAME, &mut faults), None);
        let any = TextRule::any("a text", 5);
        assert_eq!(members.text("other", any, &mut faults), Some(""));
        assert_eq!(members.word("size", &SIZES, &mut faults), None);
        let items = members.items("list", "a list", &mut faults);
        assert_eq!(items.map(|items| items.len()), Some(2));
        assert!(members.some_items("none", "a list", &mut faults).is_none());
        assert!(members.needed("null", "a number", &mut faults).is_none());
        assert!(Members::any(&json!([]), "y", &mut faults).is_none());
        assert_eq!(
            faults.0,
            [
                "x.nmae: unknown key (did you mean name?): expected one of name, other, size, list, none, null",
                "x.name: too long: expected at most 5 bytes, found 7",
                "x.other: empty: expected a name",
                "x.size: unknown value \"smal\" (did you mean small?): expected one of small, large",
                "x.list: too many: expected at most 2 entries, found 3",
                "x.none: empty: expected a list",
                "x.null: missing: expected a number",
                "y: expected a map, found array",
            ]
        );
    }
}
