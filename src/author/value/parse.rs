//! JSON into values, checked as catalogs are.

use super::{Members, Value};
use crate::catalog::blob::Kind;
use crate::catalog::fbc::Malformed;
use crate::catalog::fbc::json::{Cursor, Halt, Step};

/// Reads one JSON value. What follows it is not looked at.
///
/// # Errors
/// What makes it no JSON, or more than is kept of one blob.
pub(crate) fn parse(json: &[u8]) -> Result<Value, Malformed> {
    let mut cursor = Cursor::new(json);
    let read = Parser { json, depth: 0 }.value(&mut cursor);
    read.map_err(|halt| match halt {
        Halt::Incomplete => Malformed::Truncated,
        Halt::Malformed { malformed, .. } => malformed,
    })
}

/// Where in the text, and how deep in it, a value is read.
#[derive(Clone, Copy)]
struct Parser<'a> {
    json: &'a [u8],
    depth: usize,
}

impl<'a> Parser<'a> {
    fn value(self, cursor: &mut Cursor<'a>) -> Step<Value> {
        match cursor.kind()? {
            Kind::Null => cursor.skip().map(|()| Value::Null),
            Kind::Boolean => cursor.boolean().map(Value::Bool),
            Kind::Number => {
                let start = cursor.at();
                cursor.skip()?;
                let text = self.json.get(start..cursor.at()).unwrap_or_default();
                Ok(Value::Number(String::from_utf8_lossy(text).into()))
            }
            Kind::String => Ok(Value::String(cursor.string()?.decode().into())),
            Kind::List => {
                let inner = self.deeper(cursor)?;
                cursor.list(|cursor| inner.value(cursor)).map(Value::List)
            }
            Kind::Object => self.deeper(cursor)?.object(cursor),
        }
    }

    fn object(self, cursor: &mut Cursor<'a>) -> Step<Value> {
        let mut members = Members::default();
        cursor.each_member(|cursor, key| {
            cursor.keep()?;
            let value = self.value(cursor)?;
            members.0.insert(key.into(), value);
            Ok(())
        })?;
        Ok(Value::Object(members))
    }

    fn deeper(self, cursor: &Cursor<'a>) -> Step<Self> {
        if self.depth == DEPTH_LIMIT {
            let limit = DEPTH_LIMIT;
            return cursor.malformed_at(cursor.at(), Malformed::TooDeep { limit });
        }
        let depth = self.depth + 1;
        Ok(Self { depth, ..self })
    }
}

/// How deep a blob may nest that is kept whole: values are walked by recursion.
const DEPTH_LIMIT: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_has_its_limit() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(DEPTH_LIMIT).as_bytes()).is_ok());
        let fault = parse(nested(DEPTH_LIMIT + 1).as_bytes());
        assert_eq!(fault, Err(Malformed::TooDeep { limit: DEPTH_LIMIT }));
        assert_eq!(parse(b"{\"a\": [1"), Err(Malformed::Truncated));
    }
}
