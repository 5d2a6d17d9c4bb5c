//! The JSON value of a YAML scalar in Kubernetes.
//!
//! Kubernetes' tools read YAML through sigs.k8s.io/yaml. Its decoder (go.yaml.in/yaml/v2,
//! [`resolve.go`]) types scalars by its own rules, which are close to YAML 1.1: `yes` and `on` are
//! booleans, `017` is octal, `1.10` is the number 1.1, and a date is text. [`resolve`] mirrors that
//! decoder. [`Scalar::into_json`] and [`Scalar::into_key`] mirror the conversion to JSON in
//! sigs.k8s.io/yaml ([`yaml.go`]).
//!
//! ```text
//! text, style, tag --resolve--> Scalar --into_json--> value
//!                                  `-----into_key---> name of a member
//! ```
//!
//! [`resolve.go`]: https://github.com/yaml/go-yaml/blob/v2.4.3/resolve.go
//! [`yaml.go`]: https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go

use std::borrow::Cow;

use granit_parser::{ScalarStyle, Tag};
use serde_json::{Number, Value};

use crate::base64;
use crate::json::push_lossy;

word_set! {
    /// A tag that affects the type of a scalar, as it is usually written.
    enum CoreTag {
        /// A boolean.
        Bool => "!!bool",
        /// A whole number.
        Int => "!!int",
        /// Any number.
        Float => "!!float",
        /// Null.
        Null => "!!null",
        /// A date.
        Timestamp => "!!timestamp",
        /// Base64.
        Binary => "!!binary",
    }
}

impl CoreTag {
    fn of(tag: &Tag) -> Option<Self> {
        let name = tag.suffix_in_namespace(CORE_PREFIX)?;
        let is_own = |tag: &Self| tag.as_str().strip_prefix("!!") == Some(&*name);
        Self::ALL.into_iter().find(is_own)
    }
}

/// A scalar with its type. Integers and floats are separate because they become different member
/// names.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// `~`, `null` or an empty text.
    Null,
    /// `true`, `yes`, `on`, `y` and their opposites.
    Bool(bool),
    /// A whole number that fits 64 bits with a sign.
    Int(i64),
    /// A whole number that fits 64 bits only without a sign.
    Uint(u64),
    /// Any other number, `.inf` and `.nan` included.
    Float(f64),
    /// Text.
    Str(Cow<'a, str>),
}

/// The reason why a scalar has no value in JSON.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ScalarError {
    /// The text does not have the type that the tag requires.
    #[error("scalar {text:?} is not a valid {tag}: expected text of that type, or no tag")]
    TagMismatch {
        /// The text, shortened if it is long.
        text: Box<str>,
        /// The tag as it is usually written.
        tag: &'static str,
    },
    /// The text with the tag `!!binary` is not base64.
    #[error(
        "scalar under !!binary is not base64: expected groups of four letters, padded with \"=\""
    )]
    NotBase64,
    /// The scalar is infinity or not a number.
    #[error("{text} is not a JSON number: expected a finite number, or quotes around it")]
    NotFinite {
        /// `.inf`, `-.inf` or `.nan`.
        text: &'static str,
    },
    /// The key of a member is null.
    #[error("null cannot be a key: expected a string, or quotes around it")]
    NullKey,
    /// The key of a member is a number of more than 63 bits.
    #[error(
        "number {0} cannot be a key: expected a number below 9223372036854775808, or quotes around \
         it"
    )]
    HugeKey(u64),
}

/// Returns the type and value of a scalar. Without a tag, the text decides the type of a plain scalar.
/// A scalar in quotes and a block (`|`, `>`) are strings.
///
/// # Errors
/// The text does not have the type of the tag, or text with the tag `!!binary` is not base64.
pub fn resolve<'t>(
    text: &'t str,
    style: ScalarStyle,
    tag: Option<&Tag>,
) -> Result<Scalar<'t>, ScalarError> {
    match tag.map(CoreTag::of) {
        None if style == ScalarStyle::Plain => Ok(plain(text)),
        // The tag `!!str` and every unknown tag, `!` included, make a string.
        None | Some(None) => Ok(Scalar::Str(text.into())),
        Some(Some(CoreTag::Binary)) => decode(text).map(|text| Scalar::Str(text.into())),
        Some(Some(tag)) => tagged(text, tag),
    }
}

/// Whether a key is the merge key: `<<`, unquoted or with the merge tag.
pub fn is_merge_key(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> bool {
    let is_merge = |tag: &Tag| tag.suffix_in_namespace(CORE_PREFIX).as_deref() == Some("merge");
    text == "<<" && tag.map_or(style == ScalarStyle::Plain, is_merge)
}

/// Whether go.yaml.in/yaml/v2 (`readerc.go`) allows a character anywhere in a document.
pub fn is_printable(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => !other.is_control(),
    }
}

/// Returns the scalar by its text alone. The first letter restricts the possible types.
fn plain(text: &str) -> Scalar<'_> {
    let found = match text.as_bytes().first() {
        None => Some(Scalar::Null),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            word(text)
        }
        Some(b'.') => special(text)
            .or_else(|| leading_dot(text))
            .map(Scalar::Float),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            special(text).map(Scalar::Float).or_else(|| signed(text))
        }
        Some(_) => None,
    };
    found.unwrap_or(Scalar::Str(text.into()))
}

fn word(text: &str) -> Option<Scalar<'static>> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Some(Scalar::Bool(true))
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Some(Scalar::Bool(false))
        }
        "~" | "null" | "Null" | "NULL" => Some(Scalar::Null),
        _ => None,
    }
}

fn tagged(text: &str, tag: CoreTag) -> Result<Scalar<'_>, ScalarError> {
    match (tag, plain(text)) {
        (CoreTag::Bool, found @ Scalar::Bool(_))
        | (CoreTag::Int, found @ (Scalar::Int(_) | Scalar::Uint(_)))
        | (CoreTag::Float, found @ Scalar::Float(_))
        | (CoreTag::Null, found @ Scalar::Null) => Ok(found),
        #[expect(
            clippy::cast_precision_loss,
            reason = "!!float asks for the nearest float"
        )]
        (CoreTag::Float, Scalar::Int(whole)) => Ok(Scalar::Float(whole as f64)),
        (CoreTag::Timestamp, found @ Scalar::Str(_)) if is_timestamp(text) => Ok(found),
        _ => Err(ScalarError::TagMismatch {
            text: shortened(text),
            tag: tag.as_str(),
        }),
    }
}

/// Whether the text has the form of a date, with or without a time. Whether the day exists is not
/// checked, because the value is text in either case.
fn is_timestamp(text: &str) -> bool {
    let date = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let mut parts = date.split('-');
    let mut digits = |lengths: std::ops::RangeInclusive<usize>| {
        parts.next().is_some_and(|part| {
            lengths.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
        })
    };
    digits(4..=4) && digits(1..=2) && digits(1..=2) && parts.next().is_none()
}

/// Finds the first line of YAML whose value starts with `>` but does not continue like a block
/// scalar.
pub fn unquoted(text: &[u8]) -> Option<Box<str>> {
    let lines = text.split(|byte| *byte == b'\n');
    let mut lines = lines.filter_map(|line| str::from_utf8(line).ok());
    let line = lines.find(|line| {
        let value = line.split_once(": ").map(|(_, value)| value.trim());
        value.is_some_and(|value| value.starts_with('>') && value.contains(['=', '.', '<']))
    })?;
    Some(
        line.trim()
            .chars()
            .take(SHOWN_OF_LINE)
            .collect::<String>()
            .into(),
    )
}

fn shortened(text: &str) -> Box<str> {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

const CORE_PREFIX: &str = "tag:yaml.org,2002:";
/// Enough characters to find the scalar; an error is one line.
const SHOWN_CHARS: usize = 40;
/// Maximum number of characters of a line in a hint.
const SHOWN_OF_LINE: usize = 80;

// === Plain scalars that are numbers ===
//
// Mirrors go.yaml.in/yaml/v2 [`resolve.go`] and the parts of Go's strconv that it uses: `ParseInt`
// in base 0 (a prefix determines the base, a leading zero means octal), and `ParseFloat` after a
// pattern that excludes hexadecimal floats. A float of more than 64 bits is not a number: `1e1000`
// is text.
//
// [`resolve.go`]: https://github.com/yaml/go-yaml/blob/v2.4.3/resolve.go

/// Returns the value of a written form of infinity or "not a number".
fn special(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Reads a float that starts with its point. Unlike in [`signed`], an underscore must be between
/// digits.
fn leading_dot(text: &str) -> Option<f64> {
    let between_digits = |window: &[u8]| match window {
        [before, b'_', after] => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => true,
    };
    let tidy = text.as_bytes().windows(3).all(between_digits) && !text.ends_with('_');
    tidy.then(|| float(&text.replace('_', "")))?
}

/// Reads a number that starts with a sign or a digit.
fn signed(text: &str) -> Option<Scalar<'static>> {
    let digits: Cow<'_, str> = if text.contains('_') {
        text.replace('_', "").into()
    } else {
        text.into()
    };
    integer(&digits)
        .or_else(|| float(&digits).map(Scalar::Float))
        .or_else(|| sign_after_prefix(&digits))
}

fn integer(digits: &str) -> Option<Scalar<'static>> {
    let (sign, magnitude) = match digits.as_bytes().first()? {
        sign @ (b'+' | b'-') => (Some(*sign), digits.get(1..)?),
        _ => (None, digits),
    };
    let magnitude = unsigned(magnitude)?;
    match (sign, i64::try_from(magnitude)) {
        (Some(b'-'), _) => 0_i64.checked_sub_unsigned(magnitude).map(Scalar::Int),
        (_, Ok(small)) => Some(Scalar::Int(small)),
        (None, Err(_)) => Some(Scalar::Uint(magnitude)),
        (Some(_), Err(_)) => None,
    }
}

fn unsigned(digits: &str) -> Option<u64> {
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    in_radix(digits, radix)
}

/// Does the same as `from_str_radix`, but without its handling of a leading sign.
fn in_radix(digits: &str, radix: u32) -> Option<u64> {
    digits
        .bytes()
        .all(|b| b.is_ascii_alphanumeric())
        .then(|| u64::from_str_radix(digits, radix).ok())?
}

/// Reads a float by `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, if it is in range. Rust
/// reads the same forms, and words in addition, which are excluded here.
fn float(text: &str) -> Option<f64> {
    let is_no_word = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let value: f64 = text.bytes().all(is_no_word).then(|| text.parse().ok())??;
    value.is_finite().then_some(value)
}

/// Reads `0b-1`: the decoder reads the text after `0b` again and accepts a sign there, so we do
/// too.
fn sign_after_prefix(digits: &str) -> Option<Scalar<'static>> {
    let signed = digits
        .strip_prefix("0b")
        .filter(|rest| rest.starts_with(['+', '-']))?;
    i64::from_str_radix(signed, 2).ok().map(Scalar::Int)
}

// === The JSON value of a typed scalar, and its name as the key of a member ===
//
// Mirrors `convertToJSONableObject` of sigs.k8s.io/yaml ([`yaml.go`]) and how Go's encoding/json
// writes a float. A float with an integral value has no point, so the API server receives `1.0` as
// the integer 1.
//
// [`yaml.go`]: https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go

impl<'a> Scalar<'a> {
    /// Returns the JSON value.
    ///
    /// # Errors
    /// The scalar is `.inf` or `.nan`: JSON has no such numbers.
    pub fn into_json(self) -> Result<Value, ScalarError> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Number(value.into()),
            Self::Uint(value) => Value::Number(value.into()),
            Self::Float(value) => Value::Number(number(value).ok_or(not_finite(value))?),
            Self::Str(text) => Value::String(text.into_owned()),
        })
    }

    /// Returns the name of the member that has this scalar as its key.
    ///
    /// # Errors
    /// The scalar is null or a number of more than 63 bits: sigs.k8s.io/yaml has no name for them.
    pub fn into_key(self) -> Result<Cow<'a, str>, ScalarError> {
        Ok(match self {
            Self::Null => return Err(ScalarError::NullKey),
            Self::Bool(value) => if value { "true" } else { "false" }.into(),
            Self::Int(value) => value.to_string().into(),
            Self::Uint(value) => return Err(ScalarError::HugeKey(value)),
            Self::Float(value) => float_key(value).into(),
            Self::Str(text) => text,
        })
    }
}

/// Returns a float as the JSON number that Go writes, so an integral float as an integer. `None`
/// for infinity and "not a number".
///
/// Above 2^53, Go writes the shortest digits that identify the float and fills up with zeros, as
/// `Display` does here.
pub(crate) fn number(value: f64) -> Option<Number> {
    if value.fract() != 0.0 || (value == 0.0 && value.is_sign_negative()) {
        return Number::from_f64(value);
    }
    let digits = value.to_string();
    let whole = digits.parse::<i64>().map(Number::from);
    whole
        .or_else(|_| digits.parse::<u64>().map(Number::from))
        .ok()
        .or_else(|| Number::from_f64(value))
}

fn not_finite(value: f64) -> ScalarError {
    ScalarError::NotFinite {
        text: special_name(value),
    }
}

fn special_name(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => ".nan",
        _ if value > 0.0 => ".inf",
        _ => "-.inf",
    }
}

/// Formats a float as Go's `FormatFloat(value, 'g', -1, 32)`: the fewest digits that identify the
/// 32-bit float, with an exponent of at least two digits for powers of ten below -4 and from 6 on.
fn float_key(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the decoder names keys by their 32-bit value"
    )]
    let value = value as f32;
    if !value.is_finite() {
        return special_name(value.into()).to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("{:e} writes an exponent");
    let exponent: i32 = exponent.parse().expect("{:e} writes a decimal exponent");
    if (-4..EXPONENT_FROM).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// From this power of ten on, `%g` writes an exponent.
const EXPONENT_FROM: i32 = 6;

/// Decodes text with the tag `!!binary`. Each byte that is not UTF-8 becomes U+FFFD, as in Go's
/// encoding/json.
fn decode(text: &str) -> Result<String, ScalarError> {
    let bytes = base64::decode(text.as_bytes()).ok_or(ScalarError::NotBase64)?;
    let mut decoded = String::with_capacity(bytes.len());
    push_lossy(&mut decoded, &bytes);
    Ok(decoded)
}

#[cfg(test)]
mod tests;
