//! A value of any type, as catalogd holds it once it has decoded a blob and written it anew.
//!
//! Of equal keys the last one counts, and numbers are those of Go's `float64`. For blobs that are
//! small and rare; what deep down no schema of theirs has room for is not kept.

use serde_json::{Map, Number, Value};

use super::cursor::{Cursor, CursorResult};
use crate::blob::JsonKind;
use crate::heap::allocated;

impl Cursor<'_> {
    /// The value that begins at `start`, written anew: its keys sorted, no blanks.
    pub(crate) fn rewritten(&mut self, start: usize) -> CursorResult<String> {
        let value = self.revisit(start, |cursor| cursor.value(LEVELS))?;
        // Escapes make it at most six times as long; it moves while it grows.
        self.hold(allocated(12 * self.since(start).len()))?;
        Ok(value.to_string())
    }

    fn value(&mut self, levels: usize) -> CursorResult<Value> {
        match self.kind()? {
            JsonKind::Object | JsonKind::List if levels == 0 => self.skip().map(|()| Value::Null),
            JsonKind::Object => self.object(levels - 1),
            JsonKind::List => {
                let items = self.list(|cursor| cursor.value(levels - 1))?;
                Ok(Value::Array(items))
            }
            JsonKind::String => {
                let text = self.string()?.decode();
                self.hold(allocated(text.len()))?;
                Ok(Value::String(text.into_owned()))
            }
            JsonKind::Number => Ok(number(self.number()?)),
            JsonKind::Boolean => self.boolean().map(Value::Bool),
            JsonKind::Null => self.skip().map(|()| Value::Null),
        }
    }

    fn object(&mut self, levels: usize) -> CursorResult<Value> {
        let mut object = Map::new();
        self.hold(NODE)?;
        self.each_member(|cursor, key| {
            let key = key.decode();
            cursor.keep()?;
            cursor.hold(MEMBER + allocated(key.len()))?;
            object.insert(key.into_owned(), cursor.value(levels)?);
            Ok(())
        })?;
        Ok(Value::Object(object))
    }
}

/// A number as Go's `float64` holds it; the reader has refused those beyond it.
fn number(text: &str) -> Value {
    let float = text.parse::<f64>().unwrap_or_default();
    let whole = (float.fract() == 0.0).then(|| format!("{float:.0}").parse::<i64>());
    match whole {
        Some(Ok(whole)) => Value::from(whole),
        _ => Number::from_f64(float).map_or(Value::Null, Value::Number),
    }
}

/// A node of the map of an object: eleven members.
const NODE: usize = allocated(11 * size_of::<(String, Value)>() + 16);

/// A member in a map whose nodes are at least five elevenths full.
const MEMBER: usize = 3 * size_of::<(String, Value)>();

/// How deep a value is kept: the blobs read so have four levels.
const LEVELS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.rewritten(0).expect("JSON")
    }

    #[test]
    fn what_catalogd_would_write() {
        for (text, expected) in [
            (
                r#"{"b":1, "a" : [true,null]}"#,
                r#"{"a":[true,null],"b":1}"#,
            ),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (
                r"[1.0,1e2,-0.5,9007199254740993]",
                "[1,100,-0.5,9007199254740992]",
            ),
            (r#"["\ud800","<"]"#, "[\"\u{fffd}\",\"<\"]"),
            (r"[[[[[[[[[1]]]]]]]]]", "[[[[[[[[null]]]]]]]]"),
        ] {
            assert_eq!(rewritten(text), expected, "{text}");
        }
    }

    #[test]
    fn any_depth_is_walked_without_recursion_beyond_the_levels() {
        let deep = format!("{}1{}", "[".repeat(9_000), "]".repeat(9_000));
        assert_eq!(rewritten(&deep), "[[[[[[[[null]]]]]]]]");
    }
}
