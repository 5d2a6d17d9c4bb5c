//! What JSON value a YAML scalar stands for in Kubernetes.
//!
//! Kubernetes' tools read YAML through sigs.k8s.io/yaml, whose decoder (go.yaml.in/yaml/v2,
//! [`resolve.go`]) types scalars by rules of its own, near YAML 1.1: `yes` and `on` are booleans,
//! `017` is octal, `1.10` is the number 1.1, a date stays text. [`resolve`] follows that decoder;
//! [`Scalar::into_json`] and [`Scalar::into_key`] follow the conversion of sigs.k8s.io/yaml
//! ([`yaml.go`]) to JSON.
//!
//! ```text
//! text, style, tag --resolve--> Scalar --into_json--> value
//!                                  `-----into_key---> name of a member
//! ```
//!
//! [`resolve.go`]: https://github.com/yaml/go-yaml/blob/v2.4.3/resolve.go
//! [`yaml.go`]: https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go

mod binary;
mod json;
mod number;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// Without quotes: the text decides the type.
    Plain,
    /// In quotes, or as a block (`|`, `>`): a string unless a tag says otherwise.
    Quoted,
}

/// The tag before a scalar, as far as it bears on the type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tag {
    /// No tag: style and text decide.
    None,
    /// `!!str`
    Str,
    /// `!!bool`
    Bool,
    /// `!!int`
    Int,
    /// `!!float`
    Float,
    /// `!!null`
    Null,
    /// `!!timestamp`
    Timestamp,
    /// `!!binary`
    Binary,
    /// Any other, `!` included: the scalar is a string.
    Other,
}

impl Tag {
    /// The tag of this full name, such as `tag:yaml.org,2002:int`.
    pub fn named(name: &str) -> Self {
        match name.strip_prefix(CORE_PREFIX) {
            Some("str") => Self::Str,
            Some("bool") => Self::Bool,
            Some("int") => Self::Int,
            Some("float") => Self::Float,
            Some("null") => Self::Null,
            Some("timestamp") => Self::Timestamp,
            Some("binary") => Self::Binary,
            _ => Self::Other,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::None | Self::Other => "no tag",
            Self::Str => "!!str",
            Self::Bool => "!!bool",
            Self::Int => "!!int",
            Self::Float => "!!float",
            Self::Null => "!!null",
            Self::Timestamp => "!!timestamp",
            Self::Binary => "!!binary",
        }
    }
}

/// A scalar with its type. Integers and floats differ here, since they become different member
/// names.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// `~`, `null` or nothing at all.
    Null,
    /// `true`, `yes`, `on`, `y` and their opposites.
    Bool(bool),
    /// A whole number within 64 bits, signed.
    Int(i64),
    /// A whole number that only fits 64 bits without a sign.
    Uint(u64),
    /// Any other number, `.inf` and `.nan` included.
    Float(f64),
    /// Text.
    Str(Cow<'a, str>),
}

/// Why a scalar has no value in JSON.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScalarError {
    /// The tag claims a type that the text does not have.
    #[error("scalar {text:?} is not a valid {tag}: expected text of that type, or no tag")]
    TagMismatch {
        /// The text, its middle left out where it is long.
        text: Box<str>,
        /// The tag as it is usually written.
        tag: &'static str,
    },
    /// The text under `!!binary` is not base64.
    #[error(
        "scalar under !!binary is not base64: expected groups of four letters, padded with \"=\""
    )]
    NotBase64,
    /// Infinity or no number at all.
    #[error("{text} is not a JSON number: expected a finite number, or quotes around it")]
    NotFinite {
        /// `.inf`, `-.inf` or `.nan`.
        text: &'static str,
    },
    /// A null where a member's name is expected.
    #[error("null cannot be a key: expected a string, or quotes around it")]
    NullKey,
    /// A number past 63 bits where a member's name is expected.
    #[error(
        "number {0} cannot be a key: expected a number below 9223372036854775808, or quotes around \
         it"
    )]
    HugeKey(u64),
}

/// The type and value of one scalar.
///
/// # Errors
/// The tag and the text do not go together, or text under `!!binary` is not base64.
pub fn resolve(text: &str, style: Style, tag: Tag) -> Result<Scalar<'_>, ScalarError> {
    match (tag, style) {
        (Tag::Binary, _) => binary::decode(text).map(|text| Scalar::Str(text.into())),
        (Tag::None, Style::Quoted) | (Tag::Str | Tag::Other, _) => Ok(Scalar::Str(text.into())),
        (Tag::None, Style::Plain) => Ok(plain(text)),
        (tag, _) => tagged(text, tag),
    }
}

/// The type that the text alone says. The first letter tells what it can be.
fn plain(text: &str) -> Scalar<'_> {
    let found = match text.as_bytes().first() {
        None => Some(Scalar::Null),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            word(text)
        }
        Some(b'.') => number::special(text)
            .or_else(|| number::leading_dot(text))
            .map(Scalar::Float),
        Some(b'+' | b'-' | b'0'..=b'9') => number::special(text)
            .map(Scalar::Float)
            .or_else(|| number::signed(text)),
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

fn tagged(text: &str, tag: Tag) -> Result<Scalar<'_>, ScalarError> {
    match (tag, plain(text)) {
        (Tag::Bool, found @ Scalar::Bool(_))
        | (Tag::Int, found @ (Scalar::Int(_) | Scalar::Uint(_)))
        | (Tag::Float, found @ Scalar::Float(_))
        | (Tag::Null, found @ Scalar::Null) => Ok(found),
        #[expect(
            clippy::cast_precision_loss,
            reason = "!!float asks for the nearest float"
        )]
        (Tag::Float, Scalar::Int(whole)) => Ok(Scalar::Float(whole as f64)),
        (Tag::Timestamp, found @ Scalar::Str(_)) if is_timestamp(text) => Ok(found),
        _ => Err(ScalarError::TagMismatch {
            text: shortened(text),
            tag: tag.as_str(),
        }),
    }
}

/// Whether the text has the shape of a date, with or without a time of day. That the day exists is
/// not looked at: either way the value is text.
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

/// The first line of YAML whose value begins with `>` and goes on as no block does.
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
/// Enough to find the scalar again; an error is one line.
const SHOWN_CHARS: usize = 40;
/// How many characters of a line a hint shows.
const SHOWN_OF_LINE: usize = 80;
