//! Durations as Go writes them: `0s`, `500ms`, `1m30s`, `1.5h`.
//!
//! Mirrors `time.ParseDuration`, except for signs: no flag and no request uses negative durations.

use std::time::Duration;

/// The reason why a text is not a duration.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DurationError {
    /// The text is not a number with a unit.
    #[error("expected a duration such as 0s, 500ms or 1m30s")]
    Syntax,
    /// A number has no unit.
    #[error("unit missing: expected one of ns, us, ms, s, m, h, as in 10s")]
    NoUnit,
    /// A number has a unit that Go does not know.
    #[error("unknown unit {found:?}: expected one of ns, us, ms, s, m, h")]
    Unit {
        /// The unit.
        found: String,
    },
    /// The duration is longer than anyone intends.
    #[error("longer than {} hours", LONGEST.as_secs() / 3600)]
    TooLong,
}

/// Reads a duration.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    if text.is_empty() {
        return Err(DurationError::Syntax);
    }
    let mut rest = text;
    let mut nanos: u128 = 0;
    while !rest.is_empty() {
        let (part, after) = part(rest)?;
        nanos = nanos.saturating_add(part);
        rest = after;
    }
    match u64::try_from(nanos).map(Duration::from_nanos) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        _ => Err(DurationError::TooLong),
    }
}

/// Returns a number with its unit, in nanoseconds, and the rest of the text.
fn part(text: &str) -> Result<(u128, &str), DurationError> {
    let (whole, text) = digits(text);
    let (fraction, text) = match text.strip_prefix('.') {
        Some(after) => digits(after),
        None => ("", text),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(DurationError::Syntax);
    }
    let end = text
        .find(|c: char| c == '.' || c.is_ascii_digit())
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let unit = unit(word)?;
    Ok((in_unit(whole, fraction, unit)?, rest))
}

fn in_unit(whole: &str, fraction: &str, unit: u128) -> Result<u128, DurationError> {
    let number = |digits: &str| match digits {
        "" => Ok(0),
        digits => digits.parse::<u64>().map(u128::from),
    };
    let whole = number(whole).map_err(|_| DurationError::TooLong)?;
    // The nanoseconds of an hour have 13 digits, so further digits of a fraction make no
    // difference.
    let fraction = fraction.get(..15).unwrap_or(fraction);
    let scale = 10_u128.pow(fraction.len().try_into().unwrap_or(0));
    let fraction = number(fraction).map_err(|_| DurationError::TooLong)?;
    Ok(whole * unit + fraction * unit / scale)
}

fn digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at(end)
}

fn unit(word: &str) -> Result<u128, DurationError> {
    match word {
        "ns" => Ok(1),
        "us" | "\u{b5}s" | "\u{3bc}s" => Ok(1_000),
        "ms" => Ok(1_000_000),
        "s" => Ok(1_000_000_000),
        "m" => Ok(60_000_000_000),
        "h" => Ok(3_600_000_000_000),
        "" => Err(DurationError::NoUnit),
        other => Err(DurationError::Unit {
            found: other.to_owned(),
        }),
    }
}

/// The limit of durations. More than a hundred years is a typo.
const LONGEST: Duration = Duration::from_hours(1_000_000);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        for (text, millis) in [
            ("0", 0),
            ("0s", 0),
            ("500ms", 500),
            ("1m30s", 90_000),
            ("1.5h", 5_400_000),
            (".5s", 500),
            ("1.s", 1_000),
            ("2h45m0.5s", 9_900_500),
            ("1000us", 1),
            ("1000\u{b5}s", 1),
            ("1000000ns", 1),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_says_what_is_expected() {
        for (text, expected) in [
            ("", "expected a duration such as 0s, 500ms or 1m30s"),
            ("s", "expected a duration such as 0s, 500ms or 1m30s"),
            (".s", "expected a duration such as 0s, 500ms or 1m30s"),
            ("-1s", "expected a duration such as 0s, 500ms or 1m30s"),
            (" 1s", "expected a duration such as 0s, 500ms or 1m30s"),
            (
                "10",
                "unit missing: expected one of ns, us, ms, s, m, h, as in 10s",
            ),
            (
                "1d",
                "unknown unit \"d\": expected one of ns, us, ms, s, m, h",
            ),
            (
                "1 s",
                "unknown unit \" s\": expected one of ns, us, ms, s, m, h",
            ),
            ("9999999h", "longer than 1000000 hours"),
            ("99999999999999999999999s", "longer than 1000000 hours"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
