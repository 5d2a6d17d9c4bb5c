//! Blobs as JSON, indented by four as opm does; keys are sorted.
//!
//! What a terminal or a CI runner would obey, such as DEL, the marks that turn the direction of text and `##[`, is
//! written as `\u` escapes, which every JSON reader undoes.

use std::fmt::Write as _;

use crate::author::value::{WrittenMembers, WrittenValue};
use olmguard_catalog::version::go;

/// Writes an object and a line feed.
pub(super) fn object(members: &WrittenMembers, out: &mut String) {
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

/// Writes what stands in brackets, an item on a line; nothing between them if there is none.
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
        indent(depth + 1, out);
        write(item, out);
    }
    if !is_empty {
        out.push('\n');
        indent(depth, out);
    }
    out.push(close);
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("    ", depth));
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
