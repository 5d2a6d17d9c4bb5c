//! The positions of values.

use proptest::prelude::*;
use serde_json::Value;

use super::{error, only};
use crate::manifest::{Position, ValueStep, documents};

/// A path as in a message: `spec.items[0].name`.
fn steps(path: &str) -> Vec<ValueStep<'_>> {
    let parts = path.split(['.', '[']).filter(|part| !part.is_empty());
    let step = |part: &'_ str| part.strip_suffix(']').and_then(|index| index.parse().ok());
    parts
        .map(|part| step(part).map_or(ValueStep::Key(part), ValueStep::Index))
        .collect()
}

#[track_caller]
fn stands(file: &str, path: &str, line: u32, column: u32) {
    let document = only(file);
    let got = document.positions.of(&steps(path));
    assert_eq!(got, Some(Position { line, column }), "{path} in {file:?}");
}

#[test]
fn values_stand_where_their_text_begins() {
    stands("spec:\n  version: 1.0\n", "spec.version", 2, 12);
    stands("spec:\n  version: 1.0\n", "spec", 2, 3);
    stands("spec:\n  version: 1.0\n", "", 1, 1);
    stands("spec:\n  version:   \"1.0\"\n", "spec.version", 2, 14);
    stands("spec:\n  version: '1.0'\n", "spec.version", 2, 12);
    stands("spec:\n  version:\n    1.0\n", "spec.version", 3, 5);
    stands("spec:\n  text: |\n    1.0\n", "spec.text", 3, 5);
    stands("spec: {version: 1.0, a: [b, c]}\n", "spec.version", 1, 17);
    stands("spec: {version: 1.0, a: [b, c]}\n", "spec.a[1]", 1, 29);
    stands("a:\n- b\n- c: d\n  e: f\n", "a[1].e", 4, 6);
    stands("a:\n- b\n- c: d\n  e: f\n", "a[1]", 3, 3);
    stands("\"version\": x\n", "version", 1, 12);
    stands("a:\tx\n", "a", 1, 4);
    stands("a: &x !!str 1\n", "a", 1, 13);
}

#[test]
fn what_is_no_text_is_known_as_it_is_written() {
    for (file, path, expected) in [
        ("a: {version: 1.10}\n", "a.version", Some("1.10")),
        ("a: [x, yes, 0x1F]\n", "a[1]", Some("yes")),
        ("a: [x, yes, 0x1F]\n", "a[2]", Some("0x1F")),
        ("{\"a\": 1.10}", "a", Some("1.10")),
        ("a: &x 1.10\nb: *x\n", "a", Some("1.10")),
        ("a: &x 1.10\nb: *x\n", "b", None),
        ("a: '1.10'\n", "a", None),
        ("a:\n", "a", None),
        ("a: {b: 1.10}\n", "a", None),
        ("a: 1.10\n", "b", None),
    ] {
        let document = only(file);
        let positions = &document.positions;
        assert_eq!(
            positions.source_text(&steps(path)),
            expected,
            "{path} in {file:?}"
        );
    }
    let long = format!("a: 1.{}\n", "0".repeat(100));
    assert_eq!(only(&long).positions.source_text(&steps("a")), None);
}

#[test]
fn columns_count_characters_and_lines_any_break() {
    stands("{é: 1, ü😀: x}\n", "ü😀", 1, 12);
    stands("\u{feff}a: x\n", "a", 1, 4);
    stands("a: 1\r\nb: 2\r\n", "b", 2, 4);
    stands("a: 1\rb: 2\r", "b", 2, 4);
    stands("a: \"x\\n\n  y\"\nb: 2\n", "b", 3, 4);
    stands("# é\n---\n# ü\na: x\n", "a", 4, 4);
    stands("---\n---\r\n---\na: x\n", "a", 4, 4);
}

#[test]
fn json_values_stand_where_their_text_begins() {
    stands("{\"spec\":{\"version\":\"1.0\"}}", "spec.version", 1, 20);
    stands(
        "{\n  \"spec\": {\n    \"é\": [1,\r\n  {\"a\": \"x\"}]}}",
        "spec.é[1].a",
        4,
        9,
    );
    stands("\u{feff}{\"é\\n\": 1, \"b\": true}", "b", 1, 17);
    stands("---\n{\"a\": 1}", "a", 2, 7);
    stands("{\"a\": {\"b\": -1.5}}", "a", 1, 7);
}

#[test]
fn later_json_values_stand_in_the_file() {
    let file = b"{\"a\": 1} {\"a\":\n 2}\n{\"a\": 3}";
    let documents = documents(file).map(|read| read.expect("good JSON"));
    let places: Vec<_> = documents
        .map(|document| document.positions.of(&[ValueStep::Key("a")]))
        .collect();
    let at = |line, column| Some(Position { line, column });
    assert_eq!(places, [at(1, 7), at(2, 2), at(3, 7)]);
}

#[test]
fn aliases_and_merges_lead_to_the_anchor() {
    let file = "x: &x\n  a: 1\n  b: [2, 3]\nw: *x\nz:\n  a: 0\n  <<: *x\n  b: 4\n";
    stands(file, "w", 4, 4);
    stands(file, "w.b[1]", 3, 10);
    stands(file, "z.a", 2, 6);
    stands(file, "z.b", 8, 6);
    let list = "x: &x {a: 1}\nw: &y {a: 2, b: 3}\nz: {<<: [*x, *y]}\n";
    stands(list, "z.a", 1, 11);
    stands(list, "z.b", 2, 17);
}

#[test]
fn an_absent_value_stands_at_the_nearest_above() {
    let document = only("spec:\n  source:\n    catalog: {}\nlist: [1]\n");
    let nearest = |path| document.positions.nearest(&steps(path));
    assert_eq!(
        nearest("spec.source.catalog.version"),
        Position {
            line: 3,
            column: 14
        }
    );
    assert_eq!(
        nearest("spec.missing.catalog"),
        Position { line: 2, column: 3 }
    );
    assert_eq!(nearest("list[1]"), Position { line: 4, column: 7 });
    assert_eq!(nearest("missing"), Position { line: 1, column: 1 });
    assert_eq!(document.positions.of(&steps("spec.missing")), None);
    assert_eq!(document.positions.of(&[ValueStep::Index(0)]), None);
}

#[test]
fn a_value_left_out_stands_behind_its_key() {
    stands("spec:\n  version:\n  name: x\n", "spec.name", 3, 9);
    let document = only("spec:\n  version:\n  name: x\n");
    let at = document
        .positions
        .of(&steps("spec.version"))
        .expect("null has a place");
    assert_eq!(at.line, 2);
}

/// Returns every string of the value with its path.
fn strings<'v>(
    value: &'v Value,
    path: &mut Vec<ValueStep<'v>>,
    found: &mut Vec<(Vec<ValueStep<'v>>, &'v str)>,
) {
    let mut below = |step, value| {
        path.push(step);
        strings(value, path, found);
        path.pop();
    };
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(key, value)| below(ValueStep::Key(key), value)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(i, value)| below(ValueStep::Index(i), value)),
        Value::String(text) => found.push((path.clone(), text)),
        _ => {}
    }
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        "v[a-zé😀]{0,6}".prop_map(Value::from),
        any::<i32>().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("k[a-zü]{0,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    tree().prop_map(|value| serde_json::json!({"k": value}))
}

/// Writes block YAML with flow lists, which has enough variety of positions.
fn write_yaml(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                out.push_str(key);
                out.push(':');
                write_yaml(value, indent + 2, out);
            }
        }
        other => {
            out.push(' ');
            out.push_str(&other.to_string());
        }
    }
}

#[track_caller]
fn every_string_is_found(file: &str) -> Result<(), TestCaseError> {
    let document = only(file);
    let lines: Vec<&str> = file.lines().collect();
    let mut found = Vec::new();
    strings(&document.value, &mut Vec::new(), &mut found);
    for (path, text) in found {
        let at = document.positions.of(&path).expect("a value has a place");
        let line = lines[at.line as usize - 1];
        let there: String = line.chars().skip(at.column as usize - 1).collect();
        prop_assert!(
            there.starts_with(&format!("{text:?}")),
            "{path:?}: {there:?}"
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_place_of_a_string_shows_the_string(value in object()) {
        let mut yaml = String::from("# head\n---");
        write_yaml(&value, 0, &mut yaml);
        every_string_is_found(&yaml)?;
        every_string_is_found(&value.to_string())?;
        every_string_is_found(&serde_json::to_string_pretty(&value).expect("a value is JSON"))?;
    }

    #[test]
    fn what_is_written_is_read(value in object()) {
        let mut yaml = String::new();
        write_yaml(&value, 0, &mut yaml);
        prop_assert_eq!(only(&yaml).value, value.clone());
        prop_assert_eq!(only(value.to_string()).value, value);
    }
}

// === The texts of errors, with their places ===

#[track_caller]
fn says(file: impl AsRef<[u8]>, want: &str) {
    assert_eq!(error(file), want);
}

#[test]
fn syntax_errors_say_where() {
    says(
        "a: 1\n---\nb: [1, 2\n",
        "3:4: invalid YAML: unclosed bracket '['",
    );
    says(
        "a: b: c\n",
        "1:5: invalid YAML: mapping values are not allowed in this context",
    );
    says(
        "a:\n\tb: 1\n",
        "2:2: invalid YAML: tabs disallowed within this context (block indentation)",
    );
    says(
        "a: 'x\n",
        "2:1: invalid YAML: invalid indentation in multiline quoted scalar",
    );
    says(
        "é: *nobody\n",
        "1:4: invalid YAML: while parsing node, found unknown anchor",
    );
    says(
        "{\"a\": 1",
        "1:7: invalid JSON: EOF while parsing an object",
    );
    says(
        "{\"a\": 1,\n \"é\": 1 \"b\": 2}",
        "2:9: invalid JSON: expected `,` or `}`",
    );
    says(
        "{\"a\": \"\\ud800\"}",
        "1:14: invalid JSON: unexpected end of hex escape",
    );
    says("{\"a\": 1e999}", "1:11: invalid JSON: number out of range");
    says(
        "a: 1\n...\nb: 2\n",
        "3:1: found a second document after \"...\": expected \"---\" between \
         two documents",
    );
}

#[test]
fn duplicate_keys_name_both_places() {
    says(
        "a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n",
        "5:3: duplicate key \"c\": expected each key once, but it has a value \
         at 3:6 already; remove one of them",
    );
    says(
        "a: 1\n\"a\": 2\n",
        "2:1: duplicate key \"a\": expected each key once, but it has a value \
         at 1:4 already; remove one of them",
    );
    says(
        "1: x\n\"1\": y\n",
        "2:1: duplicate key \"1\": expected each key once, but it has a value \
         at 1:4 already; remove one of them",
    );
    says(
        "{\"a\": {\"b\": 1,\n  \"b\": 2}}",
        "2:3: duplicate key \"b\": expected each key once, but it has a value \
         at 1:13 already; remove one of them",
    );
    says(
        "{a: 1, a: 2}",
        "1:8: duplicate key \"a\": expected each key once, but it has a value \
         at 1:5 already; remove one of them",
    );
    says(
        format!("{0}: 1\n{0}: 2\n", "k".repeat(100)),
        "2:1: duplicate key \
         \"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\": expected each \
         key once, but it has a value at 1:103 already; remove one of them",
    );
}

#[test]
fn templates_ask_to_be_rendered() {
    says(
        "a: 1\nversion: {{ .Values.version }}\n",
        "2:10: found \"{{\" of a template: expected plain YAML or JSON, so \
         render it first",
    );
    says(
        "{{- if .Values.enabled }}\na: 1\n{{- end }}\n",
        "1:1: found \"{{\" of a template: expected plain YAML or JSON, so \
         render it first",
    );
    says(
        "a: 1\n---\nitems:\n- {{ x }}\n",
        "4:3: found \"{{\" of a template: expected plain YAML or JSON, so \
         render it first",
    );
    says(
        "{\"a\": {{ x }}}",
        "1:7: found \"{{\" of a template: expected plain YAML or JSON, so \
         render it first",
    );
    for (text, place) in [
        ("args: [a, {{ x }}]\n", "1:11"),
        ("args: [{{ x }}]\n", "1:8"),
        ("[{{ x }}]", "1:2"),
        ("a: 1\n{{/* a comment */}}\nb: 2\n", "2:1"),
        ("a: 1\n{{- end }}\n", "2:1"),
        ("a: {{ include \"x\" . }}\nb: {{ y }}\n", "1:4"),
        ("a:\n  {{- toYaml .x | nindent 2 }}\n", "2:3"),
        ("{{ .x }}: 1\r\n", "1:1"),
        ("a: |\n  {{ b }}\nc: {{ d }}\n", "3:4"),
        ("{\"a\": 1, {{ x }}}", "1:10"),
    ] {
        let expected = format!(
            "{place}: found \"{{{{\" of a template: expected plain YAML or JSON, so render it first"
        );
        says(text, &expected);
    }
}

#[test]
fn braces_in_a_text_make_no_template() {
    says(
        "a: \"{{ in text }}\"\nb: c: d\n",
        "2:5: invalid YAML: mapping values are not allowed in this context",
    );
    says(
        "script: |\n  {{ x }}\n  - {{ y }}\nb: c: d\n",
        "4:5: invalid YAML: mapping values are not allowed in this context",
    );
    says(
        "{\"a\": \"{{ x }}\", \"b\" 1}",
        "1:22: invalid JSON: expected `:`",
    );
}

#[test]
fn conflict_markers_ask_to_be_resolved() {
    let expected = |line: u32, marker: &str| {
        format!(
            "{line}:1: found the conflict marker \"{marker}\" of a merge: expected one of \
             the two sides, so resolve the conflict"
        )
    };
    let sides = "<<<<<<< HEAD\n  b: 1\n=======\n  b: 2\n>>>>>>> other branch\n";
    says(format!("a:\n{sides}"), &expected(2, "<<<<<<<"));
    says(
        format!("a:\n{sides}").replace('\n', "\r\n"),
        &expected(2, "<<<<<<<"),
    );
    says(
        format!("a:\n  {{{{ x }}}}\n{sides}"),
        &expected(3, "<<<<<<<"),
    );
    says(
        "b: 1\n||||||| base\nb: 2\n=======\n",
        &expected(2, "|||||||"),
    );
    says("b: 1\n=======\nb: 2\n", &expected(2, "======="));
    says("b: 1\n>>>>>>>\n", &expected(2, ">>>>>>>"));
    says(
        "{\"a\": 1,\n<<<<<<< HEAD\n\"b\": 2}",
        &expected(2, "<<<<<<<"),
    );
}

#[test]
fn what_only_looks_like_a_marker_is_none() {
    for text in [
        "a: |\n  <<<<<<< HEAD\n  =======\n",
        "a: \"=======\"\n",
        "# <<<<<<< HEAD\na: 1\n",
    ] {
        let all: Result<Vec<_>, _> = documents(text.as_bytes()).collect();
        assert!(all.is_ok(), "{text}: {all:?}");
    }
    says(
        "=======x\na: b: c\n",
        "2:2: invalid YAML: mapping values are not allowed in this context",
    );
}

#[test]
fn bytes_that_are_no_text_say_where() {
    says(
        b"a: 1\nb\xc3\xa9: \xff\n",
        "2:5: found bytes that are not UTF-8: expected text, so save the file \
         as UTF-8",
    );
    says(
        b"a: 1\n---\nb: \x00\n",
        "3:4: found the control character '\\0': expected text, so remove it, \
         or write \"\\x..\" in quotes",
    );
    says(b"{\"a\": \x00}", "1:7: invalid JSON: expected value");
    says(
        b"\xff\xfea\x00",
        "1:1: found bytes that are not UTF-8: expected text, so save the file \
         as UTF-8",
    );
    says(
        "a: \u{7f}",
        "1:4: found the control character '\\u{7f}': expected text, so remove \
         it, or write \"\\x..\" in quotes",
    );
    says(
        "a: \u{ffff}",
        "1:4: found the control character '\\u{ffff}': expected text, so \
         remove it, or write \"\\x..\" in quotes",
    );
}

#[test]
fn scalars_and_keys_without_json_say_the_way_out() {
    says(
        "a: .inf\n",
        "1:4: .inf is not a JSON number: expected a finite number, or quotes around it",
    );
    says(
        "a: !!int x\n",
        r#"1:10: scalar "x" is not a valid !!int: expected text of that type, or no tag"#,
    );
    says(
        "~: 1\n",
        "1:1: null cannot be a key: expected a string, or quotes around it",
    );
    says(
        "[a]: 1\n",
        "1:1: found a list as a key: expected a string, so quote it if it is one",
    );
    says(
        "? {a: 1}\n: 2\n",
        "1:3: found a mapping as a key: expected a string, so quote it if it is one",
    );
    says(
        "a: &x [1]\n*x : 2\n",
        "2:1: found a list as a key: expected a string, so quote it if it is one",
    );
}

#[test]
fn aliases_and_merges_say_what_is_wrong() {
    says(
        "a: &x [1, *x]\n",
        "1:11: found an alias to the value it is part of: expected one to an \
         earlier value, so write the value out",
    );
    says(
        "<<: 1\n",
        "1:5: merge key \"<<\" has a number: expected a mapping or a list of \
         mappings, or quotes around the key",
    );
    says(
        "<<: [{a: 1}, 2]\n",
        "1:15: merge key \"<<\" has a list of other things: expected a mapping \
         or a list of mappings, or quotes around the key",
    );
}
