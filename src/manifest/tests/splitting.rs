//! How a file falls into documents.

use serde_json::{Value, json};

use super::contents;

#[track_caller]
fn holds(file: &str, want: &[(usize, Value)]) {
    let got: Vec<_> = contents(file.as_bytes());
    let want: Vec<_> = want
        .iter()
        .cloned()
        .map(|(index, value)| (index, Ok(value)))
        .collect();
    assert_eq!(got, want, "{file:?}");
}

#[test]
fn documents_count_from_zero_with_the_empty_ones() {
    let (a, b) = (json!({"a": 1}), json!({"b": 2}));
    holds("", &[]);
    holds("# nothing\n", &[]);
    holds("---\n---\n", &[]);
    holds("a: 1", &[(0, a.clone())]);
    holds("---\na: 1\n", &[(0, a.clone())]);
    holds("# licence\n\n---\na: 1\n", &[(0, a.clone())]);
    holds("%YAML 1.1\n---\na: 1\n", &[(0, a.clone())]);
    holds("a: 1\n---\nb: 2\n", &[(0, a.clone()), (1, b.clone())]);
    holds(
        "a: 1\n---\n# nothing\n---\nb: 2\n---\n",
        &[(0, a.clone()), (2, b.clone())],
    );
    holds("---\n---\na: 1\n", &[(1, a.clone())]);
    holds("null\n---\na: 1\n", &[(1, a.clone())]);
    holds(
        "a: 1\n...\n---\nb: 2\n...\n",
        &[(0, a.clone()), (1, b.clone())],
    );
    holds(
        "a: 1\n...\n%YAML 1.1\n---\nb: 2\n",
        &[(0, a.clone()), (1, b.clone())],
    );
    holds(
        "a: 1\n--- # next\nb: 2\n",
        &[(0, a.clone()), (1, b.clone())],
    );
    holds("a: 1\n--- {b: 2}\n", &[(0, a.clone()), (1, b.clone())]);
    holds("a: 1\r\n---\r\nb: 2\r\n", &[(0, a.clone()), (1, b.clone())]);
    holds("a: 1\r---\rb: 2\r", &[(0, a), (1, b)]);
    holds(
        "a: |\n  ---\n---b: 2\n",
        &[(0, json!({"a": "---\n", "---b": 2}))],
    );
}

#[test]
fn json_values_follow_one_another() {
    let (a, b) = (json!({"a": 1}), json!({"b": 2}));
    holds(r#"{"a":1}"#, &[(0, a.clone())]);
    holds(r#" {"a":1}{"b":2} "#, &[(0, a.clone()), (1, b.clone())]);
    holds(
        "{\"a\":1}\n\n{\"b\":2}\n---\n{\"a\":1}",
        &[(0, a.clone()), (1, b.clone()), (2, a.clone())],
    );
    holds("{\"a\":1}\n---\nb: 2\n", &[(0, a.clone()), (1, b.clone())]);
    holds("b: 2\n---\n{\"a\":1}\n", &[(0, b), (1, a)]);
    holds(
        "[[1, 2.0, 2.5], \"\\u00e9\\n\", null, true, -0.5e1]",
        &[(0, json!([[1, 2, 2.5], "é\n", null, true, -5]))],
    );
}

#[test]
fn brackets_with_plain_text_are_yaml() {
    holds(
        "{a: 1}\n---\n{b: 2,}\n",
        &[(0, json!({"a": 1})), (1, json!({"b": 2}))],
    );
    holds("[yes, 017]", &[(0, json!([true, 15]))]);
}

#[test]
fn a_broken_document_costs_only_itself() {
    let file = b"a: 1\n---\na: [1\n---\nb: 2\n---\n{\"x\": }\n---\n\xff\n---\nc: 3\n";
    let got = contents(file);
    assert_eq!(
        got.iter().map(|(index, _)| *index).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5]
    );
    let good: Vec<_> = got
        .into_iter()
        .filter_map(|(index, outcome)| Some((index, outcome.ok()?)))
        .collect();
    assert_eq!(
        good,
        [
            (0, json!({"a": 1})),
            (2, json!({"b": 2})),
            (5, json!({"c": 3}))
        ]
    );
}

#[test]
fn broken_json_ends_at_the_next_separator() {
    let got = contents(b"{\"a\":1} {\"a\":} {\"lost\":1}\n---\n{\"b\":2}\n");
    let shown: Vec<_> = got
        .into_iter()
        .map(|(index, outcome)| (index, outcome.ok()))
        .collect();
    assert_eq!(
        shown,
        [
            (0, Some(json!({"a": 1}))),
            (1, None),
            (2, Some(json!({"b": 2})))
        ]
    );
}
