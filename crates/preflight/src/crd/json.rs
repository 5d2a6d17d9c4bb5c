//! JSON values as text, in the form of Go's encoder, in which schema values are compared and
//! printed.

use serde_json::{Number, Value};

use olmguard_catalog::version::go;

/// Returns the text of a value: keys in byte order, no white space, and numbers as Go prints them.
pub(super) fn text(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// Returns the size of a value in bytes, for an estimate of the work to compare it.
pub(super) fn size(value: &Value) -> usize {
    let inside: usize = match value {
        Value::String(string) => string.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.iter().map(|(key, it)| key.len() + size(it)).sum(),
        _ => 0,
    };
    size_of::<Value>() + inside
}

/// Appends the text of a value.
pub(super) fn write(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => text.push_str(&number_text(number)),
        Value::String(string) => go::write_json_string(string, text),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                go::write_json_string(key, text);
                text.push(':');
                write(member, text);
            }
            text.push('}');
        }
        other => text.push_str(&other.to_string()),
    }
}

/// Formats 64-bit signed integers exactly and other numbers as floats, with an exponent below 1e-6
/// and from 1e21 on.
fn number_text(number: &Number) -> String {
    if number.is_i64() {
        return number.to_string();
    }
    let value = number.as_f64().unwrap_or_default();
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        return match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                format!("{digits}e+{exponent}")
            }
            _ => text,
        };
    }
    value.to_string()
}

/// Formats a 64-bit integer without the loss of digits that a float would have.
pub(super) fn integer_text(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (None, Some(float)) => format!("{float:.0}"),
        _ => number.to_string(),
    }
}

/// Formats a float as Go's `%v` does: with an exponent of at least two digits if it is below -4 or
/// above 5.
pub(super) fn float_text(value: f64) -> String {
    let text = format!("{value:e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let Ok(exponent) = exponent.parse::<i32>() else {
        return text;
    };
    if (-4..=20).contains(&exponent) && exponent < 6 || value == 0.0 {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_go_does() {
        for (value, expected) in [
            (
                json!({"b": 1.0, "a": [null, true]}),
                r#"{"a":[null,true],"b":1}"#,
            ),
            (
                json!("<a&b>\u{2028}\u{1}"),
                r#""\u003ca\u0026b\u003e\u2028\u0001""#,
            ),
            (json!(1e21), "1e+21"),
            (json!(1e-7), "1e-7"),
            (json!(9_007_199_254_740_993_u64), "9007199254740993"),
            (json!(0.5), "0.5"),
            (json!(i64::MIN), "-9223372036854775808"),
            (json!(u64::MAX), "18446744073709552000"),
        ] {
            assert_eq!(text(&value), expected);
        }
    }

    #[test]
    fn floats_are_printed_as_go_does() {
        for (value, expected) in [
            (100_000.0, "100000"),
            (123_456.7, "123456.7"),
            (1e6, "1e+06"),
            (2_147_483_647.0, "2.147483647e+09"),
            (99_999.5, "99999.5"),
            (1e-7, "1e-07"),
            (0.000_123, "0.000123"),
            (0.0, "0"),
            (-0.5, "-0.5"),
            (1e21, "1e+21"),
            (1e100, "1e+100"),
        ] {
            assert_eq!(float_text(value), expected);
        }
    }
}
