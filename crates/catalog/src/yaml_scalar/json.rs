//! A typed scalar as a JSON value, and as the name of a member.
//!
//! Mirrors `convertToJSONableObject` of sigs.k8s.io/yaml ([`yaml.go`]) and the way Go's encoding/json
//! writes a float: one with an integral value is written without a point, so that `1.0` reaches the
//! API server as the integer 1.
//!
//! [`yaml.go`]: https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go

use std::borrow::Cow;

use serde_json::{Number, Value};

use super::{Scalar, ScalarError};

impl<'a> Scalar<'a> {
    /// The JSON value.
    ///
    /// # Errors
    /// `.inf` and `.nan`: JSON has no such numbers.
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

    /// The name of the member whose key this scalar is.
    ///
    /// # Errors
    /// Null and numbers past 63 bits: sigs.k8s.io/yaml has no name for them.
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

/// A float as the JSON number that Go writes for it, so an integral one as an integer. None for
/// infinity and "no number".
///
/// Past 2^53 Go writes the shortest digits that name the float and fills up with zeros, as
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

/// Go's `FormatFloat(value, 'g', -1, 32)`: the fewest digits that name the 32-bit float, with an
/// exponent of at least two digits for powers of ten below -4 and from 6 on.
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
