//! JSON values as YAML that is safe to print, and that every YAML reader decodes to the same values.
//!
//! Strings are quoted, because in YAML 1.1, which Kubernetes reads, `on`, `1.10` and `0x1` are not strings. Characters
//! that are not printable by Go's rules are escaped. So are bidirectional controls, which YAML libraries leave as they
//! are. A text of several lines becomes a block if nothing in it needs an escape.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::cli::output::json::must_be_escaped;
use olmguard_catalog::version::go;

/// One document, without a line of `---`.
pub(crate) fn document(value: &Value) -> String {
    let mut text = String::new();
    node(value, 0, &mut text);
    text
}

/// Writes a value. It continues the current line, which is already indented.
fn node(value: &Value, depth: usize, to: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => mapping(members, depth, to),
        Value::Array(items) if !items.is_empty() => list(items, depth, to),
        scalar => inline(scalar, depth, to),
    }
}

/// Writes members. The first member continues the current line, which is already indented.
fn mapping(members: &Map<String, Value>, depth: usize, to: &mut String) {
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            indent(depth, to);
        }
        if is_word(key) {
            to.push_str(key);
        } else {
            quoted(key, to);
        }
        let has_lines = match value {
            Value::Object(members) => !members.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        };
        if has_lines {
            to.push_str(":\n");
            indent(depth + 1, to);
        } else {
            to.push_str(": ");
        }
        node(value, depth + 1, to);
    }
}

/// Writes items. The first item continues the current line, which is already indented.
fn list(items: &[Value], depth: usize, to: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            indent(depth, to);
        }
        to.push_str("- ");
        node(item, depth + 1, to);
    }
}

/// Writes a value of one line, or a text of several with this indentation.
fn inline(value: &Value, depth: usize, to: &mut String) {
    match value {
        Value::String(text) if is_plain_block(text) => {
            to.push_str("|-\n");
            for line in text.split('\n') {
                indent(depth, to);
                to.push_str(line);
                to.push('\n');
            }
            return;
        }
        Value::String(text) => quoted(text, to),
        // Values without members and items: their JSON is YAML.
        other => write!(to, "{other}").expect("a String takes everything"),
    }
    to.push('\n');
}

/// Writes a text in double quotes. YAML has the escapes of JSON, except surrogate pairs.
fn quoted(text: &str, to: &mut String) {
    to.push('"');
    for (at, character) in text.char_indices() {
        let code = u32::from(character);
        let is_command = text.get(at..).is_some_and(go::is_runner_command);
        let written = match character {
            '"' | '\\' => write!(to, "\\{character}"),
            '\n' => write!(to, "\\n"),
            '\t' => write!(to, "\\t"),
            _ if !must_be_escaped(character) && !is_command => write!(to, "{character}"),
            _ if code <= 0xff => write!(to, "\\x{code:02x}"),
            _ if code <= 0xffff => write!(to, "\\u{code:04x}"),
            _ => write!(to, "\\U{code:08x}"),
        };
        written.expect("a String takes everything");
    }
    to.push('"');
}

/// Whether a text has several lines, each of which starts and ends with a visible character, needs no escape, and is
/// not a command to a CI runner.
fn is_plain_block(text: &str) -> bool {
    let is_plain = |line: &str| {
        let edges = [line.chars().next(), line.chars().next_back()];
        let has_edges = edges
            .iter()
            .all(|edge| edge.is_some_and(|edge| edge != ' '));
        has_edges && !line.contains(must_be_escaped) && !go::is_runner_line(line)
    };
    text.contains('\n') && text.split('\n').all(is_plain)
}

/// Whether a key needs no quotes, because every version of YAML reads it as a string. `y` and `on` do need quotes.
fn is_word(key: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic();
    let begins_well = key.bytes().next().is_some_and(is_letter);
    let is_name = key.bytes().all(|byte| is_letter(byte) || byte == b'_');
    begins_well && is_name && !OTHERS.contains(&&*key.to_ascii_lowercase())
}

fn indent(depth: usize, to: &mut String) {
    to.extend(std::iter::repeat_n("  ", depth));
}

/// Words that YAML 1.1 does not read as strings.
const OTHERS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::manifest;

    fn read(text: &str) -> Result<Value, TestCaseError> {
        let read: Vec<_> = manifest::documents(text.as_bytes()).collect();
        match read.as_slice() {
            [Ok(read)] => Ok(read.value.clone()),
            _ => Err(TestCaseError::fail(format!("{read:?} of {text}"))),
        }
    }

    /// Texts that mean something else in YAML, and arbitrary texts.
    fn texts() -> impl Strategy<Value = String> {
        let traps = prop::sample::select(vec![
            "on",
            "1.10",
            "0x1",
            "null",
            "~",
            "",
            " ",
            "- a",
            "a: b",
            "# c",
            "|-",
            "a\nb",
            "a\n",
            "\n a",
            "a \nb",
            "---",
            "a\n::b::c",
            "a\nb ##[c]",
            "##vso[a",
            "a\n---\nb",
            "{a",
            "%TAG",
            "\u{202e}x",
            "\u{85}",
            "\u{10ffff}",
            "\u{feff}",
            "a\r\nb",
            "<<",
            "=",
            "017",
            "2001-01-01",
            "\t",
            "\u{1b}[2J",
            "'",
            "\"",
        ]);
        prop_oneof![
            traps.prop_map(str::to_owned),
            any::<String>(),
            "(?s).{0,40}"
        ]
    }

    fn values() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            texts().prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 40, 5, |below| {
            prop_oneof![
                prop::collection::vec(below.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(texts(), below, 0..5)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    #[test]
    fn an_object_as_people_write_it() {
        let object = json!({
            "kind": "X", "list": [[1], {"name": "on", "none": {}, "on": null}, []],
            "message": "one\ntwo", "odd": "a\n b", "spec": {"version": "1.0"},
        });
        let expected = "\
kind: \"X\"
list:
  - - 1
  - name: \"on\"
    none: {}
    \"on\": null
  - []
message: |-
  one
  two
odd: \"a\\n b\"
spec:
  version: \"1.0\"
";
        assert_eq!(document(&object), expected);
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_it_was(value in values()) {
            let object = json!({"value": value});
            let written = document(&object);
            prop_assert_eq!(&read(&written)?, &object, "{}", written);
            let shown = written.replace('\n', "");
            prop_assert!(!shown.contains(must_be_escaped), "{}", written);
            prop_assert!(!written.lines().any(go::is_runner_line), "{}", written);
        }
    }
}
