//! JSON into values, checked as catalogs are.

use super::{Members, Value};
use olmguard_catalog::blob::JsonKind;
use olmguard_catalog::fbc::FbcErrorKind;
use olmguard_catalog::fbc::json::{Cursor, CursorResult, Halt};

/// Reads one JSON value. What follows it is not looked at.
///
/// # Errors
/// What makes it no JSON, or more than is kept of one blob.
pub(crate) fn parse(json: &[u8]) -> Result<Value, FbcErrorKind> {
    read(&mut Cursor::new(json)).map_err(|halt| match halt {
        Halt::Incomplete => FbcErrorKind::Truncated,
        Halt::Malformed { malformed, .. } => malformed,
    })
}

/// Reads the next value.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> CursorResult<Value> {
    value(cursor, 0)
}

/// Reads the next value, so many levels deep.
fn value(cursor: &mut Cursor<'_>, depth: usize) -> CursorResult<Value> {
    match cursor.kind()? {
        JsonKind::Null => cursor.skip().map(|()| Value::Null),
        JsonKind::Boolean => cursor.boolean().map(Value::Bool),
        JsonKind::Number => {
            let start = cursor.at();
            cursor.skip()?;
            let text = String::from_utf8_lossy(cursor.since(start));
            Ok(Value::Number(text.into()))
        }
        JsonKind::String => Ok(Value::String(cursor.string()?.decode().into())),
        JsonKind::List => {
            let depth = deeper(cursor, depth)?;
            let items = cursor.list(|cursor| value(cursor, depth));
            items.map(Value::List)
        }
        JsonKind::Object => {
            let depth = deeper(cursor, depth)?;
            object(cursor, depth)
        }
    }
}

fn object(cursor: &mut Cursor<'_>, depth: usize) -> CursorResult<Value> {
    let mut members = Members::default();
    cursor.each_member(|cursor, key| {
        cursor.keep()?;
        let value = value(cursor, depth)?;
        members.0.insert(key.decode().into(), value);
        Ok(())
    })?;
    Ok(Value::Object(members))
}

fn deeper(cursor: &Cursor<'_>, depth: usize) -> CursorResult<usize> {
    if depth == DEPTH_LIMIT {
        let limit = DEPTH_LIMIT;
        return cursor.malformed_at(cursor.at(), FbcErrorKind::TooDeep { limit });
    }
    Ok(depth + 1)
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
        assert_eq!(fault, Err(FbcErrorKind::TooDeep { limit: DEPTH_LIMIT }));
        assert_eq!(parse(b"{\"a\": [1"), Err(FbcErrorKind::Truncated));
    }
}
