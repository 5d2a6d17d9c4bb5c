//! The texts of what is wrong, with the place.

use super::super::documents;
use super::error;

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
