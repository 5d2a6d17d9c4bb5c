//! Which plain scalars are numbers.
//!
//! Mirrors go.yaml.in/yaml/v2 [`resolve.go`] and the parts of Go's strconv that it uses: `ParseInt`
//! in base 0 (a prefix tells the base, a leading zero means octal), `ParseFloat` behind a pattern
//! that lets no hexadecimal float pass. A float past 64 bits is no number: `1e1000` stays text.
//!
//! [`resolve.go`]: https://github.com/yaml/go-yaml/blob/v2.4.3/resolve.go

use std::borrow::Cow;

use super::Scalar;

/// The written forms of infinity and of "no number".
pub(super) fn special(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// A float that begins with its point. Here, unlike in [`signed`], an underscore must stand between
/// digits.
pub(super) fn leading_dot(text: &str) -> Option<f64> {
    let between_digits = |window: &[u8]| match window {
        [before, b'_', after] => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => true,
    };
    let tidy = text.as_bytes().windows(3).all(between_digits) && !text.ends_with('_');
    tidy.then(|| float(&text.replace('_', "")))?
}

/// A number that begins with a sign or a digit.
pub(super) fn signed(text: &str) -> Option<Scalar<'static>> {
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

/// `from_str_radix` without its own taste for a leading sign.
fn in_radix(digits: &str, radix: u32) -> Option<u64> {
    digits
        .bytes()
        .all(|b| b.is_ascii_alphanumeric())
        .then(|| u64::from_str_radix(digits, radix).ok())?
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, and within the range of a float.
fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (
            mantissa,
            Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)),
        ),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let well_formed = match (whole, fraction) {
        ("", fraction) => fraction.is_some_and(all_digits),
        (whole, fraction) => {
            all_digits(whole) && fraction.is_none_or(|f| f.is_empty() || all_digits(f))
        }
    };
    let well_formed = well_formed && exponent.is_none_or(all_digits);
    let value: f64 = well_formed.then(|| text.parse().ok())??;
    value.is_finite().then_some(value)
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `0b-1`: the decoder tries the text after `0b` once more, and there takes a sign. We follow.
fn sign_after_prefix(digits: &str) -> Option<Scalar<'static>> {
    let signed = digits
        .strip_prefix("0b")
        .filter(|rest| rest.starts_with(['+', '-']))?;
    i64::from_str_radix(signed, 2).ok().map(Scalar::Int)
}
