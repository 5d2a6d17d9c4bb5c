//! A list of strings as Go prints it, in an error text of apimachinery.
//!
//! Two forms: the JSON of `encoding/json` (which also escapes `<`, `>`, `&` and the two Unicode
//! line ends), and the Go syntax of `fmt`'s `%#v`. An empty list stands for Go's nil slice, since
//! apimachinery copies the values into one.

use std::fmt::Write;

use crate::version::go;

/// `["a","b"]`, or `null` for none.
pub(super) fn json(values: &[String]) -> String {
    if values.is_empty() {
        return "null".to_owned();
    }
    let values: Vec<String> = values.iter().map(|value| json_string(value)).collect();
    format!("[{}]", values.join(","))
}

/// `[]string{"a", "b"}`, or `[]string(nil)` for none.
pub(super) fn go_syntax(values: &[String]) -> String {
    if values.is_empty() {
        return "[]string(nil)".to_owned();
    }
    let values: Vec<String> = values.iter().map(|value| go::quote(value)).collect();
    format!("[]string{{{}}}", values.join(", "))
}

fn json_string(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        push_json(&mut json, character);
    }
    json.push('"');
    json
}

fn push_json(json: &mut String, character: char) {
    match character {
        '"' | '\\' => json.extend(['\\', character]),
        '\u{8}' => json.push_str("\\b"),
        '\u{c}' => json.push_str("\\f"),
        '\n' => json.push_str("\\n"),
        '\r' => json.push_str("\\r"),
        '\t' => json.push_str("\\t"),
        '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
            write!(json, "\\u{:04x}", u32::from(character)).expect("a String takes any text");
        }
        _ => json.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn prints(values: &[&str], want_json: &str, want_go: &str) {
        let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
        assert_eq!(json(&values), want_json);
        assert_eq!(go_syntax(&values), want_go);
    }

    #[test]
    fn both_forms() {
        prints(&[], "null", "[]string(nil)");
        prints(&["a"], r#"["a"]"#, r#"[]string{"a"}"#);
        prints(&["a", ""], r#"["a",""]"#, r#"[]string{"a", ""}"#);
        prints(&["\"\\"], r#"["\"\\"]"#, r#"[]string{"\"\\"}"#);
        prints(&["<&>"], r#"["\u003c\u0026\u003e"]"#, r#"[]string{"<&>"}"#);
        prints(
            &["\u{8}\u{c}\n\r\t"],
            r#"["\b\f\n\r\t"]"#,
            r#"[]string{"\b\f\n\r\t"}"#,
        );
        prints(
            &["\0\u{7f}"],
            "[\"\\u0000\u{7f}\"]",
            r#"[]string{"\x00\x7f"}"#,
        );
        prints(&["\u{2028}é"], r#"["\u2028é"]"#, r#"[]string{"\u2028é"}"#);
    }
}
