//! Blobs as text, in the style of opm: as YAML, with one document per blob, and as JSON. Keys are sorted.
//!
//! In YAML, lists are not indented. A string that YAML could read as another value is in double quotes. The escapes of
//! Go's `%q` are also escapes in YAML. Multi-line text is a literal block, if reading the block returns the same text.

use std::fmt::Write as _;

use crate::author::blob::{WrittenMembers, WrittenValue};
use olmguard_catalog::version::go;

/// Writes a document with its `---` line.
pub(super) fn yaml(members: &WrittenMembers, out: &mut String) {
    out.push_str("---\n");
    if members.is_empty() {
        out.push_str("{}\n");
    }
    block(members, 0, out);
}

/// Writes the members of an object, one per line or more. The caller has already indented the first.
fn block(members: &WrittenMembers, indent: usize, out: &mut String) {
    for (n, (key, value)) in members.iter().enumerate() {
        if n > 0 {
            spaces(indent, out);
        }
        out.push_str(&scalar(key));
        out.push(':');
        match value {
            WrittenValue::Object(inner) if !inner.is_empty() => {
                out.push('\n');
                spaces(indent + STEP, out);
                block(inner, indent + STEP, out);
            }
            WrittenValue::List(items) if !items.is_empty() => {
                out.push('\n');
                spaces(indent, out);
                list(items, indent, out);
            }
            other => {
                out.push(' ');
                leaf(other, indent, out);
            }
        }
    }
}

/// Writes the items of a list. The caller has already indented the first.
fn list(items: &[WrittenValue], indent: usize, out: &mut String) {
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            spaces(indent, out);
        }
        out.push_str("- ");
        match item {
            WrittenValue::Object(inner) if !inner.is_empty() => block(inner, indent + STEP, out),
            WrittenValue::List(inner) if !inner.is_empty() => list(inner, indent + STEP, out),
            other => leaf(other, indent, out),
        }
    }
}

/// Writes a value without nested values, and the end of its line.
fn leaf(value: &WrittenValue, indent: usize, out: &mut String) {
    match value {
        WrittenValue::Null => out.push_str("null"),
        WrittenValue::Bool(true) => out.push_str("true"),
        WrittenValue::Bool(false) => out.push_str("false"),
        WrittenValue::Number(text) => out.push_str(text),
        WrittenValue::String(text) if is_literal(text) => return literal(text, indent + STEP, out),
        WrittenValue::String(text) => out.push_str(&scalar(text)),
        WrittenValue::List(_) => out.push_str("[]"),
        WrittenValue::Object(_) => out.push_str("{}"),
    }
    out.push('\n');
}

/// Formats a text on one line, with quotes if it needs them.
fn scalar(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        go::quote(text)
    }
}

/// Whether YAML 1.1 and 1.2 read a text without quotes as itself.
fn is_plain(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let is_quiet = |c: char| c.is_ascii_alphanumeric() || " _./@+-:".contains(c);
    begins
        && text.chars().all(is_quiet)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether a literal block preserves the text, and no line looks like a command to a CI runner.
fn is_literal(text: &str) -> bool {
    let is_quiet = |c: char| matches!(c, '\n' | ' '..='~') || !c.is_ascii() && go::is_printable(c);
    text.trim_end_matches('\n').contains('\n')
        && text.chars().all(is_quiet)
        && !text.starts_with([' ', '\n'])
        && !text
            .lines()
            .any(|line| line.ends_with(' ') || go::is_runner_line(line))
}

fn literal(text: &str, indent: usize, out: &mut String) {
    let body = text.trim_end_matches('\n');
    out.push_str(match text.len() - body.len() {
        0 => "|-\n",
        1 => "|\n",
        _ => "|+\n",
    });
    for line in text.lines() {
        if !line.is_empty() {
            spaces(indent, out);
            out.push_str(line);
        }
        out.push('\n');
    }
}

fn spaces(count: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', count));
}

/// Indentation of each level.
const STEP: usize = 2;

/// Words that YAML readers do not read as text.
const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

// === Blobs as JSON, indented by four as in opm. Keys are sorted. ===
//
// Characters with an effect on a terminal or a CI runner are written as `\u` escapes, which every JSON reader decodes.
// Examples are DEL, marks that change the direction of text, and `##[`.

/// Indentation of each level.
const JSON_STEP: usize = 4;

/// Writes an object and a line feed.
pub(super) fn json(members: &WrittenMembers, out: &mut String) {
    write_members(members, 0, out);
    out.push('\n');
}

fn write(value: &WrittenValue, depth: usize, out: &mut String) {
    match value {
        WrittenValue::Null => out.push_str("null"),
        WrittenValue::Bool(true) => out.push_str("true"),
        WrittenValue::Bool(false) => out.push_str("false"),
        WrittenValue::Number(text) => out.push_str(text),
        WrittenValue::String(text) => string(text, out),
        WrittenValue::List(items) => {
            let write = |item: &WrittenValue, out: &mut String| write(item, depth + 1, out);
            container(['[', ']'], items.iter(), depth, write, out);
        }
        WrittenValue::Object(members) => write_members(members, depth, out),
    }
}

fn write_members(members: &WrittenMembers, depth: usize, out: &mut String) {
    let member = |(key, value): (&str, &WrittenValue), out: &mut String| {
        string(key, out);
        out.push_str(": ");
        write(value, depth + 1, out);
    };
    container(['{', '}'], members.iter(), depth, member, out);
}

/// Writes brackets with one item per line between them, or nothing between them if there are no items.
fn container<T>(
    [open, close]: [char; 2],
    items: impl Iterator<Item = T>,
    depth: usize,
    write: impl Fn(T, &mut String),
    out: &mut String,
) {
    out.push(open);
    let mut is_empty = true;
    for item in items {
        out.push_str(if is_empty { "\n" } else { ",\n" });
        is_empty = false;
        spaces(JSON_STEP * (depth + 1), out);
        write(item, out);
    }
    if !is_empty {
        out.push('\n');
        spaces(JSON_STEP * depth, out);
    }
    out.push(close);
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for (at, character) in text.char_indices() {
        match character {
            '#' if text.get(at..).is_some_and(go::is_runner_command) => out.push_str("\\u0023"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(character),
            other if !other.is_ascii() && go::is_printable(other) => out.push(other),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").expect("a String takes every write");
                }
            }
        }
    }
    out.push('"');
}
