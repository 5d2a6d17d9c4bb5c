//! JSON values, one after another in a text.
//!
//! `serde_json` says whether a value is well-formed and where it ends, without building anything; a
//! walk over the text then known to be good tells the builder what stands where.

use serde::de::IgnoredAny;
use serde_json::{Number, Value};

use super::cursor::Cursor;
use super::error::{DocumentErrorKind, Fault, Format};
use super::position::{Position, Positions};
use super::tree::{Builder, Collection};
use olmguard_catalog::yaml_scalar::Scalar;

/// The first value of the text at the cursor, which moves to behind it. None where nothing but
/// space is left.
pub(super) fn next(cursor: &mut Cursor<'_>) -> Option<Result<(Value, Positions), Fault>> {
    cursor.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    let text = cursor.rest();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    if let Err(error) = values.next()? {
        return Some(Err(syntax(&error, cursor)));
    }
    let value = text.get(..values.byte_offset())?;
    let mut within = Cursor::starting_at(cursor.position(), value);
    cursor.advance(value.len());
    Some(walk(&mut within))
}

fn walk(cursor: &mut Cursor<'_>) -> Result<(Value, Positions), Fault> {
    let mut builder = Builder::new();
    while let Some(first) = cursor.rest().bytes().next() {
        let at = cursor.position();
        let len = token_len(cursor.rest(), first);
        let token = cursor.rest().get(..len).unwrap_or_default();
        match first {
            b'{' => builder.begin(Collection::Mapping, None, at)?,
            b'[' => builder.begin(Collection::List, None, at)?,
            b'}' | b']' => builder.end(at)?,
            b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => builder.scalar(scalar(token, first, cursor)?, token, None, at)?,
        }
        cursor.advance(len);
    }
    Ok(builder.finish())
}

/// Bytes of the token that begins the text, known to be well-formed; its first byte is `first`.
fn token_len(text: &str, first: u8) -> usize {
    let after = text.bytes().skip(1);
    1 + match first {
        b'"' => string_len(after),
        b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => 0,
        _ => after
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
            .count(),
    }
}

/// Bytes up to and with the closing quote.
fn string_len(mut after: impl Iterator<Item = u8>) -> usize {
    let mut len = 0;
    while let Some(byte) = after.next() {
        len += 1;
        match byte {
            b'"' => break,
            b'\\' => len += usize::from(after.next().is_some()),
            _ => {}
        }
    }
    len
}

fn scalar<'a>(token: &'a str, first: u8, cursor: &Cursor<'_>) -> Result<Scalar<'a>, Fault> {
    let parsed = match first {
        b'n' => Ok(Scalar::Null),
        b't' => Ok(Scalar::Bool(true)),
        b'f' => Ok(Scalar::Bool(false)),
        b'"' => string(token),
        _ => serde_json::from_str(token).map(|number| number_scalar(&number)),
    };
    parsed.map_err(|error| syntax(&error, cursor))
}

/// Without a copy where there is no escape.
fn string(token: &str) -> Result<Scalar<'_>, serde_json::Error> {
    match token
        .strip_prefix('"')
        .and_then(|token| token.strip_suffix('"'))
    {
        Some(plain) if !plain.contains('\\') => Ok(Scalar::Str(plain.into())),
        _ => serde_json::from_str::<String>(token).map(|text| Scalar::Str(text.into())),
    }
}

fn number_scalar(number: &Number) -> Scalar<'static> {
    let whole = number
        .as_i64()
        .map(Scalar::Int)
        .or_else(|| number.as_u64().map(Scalar::Uint));
    whole.unwrap_or_else(|| Scalar::Float(number.as_f64().unwrap_or(f64::NAN)))
}

/// The error's place counts bytes from where the cursor is.
fn syntax(error: &serde_json::Error, cursor: &Cursor<'_>) -> Fault {
    let message = error.to_string();
    let found = message.split(" at line ").next().unwrap_or_default().into();
    let kind = DocumentErrorKind::Syntax {
        format: Format::Json,
        found,
    };
    Fault::new(place(error, cursor), kind)
}

fn place(error: &serde_json::Error, cursor: &Cursor<'_>) -> Position {
    let lines = cursor.rest().split_inclusive('\n');
    let above: usize = lines
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let mut there = cursor.clone();
    there.advance(above + error.column().saturating_sub(1));
    there.position()
}
